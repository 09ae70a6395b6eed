// Least squares on lines that are known, and the shape of a sweep at the edges of what is claimed of it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '@photofinish/shared/seeded-random.fixture';
import fc from 'fast-check';
import { leastSquares, type Sweep, sweepShape } from './straight-line.ts';

const near = (actual: number, expected: number, slack = 1e-9) =>
  assert.ok(Math.abs(actual - expected) <= slack, `${actual} is not ${expected}`);

test('the first of Anscombe (1973)', () => {
  const xs = [10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5];
  const ys = [8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68];
  const { slope, intercept, r2 } = leastSquares(xs.map((x, index) => ({ x, y: ys[index] ?? Number.NaN })));
  near(slope, 0.5, 1e-3);
  near(intercept, 3, 1e-3);
  near(r2, 0.6665, 1e-4);
});

test('points on a line give that line, and leave nothing over', () => {
  fc.assert(
    fc.property(fc.integer({ min: -50, max: 50 }), fc.integer({ min: -50, max: 50 }), (slope, intercept) => {
      const line = leastSquares([0, 1, 2, 5].map((x) => ({ x, y: intercept + slope * x })));
      near(line.slope, slope, 1e-6);
      near(line.intercept, intercept, 1e-6);
      near(line.r2, 1, 1e-6);
    }),
  );
});

test('one point is no line', () => {
  assert.throws(() => leastSquares([{ x: 1, y: 1 }]), RangeError);
  assert.throws(() => leastSquares([1, 2].map((y) => ({ x: 1, y }))), RangeError);
});

const sweepOf = (costs: Readonly<Record<number, number>>): Sweep[] =>
  Object.entries(costs).map(([share, cost]) => ({ hitShare: Number(share), samples: [cost, cost, cost] }));

test('a straight sweep is off by nothing, and its saving is that of the 80 % cell', () => {
  const shape = sweepShape(sweepOf({ 0: 2, 0.2: 1.8, 0.4: 1.6, 0.6: 1.4, 0.8: 1.2, 1: 1 }), seededRandom(1));
  assert.ok(shape !== null);
  near(shape.offAt80.value, 0);
  near(shape.savedAt80.value, 40);
  near(shape.slopePercent.value, -50);
  near(shape.r2.value, 1);
  assert.deepEqual(
    [shape.savedAt80.low, shape.savedAt80.high],
    [shape.savedAt80.value, shape.savedAt80.value],
  );
});

test('what is off is told in points of the cost without hits, above the line or below', () => {
  for (const at80 of [1.24, 1.16]) {
    const shape = sweepShape(sweepOf({ 0: 2, 0.8: at80, 1: 1 }), seededRandom(1));
    near(shape?.offAt80.value ?? Number.NaN, 2);
  }
});

test('without both ends and the 80 % cell there is no shape', () => {
  assert.equal(sweepShape(sweepOf({ 0: 2, 1: 1 }), seededRandom(1)), null);
  const empty: Sweep = { hitShare: 0.8, samples: [] };
  assert.equal(sweepShape([...sweepOf({ 0: 2, 1: 1 }), empty], seededRandom(1)), null);
});
