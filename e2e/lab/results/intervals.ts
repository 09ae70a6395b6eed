// How sure a figure is: 95 % intervals for shares, means, percentiles and ratios, with nothing assumed of how times are
// distributed.

import type { Random } from '@photofinish/shared/seeded-random.fixture';
import { percentile } from '@photofinish/shared/statistics';
import { resampled, resampledInterval } from '../../bench/bootstrap.ts';
import type { Estimate } from './goal-row.ts';

/** The normal distribution's quantile for 95 % between both tails. */
export const Z_95 = 1.959964;
/** -ln 0.05, rounded as everyone does. */
const RULE_OF_THREE = 3;

export interface Count {
  readonly hits: number;
  readonly of: number;
}

/** Wilson's score interval of a share, 0 to 1 (Wilson 1927; Newcombe 1998, method 3). Throws RangeError for none of none. */
export function wilson({ hits, of }: Count): Estimate {
  if (of <= 0) throw new RangeError('a share of nothing');
  const share = hits / of;
  const centre = share + Z_95 ** 2 / (2 * of);
  const half = Z_95 * Math.sqrt((share * (1 - share)) / of + Z_95 ** 2 / (4 * of ** 2));
  const scale = 1 + Z_95 ** 2 / of;
  // Where every trial agrees the interval ends there exactly; rounding must not say otherwise.
  return {
    value: share,
    low: hits === 0 ? 0 : (centre - half) / scale,
    high: hits === of ? 1 : (centre + half) / scale,
  };
}

/** What a share can be at most, with 95 % confidence, when none of so many hit (Hanley and Lippman-Hand 1983). */
export function ruleOfThree(of: number): number {
  return Math.min(1, RULE_OF_THREE / of);
}

/**
 * The ratio of two independent shares, by MOVER-R on their Wilson intervals (Donner and Zou 2012; Fagerland and Newcombe
 * 2013). It needs no correction for zeros: without hits in the second the upper end is Infinity and the value Infinity,
 * without any hits at all the value is NaN and the interval says that nothing is known, 0 to Infinity.
 */
export function ratioOfShares(first: Count, second: Count): Estimate {
  const [one, two] = [wilson(first), wilson(second)];
  if (first.hits === 0 && second.hits === 0) return { value: Number.NaN, low: 0, high: Infinity };
  const product = one.value * two.value;
  const rootOf = (ofFirst: number, ofSecond: number) =>
    Math.sqrt(Math.max(0, product ** 2 - ofFirst * ofSecond));
  const lowFirst = one.low * (2 * one.value - one.low);
  const highFirst = one.high * (2 * one.value - one.high);
  const lowSecond = two.low * (2 * two.value - two.low);
  const highSecond = two.high * (2 * two.value - two.high);
  // The published lower end, (product - root) / highSecond, extended by product + root: it divides by no zero.
  const low = lowFirst === 0 ? 0 : lowFirst / (product + rootOf(lowFirst, highSecond));
  const high = lowSecond === 0 ? Infinity : (product + rootOf(highFirst, lowSecond)) / lowSecond;
  return { value: one.value / two.value, low, high };
}

function meanOf(values: readonly number[]): number {
  if (values.length === 0) throw new RangeError('a mean of nothing');
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The mean of as many values, drawn with replacement. */
function drawnMean(values: Float64Array, random: Random): number {
  let sum = 0;
  for (let drawn = 0; drawn < values.length; drawn += 1)
    sum += values[Math.floor(random() * values.length)] ?? 0;
  return sum / values.length;
}

/** The estimate in another unit (a scale above 0) or from another origin. */
export function scaled({ value, low, high }: Estimate, scale: number, shift = 0): Estimate {
  return { value: value * scale + shift, low: low * scale + shift, high: high * scale + shift };
}

/** A value that nothing is uncertain about. */
export function exactly(value: number): Estimate {
  return { value, low: value, high: value };
}

/** Values that all agree give an interval without width; drawing from them would tell nothing else. */
function agree(values: readonly number[]): boolean {
  return values.every((value) => value === values[0]);
}

function bootstrap(value: number, resample: () => number): Estimate {
  return { value, ...resampledInterval(resampled(resample)) };
}

/** The mean with its percentile bootstrap interval (Efron 1979). Throws RangeError without values. */
export function meanEstimate(values: readonly number[], random: Random): Estimate {
  const mean = meanOf(values);
  if (agree(values)) return exactly(values[0] ?? mean);
  const drawnFrom = Float64Array.from(values);
  return bootstrap(mean, () => drawnMean(drawnFrom, random));
}

/** A nearest-rank percentile, `share` in (0, 1], with its bootstrap interval. Throws RangeError without values. */
export function percentileEstimate(values: readonly number[], share: number, random: Random): Estimate {
  const [first] = values;
  if (first !== undefined && agree(values)) return exactly(first);
  const sorted = Float64Array.from(values).sort();
  const rank = Math.max(1, Math.ceil(share * sorted.length));
  const counts = new Uint32Array(sorted.length);
  return bootstrap(
    percentile(
      values.toSorted((a, b) => a - b),
      share,
    ),
    () => {
      counts.fill(0);
      for (let drawn = 0; drawn < sorted.length; drawn += 1) {
        const index = Math.floor(random() * sorted.length);
        counts[index] = (counts[index] ?? 0) + 1;
      }
      let index = 0;
      for (let seen = counts[0] ?? 0; seen < rank; seen += counts[index] ?? 0) index += 1;
      return sorted[index] ?? Number.NaN;
    },
  );
}

/** The ratio of two means of independent trials with its bootstrap interval. Throws RangeError without values. */
export function ratioOfMeans(first: readonly number[], second: readonly number[], random: Random): Estimate {
  if (agree(first) && agree(second)) return exactly(meanOf(first.slice(0, 1)) / meanOf(second.slice(0, 1)));
  const [one, two] = [Float64Array.from(first), Float64Array.from(second)];
  return bootstrap(meanOf(first) / meanOf(second), () => drawnMean(one, random) / drawnMean(two, random));
}
