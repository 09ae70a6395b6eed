// Whether cost falls in a straight line with the hit ratio (P1, third test case): least squares, and what is left over.

import type { Random } from '@photofinish/shared/seeded-random.fixture';
import { resampled, resampledInterval } from '../../bench/bootstrap.ts';
import type { Estimate } from '../results/goal-row.ts';

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Line {
  readonly slope: number;
  readonly intercept: number;
  /** Share of the variance that the line explains; 1 where there is none. */
  readonly r2: number;
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
const squares = (values: readonly number[]) => values.reduce((sum, value) => sum + value ** 2, 0);

/** The line of least squares. Throws RangeError for fewer than two different x. */
export function leastSquares(points: readonly Point[]): Line {
  if (new Set(points.map(({ x }) => x)).size < 2) throw new RangeError('a line takes two points');
  const [meanX, meanY] = [mean(points.map(({ x }) => x)), mean(points.map(({ y }) => y))];
  const slope =
    points.reduce((sum, { x, y }) => sum + (x - meanX) * (y - meanY), 0) /
    squares(points.map(({ x }) => x - meanX));
  const intercept = meanY - slope * meanX;
  const around = squares(points.map(({ y }) => y - meanY));
  const left = squares(points.map(({ x, y }) => y - (intercept + slope * x)));
  return { slope, intercept, r2: around === 0 ? 1 : 1 - left / around };
}

/** Cost by hit ratio: 0 and 1 and what is between. */
export interface Sweep {
  readonly hitShare: number;
  readonly samples: readonly number[];
}

export interface SweepShape {
  /** Change over the whole sweep, percent of the cost without hits. */
  readonly slopePercent: Estimate;
  readonly r2: Estimate;
  /** How far the 80 % cell is from the line between the ends, in percent of the cost without hits; never negative. */
  readonly offAt80: Estimate;
  /** What an 80 % hit ratio takes away, percent of the cost without hits. */
  readonly savedAt80: Estimate;
}

const SHARE = 0.8;

function shapeOf(points: readonly Point[]): Record<keyof SweepShape, number> {
  const at = (x: number) => points.find((point) => point.x === x)?.y ?? Number.NaN;
  const [none, most, all] = [at(0), at(SHARE), at(1)];
  const { slope, r2 } = leastSquares(points);
  return {
    slopePercent: (100 * slope) / none,
    r2,
    offAt80: (100 * Math.abs(most - (none + SHARE * (all - none)))) / none,
    savedAt80: 100 * (1 - most / none),
  };
}

/** The sweep's shape with 95 % bootstrap intervals; null unless 0, 80 and 100 % are among its cells. */
export function sweepShape(sweep: readonly Sweep[], random: Random): SweepShape | null {
  const cells = sweep.filter(({ samples }) => samples.length > 0);
  if (![0, SHARE, 1].every((share) => cells.some(({ hitShare }) => hitShare === share))) return null;
  const drawn = (samples: readonly number[]) =>
    samples.map(() => samples[Math.floor(random() * samples.length)] ?? Number.NaN);
  const shape = shapeOf(cells.map(({ hitShare, samples }) => ({ x: hitShare, y: mean(samples) })));
  const shapes = resampled(() =>
    shapeOf(cells.map(({ hitShare, samples }) => ({ x: hitShare, y: mean(drawn(samples)) }))),
  );
  const estimate = (name: keyof SweepShape): Estimate => ({
    value: shape[name],
    ...resampledInterval(shapes.map((one) => one[name])),
  });
  return {
    slopePercent: estimate('slopePercent'),
    r2: estimate('r2'),
    offAt80: estimate('offAt80'),
    savedAt80: estimate('savedAt80'),
  };
}
