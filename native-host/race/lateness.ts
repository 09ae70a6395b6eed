// How late this machine handles what falls due: a race's limits and times are only as good as the event loop that heeds
// them, so each trial is watched, and what a busy machine falsified is told from what the network did.
import { systemClock } from '../clock.ts';

/** What one watch has seen. */
export interface Lateness {
  /** The longest that something due waited, in milliseconds. */
  readonly worstMs: number;
  /** The sum of all such waiting, in milliseconds: for so long whatever came in was not handled. */
  readonly totalMs: number;
}

export interface LatenessWatch {
  /** What was seen so far; up to this very moment, where something is overdue now. */
  read(): Lateness;
  end(): void;
}

/** Begins to watch. */
export type WatchLateness = () => LatenessWatch;

export interface LatenessParts {
  readonly nowMs: () => number;
  /** Calls `run` after `delayMs`, without keeping the process alive for it; gives how to forget it. */
  readonly after: (delayMs: number, run: () => void) => () => void;
}

/** Often enough to see what delays a handshake, and seldom enough to cost nothing beside one. */
const EVERY_MS = 10;
/** libuv counts whole milliseconds, so a timer that is no later than that is on time. */
const GRANULARITY_MS = 1;

/** A watch that nothing is ever late for: races on virtual time. */
export const NEVER_LATE: LatenessWatch = { read: () => ({ worstMs: 0, totalMs: 0 }), end() {} };

interface LatenessState {
  readonly beganMs: number;
  worstMs: number;
  totalMs: number;
}

/** A meter by a timer that is set anew again and again while anybody watches, and is of use to all of them. */
export function latenessMeter({ nowMs, after }: LatenessParts): WatchLateness {
  const watched = new Set<LatenessState>();
  let dueMs = 0;
  let forget: (() => void) | null = null;

  /** Of what was overdue before a watch began, it bears only its own part. */
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

/** The event loop of this process. */
export const watchEventLoop: WatchLateness = latenessMeter({
  nowMs: systemClock.nowMs,
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs).unref();
    return () => clearTimeout(timer);
  },
});
