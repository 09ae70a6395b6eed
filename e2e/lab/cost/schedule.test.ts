// Requests as P1 makes them: gaps of the right mean and shape, the same for the same seed, and exact shares of hits.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '@photofinish/shared/testing/seeded-random';
import { cachedRequests, exponentialMoments } from './schedule.ts';

test('gaps are exponentially distributed: their mean and deviation are both what the rate says', () => {
  const moments = exponentialMoments(200, 500_000, seededRandom(1));
  const gaps = moments.map((atMs, index) => atMs - (moments[index - 1] ?? 0));
  const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
  const deviation = Math.sqrt(gaps.reduce((sum, gap) => sum + (gap - mean) ** 2, 0) / gaps.length);
  const memoryless = gaps.filter((gap) => gap > mean).length / gaps.length;
  assert.ok(Math.abs(mean - 5) < 0.1, `mean ${mean}`);
  assert.ok(Math.abs(deviation - 5) < 0.1, `deviation ${deviation}`);
  assert.ok(Math.abs(memoryless - Math.exp(-1)) < 0.01, `share above the mean ${memoryless}`);
});

test('moments rise, stay within the time, and come from the seed', () => {
  const moments = exponentialMoments(100, 3000, seededRandom(7));
  assert.deepEqual(moments, exponentialMoments(100, 3000, seededRandom(7)));
  assert.notDeepEqual(moments, exponentialMoments(100, 3000, seededRandom(8)));
  assert.deepEqual(
    moments,
    moments.toSorted((a, b) => a - b),
  );
  assert.ok((moments[0] ?? -1) >= 0 && (moments.at(-1) ?? 3000) < 3000);
});

for (const hitShare of [0, 0.2, 0.8, 1])
  test(`every block has exactly ${100 * hitShare} % of hits for each winner`, () => {
    const requests = cachedRequests(['h2', 'h3'], hitShare, seededRandom(3));
    const drawn = Array.from({ length: 100 }, () => requests.next().value);
    for (const winner of ['h2', 'h3']) {
      const own = drawn.filter((request) => request.winner === winner);
      assert.equal(own.length, 50);
      assert.equal(own.filter(({ hit }) => hit).length, Math.round(50 * hitShare));
    }
  });
