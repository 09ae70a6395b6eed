// Tests the rule on simulated origins, with noise as on real connections: skewed, with occasional delays of a second.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom, TAILS, type Tail, tailed } from '../testing/seeded-random.ts';
import {
  areTooFewPairs,
  comparePairs,
  differsBetween,
  LEAST_CLEAR_PAIRS,
  LEAST_PAIRS,
  MOST_PAIRS,
  type PairMs,
} from './paired-comparison.ts';

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
    if (pairs.length < LEAST_PAIRS) continue;
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
    const named = share(4000, () => compareInTurn(trueMs, trueMs, MOST_PAIRS, random).quicker !== null);
    assert.ok(named <= 0.05, `${named}`);
  });

for (const [tail, least] of [
  ['none', 0.99],
  ['severe', 0.8],
] as const)
  test(`with tails "${tail}": at most 5 % of equals have a winner, and gains of 20 % almost never the wrong one`, () => {
    const random = seededRandom(11);
    const quicker = (h3Ms: number, h2Ms: number) =>
      compareInTurn(h3Ms, h2Ms, MOST_PAIRS, random, TAILS[tail]).quicker;
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
      differsBetween(compareInTurn(40, 50, MOST_PAIRS, random), compareInTurn(40, h2Ms, MOST_PAIRS, random)),
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
    const found = share(4000, () => compareInTurn(h3Ms, h2Ms, MOST_PAIRS, random).quicker === right);
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
  assert.equal(decided(LEAST_CLEAR_PAIRS - 1), null);
  assert.equal(decided(LEAST_CLEAR_PAIRS), 'h3');
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
