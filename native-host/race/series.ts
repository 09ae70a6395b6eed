// When a comparison has enough pairs: it continues while they are undecided, and no longer.
import type { Trial } from '@photofinish/shared/race/outcome';
import { LEAST_PAIRS } from '@photofinish/shared/race/paired-comparison';
import { compareTrials, wholePairs } from '@photofinish/shared/race/race-pairs';

/**
 * Whether the trials of a series decide it: they show a clear difference, or the last three pairs were incomplete, so
 * that the failure is reported instead of compared. A series out of time (`late`) ends after the first three pairs at
 * the earliest. Never true between the two trials of a pair.
 */
export function isSettled(trials: readonly Trial[], mostPairs: number, late: boolean): boolean {
  const pairs = trials.length / 2;
  if (!Number.isInteger(pairs) || pairs < LEAST_PAIRS) return false;
  if (late || wholePairs(trials.slice(-2 * LEAST_PAIRS)).length === 0) return true;
  return (compareTrials(trials, mostPairs)?.quicker ?? null) !== null;
}
