// The meaning of every verdict and failure code and what to do about it: the only source of these rows. The extension's
// page, the report, `photofinish codes` and docs/verdicts.md all show them from here.

import { codeKey, getMessage } from '../language/catalog.ts';
import { ATTEMPT_ERROR_CODES, type AttemptErrorCode } from '../race/terms.ts';
import { VERDICT_CODES, type VerdictCode } from '../race/verdict-schema.ts';
import { attemptErrorText } from './attempt-text.ts';
import { verdictName } from './verdict-names.ts';

/** Verdicts based on a browser's behaviour, which the command line never sees. */
const BROWSER_VERDICTS: readonly VerdictCode[] = [
  'h3-used',
  'h3-used-before',
  'h3-first-visit',
  'h3-browser-avoids',
];

export interface CodeRow {
  readonly kind: 'verdict' | 'failure';
  readonly code: VerdictCode | AttemptErrorCode;
  /** Its short name in tables and drawings. */
  readonly name: string;
  readonly means: string;
  /** For a verdict what to do, for a failure where to look. */
  readonly remedy: string;
  /** It requires a browser's own observations. */
  readonly browserOnly: boolean;
}

/** What a verdict means, in full sentences. */
export function verdictMeans(code: VerdictCode): string {
  return getMessage(codeKey('verdict', code, 'Means'));
}

/** Every verdict in the current language, in the order of the schema. */
export function verdictRows(): CodeRow[] {
  return VERDICT_CODES.map((code) => {
    const browserOnly = BROWSER_VERDICTS.includes(code);
    return {
      kind: 'verdict',
      code,
      name: verdictName(code),
      means: verdictMeans(code),
      remedy: getMessage(codeKey('verdict', code, 'Remedy')),
      browserOnly,
    };
  });
}

/** Every way in which an attempt fails in the current language, in the order of the schema. */
export function failureRows(): CodeRow[] {
  return ATTEMPT_ERROR_CODES.map((code) => {
    return {
      kind: 'failure',
      code,
      name: attemptErrorText(code),
      means: getMessage(codeKey('failure', code, 'Means')),
      remedy: getMessage(codeKey('failure', code, 'Remedy')),
      browserOnly: false,
    };
  });
}
