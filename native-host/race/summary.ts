// One summary per series of trials: counts, statistics over adopted trials, and what its pairs show, if it is `compare`.
import { timedTrials } from '@photofinish/shared/race/conclusive';
import type { CacheUse, Comparison, Mode, Summary, Trial } from '@photofinish/shared/race/outcome';
import { MOST_PAIRS } from '@photofinish/shared/race/paired-comparison';
import { compareTrials } from '@photofinish/shared/race/race-pairs';
import { statistics } from '@photofinish/shared/race/statistics';
import { gainMsOf } from '@photofinish/shared/verdict/gain';
import { MODE_RULES } from './modes.ts';
import type { Decision } from './plan.ts';

function compared(trials: readonly Trial[], mostPairs: number): Pick<Summary, 'gainMs' | 'comparison'> {
  const comparison = compareTrials(trials, mostPairs);
  if (comparison === null) return { gainMs: null };
  const most: Comparison['most'] = Math.max(mostPairs, comparison.pairs);
  return { gainMs: gainMsOf(comparison), comparison: { ...comparison, most } };
}

/**
 * Counts and statistics of a series; h3 + h2 + http/1.1 + failed = trials. `mostPairs` is how many pairs a series may
 * have. Times of a series have no statistics here: one median of two protocols is the time of neither.
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
 * How often the host cache was asked, knew, and was right (P1: hit ratio and accuracy are different things);
 * `decisions` is what was remembered before each trial. Null for a mode that asks for no decision.
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
