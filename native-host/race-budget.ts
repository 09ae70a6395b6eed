// The budget for races requested over the port: limits how often a message, whoever caused it, can make the helper
// connect.
import { RACES_AT_ONCE, RACES_PER_MINUTE } from '@photofinish/shared/port/race-limits';
import type { Clock } from './clock.ts';
import { type AttemptLimits, TRIAL_LIMITS } from './race/trial-budget.ts';

/**
 * One race over all its trials: a comparison of fifteen pairs makes thirty attempts. Its other limits are those of one
 * trial.
 */
export const RACE_LIMITS: AttemptLimits = { ...TRIAL_LIMITS, attempts: 64 };
/** Why a race is requested: the user pressed a button, or visited a page for the first time. */
export type RaceReason = 'click' | 'navigation';
/**
 * Attempts within a minute after which no further race starts, by reason; races in progress keep their own limits.
 * Thirty first visits may make eight attempts each before that, where two are usual; thirty comparisons on a click are
 * all of fifteen pairs.
 */
export const MAX_ATTEMPTS_PER_MINUTE: Readonly<Record<RaceReason, number>> = { click: 960, navigation: 240 };
const MINUTE_MS = 60_000;

/** A race's share of the budget. */
export interface RaceSlot {
  /** Counts one attempt. */
  began(): void;
  /** Releases the slot; further calls do nothing. */
  release(): void;
}

export interface RaceBudget {
  /** Takes a slot; null when the budget is used up. */
  take(reason: RaceReason): RaceSlot | null;
}

/** The budget for races requested over the port; the command line is limited by its options instead. */
export function raceBudget(clock: Pick<Clock, 'nowMs'>): RaceBudget {
  let running = 0;
  let races: number[] = [];
  let attempts: number[] = [];

  function forget(): void {
    const nowMs = clock.nowMs();
    const recent = (atMs: number): boolean => nowMs - atMs < MINUTE_MS;
    races = races.filter(recent);
    attempts = attempts.filter(recent);
  }

  return {
    take(reason) {
      forget();
      if (running >= RACES_AT_ONCE || races.length >= RACES_PER_MINUTE) return null;
      if (attempts.length >= MAX_ATTEMPTS_PER_MINUTE[reason]) return null;
      running += 1;
      races.push(clock.nowMs());
      let held = true;
      return {
        began: () => void attempts.push(clock.nowMs()),
        release() {
          if (held) running -= 1;
          held = false;
        },
      };
    },
  };
}
