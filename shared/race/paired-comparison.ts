// Whether pairs of measurements show a difference, or only noise. One rule for popup, report, command line and report
// comparison: the side that was quicker in most pairs is named once that agreement is too strong to be chance, however
// often one looks while pairs are still coming in, and once the difference is large enough to be worth a word.
import { median } from './statistics.ts';

/** Fewer pairs have no median worth showing. */
export const LEAST_PAIRS = 3;
/** Up to here an undecided comparison that nobody gave a length goes on. */
export const MOST_PAIRS = 15;

/** How often a side may be named where there is no difference at all. */
const ERROR_RATE = 0.05;
/**
 * Before the last pair a comparison is decided by a likelihood ratio: agreement in 90 % of all pairs, whichever side it
 * favours, against none. By Ville's inequality it exceeds 25 with a probability below 1/25 at any time, so that one may
 * look after every pair; what is left of the error rate is spent at the last pair.
 */
const AGREEMENT = 0.9;
const EARLY_RATIO = 25;
/** From here on probabilities are taken from the normal distribution, whose error is then far below theirs. */
const MANY = 500;
/** Quantiles of the normal distribution at which 5 % lie outside, and what is left of them when 1/25 is spent. */
const NORMAL_95 = 1.96;
const NORMAL_REST = 2.576;

/** Of fewer pairs the interval of the median difference holds it less often than in 95 % of cases. */
const LEAST_PAIRS_OF_INTERVAL = 6;

/** Smaller differences are not worth a word: the larger of these two. */
const LEAST_DIFFERENCE_MS = 1;
const LEAST_DIFFERENCE_SHARE = 0.02;

/** Times of one pair, in milliseconds: the same origin over each protocol, one right after the other. */
export interface PairMs {
  readonly h3: number;
  readonly h2: number;
}

export interface PairedComparison {
  readonly pairs: number;
  /** Medians of each side, in milliseconds. */
  readonly h3Ms: number;
  readonly h2Ms: number;
  /** In how many pairs HTTP/3 was quicker, and in how many HTTP/2 was. */
  readonly h3Quicker: number;
  readonly h2Quicker: number;
  /** The side that is clearly quicker; null: no clear difference. */
  readonly quicker: 'h3' | 'h2' | null;
  /** HTTP/2's time less HTTP/3's, pair by pair: an interval for its median at 95 % at least, or of all if they are few. */
  readonly lowMs: number;
  readonly highMs: number;
}

function decidesEarly(pairs: number, agreeing: number): boolean {
  const against = pairs - agreeing;
  const [often, seldom] = [Math.log(2 * AGREEMENT), Math.log(2 * (1 - AGREEMENT))];
  // Logarithms, for the powers of a long series are beyond what a number holds.
  const [one, other] = [agreeing * often + against * seldom, agreeing * seldom + against * often];
  const larger = Math.max(one, other);
  const ratio = larger + Math.log1p(Math.exp(Math.min(one, other) - larger)) - Math.log(2);
  return ratio >= Math.log(EARLY_RATIO);
}

/**
 * Probability, where neither side is quicker, that a comparison is still undecided after `pairs - 1` pairs, by how many
 * of them favoured HTTP/3; and what has been spent of the error rate by then.
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

/** How many of the last possible number of pairs must agree, so that the error rate of the whole is kept. */
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

/** Whether so many of these pairs agree that it is not chance; `last`: no further ones will come. */
function agrees(pairs: number, agreeing: number, last: boolean): boolean {
  return decidesEarly(pairs, agreeing) || (last && agreeing >= leastAgreeing(pairs));
}

/** How many of so many ordered values lie below an interval for their median at 95 % at least, and the first in it. */
function outsideInterval(count: number): number {
  if (count > MANY) return Math.floor((count - NORMAL_95 * Math.sqrt(count)) / 2);
  let outside = 0;
  let probability = 0.5 ** count;
  let skipped = 0;
  // One value further inwards on both sides, as long as what then lies outside stays within the error rate.
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

function leastDifferenceMs(...timesMs: readonly number[]): number {
  return Math.max(LEAST_DIFFERENCE_MS, LEAST_DIFFERENCE_SHARE * Math.max(...timesMs));
}

/**
 * Whether the difference between the sides is another in one comparison than in the other: the intervals lie apart,
 * which for two of 95 % is rarer by chance than 5 %, and by what they tell the change is worth a word.
 */
export function differsBetween(a: PairedComparison, b: PairedComparison): boolean {
  if (Math.min(a.pairs, b.pairs) < LEAST_PAIRS_OF_INTERVAL) return false;
  const changeMs = Math.abs(a.h2Ms - a.h3Ms - (b.h2Ms - b.h3Ms));
  const apart = a.lowMs > b.highMs || b.lowMs > a.highMs;
  return apart && changeMs >= leastDifferenceMs(a.h3Ms, a.h2Ms, b.h3Ms, b.h2Ms);
}

/**
 * Compares whole pairs; null for fewer than three. Whoever looks while pairs are still coming in says how many there may
 * be at most (`most`): a finished comparison may be judged more boldly than one that gets further chances.
 */
export function comparePairs(
  pairsMs: readonly PairMs[],
  most: number = Math.max(MOST_PAIRS, pairsMs.length),
): PairedComparison | null {
  if (pairsMs.length < LEAST_PAIRS) return null;
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
