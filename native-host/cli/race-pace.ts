// How many races `race -` runs at a time: the number requested, or as many as possible without this machine's own work
// distorting the measured times.
import { performance } from 'node:perf_hooks';

export interface Pace {
  /** How many races may run now. */
  limit(): number;
  /** A race has ended. */
  over(): void;
}

/** A fixed number, whatever its effect. */
export function fixedPace(atMost: number): Pace {
  return { limit: () => atMost, over() {} };
}

/** Few enough that races hardly interfere; the cost of more is measured relative to these. */
export const MIN_CONCURRENT_RACES = 4;
/** Each uses a socket or two: common limits on open files allow no more. */
const MAX_CONCURRENT_RACES = 256;
/**
 * The busier the event loop, the longer races wait for each other: at half load, half as long as their own work; at
 * three quarters, one and a half times as long (M/D/1). So below half there may be more races, from three quarters on
 * there must be fewer.
 */
const RAISE_BELOW = 0.5;
const LOWER_FROM = 0.75;
/** Shorter intervals are dominated by chance. */
const ROUND_MS = 250;

/**
 * Raises the number while the event loop has spare time, and lowers it otherwise; evaluated once all races that were
 * running may have ended. Doubles until it was too high for the first time, then changes in steps of an eighth. `taken`
 * gives the fraction of time that the event loop was busy since its last call, 0 to 1.
 */
export function adaptivePace(nowMs: () => number, taken: () => number): Pace {
  let limit = MIN_CONCURRENT_RACES;
  let doubles = true;
  let ended = 0;
  let beganMs = nowMs();

  function look(): void {
    const share = taken();
    if (share >= LOWER_FROM) {
      limit = Math.max(MIN_CONCURRENT_RACES, Math.floor(limit * 0.75));
      doubles = false;
    } else if (share < RAISE_BELOW) {
      limit = Math.min(MAX_CONCURRENT_RACES, doubles ? 2 * limit : limit + Math.ceil(limit / 8));
    }
  }

  return {
    limit: () => limit,
    over() {
      ended += 1;
      if (ended < limit || nowMs() - beganMs < ROUND_MS) return;
      ended = 0;
      beganMs = nowMs();
      look();
    },
  };
}

/** The implementation of `taken` for this process's event loop. */
function eventLoopTaken(): () => number {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}

/** The pace of a survey: as requested, otherwise adapted to this machine. */
export function paceFor(atMost: number | null, nowMs: () => number): Pace {
  return atMost === null ? adaptivePace(nowMs, eventLoopTaken()) : fixedPace(atMost);
}
