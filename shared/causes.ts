// Why an attempt failed and what a site operator can do about it, one message for every code of the taxonomy. Each is
// the end of a sentence with its full stop, and the remedy after it.
import type { AttemptError, AttemptErrorCode, CertificateReason } from './outcome.ts';
import { type SharedWordKey, say } from './words.ts';

const CERTIFICATE: Record<CertificateReason, SharedWordKey> = {
  expired: 'causeExpired',
  'not-yet-valid': 'causeNotYetValid',
  'wrong-name': 'causeWrongName',
  'unknown-issuer': 'causeUnknownIssuer',
  revoked: 'causeRevoked',
  'bad-signature': 'causeBadSignature',
  other: 'causeOtherCertificate',
};

const CAUSES: Record<Exclude<AttemptErrorCode, 'certificate-invalid'>, SharedWordKey> = {
  'dns-failed': 'causeDnsFailed',
  'no-address': 'causeNoAddress',
  'udp-refused': 'causeUdpRefused',
  'udp-timeout': 'causeUdpTimeout',
  'handshake-timeout': 'causeHandshakeTimeout',
  'tcp-refused': 'causeTcpRefused',
  'tcp-timeout': 'causeTcpTimeout',
  'version-mismatch': 'causeVersionMismatch',
  'alpn-mismatch': 'causeAlpnMismatch',
  'tls-alert': 'causeTlsAlert',
  'connection-closed': 'causeConnectionClosed',
  'stateless-reset': 'causeStatelessReset',
  'h3-error': 'causeH3Error',
  goaway: 'causeGoaway',
  misdirected: 'causeMisdirected',
  'response-timeout': 'causeResponseTimeout',
  blocked: 'causeBlocked',
  cancelled: 'causeCancelled',
  internal: 'causeInternal',
};

/** What names the place that failed, and so what could be taken back. */
export type Advertiser = 'alt-svc' | 'https-record' | 'nothing';

const WITHDRAWALS: Record<Advertiser, SharedWordKey> = {
  'alt-svc': 'withdrawAltSvc',
  'https-record': 'withdrawRecord',
  nothing: 'withdrawH3',
};

export interface FailedPlace {
  readonly host: string;
  readonly port: number;
  readonly advertiser: Advertiser;
}

/** The cause and the remedy as the end of a sentence, with its full stop. */
export function causeWords(error: AttemptError, { host, port, advertiser }: FailedPlace): string {
  const key =
    error.code === 'certificate-invalid' ? CERTIFICATE[error.reason ?? 'other'] : CAUSES[error.code];
  const withdraw = say(WITHDRAWALS[advertiser]);
  return say(key, { host, port: String(port), message: error.message, withdraw });
}
