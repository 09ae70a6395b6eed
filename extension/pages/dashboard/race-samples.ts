// Races as numbers: what a comparison's trials measured, its origin's gain, and distributions over many comparisons.
// Only `compare` races give samples: in them each protocol ran alone and nothing was cancelled.

import type { OriginRace, Trial } from '@photofinish/shared/race/outcome';
import {
  comparisonOf,
  latePairs,
  type RacedComparison,
  wholePairs,
} from '@photofinish/shared/race/statistics';
import type { Mode } from '@photofinish/shared/race/terms';
import type { Gain } from '@photofinish/shared/verdict/gain';
import type { Origin } from '@photofinish/shared/web/origin';

/** One race, small enough to keep ten thousand of them in memory. */
export interface RaceSummary {
  readonly origin: Origin;
  readonly network: string;
  readonly mode: Mode;
  readonly atMs: number;
  readonly trials: number;
  readonly failed: number;
  /** The result of a comparison; null: it has too few pairs, or the race is not a comparison. */
  readonly comparison: RacedComparison | null;
  /** The protocol that most trials adopted; null for comparisons, and if none adopted any. */
  readonly adopted: Trial['adopted'];
  readonly pairs: PairCounts;
  readonly established: Samples;
  readonly firstByte: Samples;
}

/** Pairs of comparisons; 0 for other modes. The others of all are those in which a protocol did not connect. */
interface PairCounts {
  readonly whole: number;
  /** Left out because this machine was too busy to time them. */
  readonly late: number;
  readonly all: number;
}

/** Milliseconds from the start of a trial, by side. */
export type Samples = Readonly<Record<'h3' | 'h2', readonly number[]>>;

const NO_SAMPLES: Samples = { h3: [], h2: [] };

function samplesOf(trials: readonly Trial[], field: 'establishedMs' | 'firstByteMs'): Samples {
  const of = (h3: boolean) =>
    trials
      .filter((trial) => (trial.adopted === 'h3') === h3)
      .map((trial) => trial[field])
      .filter((ms) => ms !== null);
  return { h3: of(true), h2: of(false) };
}

function mostAdopted({ summary }: OriginRace): Trial['adopted'] {
  const counts = Object.entries(summary.adoption) as [NonNullable<Trial['adopted']>, number][];
  const [most] = counts.filter(([, count]) => count > 0).sort((a, b) => b[1] - a[1]);
  return most?.[0] ?? null;
}

/** What is kept of a race. */
export function summariseRace(race: OriginRace): RaceSummary {
  const compared = race.mode === 'compare';
  const pairs = compared ? wholePairs(race.trials) : [];
  const trials = pairs.flat();
  return {
    origin: race.origin,
    network: race.network,
    mode: race.mode,
    atMs: race.atMs,
    trials: race.trials.length,
    failed: race.summary.failed,
    comparison: comparisonOf(race),
    adopted: compared ? null : mostAdopted(race),
    pairs: {
      whole: pairs.length,
      late: compared ? latePairs(race.trials) : 0,
      all: compared ? Math.floor(race.trials.length / 2) : 0,
    },
    established: compared ? samplesOf(trials, 'establishedMs') : NO_SAMPLES,
    firstByte: compared ? samplesOf(trials, 'firstByteMs') : NO_SAMPLES,
  };
}

/** The result of each origin's newest comparison with enough pairs; `races` must be newest first. */
export function gainsOf(races: readonly RaceSummary[]): Map<Origin, Gain> {
  const gains = new Map<Origin, Gain>();
  for (const { origin, comparison } of races)
    if (comparison !== null && !gains.has(origin)) gains.set(origin, comparison);
  return gains;
}

export interface Distributions {
  readonly established: Samples;
  readonly firstByte: Samples;
  readonly comparisons: number;
  readonly origins: number;
  readonly pairs: PairCounts;
}

function pooled(samples: readonly Samples[]): Samples {
  const all = (side: keyof Samples) => samples.flatMap((s) => s[side]).sort((a, b) => a - b);
  return { h3: all('h3'), h2: all('h2') };
}

/** All complete pairs of all comparisons, sorted ascending. */
export function distributionsOf(races: readonly RaceSummary[]): Distributions {
  const compared = races.filter((race) => race.mode === 'compare');
  const count = (which: keyof PairCounts) => compared.reduce((sum, { pairs }) => sum + pairs[which], 0);
  return {
    established: pooled(compared.map((race) => race.established)),
    firstByte: pooled(compared.map((race) => race.firstByte)),
    comparisons: compared.length,
    origins: new Set(compared.map((race) => race.origin)).size,
    pairs: { whole: count('whole'), late: count('late'), all: count('all') },
  };
}
