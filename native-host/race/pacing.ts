// The pace of a race: every delay that memory or a flag can inform, each with the rule it comes from. Pure.
import type { ContenderName } from '@photofinish/shared/race/outcome';
import type { Hints, PathHint } from '../cache/hints.ts';

/** What is asked of a race's pace, in milliseconds; null leaves a value to what is known of the path. */
export interface PacingOptions {
  /** TCP's connection attempt delay: the head start of QUIC. */
  readonly tcpAttemptDelayMs: number | null;
  /** The Connection Attempt Delay within a group. */
  readonly attemptDelayMs: number | null;
  /** One hedged QUIC attempt beside a first one that is overdue; null: not for the silence of an unknown host. */
  readonly hedge: boolean | null;
  /** QUIC's initial round-trip time estimate. */
  readonly initialRttMs: number | null;
}

/** Nothing asked for. */
export const PACED_BY_PATH: PacingOptions = {
  tcpAttemptDelayMs: null,
  attemptDelayMs: null,
  hedge: null,
  initialRttMs: null,
};

/** The delays of one trial, in milliseconds. */
export interface Pacing {
  /** Between the openings of two groups: TCP's connection attempt delay, where QUIC is the first. */
  readonly groupDelayMs: number;
  /** The Connection Attempt Delay within a group, after an attempt of each contender. */
  readonly attemptDelayMs: Readonly<Record<ContenderName, number>>;
  /** When one hedged QUIC attempt joins a first one whose handshake is not done; null: never. */
  readonly hedge: HedgeRule | null;
  /** QUIC's initial round-trip time estimate. */
  readonly initialRttMs: number;
}

/** How long a trial takes at most, unless its flag says otherwise. */
export const DEFAULT_TIMEOUT_MS = 3000;
/** How long a comparison that a message asks for goes on while it is undecided; its pairs are at most 6 s long. */
export const MOST_SERIES_MS = 45_000;

/** P2: the fixed delay after which old HTTP is started. */
export const TCP_ATTEMPT_DELAY_MS = 10;
/** QUIC's estimate for a host never met: its first retransmission then comes after 200 ms, as in quic-go, P2's stack. */
const UNKNOWN_HOST_RTT_MS = 67;

/** The Happy Eyeballs v3 draft's Connection Attempt Delay and its bounds (section 6). */
export const ATTEMPT_DELAY_MS = 250;
const MIN_ATTEMPT_DELAY_MS = 100;
export const MAX_ATTEMPT_DELAY_MS = 2000;
/**
 * "A subsequent connection MUST NOT be started within 10 milliseconds of the previous attempt" (section 6): kept between
 * attempts under way; after one that has failed the next starts at once (docs/departures.md).
 */
export const LEAST_ATTEMPT_DELAY_MS = 10;

/** quinn's first probe time-out before it has a sample is this many initial round-trip times. */
const INITIAL_RTTS_PER_PTO = 3;
/** RFC 9002 section 6.1.2 and quinn: timers are no finer. */
const GRANULARITY_MS = 1;
/** RFC 9002 section 6.1.2: how much later than a round trip a packet may come before it counts as lost. */
const TIME_THRESHOLD = 9 / 8;
/**
 * RFC 6298 section 2.2: after its first sample R a retransmission timer is R + 4 x R / 2. By then a TLS 1.3 handshake,
 * one round trip, is either done or has lost a packet.
 */
const ROUND_TRIPS_TO_ESTABLISH = 3;

function bounded(ms: number, leastMs: number, mostMs: number): number {
  return Math.min(mostMs, Math.max(leastMs, ms));
}

/**
 * When something is overdue that takes `usualMs`, by the path's variance (RFC 6298 section 2.3) or the time threshold. No
 * later than after a first sample: the variance of a path that loses packets is made of timers as well.
 */
function overdueMs(usualMs: number, { rttvarMs }: PathHint): number {
  const byVarianceMs = Math.min(usualMs + 4 * rttvarMs, ROUND_TRIPS_TO_ESTABLISH * usualMs);
  return Math.max(byVarianceMs, usualMs + GRANULARITY_MS, TIME_THRESHOLD * usualMs);
}

/** When a first flight over this path is sent again: RFC 6298 section 2.3, RFC 9002 section 6.2.1. */
function retransmissionMs(path: PathHint): number {
  // What acknowledgements took that were lost and sent again is not the path's: a handshake holds a whole round trip.
  return overdueMs(Math.min(path.srttMs, path.handshakeMs ?? path.srttMs), path);
}

