// The bounds that decide whether a count is bad luck or a mistake.
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { countBounds, ONE_IN_A_MILLION } from './chance.ts';

test('coins that can be counted by hand', () => {
  // Each end alone has a chance of 2^-20, just below one in a million; with its neighbour it has 21 times that.
  assert.deepEqual(countBounds(20, 0.5), { least: 1, most: 19 });
  assert.deepEqual(countBounds(19, 0.5), { least: 0, most: 19 });
  assert.deepEqual(countBounds(1, 0.3, 0.2), { least: 0, most: 1 });
  assert.deepEqual(countBounds(1, 0.3, 0.31), { least: 0, most: 0 });
});

test('chance stays within as often as said, and one step narrower it would not', () => {
  const inputs = [
    fc.integer({ min: 1, max: 400 }),
    fc.double({ min: 0.01, max: 0.99, noNaN: true }),
  ] as const;
  fc.assert(
    fc.property(...inputs, (trials, share) => {
      const { least, most } = countBounds(trials, share);
      // The same distribution by its recurrence from the other side of the definition: Pascal's triangle.
      let row = [1];
      for (let trial = 0; trial < trials; trial += 1)
        row = Array.from(
          { length: row.length + 1 },
          (_, k) => (row[k] ?? 0) * (1 - share) + (row[k - 1] ?? 0) * share,
        );
      const sum = (from: number, to: number) =>
        row.slice(from, to).reduce((total, chance) => total + chance, 0);
      const slack = 1 + 1e-6;
      assert.ok(sum(0, least) < ONE_IN_A_MILLION * slack);
      assert.ok(sum(0, least + 1) * slack >= ONE_IN_A_MILLION);
      assert.ok(sum(most + 1, trials + 1) < ONE_IN_A_MILLION * slack);
      assert.ok(sum(most, trials + 1) * slack >= ONE_IN_A_MILLION);
    }),
    { numRuns: 50 },
  );
});

test('what is certain has no bounds', () => {
  for (const share of [0, 1, -0.1, Number.NaN]) assert.throws(() => countBounds(10, share), RangeError);
});
