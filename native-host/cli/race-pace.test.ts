// The number of concurrent races, with a simulated clock and event loop.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adaptivePace, fixedPace, LEAST_AT_A_TIME, type Pace } from './race-pace.ts';

function testbed(takenAt: (limit: number) => number) {
  let nowMs = 0;
  const pace: Pace = adaptivePace({ nowMs: () => nowMs, taken: () => takenAt(pace.limit()) });
  /** All races that may run end after this long; returns the limits after each such round. */
  const rounds = (count: number, tookMs = 300): number[] =>
    Array.from({ length: count }, () => {
      nowMs += tookMs;
      for (let left = pace.limit(); left > 0; left -= 1) pace.over();
      return pace.limit();
    });
  return { pace, rounds };
}

test('a number given explicitly is fixed', () => {
  const pace = fixedPace(7);
  for (let i = 0; i < 100; i += 1) pace.over();
  assert.equal(pace.limit(), 7);
});

test('with spare time the number doubles, up to the limit on open files', () => {
  const { pace, rounds } = testbed(() => 0.1);
  assert.equal(pace.limit(), LEAST_AT_A_TIME);
  assert.deepEqual(rounds(8), [8, 16, 32, 64, 128, 256, 256, 256]);
});

test('a machine that is busy from the start stays at the minimum', () => {
  assert.deepEqual(testbed(() => 0.95).rounds(4), [4, 4, 4, 4]);
});

test('it settles where the event loop is busy for half to three quarters of the time', () => {
  const { rounds } = testbed((limit) => Math.min(1, limit / 64));
  const settled = rounds(40).slice(10);
  assert.ok(
    settled.every((limit) => limit >= 32 && limit < 64),
    `${settled}`,
  );
});

test('it yields to other load on this machine', () => {
  let others = 0;
  const { rounds } = testbed((limit) => Math.min(1, limit / 400 + others));
  assert.equal(rounds(6).at(-1), 128 + 128);
  others = 0.7;
  assert.ok((rounds(12).at(-1) ?? 0) <= 20);
});

test('load is only evaluated when all running races may have ended, and not over short intervals', () => {
  const { pace, rounds } = testbed(() => 0);
  pace.over();
  assert.equal(pace.limit(), LEAST_AT_A_TIME);
  assert.deepEqual(rounds(2, 20), [4, 4]);
});
