// The pace of a race: every delay that memory or a flag can influence, each with the rule it comes from. Pure.
import type { TransportName } from '@photofinish/shared/race/terms';
import type { Hints, PathHint } from '../cache/policy.ts';

/** Requested delays in milliseconds; null derives the value from what is known about the path. */
export interface PacingOptions {
  /** TCP's connection attempt delay: the head start of QUIC. */
  readonly tcpAttemptDelayMs: number | null;
  /** The Connection Attempt Delay within a group. */
  readonly attemptDelayMs: number | null;
  /** One hedged QUIC attempt beside a first one that is overdue; null: not for silence of an unknown host. */
  readonly hedge: boolean | null;
  /** QUIC's initial round-trip time estimate. */
  readonly initialRttMs: number | null;
}

/** Nothing requested. */
export const PACED_BY_PATH: PacingOptions = {
  tcpAttemptDelayMs: null,
  attemptDelayMs: null,
  hedge: null,
  initialRttMs: null,
};

/** The delays of one trial, in milliseconds. */
export interface Pacing {
  /** Between the openings of two groups: TCP's connection attempt delay if QUIC is first. */
  readonly groupDelayMs: number;
  /** The Connection Attempt Delay within a group, after an attempt of each transport. */
  readonly attemptDelayMs: Readonly<Record<TransportName, number>>;
  /** When one hedged QUIC attempt joins a first one whose handshake is not done; null: never. */
  readonly hedge: HedgeRule | null;
  /** QUIC's initial round-trip time estimate. */
  readonly initialRttMs: number;
}

/** When one hedged QUIC attempt is due beside the first one. */
interface HedgeRule {
  /** Null: not for silence alone. */
  readonly afterMs: number | null;
  /** Whether a sign of life determines when a handshake is overdue. */
  readonly bySignOfLife: boolean;
}

/** Maximum duration of a trial unless configured. */
export const DEFAULT_TIMEOUT_MS = 3000;
/** How long a comparison requested by a message continues while undecided; each pair takes at most 6 s. */
export const MAX_SERIES_MS = 45_000;

/** P2: the fixed delay after which TCP starts. */
export const TCP_ATTEMPT_DELAY_MS = 10;
/** QUIC's estimate for an unknown host: its first retransmission is then after 200 ms, as in quic-go, P2's stack. */
const UNKNOWN_HOST_RTT_MS = 67;

/** The Happy Eyeballs v3 draft's Connection Attempt Delay and its bounds (section 6). */
export const ATTEMPT_DELAY_MS = 250;
const MIN_ATTEMPT_DELAY_MS = 100;
export const MAX_ATTEMPT_DELAY_MS = 2000;
/**
 * "A subsequent connection MUST NOT be started within 10 milliseconds of the previous attempt" (section 6): applied
 * between attempts in progress; after a failed one the next starts at once (docs/departures.md).
 */
export const ABSOLUTE_MIN_ATTEMPT_DELAY_MS = 10;

/** quinn's first probe time-out, in initial round-trip times, before it has a sample. */
const INITIAL_RTTS_PER_PTO = 3;
/** Granularity of timers in RFC 9002 section 6.1.2 and quinn. */
const GRANULARITY_MS = 1;
/** RFC 9002 section 6.1.2: the multiple of a round trip after which a packet counts as lost. */
const TIME_THRESHOLD = 9 / 8;
/**
 * RFC 6298 section 2.2: after its first sample R a retransmission timer is R + 4 x R / 2. By then a TLS 1.3 handshake,
 * which takes one round trip, is either done or has lost a packet.
 */
const ROUND_TRIPS_TO_ESTABLISH = 3;

/**
 * The pacing of a trial from what is requested and what is known of the path; `hedges`: whether its mode allows a
 * hedged attempt.
 */
export function pacingOf(hints: Hints, options: PacingOptions, hedges: boolean): Pacing {
  const rttMs = options.initialRttMs ?? initialRttMs(hints);
  const hedge = hedges ? hedgeRule(hints, options.hedge, rttMs) : null;
  return {
    groupDelayMs: tcpAttemptDelayMs(hints, options.tcpAttemptDelayMs, hedge),
    attemptDelayMs: {
      h3: attemptDelayMs(hints, 'h3', options.attemptDelayMs),
      h2: attemptDelayMs(hints, 'h2', options.attemptDelayMs),
    },
    hedge,
    initialRttMs: rttMs,
  };
}

/**
 * TCP's connection attempt delay, unless configured: P2's value, and on a known path until a handshake is overdue, as
 * in the draft (section 6: the previous attempt's first retransmission). After a hedged attempt, the draft's minimum
 * delay. None if other machines found HTTP/3 broken and this one knows nothing about it.
 */
