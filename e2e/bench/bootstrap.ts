// How sure a figure is by drawing its sample again: the percentile bootstrap (Efron 1979).
import { percentile } from '@photofinish/shared/race/statistics';

/** Enough that each end of a 95 % interval rests on 50 resamples. */
const RESAMPLES = 2000;
const TAILS = { low: 0.025, high: 0.975 };

/** What so many drawings give. */
export function resampled<T>(draw: () => T): T[] {
  return Array.from({ length: RESAMPLES }, () => draw());
}

/** Both ends of the 95 % interval that a figure's resamples span. */
export function resampledInterval(figures: readonly number[]): { low: number; high: number } {
  const sorted = figures.toSorted((a, b) => a - b);
  return { low: percentile(sorted, TAILS.low), high: percentile(sorted, TAILS.high) };
}
