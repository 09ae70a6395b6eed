// What a known path is good for: every delay of a race that memory can inform, each with the rule it comes from. Pure.
import type { ContenderName } from '@photofinish/shared/outcome';
import type { Hints, PathHint } from '../cache/hints.ts';

/** P2: the fixed delay after which old HTTP is started. */
export const DEFAULT_START_DELAY_MS = 10;
/** QUIC's estimate for a host never met: its first retransmission then comes after 200 ms, as in quic-go, P2's stack. */
const UNKNOWN_HOST_RTT_MS = 67;

/** The Happy Eyeballs v3 draft's Connection Attempt Delay and its bounds (section 6). */
export const ATTEMPT_DELAY_MS = 250;
const MIN_ATTEMPT_DELAY_MS = 100;
export const MAX_ATTEMPT_DELAY_MS = 2000;
/** "A subsequent connection MUST NOT be started within 10 milliseconds of the previous attempt" (section 6). */
export const LEAST_ATTEMPT_DELAY_MS = 10;

/** quinn's first probe time-out before it has a sample is this many initial round-trip times. */
const INITIAL_RTTS_PER_PTO = 3;
/** RFC 9002 section 6.1.2 and quinn: timers are no finer. */
const GRANULARITY_MS = 1;
/**
 * RFC 6298 section 2.2: after its first sample R a retransmission timer is R + 4 x R / 2. By then a TLS 1.3 handshake,
 * one round trip, is either done or has lost a packet.
 */
const ROUND_TRIPS_TO_ESTABLISH = 3;

function bounded(ms: number, leastMs: number, mostMs: number): number {
  return Math.min(mostMs, Math.max(leastMs, ms));
}

/** When a first flight over this path is sent again: RFC 6298 section 2.3, RFC 9002 section 6.2.1. */
function retransmissionMs({ srttMs, rttvarMs }: PathHint): number {
  return srttMs + Math.max(4 * rttvarMs, GRANULARITY_MS);
}

/** The contender's own past, or else the other's: both take the same path. */
function pathOf(hints: Hints, contender: ContenderName): PathHint | null {
  return contender === 'h3' ? (hints.h3 ?? hints.h2) : (hints.h2 ?? hints.h3);
}

/** QUIC's initial round-trip estimate, so that a lost first flight costs one retransmission time of this path. */
export function initialRttMs(hints: Hints): number {
  const path = pathOf(hints, 'h3');
  return path === null ? UNKNOWN_HOST_RTT_MS : retransmissionMs(path) / INITIAL_RTTS_PER_PTO;
}

/** QUIC's first probe time-out: by then an answer to the first flight is overdue. */
export function firstPtoMs(hints: Hints): number {
  return initialRttMs(hints) * INITIAL_RTTS_PER_PTO;
}

/**
 * The head start of HTTP/3: as configured, else until a lost first flight is sent again (section 6 of the draft), never
 * below P2's.
 */
export function startDelayMs(hints: Hints, configuredMs: number | null): number {
  if (configuredMs !== null) return configuredMs;
  const path = pathOf(hints, 'h3');
  return path === null
    ? DEFAULT_START_DELAY_MS
    : bounded(retransmissionMs(path), DEFAULT_START_DELAY_MS, MAX_ATTEMPT_DELAY_MS);
}

/** The Connection Attempt Delay after an attempt of this contender (section 6 of the draft). */
export function attemptDelayMs(hints: Hints, contender: ContenderName, configuredMs: number | null): number {
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

/** Whether HTTP/3 is to be left alone now. */
export function h3IsBroken(hints: Hints, epochMs: number): boolean {
  return hints.h3Broken !== null && epochMs < hints.h3Broken.untilMs;
}