function tcpAttemptDelayMs(hints: Hints, configuredMs: number | null, hedge: HedgeRule | null): number {
  if (configuredMs !== null) return configuredMs;
  if (typeof hints.shared?.h3Failure === 'string') return 0;
  if (hints.h3 !== null) {
    const behindMs = hedge === null ? 0 : ABSOLUTE_MIN_ATTEMPT_DELAY_MS;
    return Math.min(handshakeOverdueMs(hints.h3) + behindMs, MAX_ATTEMPT_DELAY_MS);
  }
  return hints.h2 === null
    ? TCP_ATTEMPT_DELAY_MS
    : bounded(retransmissionMs(hints.h2), TCP_ATTEMPT_DELAY_MS, MAX_ATTEMPT_DELAY_MS);
}

/** The Connection Attempt Delay after an attempt of this transport (section 6 of the draft). */
function attemptDelayMs(hints: Hints, transport: TransportName, configuredMs: number | null): number {
  if (configuredMs !== null)
    return bounded(configuredMs, ABSOLUTE_MIN_ATTEMPT_DELAY_MS, MAX_ATTEMPT_DELAY_MS);
  const path = pathOf(hints, transport);
  return path === null
    ? ATTEMPT_DELAY_MS
    : bounded(retransmissionMs(path), MIN_ATTEMPT_DELAY_MS, MAX_ATTEMPT_DELAY_MS);
}

/**
 * QUIC's initial round-trip estimate, chosen so that a lost first flight costs one retransmission time of this path.
 */
function initialRttMs(hints: Hints): number {
  const path = pathOf(hints, 'h3');
  return path === null ? UNKNOWN_HOST_RTT_MS : retransmissionMs(path) / INITIAL_RTTS_PER_PTO;
}

/**
 * The rule for one hedged QUIC attempt; null: none. Only the server can retransmit a lost ServerHello, after 200 ms or
 * a second, whatever the client knows; a client can only get another one with another connection. It is due once a
 * handshake is overdue: by memory on a path known to support HTTP/3, by the first sign of life on any other. There
 * silence alone may mean a long path, or a host without HTTP/3, so it counts only if requested (`wanted`), after the
 * first probe time-out.
 */
function hedgeRule(hints: Hints, wanted: boolean | null, rttMs: number): HedgeRule | null {
  if (wanted === false) return null;
  if (hints.h3 !== null) return { afterMs: handshakeOverdueMs(hints.h3), bySignOfLife: false };
  return { afterMs: wanted === null ? null : rttMs * INITIAL_RTTS_PER_PTO, bySignOfLife: true };
}

/** When a handshake would be done on this path without loss; no attempt starts sooner after another. */
function handshakeOverdueMs(path: PathHint): number {
  return bounded(
    overdueMs(path.handshakeMs ?? path.srttMs, path),
    ABSOLUTE_MIN_ATTEMPT_DELAY_MS,
    MAX_ATTEMPT_DELAY_MS,
  );
}

/**
 * The estimated remaining time of an attempt whose first sign of life took `roundTripMs` (section 6.1 of the draft).
 */
export function establishingMs(roundTripMs: number): number {
  return bounded(ROUND_TRIPS_TO_ESTABLISH * roundTripMs, ABSOLUTE_MIN_ATTEMPT_DELAY_MS, MAX_ATTEMPT_DELAY_MS);
}

/** The transport's own history, or else the other's: both take the same path. */
function pathOf(hints: Hints, transport: TransportName): PathHint | null {
  return transport === 'h3' ? (hints.h3 ?? hints.h2) : (hints.h2 ?? hints.h3);
}

/** When a first flight over this path is retransmitted: RFC 6298 section 2.3, RFC 9002 section 6.2.1. */
function retransmissionMs(path: PathHint): number {
  // Samples from lost and retransmitted acknowledgements are not the path's; a handshake contains a complete round
  // trip.
  return overdueMs(Math.min(path.srttMs, path.handshakeMs ?? path.srttMs), path);
}

/**
 * When something that usually takes `usualMs` is overdue, by the path's variance (RFC 6298 section 2.3) or the time
 * threshold. Never later than after a first sample: on a lossy path the variance also contains timers.
 */
function overdueMs(usualMs: number, { rttvarMs }: PathHint): number {
  const byVarianceMs = Math.min(usualMs + 4 * rttvarMs, ROUND_TRIPS_TO_ESTABLISH * usualMs);
  return Math.max(byVarianceMs, usualMs + GRANULARITY_MS, TIME_THRESHOLD * usualMs);
}

function bounded(ms: number, leastMs: number, mostMs: number): number {
  return Math.min(mostMs, Math.max(leastMs, ms));
}
