// One figure of the paths laboratory: the samples, what is taken from them with its 95 % interval, and the claim that
// it is held against. Pure.
import { seededRandom } from '@photofinish/shared/seeded-random.fixture';
import type { Contestant, ContestantKind } from '../contestant.ts';
import type { Bound, Estimate, GoalClaim } from '../results/goal-row.ts';
import { exactly, meanEstimate, percentileEstimate, scaled, wilson } from '../results/intervals.ts';

/** Every figure's own, so that one that is left out changes no other. */
const BOOTSTRAP_SEED = 1;

export type Statistic = 'mean' | 'median' | 'p95' | 'max' | 'total';

const TAKE: Readonly<Record<Statistic, (samples: readonly number[]) => Estimate>> = {
  mean: (samples) => meanEstimate(samples, seededRandom(BOOTSTRAP_SEED)),
  median: (samples) => percentileEstimate(samples, 0.5, seededRandom(BOOTSTRAP_SEED)),
  p95: (samples) => percentileEstimate(samples, 0.95, seededRandom(BOOTSTRAP_SEED)),
  // Resampling says nothing of what lies beyond the sample, and a count that was made is what it is.
  max: (samples) => exactly(Math.max(...samples)),
  total: (samples) => exactly(samples.reduce((sum, value) => sum + value, 0)),
};

/** A statistic of the samples; null without samples. */
export function estimate(statistic: Statistic, samples: readonly number[]): Estimate | null {
  return samples.length === 0 ? null : TAKE[statistic](samples);
}

/** Whose times the samples are, where their distribution is drawn. */
export interface Plotted {
  readonly label: string;
  readonly kind: ContestantKind;
}

export interface Figure extends GoalClaim {
  /** What the figure was taken from, in the order in which it was measured. */
  readonly samples: readonly number[];
  readonly plotted?: Plotted;
}

/** What a figure says beside its number. */
export interface Saying {
  readonly group: string;
  readonly name: string;
  readonly unit: string;
  readonly goal?: Bound | null;
  readonly anchor?: string;
  readonly note?: string;
  readonly plotted?: Plotted;
}

/** A contestant's strip in a drawing, whose labels have little room. */
export function plottedAs({ title, kind }: Pick<Contestant, 'title' | 'kind'>): Plotted {
  return { label: title.replace(/ \(.*\)$/, ''), kind };
}

/** A figure that is a statistic of its samples. */
export function figureOf(
  { goal = null, anchor = '', ...said }: Saying,
  statistic: Statistic,
  samples: readonly number[],
): Figure {
  return { ...said, goal, anchor, measured: estimate(statistic, samples), samples };
}

/** The share of `true` in per cent, with its Wilson interval. */
export function shareOf(said: Omit<Saying, 'unit'>, hits: readonly boolean[]): Figure {
  const { goal = null, anchor = '' } = said;
  const samples = hits.map(Number);
  if (hits.length === 0) return { ...said, unit: '%', goal, anchor, measured: null, samples };
  const measured = scaled(wilson({ hits: hits.filter(Boolean).length, of: hits.length }), 100);
  return { ...said, unit: '%', goal, anchor, measured, samples };
}

export const atMost = (value: number): Bound => ({ kind: 'at most', value });
export const atLeast = (value: number): Bound => ({ kind: 'at least', value });
