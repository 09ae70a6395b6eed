import assert from 'node:assert/strict';
import { test } from 'node:test';
import { median, percentile, statistics } from './statistics.ts';

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
