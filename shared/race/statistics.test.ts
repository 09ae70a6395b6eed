// Percentiles, and the rule that decides whether pairs show a difference: on simulated origins, and on stored races.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { clearComparison, comparison, originRace } from '../testing/race-samples.ts';
import { seededRandom, TAILS, type Tail, tailed } from '../testing/seeded-random.ts';
import { comparisonSchema, originRaceSchema } from './outcome.ts';
import {
  areTooFewPairs,
  comparePairs,
  comparisonOf,
  differsBetween,
  MAX_PAIRS,
  MIN_CLEAR_PAIRS,
  MIN_PAIRS,
  median,
  type PairMs,
  pairGains,
  percentile,
  statistics,
  wholePairs,
} from './statistics.ts';

test('nearest-rank percentiles are values that occurred', () => {
  const sorted = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
  assert.deepEqual(
    [0.5, 0.9, 0.95, 1].map((p) => percentile(sorted, p)),
    [5, 9, 10, 10],
  );
});

test('the sample deviation divides by n - 1 and is 0 for one value; no values have no statistics', () => {
  assert.equal(statistics([2, 4, 4, 4, 5, 5, 7, 9])?.stdev, Math.sqrt(32 / 7));
  assert.deepEqual(statistics([3]), { mean: 3, stdev: 0, median: 3, p90: 3, p95: 3, max: 3 });
  assert.equal(statistics([]), null);
  assert.equal(median([]), null);
});

test('the order of the input does not matter, and the input is not modified', () => {
  const values = [9, 1, 5];
  assert.equal(median(values), 5);
  assert.deepEqual(values, [9, 1, 5]);
});

// Tests the rule on simulated origins, with noise as on real connections: skewed, with occasional delays of a second.

const pair = (h3: number, h2: number): PairMs => ({ h3, h2 });
const repeat = (count: number, one: PairMs): PairMs[] => Array.from({ length: count }, () => one);

/** Pair after pair until it is decided or has reached the maximum, as in the popup. */
function compareInTurn(
  h3Ms: number,
  h2Ms: number,
  most: number,
  random: () => number,
  tail: Tail = TAILS.heavy,
) {
  const pairs: PairMs[] = [];
  for (;;) {
    pairs.push(pair(tailed(h3Ms, tail, random), tailed(h2Ms, tail, random)));
    if (pairs.length < MIN_PAIRS) continue;
    const result = comparePairs(pairs, most);
    if (result === null) throw new Error('three pairs are compared');
    if (result.quicker !== null || pairs.length === most) return result;
  }
}

function share(count: number, happens: () => boolean): number {
  let times = 0;
  for (let i = 0; i < count; i += 1) if (happens()) times += 1;
  return times / count;
}

for (const trueMs of [5, 50, 300])
  test(`two sides of ${trueMs} ms with heavy tails: a winner is named in at most 5 % of comparisons`, () => {
    const random = seededRandom(trueMs);
    const named = share(4000, () => compareInTurn(trueMs, trueMs, MAX_PAIRS, random).quicker !== null);
    assert.ok(named <= 0.05, `${named}`);
  });

for (const [tail, least] of [
  ['none', 0.99],
  ['severe', 0.8],
] as const)
  test(`with tails "${tail}": at most 5 % of equals have a winner, and gains of 20 % almost never the wrong one`, () => {
    const random = seededRandom(11);
    const quicker = (h3Ms: number, h2Ms: number) =>
      compareInTurn(h3Ms, h2Ms, MAX_PAIRS, random, TAILS[tail]).quicker;
    const named = share(4000, () => quicker(50, 50) !== null);
    assert.ok(named <= 0.05, `${named}`);
    const results = Array.from({ length: 4000 }, () => quicker(40, 50));
    const [right, wrong] = (['h3', 'h2'] as const).map((side) => results.filter((r) => r === side).length);
    assert.ok((right ?? 0) >= least * results.length, `${right}`);
    assert.ok((wrong ?? 0) <= 0.002 * results.length, `${wrong}`);
  });

