// The estimate that a run begins with, and how measured speed corrects it.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { ContestantKind } from '../contestant.ts';
import { CELLS } from './cells.ts';
import { estimate, expectedTurnMs, formatDuration } from './estimate.ts';
import { planRun } from './plan.ts';

const kinds = new Map<string, ContestantKind>([
  ['race', 'ours'],
  ['chromium-first', 'browser'],
]);
const plan = planRun(
  CELLS,
  [
    { name: 'race', trials: 100, batch: 10 },
    { name: 'chromium-first', trials: 4, batch: 2 },
  ],
  1,
);

test('more delay, more loss and more trials take longer', () => {
  const at = (delayMs: number, loss: number, trials = 10) =>
    expectedTurnMs('ours', { id: 'x', delayMs, loss }, trials);
  assert.ok(at(50, 0) > at(0, 0));
  assert.ok(at(0, 0.5) > at(0, 0.25));
  assert.ok(at(0, 0, 20) > at(0, 0));
});

test('at first it is the sum over all turns', () => {
  const sum = plan
    .flatMap(({ cell, turns }) => turns.map((turn) => ({ cell, ...turn })))
    .reduce(
      (ms, { cell, contestant, trials }) =>
        ms + expectedTurnMs(kinds.get(contestant) ?? 'peer', cell, trials),
      0,
    );
  assert.ok(Math.abs(estimate(kinds).leftMs(plan) - sum) < 1e-6 * sum);
});

test('what turns really take corrects their own kind only', () => {
  const only = (name: string) =>
    plan.map(({ cell, turns }) => ({ cell, turns: turns.filter(({ contestant }) => contestant === name) }));
  const before = estimate(kinds);
  const after = estimate(kinds);
  for (const cell of CELLS.slice(0, 3))
    after.measured('ours', cell, 10, 3 * expectedTurnMs('ours', cell, 10));
  const ratio = (name: string) => after.leftMs(only(name)) / before.leftMs(only(name));
  assert.ok(Math.abs(ratio('race') - 3) < 1e-9);
  assert.equal(ratio('chromium-first'), 1);
  assert.equal(after.leftMs([]), 0);
});

test('durations are in the unit that people would use', () => {
  assert.equal(formatDuration(0), '0 s');
  assert.equal(formatDuration(39_200), '40 s');
  assert.equal(formatDuration(12 * 60_000), '12 min');
  assert.equal(formatDuration(185 * 60_000), '3 h 5 min');
});
