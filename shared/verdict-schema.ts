// The shape of a verdict, apart from the rules that reach it, so that outcomes can carry one.
import * as v from 'valibot';

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
  text: v.string(),
  /** Every other verdict that also holds. */
  findings: v.array(v.object({ code: v.picklist(VERDICT_CODES), text: v.string() })),
});
export type Verdict = v.InferOutput<typeof verdictSchema>;
