// How long HTTP/3 is avoided after it failed while TCP worked: one table of causes, doubled by each consecutive
// failure.
import type { Attempt } from '@photofinish/shared/race/outcome';
import type { AttemptErrorCode } from '@photofinish/shared/race/terms';

/** Chromium's initial delay for a broken alternative service (net/http/broken_alternative_services.cc). */
const BACK_OFF_MS = 300_000;
/** Chromium's maximum. */
export const MAX_BACK_OFF_MS = 2 * 24 * 3_600_000;
/** Enough for every cause to reach the maximum delay (Chromium's kBrokenDelayMaxShift). */
const MAX_DOUBLINGS = 18;
/** Loss is temporary: a fifth of the usual delay, still much longer than the seconds that a burst of loss lasts. */
const LOSSY_BACK_OFF_MS = 60_000;
/** The server chose to close: the duration of a restart or a short overload. */
const CLOSED_BACK_OFF_MS = 60_000;
/** The server announced its shutdown, or lost its state in a restart: its successor is up within half a minute. */
const RESTART_BACK_OFF_MS = 30_000;
/** At this rate one in five handshakes of four flights loses a packet, so silence may well be chance. */
export const LOSSY_RATE = 0.05;

/** First delays in milliseconds; null: the failure says nothing about the origin's HTTP/3. */
interface Cause {
  readonly firstMs: number | null;
  /** The same if the path is known to work and to lose packets. */
  readonly lossyMs?: number;
}

/**
 * | cause | first delay | why |
 * |---|---|---|
 * | `udp-refused`, `udp-unreachable` | 300 s | a closed port, or a filter that rejects: a lasting state, as Chromium treats it |
 * | `udp-timeout`, `handshake-timeout`, `response-timeout` | 300 s | the path drops UDP, or its larger packets |
 * | the same on a lossy path | 60 s | HTTP/3 worked here and is fresh, or at least 5 % of its packets were lost: chance |
 * | `version-mismatch`, `tls-alert`, `alpn-mismatch`, `certificate-invalid`, `h3-error` | 300 s | the server's configuration, which lasts until it is fixed; the doubling accounts for that |
 * | `misdirected` by the origin's own endpoint | 300 s | the same; from an alternative, only that alternative is removed (RFC 7838 section 6) |
 * | `connection-closed` | 60 s | the server is reachable and chose to close: overload (CONNECTION_REFUSED), restart |
 * | `stateless-reset`, `goaway` | 30 s | the server restarts or leaves (RFC 9000 section 10.3, RFC 9114 section 5.2) |
 * | `dns-failed`, `no-address`, `tcp-refused`, `tcp-unreachable`, `tcp-timeout` | none | says nothing about QUIC |
 * | `no-route` | none | the state of this machine's network, which may have a route the next minute |
 * | `version-fallback` | 300 s | the server requires an older HTTP version for this: a lasting state |
 * | `blocked`, `port-blocked`, `cancelled`, `internal`, `response-too-large` | none | our own doing, or our own limit |
 *
 * The keys are in order of progress: of several failed attempts the one that got furthest decides, because its endpoint
 * is the most likely to work again.
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
  'tcp-unreachable': { firstMs: null },
  'tcp-timeout': { firstMs: null },
  'no-route': { firstMs: null },
  'udp-timeout': { firstMs: BACK_OFF_MS, lossyMs: LOSSY_BACK_OFF_MS },
  'udp-unreachable': { firstMs: BACK_OFF_MS },
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

/** Whether an alternative said that it is not for this origin, which concerns that endpoint and not HTTP/3. */
export function isMisdirectedAlternative(attempt: Attempt): boolean {
  return attempt.source === 'alt-svc' && attempt.error?.code === 'misdirected';
}

/** The failure that counts among attempts of HTTP/3; null when none of them says anything about HTTP/3. */
export function h3FailureOf(attempts: readonly Attempt[]): AttemptErrorCode | null {
  const codes = attempts.flatMap((attempt) => {
    const code = attempt.outcome === 'failed' ? attempt.error?.code : undefined;
    if (code === undefined || isMisdirectedAlternative(attempt)) return [];
    return H3_BACK_OFF[code].firstMs === null ? [] : [code];
  });
  return codes.toSorted((a, b) => BY_DISTANCE.indexOf(a) - BY_DISTANCE.indexOf(b)).at(-1) ?? null;
}

/** Whether a failure shows a state that lasts, rather than a restart or an overload that is over within a minute. */
export function isLasting(code: AttemptErrorCode): boolean {
  return (H3_BACK_OFF[code].firstMs ?? 0) >= BACK_OFF_MS;
}

/** How long HTTP/3 is avoided after `failures` consecutive failures, the last of this cause; in milliseconds. */
export function backOffMs(code: AttemptErrorCode, failures: number, lossy: boolean): number {
  const { firstMs, lossyMs } = H3_BACK_OFF[code];
  const initialMs = (lossy ? lossyMs : null) ?? firstMs ?? 0;
  const doublings = Math.min(MAX_DOUBLINGS, Math.max(0, failures - 1));
  return Math.min(MAX_BACK_OFF_MS, initialMs * 2 ** doublings);
}

/**
 * Failures still counted after a success: half. Chromium resets the count when it confirms an alternative, so a path
 * that works every other time starts from the beginning each time. Here half of a long series is remembered, and a path
 * that works again is trusted after a few successes.
 */
export function failuresAfterSuccess(failures: number): number {
  return Math.floor(failures / 2);
}
