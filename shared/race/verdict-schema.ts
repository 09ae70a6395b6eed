// The shape of a verdict, apart from the rules that reach it, so that outcomes can carry one; and that of verdicts as
// they were written before, which are still read.
import * as v from 'valibot';
import { type Message, message } from '../language/message.ts';
import { list, MAX_FINDINGS, MAX_VERDICT_CHARS, text } from '../web/bounds.ts';
import { printable } from '../web/printable.ts';
import { messageEntries } from './message-schema.ts';

/** Why an origin was, or was not, reached over HTTP/3; append-only. */
export const VERDICT_CODES = [
  'h3-used',
  'h3-first-visit',
  'h3-not-advertised',
  'h3-advertised-unreachable',
  'h3-private-root',
  'h3-browser-avoids',
  'h3-advertisement-wrong',
  'h3-not-offered',
  'h3-available',
  'unknown',
  'machine-too-busy',
  'h3-used-before',
] as const;
export type VerdictCode = (typeof VERDICT_CODES)[number];

export interface Finding extends Message {
  readonly code: VerdictCode;
}

/** Data until somebody reads it; `verdictText` makes its sentences. */
export interface Verdict {
  readonly code: VerdictCode;
  /** A sentence each, those on `code` itself first; sentences in a row on one code belong together. */
  readonly findings: readonly Finding[];
}

const codeSchema = v.picklist(VERDICT_CODES);

/** The shape that is written. That it has a sentence is also what tells it from one in words that found nothing else. */
export const writtenVerdictSchema = v.object({
  code: codeSchema,
  findings: v.pipe(list(v.object({ code: codeSchema, ...messageEntries }), MAX_FINDINGS), v.minLength(1)),
});

/** Verdicts as they were written until version 1 of the report: in words, which stay as they are. */
const verdictInWordsSchema = v.object({
  code: codeSchema,
  text: text(MAX_VERDICT_CHARS),
  findings: list(v.object({ code: codeSchema, text: text(MAX_VERDICT_CHARS) }), VERDICT_CODES.length),
});
export type VerdictInWords = v.InferOutput<typeof verdictInWordsSchema>;

/** A verdict whose sentences somebody else has made. */
export function verdictAsWritten({ code, text, findings }: VerdictInWords): Verdict {
  const told = [{ code, text }, ...findings];
  return {
    code,
    findings: told.map((each) => ({
      code: each.code,
      ...message('verdictAsWritten', { text: printable(each.text) }),
    })),
  };
}

/** A verdict as it enters: what was written in words becomes data here, once. */
export const verdictSchema: v.GenericSchema<Verdict | VerdictInWords, Verdict> = v.union([
  writtenVerdictSchema,
  v.pipe(verdictInWordsSchema, v.transform(verdictAsWritten)),
]);
