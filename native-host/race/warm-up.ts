// The first attempt in a process is slow (code is paged in, random generators are seeded: 2 ms for QUIC, 7 ms for TLS,
// instead of 0.3 and 1 ms), which would decide the first race. So each transport warms up once while it loads, without
// a peer.
import type { AttemptTarget } from './transport.ts';

/** The discard service (RFC 863), closed nearly everywhere; in any case nothing leaves the machine. */
const DISCARD_PORT = 9;
/** A firewall that drops the refusal must not delay the first race. */
const PATIENCE_MS = 100;

/** Target of a warm-up: a loopback port that refuses connections. */
export const WARM_UP: AttemptTarget = {
  address: '127.0.0.1',
  port: DISCARD_PORT,
  host: 'warm-up.invalid',
  authority: 'warm-up.invalid',
  initialRttMs: PATIENCE_MS,
  handshakeTimeoutMs: PATIENCE_MS,
};
