// The statistics of all our tables, defined once: sample deviation (n - 1), nearest-rank percentiles; and the precision
// of the times they are made of.
import type { Statistics } from './outcome.ts';

/**
 * Rounds to whole microseconds, in milliseconds: the precision of the clocks used. A difference of two such times,
 * rounded, is one too.
 */
export function roundedMs(ms: number): number;
export function roundedMs(ms: number | null): number | null;
export function roundedMs(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms * 1000) / 1000;
}

/** Nearest-rank percentile of values sorted ascending; `share` in (0, 1]. */
export function percentile(sorted: ArrayLike<number>, share: number): number {
  const rank = Math.max(1, Math.ceil(share * sorted.length));
  const value = sorted[Math.min(rank, sorted.length) - 1];
  if (value === undefined) throw new RangeError('percentile of nothing');
  return value;
}

/** Median by nearest rank, so that it is a value that actually occurred; `null` for no values. */
export function median(values: readonly number[]): number | null {
  return values.length === 0 ? null : percentile(Float64Array.from(values).sort(), 0.5);
}

/** Mean, sample deviation, percentiles and maximum in the unit of the values; `null` for no values. */
export function statistics(values: readonly number[]): Statistics | null {
  if (values.length === 0) return null;
  const sorted = values.toSorted((a, b) => a - b);
  const mean = sorted.reduce((sum, x) => sum + x, 0) / sorted.length;
  const squares = sorted.reduce((sum, x) => sum + (x - mean) ** 2, 0);
  return {
    mean,
    stdev: sorted.length > 1 ? Math.sqrt(squares / (sorted.length - 1)) : 0,
    median: percentile(sorted, 0.5),
    p90: percentile(sorted, 0.9),
    p95: percentile(sorted, 0.95),
    max: percentile(sorted, 1),
  };
}
