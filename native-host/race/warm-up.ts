// A first attempt in a process is slow (code is paged in, random generators are seeded: 32 ms for QUIC, 7 ms for TLS,
// against 1 ms), which would decide the first race. So each contender warms up once, against nobody, while it loads.
import type { AttemptTarget } from './contender.ts';

/** The discard service (RFC 863), closed nearly everywhere; whatever comes of it, nothing leaves the machine. */
const DISCARD_PORT = 9;
/** A firewall that swallows the refusal must not hold the first race up. */
const PATIENCE_MS = 100;

/** Where a warm-up goes: a loopback port that refuses. */
export const WARM_UP: AttemptTarget = {
  address: '127.0.0.1',
  port: DISCARD_PORT,
  host: 'warm-up.invalid',
  authority: 'warm-up.invalid',
  initialRttMs: PATIENCE_MS,
  handshakeTimeoutMs: PATIENCE_MS,
};
