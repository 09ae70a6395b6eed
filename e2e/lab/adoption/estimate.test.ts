// The estimate that a run begins with, and how measured speed corrects it.
import assert from 'node:assert/strict';
import test from 'node:test';
import { estimate, expectedTurnMs, type Measured } from './estimate.ts';
import { CELLS, planRun } from './plan.ts';

const kinds = new Map<string, Measured>([
  ['race', { kind: 'ours', prepares: false }],
  ['chromium-first', { kind: 'browser', prepares: false }],
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
      (ms, { cell, client, trials }) => ms + expectedTurnMs(kinds.get(client)?.kind ?? 'peer', cell, trials),
      0,
    );
  assert.ok(Math.abs(estimate(kinds).cellsMs(plan) - sum) < 1e-6 * sum);
});

test('what turns really take corrects their own kind only', () => {
  const only = (name: string) =>
    plan.map(({ cell, turns }) => ({ cell, turns: turns.filter(({ client }) => client === name) }));
  const before = estimate(kinds);
  const after = estimate(kinds);
  for (const cell of CELLS.slice(0, 3))
    after.measured('race', cell, 10, 3 * expectedTurnMs('ours', cell, 10));
  const ratio = (name: string) => after.cellsMs(only(name)) / before.cellsMs(only(name));
  assert.ok(Math.abs(ratio('race') - 3) < 1e-9);
  assert.equal(ratio('chromium-first'), 1);
  assert.equal(after.cellsMs([]), 0);
});

test('who learns before a cell takes longer for it, once', () => {
  const knowing = estimate(new Map([['race', { kind: 'ours', prepares: true } as const]]));
  const plain = estimate(kinds);
  const [cell] = planRun(CELLS, [{ name: 'race', trials: 100, batch: 10 }], 1);
  assert.ok(cell);
  const extraMs = knowing.cellsMs([cell]) - plain.cellsMs([cell]);
  assert.ok(Math.abs(extraMs - expectedTurnMs('ours', cell.cell, 20)) < 1e-9);
  assert.equal(knowing.turnsMs(cell), plain.turnsMs(cell));
  knowing.prepared('race', cell.cell, 2 * expectedTurnMs('ours', cell.cell, 20));
  assert.ok(Math.abs(knowing.turnsMs(cell) - 2 * plain.turnsMs(cell)) < 1e-9);
});
