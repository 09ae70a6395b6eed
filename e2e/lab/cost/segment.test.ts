// When a load counts as driven: at the limit of each condition, exceeding a single one is enough to fail.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Drive, judgeDrive, lateness } from './segment.ts';

const scheduledMs = Array.from({ length: 100 }, (_, index) => 10 * index);
const good: Drive = {
  scheduledMs,
  startedMs: scheduledMs.map((atMs) => atMs + 2),
  ended: 100,
  expected: 100,
  failed: 0,
  idleShare: 0.4,
  complaints: [],
};

test('a schedule that was kept', () => {
  const { lateP99Ms, rateShare, failedShare, why } = judgeDrive(good);
  assert.deepEqual([lateP99Ms, rateShare, failedShare, why], [2, 1, 0, []]);
});

test('early by the resolution of a clock is not late; starts beyond the schedule cannot be late', () => {
  assert.deepEqual(lateness([10, 20], [9, 25, 30]), [0, 5, 0]);
});

test('exactly at the limits it counts as driven', () => {
  const startedMs = scheduledMs.map((atMs) => atMs + 20);
  const drive = { ...good, startedMs, ended: 97, failed: 0, idleShare: 0.03 };
  assert.deepEqual(judgeDrive(drive).why, []);
});

for (const [name, change, words] of [
  [
    'late',
    { startedMs: scheduledMs.map((atMs, index) => atMs + (index > 97 ? 21 : 0)) },
    /starts late: p99 21 ms/,
  ],
  ['slow', { ended: 192, expected: 200 }, /rate: 96\.0 %/],
  ['without processors', { idleShare: 0.029 }, /processors: 2\.9 % left/],
  ['failing', { failed: 2 }, /failed: 2\.0 %/],
  ['complaining', { complaints: ['photofinish: races-wait: many'] }, /generator: photofinish: races-wait/],
] as const)
  test(`not driven: ${name}`, () => {
    const { why } = judgeDrive({ ...good, ...change });
    assert.equal(why.length, 1);
    assert.match(why[0] ?? '', words);
  });

test('a few requests still under way do not make a low load slow', () => {
  assert.deepEqual(judgeDrive({ ...good, ended: 26, expected: 30 }).why, []);
});

test('without a start nothing was driven', () => {
  const { why, lateP99Ms } = judgeDrive({ ...good, startedMs: [], ended: 0 });
  assert.equal(lateP99Ms, Number.POSITIVE_INFINITY);
  assert.ok(why.length >= 2);
});
