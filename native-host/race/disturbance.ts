// Decides whether this machine's own lateness may have caused a trial's result. The bounds are relative, because the
// same delay decides a time-out of 100 ms and does not matter for one of 3 s.
import type { Disturbance, Trial } from '@photofinish/shared/race/outcome';
import { roundedMs } from '@photofinish/shared/race/statistics';
import type { Lateness } from './lateness.ts';

/**
 * How often an attempt waits for the event loop at most: TCP connected, two flights of TLS, SETTINGS, request, headers,
 * the body and its end. So late turns cost an attempt at most this many times the longest delay, however long the
 * trial.
 */
const TURNS = 8;

/**
 * A time-out proves silence only if there was time to hear: if less than half of it was left, data may have arrived and
 * not been read. The other half leaves a handshake many round trips.
 */
const LIMIT_SHARE = 0.5;

/**
 * A fifth of the time to establish: without it the handshake would have been 1.25 times as fast, more than counts as
 * equal.
 */
const TIMES_SHARE = 0.2;
/**
 * Shorter delays do not indicate a busy machine: the trial's own cryptography, compilation and garbage collection block
 * the loop for a few milliseconds on any machine, tens on a slow one.
 */
const LEAST_TIMES_MS = 50;

/** Failures of attempts that timed out, or whose peer stopped waiting for us. */
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

/** The most that lateness may have cost an attempt, in milliseconds. */
function lostMs({ worstMs, totalMs }: Lateness): number {
  return Math.min(totalMs, TURNS * worstMs);
}

/** Whether so little of a time-out was left that exceeding it is no evidence. */
export function isTooLate(lateness: Lateness, timeoutMs: number): boolean {
  return lostMs(lateness) >= LIMIT_SHARE * timeoutMs;
}

export interface TrialLateness {
  /** Until an attempt was adopted; until the end if none was. */
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
  // An established or refused connection is a fact, however late we processed it.
  if (hasFalsifiable(trial) && isTooLate(ended, timeoutMs)) return 'outcome';
  if (trial.establishedMs === null) return null;
  // QUIC times its handshakes itself, so late processing does not affect its times.
  const lost = Math.min(lostMs(decided), trial.establishedMs);
  return lost >= Math.max(LEAST_TIMES_MS, TIMES_SHARE * trial.establishedMs) ? 'times' : null;
}

/** The trial with the effect of lateness on it; `timeoutMs` is the trial's time-out. */
export function withLateness(trial: Trial, lateness: TrialLateness, timeoutMs: number): Trial {
  const disturbed = disturbanceOf(trial, lateness, timeoutMs);
  return {
    ...trial,
    lateMs: roundedMs(lostMs(lateness.decided)),
    ...(disturbed !== null && { disturbed }),
  };
}
