// The shape of a verdict, apart from the rules that reach it, so that outcomes can carry one.
import * as v from 'valibot';
import { list, MAX_VERDICT_CHARS, text } from '../web/bounds.ts';

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

export const verdictSchema = v.object({
  code: v.picklist(VERDICT_CODES),
  /** One or two sentences: what is, why, what to do. */
  text: text(MAX_VERDICT_CHARS),
  /** Every other verdict that also holds. */
  findings: list(
    v.object({ code: v.picklist(VERDICT_CODES), text: text(MAX_VERDICT_CHARS) }),
    VERDICT_CODES.length,
  ),
});
export type Verdict = v.InferOutput<typeof verdictSchema>;
