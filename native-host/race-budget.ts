// The budget for races asked for over the port: what keeps a message from making the helper connect without end.
import type { Clock } from './race/clock.ts';

/** Races at once over one port. */
export const MAX_RACES_AT_ONCE = 4;
/** Races begun within a minute over one port. */
export const MAX_RACES_PER_MINUTE = 30;
const MINUTE_MS = 60_000;

export interface RaceBudget {
  /** Takes a place; null when the budget is used up. The returned function gives the place back, once. */
  take(): (() => void) | null;
}

/** The budget that binds races asked for over the port; the command line is bound by its flags instead. */
export function raceBudget(clock: Pick<Clock, 'nowMs'>): RaceBudget {
  let running = 0;
  let begun: number[] = [];
  return {
    take() {
      const nowMs = clock.nowMs();
      begun = begun.filter((atMs) => nowMs - atMs < MINUTE_MS);
      if (running >= MAX_RACES_AT_ONCE || begun.length >= MAX_RACES_PER_MINUTE) return null;
      running += 1;
      begun.push(nowMs);
      let held = true;
      return () => {
        if (held) running -= 1;
        held = false;
      };
    },
  };
}
