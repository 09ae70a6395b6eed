// Short names for the ways in which attempts fail; the long form is in the verdict.

import { codeKey, getMessage } from '../language/catalog.ts';
import { type Message, message, textOf } from '../language/message.ts';
import type { AttemptErrorCode, CertificateReason } from '../race/terms.ts';
import type { Failure } from './evidence.ts';

/** A stream ended with these was not processed (RFC 9113 section 8.7, RFC 9114 section 4.1.1); no GOAWAY need be sent. */
const UNPROCESSED: ReadonlySet<string> = new Set(['REFUSED_STREAM', 'H3_REQUEST_REJECTED']);

/** These tell that an exchange ended, whatever had been received by then. */
const ENDED: ReadonlySet<AttemptErrorCode> = new Set(['connection-closed', 'h3-error', 'goaway']);

/** How a response that had begun failed to complete, as far as nothing more specific is known; null: none had begun. */
export function incompleteness({ code, endedBy, began }: Failure): 'Unfinished' | 'CutOff' | null {
  if (began !== true || endedBy === 'client') return null;
  if (code === 'response-timeout') return 'Unfinished';
  return ENDED.has(code) ? 'CutOff' : null;
}

/** An attempt's failure in a few words, for example `UDP refused`. */
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
