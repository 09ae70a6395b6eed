// Whether this machine's own lateness may have made what a trial says: the bound is what it could have falsified, and
// nothing absolute, because one delay means everything to a limit of 100 ms and nothing to one of 3 s.
import type { Disturbance, Trial } from '@photofinish/shared/race/outcome';
import { rounded } from './attempt-run.ts';
import type { Lateness } from './lateness.ts';

/**
 * How often an attempt waits for the event loop at most: TCP connected, two flights of TLS, SETTINGS, request, headers,
 * the body and its end. However long a trial, late turns cost an attempt no more than so many of the longest.
 */
const TURNS = 8;

/**
 * A limit that was reached proves silence only if there was time to hear: with less than half of it left, what came in
 * may have lain unread. In the other half a handshake has room for many round trips.
 */
const LIMIT_SHARE = 0.5;

/** A fifth of the time to establish, so that it would have been 1.25 times as quick: more than is called equal. */
const TIMES_SHARE = 0.2;
/**
 * Less is no sign of a busy machine: the trial's own cryptography, compiling and collecting garbage keep the loop for
 * some milliseconds on any machine, tens on a slow one.
 */
const LEAST_TIMES_MS = 50;

/** How an attempt ends whose time ran out, or whose peer has waited for us longer than it would. */
const FALSIFIABLE: ReadonlySet<string | undefined> = new Set([
  'udp-timeout',
  'tcp-timeout',
  'handshake-timeout',
  'response-timeout',
  'connection-closed',
  'stateless-reset',
  'h3-error',
  'goaway',
]);

/** What lateness cost an attempt at most, in milliseconds. */
function lostMs({ worstMs, totalMs }: Lateness): number {
  return Math.min(totalMs, TURNS * worstMs);
}

/** Whether so little of a limit was left that running out of time is no evidence. */
export function isTooLate(lateness: Lateness, timeoutMs: number): boolean {
  return lostMs(lateness) >= LIMIT_SHARE * timeoutMs;
}

export interface TrialLateness {
  /** Until something was adopted; until the end, where nothing was. */
  readonly decided: Lateness;
  readonly ended: Lateness;
}

function hasFalsifiable({ attempts }: Trial): boolean {
  return attempts.some(({ outcome, error }) => outcome === 'failed' && FALSIFIABLE.has(error?.code));
}

function disturbanceOf(
  trial: Trial,
  { decided, ended }: TrialLateness,
  timeoutMs: number,
): Disturbance | null {
  // What was established or refused was so, however late that was heard of.
  if (hasFalsifiable(trial) && isTooLate(ended, timeoutMs)) return 'outcome';
  if (trial.establishedMs === null) return null;
  // QUIC times its handshakes itself: of what was only heard late its times have nothing.
  const lost = Math.min(lostMs(decided), trial.establishedMs);
  return lost >= Math.max(LEAST_TIMES_MS, TIMES_SHARE * trial.establishedMs) ? 'times' : null;
}

/** The trial with what lateness did to it; `timeoutMs` is its limit. */
export function withLateness(trial: Trial, lateness: TrialLateness, timeoutMs: number): Trial {
  const disturbed = disturbanceOf(trial, lateness, timeoutMs);
  return {
    ...trial,
    lateMs: rounded(lostMs(lateness.decided)),
    ...(disturbed !== null && { disturbed }),
  };
}