/** The contender's own past, or else the other's: both take the same path. */
function pathOf(hints: Hints, contender: ContenderName): PathHint | null {
  return contender === 'h3' ? (hints.h3 ?? hints.h2) : (hints.h2 ?? hints.h3);
}

/** QUIC's initial round-trip estimate, so that a lost first flight costs one retransmission time of this path. */
function initialRttMs(hints: Hints): number {
  const path = pathOf(hints, 'h3');
  return path === null ? UNKNOWN_HOST_RTT_MS : retransmissionMs(path) / INITIAL_RTTS_PER_PTO;
}

/** When one hedged QUIC attempt is due beside a first one. */
interface HedgeRule {
  /** Null: not for silence alone. */
  readonly afterMs: number | null;
  /** Whether it is for signs of life to say when a handshake is overdue. */
  readonly bySignOfLife: boolean;
}

/**
 * The rule for one hedged QUIC attempt; null: none. A ServerHello that was lost is its server's to send again, after 200 ms
 * or a second, whatever its client knows: only another connection asks for another one. It is due once a handshake is
 * overdue: by memory on a path that HTTP/3 is known to take, by the first sign of life on any other. Silence alone may
 * there be a long way, or a host without HTTP/3: it counts only where asked for (`wanted`), after the first probe time-out.
 */
function hedgeRule(hints: Hints, wanted: boolean | null, rttMs: number): HedgeRule | null {
  if (wanted === false) return null;
  if (hints.h3 !== null) return { afterMs: handshakeOverdueMs(hints.h3), bySignOfLife: false };
  return { afterMs: wanted === null ? null : rttMs * INITIAL_RTTS_PER_PTO, bySignOfLife: true };
}

/** By when a handshake would be done over a path that lost none of it; no attempt starts sooner after another. */
function handshakeOverdueMs(path: PathHint): number {
  return bounded(
    overdueMs(path.handshakeMs ?? path.srttMs, path),
    LEAST_ATTEMPT_DELAY_MS,
    MAX_ATTEMPT_DELAY_MS,
  );
}

/**
 * TCP's connection attempt delay, unless configured: P2's, and on a known path until a handshake is overdue, as the draft
 * would have it (section 6: the previous attempt's first retransmission). After a hedged attempt the draft's least delay.
 */
function tcpAttemptDelayMs(hints: Hints, configuredMs: number | null, hedge: HedgeRule | null): number {
  if (configuredMs !== null) return configuredMs;
  if (hints.h3 !== null) {
    const behindMs = hedge === null ? 0 : LEAST_ATTEMPT_DELAY_MS;
    return Math.min(handshakeOverdueMs(hints.h3) + behindMs, MAX_ATTEMPT_DELAY_MS);
  }
  return hints.h2 === null
    ? TCP_ATTEMPT_DELAY_MS
    : bounded(retransmissionMs(hints.h2), TCP_ATTEMPT_DELAY_MS, MAX_ATTEMPT_DELAY_MS);
}

/** The Connection Attempt Delay after an attempt of this contender (section 6 of the draft). */
function attemptDelayMs(hints: Hints, contender: ContenderName, configuredMs: number | null): number {
  if (configuredMs !== null) return bounded(configuredMs, LEAST_ATTEMPT_DELAY_MS, MAX_ATTEMPT_DELAY_MS);
  const path = pathOf(hints, contender);
  return path === null
    ? ATTEMPT_DELAY_MS
    : bounded(retransmissionMs(path), MIN_ATTEMPT_DELAY_MS, MAX_ATTEMPT_DELAY_MS);
}

/** How much longer an attempt may take that has just shown life after `roundTripMs` (section 6.1 of the draft). */
export function establishingMs(roundTripMs: number): number {
  return bounded(ROUND_TRIPS_TO_ESTABLISH * roundTripMs, LEAST_ATTEMPT_DELAY_MS, MAX_ATTEMPT_DELAY_MS);
}

/** The pace of a trial by what is asked and what is known of the path; `hedges`: whether its mode allows a hedged attempt. */
export function pacingOf(hints: Hints, asked: PacingOptions, hedges: boolean): Pacing {
  const rttMs = asked.initialRttMs ?? initialRttMs(hints);
  const hedge = hedges ? hedgeRule(hints, asked.hedge, rttMs) : null;
  return {
    groupDelayMs: tcpAttemptDelayMs(hints, asked.tcpAttemptDelayMs, hedge),
    attemptDelayMs: {
      h3: attemptDelayMs(hints, 'h3', asked.attemptDelayMs),
      h2: attemptDelayMs(hints, 'h2', asked.attemptDelayMs),
    },
    hedge,
    initialRttMs: rttMs,
  };
}
