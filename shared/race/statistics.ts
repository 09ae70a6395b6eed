// The statistics of all our tables, defined once: sample deviation (n - 1), nearest-rank percentiles, the precision of
// their times; and the one rule by which pairs of measurements, as of a `compare` race, show a difference or only noise.
import type { KnownProtocol } from '../web/protocol.ts';
import { timedTrials } from './conclusive.ts';
import type { Comparison, OriginRace, Statistics, Trial } from './outcome.ts';

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

/** Fewer pairs have no meaningful median. */
export const MIN_PAIRS = 3;
/** Fewer pairs name no side, even as the last ones and if all agree: chance does that in more than 5 % of cases. */
export const MIN_CLEAR_PAIRS = 6;
/** An undecided comparison without a requested length continues up to this number. */
export const MAX_PAIRS = 15;

/** The probability of naming a side if there is no difference at all. */
const ERROR_RATE = 0.05;
/**
 * Before the last pair a comparison is decided by a likelihood ratio: agreement in 90 % of all pairs, whichever side it
 * favours, against none. By Ville's inequality it exceeds 25 with a probability below 1/25 at any time, so it may be
 * checked after every pair; the rest of the error rate is spent at the last pair.
 */
const AGREEMENT = 0.9;
const EARLY_RATIO = 25;
/**
 * From this number on, probabilities are approximated by the normal distribution, whose error is then far below them.
 */
const MANY = 500;
/** Quantiles of the normal distribution outside of which are 5 %, and what remains of those after spending 1/25. */
const NORMAL_95 = 1.96;
const NORMAL_REST = 2.576;

/** With fewer pairs the interval of the median difference contains it in fewer than 95 % of cases. */
const MIN_PAIRS_FOR_INTERVAL = 6;

/** Smaller differences do not matter: the larger of these two applies. */
export const MIN_DIFFERENCE_MS = 1;
export const MIN_DIFFERENCE_SHARE = 0.02;

/** Times of one pair, in milliseconds: the same origin over each protocol, one right after the other. */
export interface PairMs {
  readonly h3: number;
  readonly h2: number;
}

/** The result of whole pairs; without the number of pairs planned, which their caller knows. */
export type PairedComparison = Readonly<Omit<Comparison, 'most'>>;

/**
 * Compares whole pairs; null for fewer than three. The side that was faster in most pairs is named once the agreement is
 * too strong to be chance, however often it is checked while pairs still arrive, and the difference large enough to
 * matter. `most` is the maximum number of pairs: a finished comparison may be judged more boldly than one that gets
 * further chances.
 */
export function comparePairs(
  pairsMs: readonly PairMs[],
  most: number = Math.max(MAX_PAIRS, pairsMs.length),
): PairedComparison | null {
  if (pairsMs.length < MIN_PAIRS) return null;
  const h3Ms = median(pairsMs.map(({ h3 }) => h3)) ?? 0;
  const h2Ms = median(pairsMs.map(({ h2 }) => h2)) ?? 0;
  const differences = pairsMs.map(({ h3, h2 }) => h2 - h3);
  const h3Quicker = differences.filter((ms) => ms > 0).length;
  const h2Quicker = differences.filter((ms) => ms < 0).length;
  const [lowMs, highMs] = intervalOfMedian(differences);

  const leader = h3Quicker >= h2Quicker ? 'h3' : 'h2';
  const leadMs = leader === 'h3' ? h2Ms - h3Ms : h3Ms - h2Ms;
  const leastMs = leastDifferenceMs(h3Ms, h2Ms);
  const agree = agrees(h3Quicker + h2Quicker, Math.max(h3Quicker, h2Quicker), pairsMs.length >= most);
  return {
    pairs: pairsMs.length,
    h3Ms,
    h2Ms,
    h3Quicker,
    h2Quicker,
    quicker: agree && leadMs >= leastMs ? leader : null,
    lowMs,
    highMs,
  };
}

function decidesEarly(pairs: number, agreeing: number): boolean {
  const against = pairs - agreeing;
  const [often, seldom] = [Math.log(2 * AGREEMENT), Math.log(2 * (1 - AGREEMENT))];
  // Logarithms, because the powers of a long series exceed the range of a number.
  const [one, other] = [agreeing * often + against * seldom, agreeing * seldom + against * often];
  const larger = Math.max(one, other);
  const ratio = larger + Math.log1p(Math.exp(Math.min(one, other) - larger)) - Math.log(2);
  return ratio >= Math.log(EARLY_RATIO);
}

/**
 * Probability, if neither side is faster, that a comparison is still undecided after `pairs - 1` pairs, by how many of
 * them favoured HTTP/3; and how much of the error rate has been spent by then.
 */
function undecidedBefore(pairs: number): { readonly byCount: readonly number[]; readonly spent: number } {
  let byCount = [1];
  let spent = 0;
  for (let made = 1; made < pairs; made += 1) {
    const next = Array.from({ length: made + 1 }, (_, k) => ((byCount[k] ?? 0) + (byCount[k - 1] ?? 0)) / 2);
    byCount = next.map((probability, k) => {
      if (!decidesEarly(made, Math.max(k, made - k))) return probability;
      spent += probability;
      return 0;
    });
  }
  return { byCount, spent };
}

const leastAgreeingAtEnd = new Map<number, number>();

/** How many of the maximum number of pairs must agree to keep the error rate of the whole. */
function leastAgreeing(pairs: number): number {
  if (pairs > MANY) return Math.ceil((pairs + 1 + NORMAL_REST * Math.sqrt(pairs)) / 2);
  const known = leastAgreeingAtEnd.get(pairs);
  if (known !== undefined) return known;
  const { byCount, spent } = undecidedBefore(pairs);
  const ends = (k: number) => ((byCount[k] ?? 0) + (byCount[k - 1] ?? 0)) / 2;
  let error = spent;
  let least = pairs + 1;
  while (2 * (least - 1) > pairs) {
    const more = ends(least - 1) + ends(pairs - least + 1);
    if (error + more > ERROR_RATE) break;
    error += more;
    least -= 1;
  }
  leastAgreeingAtEnd.set(pairs, least);
  return least;
}

