// A run measures every client as often as requested, interleaved in time, and what remains of it is exactly what is
// missing.
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import {
  CELLS,
  type ClientTraits,
  estimate,
  expectedTurnMs,
  planRun,
  remaining,
  turnKey,
} from './turn-plan.ts';

const portions = fc
  .array(fc.record({ trials: fc.integer({ min: 1, max: 60 }), batch: fc.integer({ min: 1, max: 12 }) }), {
    minLength: 1,
    maxLength: 6,
  })
  .map((all) => all.map((portion, index) => ({ name: `c${index}`, ...portion })));
const cells = CELLS.slice(0, 2);

test('every client gets all its trials in every cell, its turns in order and none longer than its batch', () => {
  fc.assert(
    fc.property(portions, fc.nat(), (all, seed) => {
      for (const { turns } of planRun(cells, all, seed))
        for (const { name, trials, batch } of all) {
          const own = turns.filter(({ client }) => client === name);
          assert.equal(
            own.reduce((sum, turn) => sum + turn.trials, 0),
            trials,
          );
          assert.deepEqual(
            own.map(({ number }) => number),
            [...own.keys()],
          );
          assert.ok(own.every((turn) => turn.trials >= 1 && turn.trials <= batch));
        }
    }),
  );
});

test('a client with few turns is spread over the whole cell, not finished early', () => {
  const [plan] = planRun(
    cells,
    [
      { name: 'many', trials: 100, batch: 1 },
      { name: 'few', trials: 4, batch: 1 },
    ],
    1,
  );
  const places = plan?.turns.flatMap(({ client }, index) => (client === 'few' ? [index] : [])) ?? [];
  // One in the middle of each quarter of the 104 turns, plus or minus one turn of the round and those before.
  for (const [index, place] of places.entries())
    assert.ok(Math.abs(place - 26 * (index + 0.5)) <= 3, `turn ${index} is number ${place}`);
});

test('the seed determines the order, which differs between rounds and cells', () => {
  const all = ['a', 'b', 'c', 'd'].map((name) => ({ name, trials: 50, batch: 10 }));
  assert.deepEqual(planRun(cells, all, 7), planRun(cells, all, 7));
  assert.notDeepEqual(planRun(cells, all, 7), planRun(cells, all, 8));
  const [first, second] = planRun(cells, all, 7);
  assert.notDeepEqual(first?.turns, second?.turns);
  const order = first?.turns.map(({ client }) => client).join('') ?? '';
  assert.ok(new Set(order.match(/.{4}/g)).size > 1);
});

test('a plan minus any completed part of it leaves exactly the rest, in order', () => {
  fc.assert(
    fc.property(portions, fc.nat(), fc.infiniteStream(fc.boolean()), (all, seed, coins) => {
      const plan = planRun(cells, all, seed);
      const keys = plan.flatMap(({ cell, turns }) =>
        turns.map(({ client, number }) => turnKey(cell.id, client, number)),
      );
      const done = new Set(keys.filter(() => coins.next().value));
      const left = remaining(plan, done).flatMap(({ cell, turns }) =>
        turns.map(({ client, number }) => turnKey(cell.id, client, number)),
      );
      assert.equal(new Set(keys).size, keys.length);
      assert.deepEqual(
        left,
        keys.filter((key) => !done.has(key)),
      );
    }),
  );
});

const kinds = new Map<string, ClientTraits>([
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

test('initially it is the sum over all turns', () => {
  const sum = plan
    .flatMap(({ cell, turns }) => turns.map((turn) => ({ cell, ...turn })))
    .reduce(
      (ms, { cell, client, trials }) => ms + expectedTurnMs(kinds.get(client)?.kind ?? 'peer', cell, trials),
      0,
    );
  assert.ok(Math.abs(estimate(kinds).cellsMs(plan) - sum) < 1e-6 * sum);
});

test('measured durations correct only the estimate of their own kind', () => {
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

test('a client that prepares before a cell takes longer for it, once', () => {
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
