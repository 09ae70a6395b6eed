// The terms of a race, apart from the schemas of its results: a helper that answers its first forecast needs only these.

/** Every way in which an attempt can end without being established, or after that; append-only. */
export const ATTEMPT_ERROR_CODES = [
  'dns-failed',
  'no-address',
  'udp-refused',
  'udp-timeout',
  'handshake-timeout',
  'tcp-refused',
  'tcp-timeout',
  'version-mismatch',
  'alpn-mismatch',
  'certificate-invalid',
  'tls-alert',
  'connection-closed',
  'stateless-reset',
  'h3-error',
  'goaway',
  'misdirected',
  'response-timeout',
  'blocked',
  'cancelled',
  'internal',
  'response-too-large',
  'version-fallback',
  'port-blocked',
  'udp-unreachable',
  'tcp-unreachable',
  'no-route',
] as const;
export type AttemptErrorCode = (typeof ATTEMPT_ERROR_CODES)[number];

/**
 * Nothing was received from the peer over UDP, so that the path, or this machine, may be to blame as well as the host;
 * what says more about the host comes later.
 */
export const UDP_UNANSWERED_CODES = [
  'no-route',
  'udp-timeout',
  'udp-unreachable',
  'udp-refused',
] as const satisfies readonly AttemptErrorCode[];

/**
 * What a network that blocks UDP looks like, where TCP reaches the same host: silence, and the word of a router or a
 * firewall that the host is unreachable or UDP prohibited. A refused port is evidence neither for that nor against it:
 * ICMP "port unreachable" is what a host sends for a closed port, which shows that UDP reaches it, but also what
 * firewalls reject with by default, and the socket does not tell who sent it. Nor is a missing route, which is this
 * machine's, and the same for TCP. In the order of the host cache's index.
 */
export const UDP_BLOCKED_CODES = [
  'udp-timeout',
  'udp-unreachable',
] as const satisfies readonly AttemptErrorCode[];

/**
 * HTTP/3 failed after a datagram of the peer had been received: whatever is wrong, the network carries UDP. In the order
 * of the host cache's index.
 */
export const UDP_ANSWERED_CODES = [
  'handshake-timeout',
  'version-mismatch',
  'alpn-mismatch',
  'certificate-invalid',
  'tls-alert',
  'connection-closed',
  'stateless-reset',
  'h3-error',
  'goaway',
  'misdirected',
  'response-timeout',
  'version-fallback',
] as const satisfies readonly AttemptErrorCode[];

export const MODES = ['race', 'v3', 'alt-svc', 'naive', 'compare', 'h3', 'h2'] as const;
export type Mode = (typeof MODES)[number];
export const MEMORIES = ['none', 'hints', 'full'] as const;
export type Memory = (typeof MEMORIES)[number];

/** The two transports that race. `h2` stands for TCP and TLS, whatever ALPN then selects (`h2` or `http/1.1`). */
export const TRANSPORTS = ['h3', 'h2'] as const;
export type TransportName = (typeof TRANSPORTS)[number];

/** Why a certificate was rejected, with the same names for both transports; append-only. */
export const CERTIFICATE_REASONS = [
  'expired',
  'not-yet-valid',
  'wrong-name',
  'unknown-issuer',
  'revoked',
  'bad-signature',
  'other',
] as const;
export type CertificateReason = (typeof CERTIFICATE_REASONS)[number];
