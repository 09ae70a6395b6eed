// One summary per series of trials: counts, statistics over adopted trials, and the gain, which only `compare` yields.
import type { CacheUse, Mode, Summary, Trial } from '@photofinish/shared/outcome';
import { LEAST_PAIRS } from '@photofinish/shared/paired-comparison';
import { median, statistics } from '@photofinish/shared/statistics';
import { MODE_RULES } from './modes.ts';
import type { Decision } from './plan.ts';

/**
 * median(h2 established) - median(h3 established) in milliseconds over the pairs of a `compare` series in which both
 * were established; null for fewer than three, and for every other mode. Trials 2n and 2n + 1 are a pair; `h2` is TCP
 * and TLS, whatever ALPN then gave.
 */
function gainOf(mode: Mode, trials: readonly Trial[]): number | null {
  if (MODE_RULES[mode].kind !== 'series') return null;
  const h3: number[] = [];
  const h2: number[] = [];
  for (let i = 0; i + 1 < trials.length; i += 2) {
    const pair = trials.slice(i, i + 2);
    const fast = pair.find((t) => t.adopted === 'h3')?.establishedMs;
    const old = pair.find((t) => t.adopted !== 'h3')?.establishedMs;
    if (fast == null || old == null) continue;
    h3.push(fast);
    h2.push(old);
  }
  const [fast, old] = [median(h3), median(h2)];
  if (h3.length < LEAST_PAIRS || fast === null || old === null) return null;
  return Math.round((old - fast) * 1000) / 1000;
}

/** Counts and statistics of a series; h3 + h2 + http/1.1 + failed = trials. */
export function summaryOf(mode: Mode, trials: readonly Trial[]): Summary {
  const adopted = (protocol: Trial['adopted']): number => trials.filter((t) => t.adopted === protocol).length;
  const times = trials.flatMap((t) => (t.establishedMs === null ? [] : [t.establishedMs]));
  return {
    trials: trials.length,
    adoption: { h3: adopted('h3'), h2: adopted('h2'), 'http/1.1': adopted('http/1.1') },
    failed: adopted(null),
    gainMs: gainOf(mode, trials),
    establishedMs: statistics(times),
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
