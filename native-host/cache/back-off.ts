// How long HTTP/3 is left alone after it failed while TCP worked: one table of causes, doubled by each failure in a row.
import type { Attempt, AttemptErrorCode } from '@photofinish/shared/race/outcome';

/** Chromium's first delay of a broken alternative service (net/http/broken_alternative_services.cc). */
const BACK_OFF_MS = 300_000;
/** Chromium's longest. */
export const MAX_BACK_OFF_MS = 2 * 24 * 3_600_000;
/** Enough for every cause to come to the longest delay (Chromium's kBrokenDelayMaxShift). */
const MAX_DOUBLINGS = 18;
/** Loss passes: a fifth of the usual delay, and still far more than the seconds that a burst of loss lasts. */
const LOSSY_BACK_OFF_MS = 60_000;
/** The server chose to close: as long as a restart or a short overload takes. */
const CLOSED_BACK_OFF_MS = 60_000;
/** The server announced that it leaves, or lost its state in a restart: its successor is up within half a minute. */
const RESTART_BACK_OFF_MS = 30_000;
/** Of a handshake's four flights one in five then loses a packet: silence may well be chance. */
export const LOSSY_RATE = 0.05;

/** First delays in milliseconds; null: it says nothing about the origin's HTTP/3. */
interface Cause {
  readonly firstMs: number | null;
  /** The same where the path is known to work and to lose packets. */
  readonly lossyMs?: number;
}

/**
 * | cause | first delay | why |
 * |---|---|---|
 * | `udp-refused` | 300 s | a port closed or a filter that says so: a standing state, as Chromium treats it |
 * | `udp-timeout`, `handshake-timeout`, `response-timeout` | 300 s | the path swallows UDP, or its larger packets |
 * | the same on a lossy path | 60 s | HTTP/3 worked here and is fresh, or at least 5 % of its packets were lost: chance |
 * | `version-mismatch`, `tls-alert`, `alpn-mismatch`, `certificate-invalid`, `h3-error` | 300 s | the server's configuration: it stays until somebody mends it, and the doubling waits for that |
 * | `misdirected` by the origin's own place | 300 s | the same; by an alternative, that alternative alone is dropped (RFC 7838 section 6) |
 * | `connection-closed` | 60 s | the server is there and chose to close: overload (CONNECTION_REFUSED), restart |
 * | `stateless-reset`, `goaway` | 30 s | the server restarts or leaves (RFC 9000 section 10.3, RFC 9114 section 5.2) |
 * | `dns-failed`, `no-address`, `tcp-refused`, `tcp-timeout` | none | no word about QUIC |
 * | `version-fallback` | 300 s | the server wants older HTTP for this: a standing state |
 * | `blocked`, `port-blocked`, `cancelled`, `internal`, `response-too-large` | none | our own doing, or our own limit |
 *
 * The order is that of how far an attempt came: of several that failed at once the one that came farthest decides, for
 * its place is the likeliest to work again.
 */
const H3_BACK_OFF: Readonly<Record<AttemptErrorCode, Cause>> = {
  blocked: { firstMs: null },
  'port-blocked': { firstMs: null },
  cancelled: { firstMs: null },
  internal: { firstMs: null },
  'response-too-large': { firstMs: null },
  'dns-failed': { firstMs: null },
  'no-address': { firstMs: null },
  'tcp-refused': { firstMs: null },
  'tcp-timeout': { firstMs: null },
  'udp-timeout': { firstMs: BACK_OFF_MS, lossyMs: LOSSY_BACK_OFF_MS },
  'udp-refused': { firstMs: BACK_OFF_MS },
  'handshake-timeout': { firstMs: BACK_OFF_MS, lossyMs: LOSSY_BACK_OFF_MS },
  'version-mismatch': { firstMs: BACK_OFF_MS },
  'tls-alert': { firstMs: BACK_OFF_MS },
  'alpn-mismatch': { firstMs: BACK_OFF_MS },
  'certificate-invalid': { firstMs: BACK_OFF_MS },
  'stateless-reset': { firstMs: RESTART_BACK_OFF_MS },
  'connection-closed': { firstMs: CLOSED_BACK_OFF_MS },
  'h3-error': { firstMs: BACK_OFF_MS },
  goaway: { firstMs: RESTART_BACK_OFF_MS },
  'response-timeout': { firstMs: BACK_OFF_MS, lossyMs: LOSSY_BACK_OFF_MS },
  misdirected: { firstMs: BACK_OFF_MS },
  'version-fallback': { firstMs: BACK_OFF_MS },
};

const BY_DISTANCE = Object.keys(H3_BACK_OFF);

/** Whether the server said that an alternative is not for this origin: about that place, not about HTTP/3. */
export function isMisdirectedAlternative(attempt: Attempt): boolean {
  return attempt.source === 'alt-svc' && attempt.error?.code === 'misdirected';
}

/** The failure that counts among attempts of HTTP/3; null when none of them says anything about it. */
export function h3FailureOf(attempts: readonly Attempt[]): AttemptErrorCode | null {
  const codes = attempts.flatMap((attempt) => {
    const code = attempt.outcome === 'failed' ? attempt.error?.code : undefined;
    if (code === undefined || isMisdirectedAlternative(attempt)) return [];
    return H3_BACK_OFF[code].firstMs === null ? [] : [code];
  });
  return codes.toSorted((a, b) => BY_DISTANCE.indexOf(a) - BY_DISTANCE.indexOf(b)).at(-1) ?? null;
}

/** How long HTTP/3 is left alone after `failures` failures in a row, the last of this cause; in milliseconds. */
export function backOffMs(code: AttemptErrorCode, failures: number, lossy: boolean): number {
  const { firstMs, lossyMs } = H3_BACK_OFF[code];
  const initialMs = (lossy ? lossyMs : null) ?? firstMs ?? 0;
  const doublings = Math.min(MAX_DOUBLINGS, Math.max(0, failures - 1));
  return Math.min(MAX_BACK_OFF_MS, initialMs * 2 ** doublings);
}

/**
 * Failures that are still counted after a success: half. Chromium forgets them all when it confirms an alternative,
 * and a path that works every other time then starts from the beginning each time; half of a long row is remembered,
 * and a path that works again is forgiven after a few successes.
 */
export function failuresAfterSuccess(failures: number): number {
  return Math.floor(failures / 2);
}
