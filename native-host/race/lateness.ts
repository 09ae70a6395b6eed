// How late this machine handles due events: a race's time-outs and times are only as accurate as the event loop, so
// each trial is watched, to distinguish what a busy machine falsified from what the network did.
import { systemClock } from '../clock.ts';

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

export interface LatenessParts {
  readonly nowMs: () => number;
  /** Calls `run` after `delayMs`, without keeping the process alive; returns how to cancel it. */
  readonly after: (delayMs: number, run: () => void) => () => void;
}

/** Often enough to detect what delays a handshake, and rarely enough to cost nothing beside one. */
const EVERY_MS = 10;
/** libuv counts whole milliseconds, so a timer that is at most this late is on time. */
const GRANULARITY_MS = 1;

/** A watch that never reports lateness, for races on virtual time. */
export const NEVER_LATE: LatenessWatch = { read: () => ({ worstMs: 0, totalMs: 0 }), end() {} };

interface LatenessState {
  readonly beganMs: number;
  worstMs: number;
  totalMs: number;
}

/** A meter with one repeating timer that runs while there is any watch, shared by all of them. */
export function latenessMeter({ nowMs, after }: LatenessParts): WatchLateness {
  const watched = new Set<LatenessState>();
  let dueMs = 0;
  let forget: (() => void) | null = null;

  /** For a delay that began before the watch, the watch counts only its own part. */
  function lateMs({ beganMs }: LatenessState, atMs: number): number {
    return Math.max(0, atMs - Math.max(dueMs, beganMs) - GRANULARITY_MS);
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
    const own: LatenessState = { beganMs: nowMs(), worstMs: 0, totalMs: 0 };
    if (watched.size === 0) arm(own.beganMs);
    watched.add(own);
    return {
      read() {
        const late = lateMs(own, nowMs());
        return { worstMs: Math.max(own.worstMs, late), totalMs: own.totalMs + late };
      },
      end() {
        watched.delete(own);
        if (watched.size > 0) return;
        forget?.();
        forget = null;
      },
    };
  };
}

/** The meter of this process's event loop. */
export const watchEventLoop: WatchLateness = latenessMeter({
  nowMs: systemClock.nowMs,
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs).unref();
    return () => clearTimeout(timer);
  },
});
