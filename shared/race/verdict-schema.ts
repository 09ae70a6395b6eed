// The schema of a verdict, separate from the rules that produce it, so that outcomes can contain one; and that of
// verdicts in the earlier format, which are still read.
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

/** Data until it is displayed; `verdictText` makes its sentences. */
export interface Verdict {
  readonly code: VerdictCode;
  /** One sentence each, those on `code` itself first; consecutive sentences on one code belong together. */
  readonly findings: readonly Finding[];
}

const codeSchema = v.picklist(VERDICT_CODES);

/**
 * The format that is written. That it has at least one sentence also distinguishes it from a verdict in the earlier
 * format without other findings.
 */
export const writtenVerdictSchema = v.object({
  code: codeSchema,
  findings: v.pipe(list(v.object({ code: codeSchema, ...messageEntries }), MAX_FINDINGS), v.minLength(1)),
});

/** Verdicts as written until version 1 of the report: as text, which is kept. */
const verdictAsTextSchema = v.object({
  code: codeSchema,
  text: text(MAX_VERDICT_CHARS),
  findings: list(v.object({ code: codeSchema, text: text(MAX_VERDICT_CHARS) }), VERDICT_CODES.length),
});
export type VerdictAsText = v.InferOutput<typeof verdictAsTextSchema>;

/** A verdict whose sentences are already text. */
export function verdictAsWritten({ code, text, findings }: VerdictAsText): Verdict {
  const sentences = [{ code, text }, ...findings];
  return {
    code,
    findings: sentences.map((each) => ({
      code: each.code,
      ...message('verdictAsWritten', { text: printable(each.text) }),
    })),
  };
}

/** A verdict as it is read: the earlier format, text, is converted to data here, once. */
export const verdictSchema: v.GenericSchema<Verdict | VerdictAsText, Verdict> = v.union([
  writtenVerdictSchema,
  v.pipe(verdictAsTextSchema, v.transform(verdictAsWritten)),
]);
