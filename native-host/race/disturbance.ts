// How late this machine handles due events, and whether that may have caused a trial's result: time-outs and times are
// only as accurate as the event loop. The bounds are relative, because the same delay decides a time-out of 100 ms and
// does not matter for one of 3 s.
import { uptime } from 'node:os';
import type { Disturbance, Trial } from '@photofinish/shared/race/outcome';
import { roundedMs } from '@photofinish/shared/race/statistics';
import type { AttemptErrorCode } from '@photofinish/shared/race/terms';
import { systemClock } from '../clock.ts';
import { isSilence } from './budget.ts';

/** Lateness seen by one watch. */
export interface Lateness {
  /** The longest delay of a due timer, in milliseconds. */
  readonly worstMs: number;
  /** The sum of all such delays, in milliseconds: during that time incoming data was not handled. */
  readonly totalMs: number;
}

export interface LatenessWatch {
  /** Lateness so far, including a timer that is overdue at this moment. */
  read(): Lateness;
  end(): void;
}

/** Starts a watch. */
export type WatchLateness = () => LatenessWatch;

interface LatenessParts {
  readonly nowMs: () => number;
  /** Milliseconds since the epoch: this clock goes on during a suspend too, and is cheaper to read than the uptime. */
  readonly epochMs: () => number;
  /** Milliseconds since the machine started, including those in which it was suspended. */
  readonly uptimeMs: () => number;
  /** Calls `run` after `delayMs`, without keeping the process alive; returns how to cancel it. */
  readonly after: (delayMs: number, run: () => void) => () => void;
}

/** Often enough to detect what delays a handshake, and rarely enough to cost nothing beside one. */
const EVERY_MS = 10;
/** libuv counts whole milliseconds, so a timer that is at most this late is on time. */
const GRANULARITY_MS = 1;

/**
 * While Linux suspends the machine, its monotonic clock stands still. The uptime has whole seconds at the coarsest, hence
 * a minimum.
 */
const MIN_SUSPENDED_MS = 2000;

/** A watch that never reports lateness, for races on virtual time. */
export const NEVER_LATE: LatenessWatch = { read: () => ({ worstMs: 0, totalMs: 0 }), end() {} };

interface LatenessState {
  readonly beganMs: number;
  readonly aheadMs: number;
  worstMs: number;
  totalMs: number;
}

/** A meter with one repeating timer that runs while there is any watch, shared by all of them. */
export function latenessMeter({ nowMs, epochMs, uptimeMs, after }: LatenessParts): WatchLateness {
  const watched = new Set<LatenessState>();
  let dueMs = 0;
  let forget: (() => void) | null = null;
  let ahead: { readonly epochAheadMs: number; readonly uptimeAheadMs: number } | null = null;

  /** For a delay that began before the watch, the watch counts only its own part. */
  function lateMs({ beganMs }: LatenessState, atMs: number): number {
    return Math.max(0, atMs - Math.max(dueMs, beganMs) - GRANULARITY_MS);
  }

  /**
   * How far the uptime is ahead of the monotonic clock. Systems read it from a file, so it is read again only once the
   * wall clock has moved against the monotonic one; that alone may be a clock that was set.
   */
  function aheadMs(): number {
    const atMs = nowMs();
    const epochAheadMs = epochMs() - atMs;
    if (ahead === null || Math.abs(epochAheadMs - ahead.epochAheadMs) >= MIN_SUSPENDED_MS / 2)
      ahead = { epochAheadMs, uptimeAheadMs: uptimeMs() - atMs };
    return ahead.uptimeAheadMs;
  }

  /** For how long the machine was suspended: peers have then given up, and the network is not back at once. */
  function suspendedMs(state: LatenessState): number {
    const ms = aheadMs() - state.aheadMs;
    return ms < MIN_SUSPENDED_MS ? 0 : ms;
  }

  function sample(): void {
    const atMs = nowMs();
    for (const each of watched) {
      const late = lateMs(each, atMs);
      each.worstMs = Math.max(each.worstMs, late);
      each.totalMs += late;
    }
    arm(atMs);
  }

  function arm(atMs: number): void {
    dueMs = atMs + EVERY_MS;
    forget = after(EVERY_MS, sample);
  }

  return () => {
    const own: LatenessState = { beganMs: nowMs(), aheadMs: aheadMs(), worstMs: 0, totalMs: 0 };
    if (watched.size === 0) arm(own.beganMs);
    watched.add(own);
    return {
      read() {
        const late = lateMs(own, nowMs());
        const suspended = suspendedMs(own);
        return {
          worstMs: Math.max(own.worstMs, late, suspended),
          totalMs: own.totalMs + late + suspended,
        };
      },
      end() {
        watched.delete(own);
        if (watched.size > 0) return;
        forget?.();
      },
    };
  };
}

/** The meter of this process's event loop. */
export const watchEventLoop: WatchLateness = latenessMeter({
  nowMs: systemClock.nowMs,
  epochMs: systemClock.epochMs,
  uptimeMs: () => uptime() * 1000,
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs).unref();
    return () => clearTimeout(timer);
  },
});

/**
 * How often an attempt waits for the event loop at most: TCP connected, two flights of TLS, SETTINGS, request, headers,
 * the body and its end. So late turns cost an attempt at most this many times the longest delay, however long the
 * trial.
 */
const TURNS = 8;

/**
 * A time-out proves silence only if there was time to receive: if less than half of it was left, data may have arrived
 * and not been read. The other half leaves a handshake many round trips.
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
const MIN_DISTURBING_MS = 50;

/** Failures of attempts whose peer may have stopped waiting for us. */
const PEER_GAVE_UP: ReadonlySet<AttemptErrorCode> = new Set([
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

interface TrialLateness {
  /** Until an attempt was adopted; until the end if none was. */
  readonly decided: Lateness;
  readonly ended: Lateness;
}

/**
 * Whether lateness may have caused a failure in a trial. An attempt that started late in it, such as one that followed
 * Alt-Svc, had only the rest of its time.
 */
function isFalsified({ attempts }: Trial, lateness: Lateness, timeoutMs: number): boolean {
  return attempts.some(({ error, startedMs, establishedMs }) => {
    if (error === undefined) return false;
    if (isSilence(error)) return isTooLate(lateness, timeoutMs - (establishedMs ?? startedMs));
    return PEER_GAVE_UP.has(error.code) && isTooLate(lateness, timeoutMs);
  });
}

function disturbanceOf(
  trial: Trial,
  { decided, ended }: TrialLateness,
  timeoutMs: number,
): Disturbance | null {
  // An established or refused connection is a fact, however late we processed it.
  if (isFalsified(trial, ended, timeoutMs)) return 'outcome';
  if (trial.establishedMs === null) return null;
  // QUIC times its handshakes itself, so late processing does not affect its times.
  const lost = Math.min(lostMs(decided), trial.establishedMs);
  return lost >= Math.max(MIN_DISTURBING_MS, TIMES_SHARE * trial.establishedMs) ? 'times' : null;
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
