// A benchmark's verdict depends on its statistics; these tests check them against known results and statistical
// properties.
import assert from 'node:assert/strict';
import test from 'node:test';
import { seededRandom } from '@photofinish/shared/testing/seeded-random';
import fc from 'fast-check';
import {
  formatFigure,
  formatResult,
  goalsMet,
  measure,
  pairedInterval,
  ratioOf,
  type Side,
  shuffled,
  summarise,
} from './measure.ts';

const positive = fc.double({ min: 0.001, max: 1e6, noNaN: true });

test('median and spread by nearest rank', () => {
  const side = summarise('x', [10, 1, 9, 2, 8, 3, 7, 4, 6, 5]);
  assert.deepEqual([side.p10, side.median, side.p90], [1, 5, 9]);
  assert.deepEqual(side.samples, [10, 1, 9, 2, 8, 3, 7, 4, 6, 5]);
  assert.throws(() => summarise('x', []), RangeError);
});

test('the interval of a constant ratio is that ratio', () => {
  fc.assert(
    fc.property(fc.array(positive, { minLength: 1, maxLength: 20 }), fc.integer(), (baseline, seed) => {
      const doubled = baseline.map((value) => value * 2);
      assert.deepEqual(pairedInterval(doubled, baseline, seededRandom(seed), ratioOf), { low: 2, high: 2 });
    }),
    { numRuns: 20 },
  );
});

test('the interval covers the true ratio about as often as its level says', () => {
  let covered = 0;
  const experiments = 100;
  for (let seed = 0; seed < experiments; seed += 1) {
    const random = seededRandom(seed);
    // Sums of uniform noise around 10 and 12: symmetric, so those are the medians.
    const noise = () => random() + random() + random() - 1.5;
    const baseline = Array.from({ length: 40 }, () => 10 + noise());
    const side = Array.from({ length: 40 }, () => 12 + noise());
    const { low, high } = pairedInterval(side, baseline, random, ratioOf);
    if (low <= 1.2 && 1.2 <= high) covered += 1;
  }
  assert.ok(covered >= 88 && covered <= 100, `${covered} of ${experiments}`);
});

test('sides of different lengths cannot be compared', () => {
  assert.throws(() => pairedInterval([1, 2], [1], seededRandom(1), ratioOf), RangeError);
});

test('every round runs each side once, in varying order, and warm-up leaves no samples', async () => {
  const calls: string[] = [];
  const side = (name: string, cost: number): Side => ({
    name,
    run: async (round) => {
      calls.push(`${round}${name}`);
      return cost;
    },
  });
  const progress: number[] = [];
  const result = await measure({
    title: 'order',
    unit: 'ms',
    sides: [side('a', 2), { ...side('b', 3), ratioAtMost: 1.4 }],
    rounds: 20,
    warmUpRounds: 2,
    seed: 7,
    onRound: (done) => progress.push(done),
  });
  const rounds = Array.from({ length: 22 }, (_, round) => calls.slice(2 * round, 2 * round + 2));
  for (const [round, pair] of rounds.entries())
    assert.deepEqual(pair.toSorted(), [`${round}a`, `${round}b`], 'both, once');
  assert.equal(new Set(rounds.map(([first]) => first?.at(-1))).size, 2, 'each is first at times');
  assert.deepEqual(
    result.sides.map(({ samples }) => samples.length),
    [20, 20],
  );
  assert.equal(progress.at(-1), 22);
  assert.deepEqual(result.ratios, [
    { side: 'b', baseline: 'a', ratio: 1.5, low: 1.5, high: 1.5, atMost: 1.4 },
  ]);
  assert.deepEqual(result.beyond, [{ side: 'b', baseline: 'a', beyond: 1, low: 1, high: 1, atMost: null }]);
  assert.equal(goalsMet({ measurements: [result] }), false);
  assert.match(
    formatResult({ measurements: [result] }),
    /b +3\.00 +3\.00 +3\.00 +1\.500 .*at most 1\.4: MISSED/,
  );
});

test('a goal may be what a side costs beyond the baseline of the same round', async () => {
  let round = 0;
  const sides = [
    { name: 'a', run: () => Promise.resolve(round) },
    { name: 'b', beyondAtMost: 0.5, run: () => Promise.resolve(round + 1) },
  ] as const;
  const onRound = (done: number): void => {
    round = done * done;
  };
  const result = await measure({
    title: 't',
    unit: 'us',
    sides,
    rounds: 9,
    warmUpRounds: 0,
    seed: 1,
    onRound,
  });
  assert.deepEqual(result.beyond, [{ side: 'b', baseline: 'a', beyond: 1, low: 1, high: 1, atMost: 0.5 }]);
  assert.equal(goalsMet({ measurements: [result] }), false);
  assert.match(formatResult({ measurements: [result] }), /at most 0\.5 us beyond: MISSED/);
});

test('a failing side ends the measurement', async () => {
  const sides = [{ name: 'a', run: () => Promise.reject(new Error('refused')) }] as const;
  const plan = { title: '', unit: 'ms', sides, rounds: 1, warmUpRounds: 0, seed: 1 };
  await assert.rejects(measure(plan), /refused/);
});

test('a goal of a fact can be a minimum or a maximum', () => {
  const fact = { name: 'in time', value: 98.5, unit: '%' };
  assert.ok(goalsMet({ measurements: [], facts: [fact] }));
  assert.ok(goalsMet({ measurements: [], facts: [{ ...fact, atLeast: 98.5 }] }));
  assert.equal(goalsMet({ measurements: [], facts: [{ ...fact, atLeast: 99 }] }), false);
  assert.equal(goalsMet({ measurements: [], facts: [{ ...fact, atMost: 98 }] }), false);
});

test('shuffling loses nothing and is reproducible with its seed', () => {
  fc.assert(
    fc.property(fc.array(fc.integer()), fc.integer(), (values, seed) => {
      const once = shuffled(values, seededRandom(seed));
      assert.deepEqual(once, shuffled(values, seededRandom(seed)));
      assert.deepEqual(
        once.toSorted((a, b) => a - b),
        values.toSorted((a, b) => a - b),
      );
    }),
  );
});

test('figures have three significant digits', () => {
  assert.deepEqual([0, -0.01234, 0.01234, 1.2345, 12.345, 123.45, 1234.5].map(formatFigure), [
    '0',
    '-0.0123',
    '0.0123',
    '1.23',
    '12.3',
    '123',
    '1235',
  ]);
});
