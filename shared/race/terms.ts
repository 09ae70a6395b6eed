// The terms of a race, and the ports on which none is run, apart from the schemas of its results: a helper that answers
// its first forecast needs only these.
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

/** "Bad port" in the Fetch Standard, section 2.9 ("Port blocking"); Chromium and Firefox have the same list. */
export const BAD_PORTS: ReadonlySet<number> = new Set([
  ...[0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103],
  ...[
    104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514,
  ],
  ...[515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723],
  ...[2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080],
]);

/**
 * Ports of services used in reflection attacks: RFC 9308 section 8.1 names some, and Google's QUIC servers drop
 * datagrams from all of these (`IsSourceUdpPortBlocked` in quiche). Networks also drop datagrams that merely look like
 * an attack on these ports, so silence there proves nothing.
 */
export const REFLECTING_PORTS: ReadonlySet<number> = new Set([
  ...[17, 19, 53, 111, 123, 137, 138, 161, 389, 500, 1900, 3702, 5353, 5355, 11211],
]);

/** Why a port is not used: browsers do not connect to it, or its service is used for reflection attacks over UDP. */
export type PortBlock = 'browsers' | 'reflection';

/**
 * Why nothing may be sent to a port over this transport; null: it may. An answer from a blocked port would say nothing
 * about a site.
 */
export function portBlock(port: number, transport: TransportName): PortBlock | null {
  if (BAD_PORTS.has(port)) return 'browsers';
  return transport === 'h3' && REFLECTING_PORTS.has(port) ? 'reflection' : null;
}