/** Whether so many of these pairs agree that it is not chance; `last`: no further ones will follow. */
function agrees(pairs: number, agreeing: number, last: boolean): boolean {
  return decidesEarly(pairs, agreeing) || (last && agreeing >= leastAgreeing(pairs));
}

/** Whether this many pairs name no side even if all agree, unless no further ones were to follow. */
export function areTooFewPairs(pairs: number): boolean {
  return !agrees(pairs, pairs, false);
}

/**
 * How many of this number of ordered values are below an interval for their median at 95 % at least: the index of its
 * first.
 */
function outsideInterval(count: number): number {
  if (count > MANY) return Math.floor((count - NORMAL_95 * Math.sqrt(count)) / 2);
  let outside = 0;
  let probability = 0.5 ** count;
  let skipped = 0;
  // Moves one value inwards on both sides, as long as what is then outside stays within the error rate.
  while (2 * (outside + probability) <= ERROR_RATE) {
    outside += probability;
    skipped += 1;
    probability *= (count - skipped + 1) / skipped;
  }
  return skipped;
}

/** An interval for the median at 95 % at least by order statistics, which assumes nothing about the distribution. */
function intervalOfMedian(values: readonly number[]): readonly [number, number] {
  const sorted = values.toSorted((a, b) => a - b);
  const first = Math.max(0, outsideInterval(sorted.length) - 1);
  return [sorted[first] ?? 0, sorted[sorted.length - 1 - first] ?? 0];
}

/** The smallest difference between times like these that matters. */
export function leastDifferenceMs(...timesMs: readonly number[]): number {
  return Math.max(MIN_DIFFERENCE_MS, MIN_DIFFERENCE_SHARE * Math.max(...timesMs));
}

/**
 * Whether the difference between the sides differs between two comparisons: the intervals are disjoint, which for two
 * of 95 % happens by chance in less than 5 % of cases, and by their values the change is large enough to matter.
 */
export function differsBetween(a: PairedComparison, b: PairedComparison): boolean {
  if (Math.min(a.pairs, b.pairs) < MIN_PAIRS_FOR_INTERVAL) return false;
  const changeMs = Math.abs(a.h2Ms - a.h3Ms - (b.h2Ms - b.h3Ms));
  const apart = a.lowMs > b.highMs || b.lowMs > a.highMs;
  return apart && changeMs >= leastDifferenceMs(a.h3Ms, a.h2Ms, b.h3Ms, b.h2Ms);
}

/** The pairs of a `compare` series: trials 2n and 2n + 1, each of one protocol alone. */
function pairsOf(trials: readonly Trial[]): Trial[][] {
  return Array.from({ length: Math.floor(trials.length / 2) }, (_, i) => trials.slice(2 * i, 2 * i + 2));
}

/** The pairs in which both were established while this machine was not late. */
export function wholePairs(trials: readonly Trial[]): Trial[][] {
  return pairsOf(trials).filter(
    (pair) => timedTrials(pair).filter((trial) => trial.establishedMs !== null).length === 2,
  );
}

/** How many pairs are not whole because this machine was late, whatever else there was of them. */
export function latePairs(trials: readonly Trial[]): number {
  return pairsOf(trials).filter((pair) => timedTrials(pair).length < 2).length;
}

/** Times of the whole pairs in which each side was tried; `h2` is TCP and TLS, whatever ALPN then selected. */
function pairTimes(trials: readonly Trial[]): PairMs[] {
  return wholePairs(trials).flatMap((pair) => {
    const h3 = pair.find(({ adopted }) => adopted === 'h3')?.establishedMs;
    const h2 = pair.find(({ adopted }) => adopted !== 'h3')?.establishedMs;
    return h3 == null || h2 == null ? [] : [{ h3, h2 }];
  });
}

/** HTTP/2's time minus HTTP/3's in each whole pair, in milliseconds. */
export function pairGains(trials: readonly Trial[]): number[] {
  return pairTimes(trials).map(({ h3, h2 }) => h2 - h3);
}

/**
 * The result of the trials of a `compare` series; null for fewer than three whole pairs. `most` is the maximum number
 * of pairs in the series; pairs that are not whole are not repeated.
 */
export function compareTrials(trials: readonly Trial[], most?: number): PairedComparison | null {
  const pairs = pairTimes(trials);
  const lost = Math.floor(trials.length / 2) - pairs.length;
  return comparePairs(pairs, Math.max((most ?? Math.max(MAX_PAIRS, pairs.length)) - lost, pairs.length));
}

/** The result of a race's pairs, and which protocol HTTP/3 was compared with if that was not HTTP/2. */
export type RacedComparison = PairedComparison & { readonly old?: KnownProtocol };

/**
 * The result of a race's pairs; null: it is not a comparison, or has fewer than three whole pairs. Everything that
 * reports a gain uses this, for stored races too: the gain stored in a record may predate the rule.
 */
export function comparisonOf({
  mode,
  trials,
  summary,
}: Pick<OriginRace, 'mode' | 'trials' | 'summary'>): RacedComparison | null {
  const comparison = mode === 'compare' ? compareTrials(trials, summary.comparison?.most) : null;
  if (comparison === null) return null;
  const old = wholePairs(trials)
    .flat()
    .find(({ adopted }) => adopted !== 'h3')?.adopted;
  return old == null || old === 'h2' ? comparison : { ...comparison, old };
}