test('a change between two equal comparisons is reported in at most 5 %, a much larger gain in 90 %', () => {
  const random = seededRandom(13);
  const changed = (h2Ms: number) =>
    share(2000, () =>
      differsBetween(compareInTurn(40, 50, MAX_PAIRS, random), compareInTurn(40, h2Ms, MAX_PAIRS, random)),
    );
  const [same, other] = [changed(50), changed(100)];
  assert.ok(same <= 0.05, `${same}`);
  assert.ok(other >= 0.9, `${other}`);
});

test('a long series is judged like a short one, beyond the range of numbers', () => {
  const random = seededRandom(17);
  const series = (h3Ms: number, h2Ms: number) =>
    comparePairs(
      Array.from({ length: 5000 }, () =>
        pair(tailed(h3Ms, TAILS.heavy, random), tailed(h2Ms, TAILS.heavy, random)),
      ),
    );
  const [same, other] = [series(50, 50), series(50, 53)];
  assert.equal(same?.quicker, null);
  assert.ok(same && same.lowMs < 0 && same.highMs > 0 && same.highMs - same.lowMs < 1);
  assert.equal(other?.quicker, 'h3');
  assert.ok(other && other.lowMs > 2.5 && other.highMs < 3.5);
  assert.equal(comparePairs(repeat(100_000, pair(10, 90)))?.quicker, 'h3');
});

test('checking after each of 60 pairs names a winner between equals in at most 5 %', () => {
  const random = seededRandom(7);
  const named = share(1000, () => compareInTurn(50, 50, 60, random).quicker !== null);
  assert.ok(named <= 0.05, `${named}`);
});

for (const [h3Ms, h2Ms] of [
  [40, 50],
  [50, 40],
  [160, 200],
] as const)
  test(`the faster of ${h3Ms} and ${h2Ms} ms is found within 15 pairs in at least 90 % of comparisons`, () => {
    const random = seededRandom(h2Ms);
    const right = h3Ms < h2Ms ? 'h3' : 'h2';
    const found = share(4000, () => compareInTurn(h3Ms, h2Ms, MAX_PAIRS, random).quicker === right);
    assert.ok(found >= 0.9, `${found}`);
  });

test('fewer than three pairs are not compared', () => {
  assert.equal(comparePairs(repeat(2, pair(10, 90))), null);
});

test('three pairs that agree are not yet enough, seven are', () => {
  assert.equal(comparePairs(repeat(3, pair(10, 90)))?.quicker, null);
  assert.equal(comparePairs(repeat(6, pair(10, 90)))?.quicker, null);
  assert.equal(comparePairs(repeat(7, pair(10, 90)))?.quicker, 'h3');
  assert.equal(comparePairs(repeat(7, pair(90, 10)))?.quicker, 'h2');
});

test('with fewer than six pairs nothing is decided, not even by the last ones', () => {
  const decided = (count: number) => comparePairs(repeat(count, pair(10, 90)), count)?.quicker;
  assert.equal(decided(MIN_CLEAR_PAIRS - 1), null);
  assert.equal(decided(MIN_CLEAR_PAIRS), 'h3');
  assert.deepEqual([5, 6, 7].map(areTooFewPairs), [true, true, false]);
});

test('of 15 pairs 12 must agree, and ties favour neither side', () => {
  const mixed = (h3: number, h2: number) => [...repeat(h3, pair(40, 50)), ...repeat(h2, pair(50, 40))];
  assert.equal(comparePairs(mixed(12, 3))?.quicker, 'h3');
  assert.equal(comparePairs(mixed(11, 4))?.quicker, null);
  assert.equal(comparePairs([...mixed(6, 0), ...repeat(9, pair(40, 40))])?.quicker, null);
});

test('a difference below a millisecond or two percent does not count, however well the pairs agree', () => {
  assert.equal(comparePairs(repeat(15, pair(3.0, 3.9)))?.quicker, null);
  assert.equal(comparePairs(repeat(15, pair(3.0, 4.1)))?.quicker, 'h3');
  assert.equal(comparePairs(repeat(15, pair(297, 300)))?.quicker, null);
  assert.equal(comparePairs(repeat(15, pair(290, 300)))?.quicker, 'h3');
});

test('medians that contradict the pairs decide nothing', () => {
  // In 12 pairs HTTP/3 was slightly faster, in 3 much slower; by the medians alone HTTP/2 is faster.
  const pairs = [
    ...Array.from({ length: 12 }, (_, i) => pair(10 + 10 * i, 10.5 + 10 * i)),
    ...repeat(3, pair(500, 1)),
  ];
  assert.equal(comparePairs(pairs)?.quicker, null);
});

