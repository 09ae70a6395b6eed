// The clocks of pages: what they count from after the machine has slept, and after its clock was set.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { epochOriginMs } from './timing.ts';

const HOUR_MS = 3_600_000;

test('of the clock itself', () => {
  assert.ok(Math.abs(epochOriginMs() - performance.timeOrigin) < 1000);
});

test('timings count from the origin of their document, and from a later one after the machine slept', () => {
  const at = (nowMs: number, epochMs: number) =>
    epochOriginMs({ timeOrigin: 1000.25, now: () => nowMs }, epochMs);
  assert.equal(at(500, 1500), 1000.25);
  assert.equal(at(500, 1500 + 30), 1000.25, 'two clocks are never read at once');
  assert.equal(at(500, 1500 + HOUR_MS), 1000 + HOUR_MS);
  assert.equal(at(HOUR_MS, HOUR_MS), 0, 'the clock was set back by a second');
});
