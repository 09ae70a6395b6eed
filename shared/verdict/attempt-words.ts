// What each way of failing is called where there is room for a few words only; the long form is the verdict's.

import { type SharedWordKey, say } from '../language/words.ts';
import type { AttemptError, AttemptErrorCode, CertificateReason } from '../race/outcome.ts';

/** One entry for every code, so that no drawing ever shows a bare one. */
const FAILURES: Record<AttemptErrorCode, SharedWordKey> = {
  'dns-failed': 'failureDnsFailed',
  'no-address': 'failureNoAddress',
  'udp-refused': 'failureUdpRefused',
  'udp-timeout': 'failureUdpTimeout',
  'handshake-timeout': 'failureHandshakeTimeout',
  'tcp-refused': 'failureTcpRefused',
  'tcp-timeout': 'failureTcpTimeout',
  'version-mismatch': 'failureVersionMismatch',
  'alpn-mismatch': 'failureAlpnMismatch',
  'certificate-invalid': 'failureCertificateInvalid',
  'tls-alert': 'failureTlsAlert',
  'connection-closed': 'failureConnectionClosed',
  'stateless-reset': 'failureStatelessReset',
  'h3-error': 'failureH3Error',
  goaway: 'failureGoaway',
  misdirected: 'failureMisdirected',
  'response-timeout': 'failureResponseTimeout',
  blocked: 'failureBlocked',
  cancelled: 'failureCancelled',
  internal: 'failureInternal',
  'response-too-large': 'failureResponseTooLarge',
  'version-fallback': 'failureVersionFallback',
  'port-blocked': 'failurePortBlocked',
};

const REASONS: Record<CertificateReason, SharedWordKey> = {
  expired: 'reasonExpired',
  'not-yet-valid': 'reasonNotYetValid',
  'wrong-name': 'reasonWrongName',
  'unknown-issuer': 'reasonUnknownIssuer',
  revoked: 'reasonRevoked',
  'bad-signature': 'reasonBadSignature',
  other: 'reasonOther',
};

/** An attempt's failure in a few words, for example `UDP refused`. */
export function attemptErrorWords(code: AttemptErrorCode): string {
  return say(FAILURES[code]);
}

/** The same of a whole failure, which may say more than its code. */
export function failureWords({ code, wireCode, endedBy }: AttemptError): string {
  if (code === 'tls-alert' && wireCode === 'certificate_required') return say('failureClientCertificate');
  if (code === 'connection-closed' && endedBy === 'client') return say('failureBreach');
  return attemptErrorWords(code);
}

/** What is wrong with a certificate in a few words, for example `wrong name`. */
export function certificateReasonWords(reason: CertificateReason = 'other'): string {
  return say(REASONS[reason]);
}
