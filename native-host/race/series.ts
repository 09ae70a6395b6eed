// Series of trials: when a comparison has enough pairs (it continues while they are undecided, and no longer), and one
// summary per series, with counts, statistics over adopted trials, and the result of its pairs for `compare`.
import { timedTrials } from '@photofinish/shared/race/conclusive';
import type { CacheUse, Comparison, Summary, Trial } from '@photofinish/shared/race/outcome';
import { LEAST_PAIRS, MOST_PAIRS } from '@photofinish/shared/race/paired-comparison';
import { compareTrials, wholePairs } from '@photofinish/shared/race/race-pairs';
import { statistics } from '@photofinish/shared/race/statistics';
import type { Mode } from '@photofinish/shared/race/terms';
import { gainMsOf } from '@photofinish/shared/verdict/gain';
import { MODE_RULES } from './modes.ts';
import type { Decision } from './plan.ts';

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

function compared(trials: readonly Trial[], mostPairs: number): Pick<Summary, 'gainMs' | 'comparison'> {
  const comparison = compareTrials(trials, mostPairs);
  if (comparison === null) return { gainMs: null };
  const most: Comparison['most'] = Math.max(mostPairs, comparison.pairs);
  return { gainMs: gainMsOf(comparison), comparison: { ...comparison, most } };
}

/**
 * Counts and statistics of a series; h3 + h2 + http/1.1 + failed = trials. `mostPairs` is the maximum number of pairs
 * of a series. A series has no time statistics here: a median across two protocols is the time of neither.
 */
export function summaryOf(mode: Mode, trials: readonly Trial[], mostPairs: number = MOST_PAIRS): Summary {
  const adopted = (protocol: Trial['adopted']): number => trials.filter((t) => t.adopted === protocol).length;
  const times = timedTrials(trials).flatMap((t) => (t.establishedMs === null ? [] : [t.establishedMs]));
  const series = MODE_RULES[mode].kind === 'series';
  return {
    trials: trials.length,
    adoption: { h3: adopted('h3'), h2: adopted('h2'), 'http/1.1': adopted('http/1.1') },
    failed: adopted(null),
    ...(series ? compared(trials, mostPairs) : { gainMs: null }),
    establishedMs: series ? null : statistics(times),
  };
}

/**
 * How often the host cache was queried, had an answer, and was right (P1 distinguishes hit ratio and accuracy);
 * `decisions` is what was remembered before each trial. Null for a mode that does not use decisions.
 */
export function cacheUseOf(
  mode: Mode,
  trials: readonly Trial[],
  decisions: readonly (Decision | null)[],
): CacheUse | null {
  const rules = MODE_RULES[mode];
  if (rules.kind === 'series' || !rules.usesDecision) return null;
  const found = trials.flatMap(({ adopted }, index) => {
    const decision = decisions[index] ?? null;
    return decision === null ? [] : [{ decision, adopted }];
  });
  const scored = found.filter(({ adopted }) => adopted !== null);
  const right = scored.filter(({ decision, adopted }) => adopted === decision);
  return { lookups: trials.length, hits: found.length, scored: scored.length, right: right.length };
}
