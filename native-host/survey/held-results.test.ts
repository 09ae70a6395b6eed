// What waits for a canary is released by the next good one or discarded, each result exactly once.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { heldResults } from './held-results.ts';

function holding(...endedMs: readonly number[]) {
  const held = heldResults<number, string>();
  for (const ms of endedMs) held.add({ job: ms, result: `r${ms}`, endedMs: ms });
  return held;
}

test('a good canary releases what had ended when it began, once', () => {
  const held = holding(1, 2, 3);
  assert.deepEqual(held.release(2), [
    { job: 1, result: 'r1', endedMs: 1 },
    { job: 2, result: 'r2', endedMs: 2 },
  ]);
  assert.deepEqual(held.release(2), []);
  assert.equal(held.size(), 1);
  assert.deepEqual(
    held.release(3).map(({ job }) => job),
    [3],
  );
});

test('a failed canary discards everything, also what ended after it began', () => {
  const held = holding(1, 9);
  assert.deepEqual(
    held.discard().map(({ job }) => job),
    [1, 9],
  );
  assert.equal(held.size(), 0);
  assert.deepEqual(held.release(10), []);
  assert.deepEqual(held.discard(), []);
});
