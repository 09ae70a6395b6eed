// The names of verdicts and failures, what each code means and what to do about it: the only source of these rows. The
// extension's page, the report, `photofinish codes` and docs/verdicts.md all show them from here.
import { codeKey, getMessage } from '../language/catalog.ts';
import { type Message, message, textOf } from '../language/message.ts';
import { ATTEMPT_ERROR_CODES, type AttemptErrorCode, type CertificateReason } from '../race/terms.ts';
import { VERDICT_CODES, type VerdictCode } from '../race/verdict-schema.ts';
import type { Failure } from './evidence.ts';

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
  return VERDICT_CODES.map((code) => ({
    kind: 'verdict',
    code,
    name: verdictName(code),
    means: verdictMeans(code),
    remedy: getMessage(codeKey('verdict', code, 'Remedy')),
    browserOnly: BROWSER_VERDICTS.includes(code),
  }));
}

/** Every way in which an attempt fails in the current language, in the order of the schema. */
export function failureRows(): CodeRow[] {
  return ATTEMPT_ERROR_CODES.map((code) => ({
    kind: 'failure',
    code,
    name: attemptErrorText(code),
    means: getMessage(codeKey('failure', code, 'Means')),
    remedy: getMessage(codeKey('failure', code, 'Remedy')),
    browserOnly: false,
  }));
}

/** A verdict's short name for charts, tables and comparisons, for example `HTTP/3 used`. */
export function verdictName(code: VerdictCode): string {
  return getMessage(codeKey('verdictName', code));
}

/** A stream ended with these was not processed (RFC 9113 section 8.7, RFC 9114 section 4.1.1); no GOAWAY need be sent. */
const UNPROCESSED: ReadonlySet<string> = new Set(['REFUSED_STREAM', 'H3_REQUEST_REJECTED']);

/** These say that an exchange ended, whatever had been received by then. */
const ENDED: ReadonlySet<AttemptErrorCode> = new Set(['connection-closed', 'h3-error', 'goaway']);

/** How a response that had begun failed to complete, as far as nothing more specific is known; null: none had begun. */
export function incompleteness({ code, endedBy, began }: Failure): 'Unfinished' | 'CutOff' | null {
  if (began !== true || endedBy === 'client') return null;
  if (code === 'response-timeout') return 'Unfinished';
  return ENDED.has(code) ? 'CutOff' : null;
}

/** An attempt's failure in a few words, for example `UDP refused`; the long form is in the verdict. */
export function attemptErrorText(code: AttemptErrorCode): string {
  return getMessage(codeKey('failure', code));
}

/** The same for a complete error, which may say more than its code. */
export function failureMessage(failure: Failure): Message {
  const { code, wireCode, endedBy } = failure;
  const incomplete = incompleteness(failure);
  if (incomplete !== null) return message(`failureResponse${incomplete}`);
  if (code === 'tls-alert' && wireCode === 'certificate_required') return message('failureClientCertificate');
  if (code === 'connection-closed' && endedBy === 'client') return message('failureBreach');
  if (code === 'goaway' && UNPROCESSED.has(wireCode ?? '')) return message('failureRequestRefused');
  return message(codeKey('failure', code));
}

/** A complete error in a few words. */
export function failureText(error: Failure): string {
  return textOf(failureMessage(error));
}

/** What is wrong with a certificate in a few words, for example `wrong name`. */
export function certificateReasonMessage(reason: CertificateReason = 'other'): Message {
  return message(codeKey('reason', reason));
}
