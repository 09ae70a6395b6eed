// What every verdict and failure code means and what to do about it: the one owner of these rows. The extension's page,
// the report, `photofinish codes` and docs/verdicts.md all show them from here.

import { getMessage } from '../language/catalog.ts';
import { codeKey } from '../language/code-keys.ts';
import { ATTEMPT_ERROR_CODES, type AttemptErrorCode } from '../race/outcome.ts';
import { VERDICT_CODES, type VerdictCode } from '../race/verdict-schema.ts';
import { attemptErrorWords } from './attempt-words.ts';
import { verdictName } from './verdict-names.ts';

/** Verdicts that rest on what a browser did, which the command line never sees. */
const BROWSER_VERDICTS: readonly VerdictCode[] = [
  'h3-used',
  'h3-used-before',
  'h3-first-visit',
  'h3-browser-avoids',
];

export interface CodeRow {
  readonly kind: 'verdict' | 'failure';
  readonly code: VerdictCode | AttemptErrorCode;
  /** The few words it goes by in tables and drawings. */
  readonly name: string;
  readonly means: string;
  /** Of a verdict what to do, of a failure where to look. */
  readonly remedy: string;
  /** It takes a browser's own observations to reach it. */
  readonly browserOnly: boolean;
}

/** What a verdict means, in full sentences. */
export function verdictMeans(code: VerdictCode): string {
  return getMessage(codeKey('verdict', code, 'Means'));
}

/** Every verdict in the language in force, in the order of the schema. */
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

/** Every way an attempt fails in the language in force, in the order of the schema. */
export function failureRows(): CodeRow[] {
  return ATTEMPT_ERROR_CODES.map((code) => {
    return {
      kind: 'failure',
      code,
      name: attemptErrorWords(code),
      means: getMessage(codeKey('failure', code, 'Means')),
      remedy: getMessage(codeKey('failure', code, 'Remedy')),
      browserOnly: false,
    };
  });
}
