// The line that shows how far `race -` is.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { surveyWords } from './survey-progress.ts';

test('done, failed, rate, and the time left once it is known how much is left', () => {
  const half = { done: 400, failed: 3, total: 5000, elapsedMs: 10_000 };
  assert.equal(surveyWords(half), '400 of 5000 done, 3 failed, 40 per second, 1 min left');
  assert.equal(surveyWords({ ...half, total: null }), '400 done, 3 failed, 40 per second');
  assert.equal(surveyWords({ ...half, total: 400 }), '400 of 400 done, 3 failed, 40 per second');
});

test('slow rates have a unit of their own, and few races have none', () => {
  assert.match(surveyWords({ done: 30, failed: 0, total: null, elapsedMs: 10_000 }), /3\.0 per second/);
  assert.match(surveyWords({ done: 10, failed: 0, total: null, elapsedMs: 60_000 }), /10 per minute/);
  assert.equal(surveyWords({ done: 2, failed: 1, total: 9, elapsedMs: 50 }), '2 of 9 done, 1 failed');
});
