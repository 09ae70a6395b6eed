// What each way of failing is called where there is room for a few words only; the long form is the verdict's.
import type { AttemptErrorCode } from './outcome.ts';

/** One entry for every code, so that no drawing ever shows a bare one. */
export const ATTEMPT_ERROR_WORDS: Record<AttemptErrorCode, string> = {
  'dns-failed': 'name not resolved',
  'no-address': 'no address',
  'udp-refused': 'UDP refused',
  'udp-timeout': 'no answer over UDP',
  'handshake-timeout': 'handshake not finished in time',
  'tcp-refused': 'TCP refused',
  'tcp-timeout': 'no answer over TCP',
  'version-mismatch': 'no common QUIC version',
  'alpn-mismatch': 'no common protocol (ALPN)',
  'certificate-invalid': 'certificate not valid',
  'tls-alert': 'TLS alert',
  'connection-closed': 'closed by the server',
  'stateless-reset': 'reset by the server',
  'h3-error': 'HTTP/3 error after the handshake',
  goaway: 'server is going away',
  misdirected: 'server refuses this host (421)',
  'response-timeout': 'no response in time',
  blocked: 'blocked by the address policy',
  cancelled: 'cancelled',
};
