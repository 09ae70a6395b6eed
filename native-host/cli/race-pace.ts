// How many races `race -` has under way: as many as was asked for, or as many as this machine takes without its own work
// getting into the times that it measures.

import { performance } from 'node:perf_hooks';

export interface Pace {
  /** How many races may be under way now. */
  limit(): number;
  /** One of them is over. */
  over(): void;
}

/** So many at a time, whatever comes of it. */
export function fixedPace(atMost: number): Pace {
  return { limit: () => atMost, over() {} };
}

/** Few enough that races hardly meet; what more would cost is measured against these. */
export const LEAST_AT_A_TIME = 4;
/** Each takes a socket or two: common limits of open files allow no more by themselves. */
const MOST_AT_A_TIME = 256;
/**
 * More races wait for each other the more the event loop is taken: at half of its time by half as long as what they do
 * takes, at three quarters by one and a half times as long (M/D/1). So up to half it may be more, from three quarters on
 * it must be fewer.
 */
const RAISE_BELOW = 0.5;
const LOWER_FROM = 0.75;
/** Shorter spells are chance. */
const ROUND_MS = 250;

export interface PaceParts {
  readonly nowMs: () => number;
  /** The share of its time that the event loop was taken since this was last asked, 0 to 1. */
  readonly taken: () => number;
}

/**
 * Raises the number while the event loop has time to spare, and lowers it where it has not; looked at once all that were
 * under way may have ended. Doubles until it was too many for the first time, then goes in steps of an eighth.
 */
export function adaptivePace({ nowMs, taken }: PaceParts): Pace {
  let limit = LEAST_AT_A_TIME;
  let doubles = true;
  let ended = 0;
  let beganMs = nowMs();

  function look(): void {
    const share = taken();
    if (share >= LOWER_FROM) {
      limit = Math.max(LEAST_AT_A_TIME, Math.floor(limit * 0.75));
      doubles = false;
    } else if (share < RAISE_BELOW) {
      limit = Math.min(MOST_AT_A_TIME, doubles ? 2 * limit : limit + Math.ceil(limit / 8));
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

/** What `taken` is for the event loop of this process. */
function eventLoopTaken(): () => number {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}

/** The pace of a survey: what was asked for, else what this machine bears. */
export function paceFor(asked: number | null, nowMs: () => number): Pace {
  return asked === null ? adaptivePace({ nowMs, taken: eventLoopTaken() }) : fixedPace(asked);
}