test('the range covers all of a few differences, and is a 95 % interval of many', () => {
  const few = comparePairs([pair(10, 8), pair(10, 12), pair(10, 15)]);
  assert.deepEqual([few?.lowMs, few?.highMs], [-2, 5]);
  // Of 15 ordered values the 4th to the 12th contain the median with a probability of 96.5 %.
  const many = comparePairs(Array.from({ length: 15 }, (_, i) => pair(100, 101 + i)));
  assert.deepEqual([many?.lowMs, many?.highMs], [4, 12]);
});

// The result of a stored race's pairs: from its trials, whatever its summary says.

const times = (count: number, ms: number): number[] => Array.from({ length: count }, () => ms);

test('a record from before the rule is judged by its trials', () => {
  const { comparison: _, ...summary } = clearComparison(10, 30).summary;
  const old = { ...clearComparison(10, 30), summary: { ...summary, gainMs: -5 } };
  assert.ok(v.is(originRaceSchema, old));
  assert.equal(comparisonOf(old)?.quicker, 'h3');
  const few = comparison([10, 11, 12], [30, 31, 32]);
  assert.equal(comparisonOf({ ...few, summary: { ...summary, gainMs: 20 } })?.quicker, null);
});

test('the maximum number of pairs determines how boldly the last one is judged', () => {
  const six = comparison(times(6, 10), times(6, 30));
  const judged = (most: number) => {
    const { comparison: shown } = six.summary;
    assert.ok(shown);
    return comparisonOf({ ...six, summary: { ...six.summary, comparison: { ...shown, most } } })?.quicker;
  };
  assert.deepEqual([judged(6), judged(7), judged(15)], ['h3', null, null]);
});

test('a pair with a failure reduces the number of pairs to come', () => {
  const seven = comparison(times(7, 10), times(7, 30));
  const broken = { ...seven.trials[0], adopted: null, establishedMs: null } as (typeof seven.trials)[number];
  const trials = seven.trials.with(0, broken);
  assert.equal(wholePairs(trials).length, 6);
  const shown = seven.summary.comparison;
  assert.ok(shown);
  const of = (most: number) =>
    comparisonOf({ ...seven, trials, summary: { ...seven.summary, comparison: { ...shown, most } } })
      ?.quicker;
  assert.deepEqual([of(7), of(8)], ['h3', null]);
});

test('pairs of one protocol and races of another mode give no comparison', () => {
  const clear = clearComparison(10, 30);
  assert.equal(comparisonOf({ ...clear, mode: 'race' }), null);
  assert.equal(comparisonOf(originRace([], { mode: 'compare' })), null);
  const h3 = clear.trials.filter(({ adopted }) => adopted === 'h3');
  assert.deepEqual([comparisonOf({ ...clear, trials: h3 }), pairGains(h3)], [null, []]);
});

test('a comparison with contradictory numbers is rejected', () => {
  const { comparison: shown } = clearComparison(10, 30).summary;
  assert.ok(shown);
  const fits = (over: Partial<typeof shown>) => v.is(comparisonSchema, { ...shown, ...over });
  assert.ok(fits({}));
  assert.ok(!fits({ most: shown.pairs - 1 }));
  assert.ok(!fits({ h2Quicker: shown.pairs }));
  assert.ok(!fits({ lowMs: shown.highMs + 1 }));
  assert.ok(!fits({ highMs: Number.POSITIVE_INFINITY }));
  assert.ok(!fits({ h3Ms: -1 }));
  assert.ok(!fits({ pairs: 0 }));
  assert.ok(!v.is(comparisonSchema, { ...shown, quicker: 'both' }));
});

test('the protocol compared with HTTP/3 is named if it was not HTTP/2', () => {
  const race = clearComparison(10, 30);
  assert.equal(comparisonOf(race)?.old, undefined);
  const trials = race.trials.map((each) =>
    each.adopted === 'h3' ? each : { ...each, adopted: 'http/1.1' as const },
  );
  assert.equal(comparisonOf({ ...race, trials })?.old, 'http/1.1');
});
