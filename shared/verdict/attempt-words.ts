// What each way of failing is called where there is room for a few words only; the long form is the verdict's.

import { getMessage } from '../language/catalog.ts';
import { codeKey } from '../language/code-keys.ts';
import { type Message, message, textOf } from '../language/message.ts';
import type { AttemptError, AttemptErrorCode, CertificateReason } from '../race/outcome.ts';

/** An attempt's failure in a few words, for example `UDP refused`. */
export function attemptErrorWords(code: AttemptErrorCode): string {
  return getMessage(codeKey('failure', code));
}

/** The same of a whole failure, which may say more than its code. */
export function failureMessage({ code, wireCode, endedBy }: AttemptError): Message {
  if (code === 'tls-alert' && wireCode === 'certificate_required') return message('failureClientCertificate');
  if (code === 'connection-closed' && endedBy === 'client') return message('failureBreach');
  return message(codeKey('failure', code));
}

/** A whole failure in a few words. */
export function failureWords(error: AttemptError): string {
  return textOf(failureMessage(error));
}

/** What is wrong with a certificate in a few words, for example `wrong name`. */
export function certificateReasonMessage(reason: CertificateReason = 'other'): Message {
  return message(codeKey('reason', reason));
}
