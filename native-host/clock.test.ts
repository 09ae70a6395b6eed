// The machine's clock: nothing runs before its time, or after it was cancelled. How late it may run depends on the
// machine.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from './clock.ts';

const waited = (delayMs: number): Promise<number> => {
  const beganMs = systemClock.nowMs();
  return new Promise((resolve) => {
    systemClock.after(delayMs, () => resolve(systemClock.nowMs() - beganMs));
  });
};

test('nothing runs before its time', async () => {
  for (const delayMs of [0, 0.2, 1, 1.5, 2.5, 10, 101.5]) assert.ok((await waited(delayMs)) >= delayMs);
});

test('a delay of 0 still lets pending work go first', () => {
  let ran = false;
  const forget = systemClock.after(0, () => {
    ran = true;
  });
  assert.equal(ran, false);
  forget();
});

test('a cancelled callback does not run, however near its time is', async () => {
  const ran: number[] = [];
  for (const delayMs of [0, 0.5, 1.5, 5]) systemClock.after(delayMs, () => ran.push(delayMs))();
  await waited(20);
  assert.deepEqual(ran, []);
});
