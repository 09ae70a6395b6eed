// What trials come to where they fail, tell nothing, or are few.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { AdoptionRun, Cell, ContestantInfo } from '../adoption/run.ts';
import type { LabTrial } from '../trial.ts';
import { delayCells, derive, lossCells, missesOf, tableOrder } from './figures.ts';

const cell: Cell = { id: 'delay-50', delayMs: 50, loss: 0 };
const ours = (name: string): ContestantInfo => ({ name, title: name, kind: 'ours', versions: {} });
const won = (establishedMs: number | null, firstByteMs: number | null = null): LabTrial => ({
  adopted: 'h3',
  establishedMs,
  firstByteMs,
});
const FAILED: LabTrial = { adopted: null, establishedMs: null, firstByteMs: null };

function runOf(trials: readonly LabTrial[]): AdoptionRun {
  return {
    startedAtMs: 0,
    endedAtMs: 1,
    seed: 1,
    trials: { ours: trials.length, peer: 0, browser: 0 },
    full: false,
    contestants: [ours('race'), ours('race-known')],
    absent: [],
    cells: [{ cell, trials: { race: trials }, link: [] }],
  };
}

describe('the figures of a cell', () => {
  test('failed trials stay in the denominator of adoption and in the mean', () => {
    const figures = derive(runOf([won(50), won(50), won(50), FAILED])).find(cell, 'race');
    assert.deepEqual(figures?.adopted, { hits: 3, of: 4 });
    assert.deepEqual(missesOf(figures ?? { adopted: { hits: 0, of: 0 } }), { hits: 1, of: 4 });
    assert.equal(figures?.failed, 1);
    assert.equal(figures?.established?.mean.value, (150 + 30_000) / 4);
    assert.equal(figures?.established?.medianMs, 50);
    assert.equal(figures?.established?.p95.value, 30_000);
    assert.equal(figures?.firstByte?.mean.value, undefined);
  });

  test('one trial is all of its own statistics', () => {
    const times = derive(runOf([won(51.5)])).find(cell, 'race')?.established;
    assert.deepEqual(times?.mean, { value: 51.5, low: 51.5, high: 51.5 });
    assert.equal(times?.sigmaMs, 0);
  });

  test('whoever was not measured has none', () => {
    const derived = derive(runOf([won(51)]));
    assert.equal(derived.find(cell, 'race-known'), undefined);
    assert.equal(derive(runOf([])).find(cell, 'race'), undefined);
  });
});

test('a known host stands right after its first contact', () => {
  const names = ['race', 'alt-svc', 'go-race', 'race-known', 'alt-svc-known', 'race-known-fixed-delay'];
  assert.deepEqual(
    tableOrder(names.map(ours)).map(({ name }) => name),
    ['race', 'race-known', 'alt-svc', 'alt-svc-known', 'go-race', 'race-known-fixed-delay'],
  );
});

test('nobody is lost from the tables by their order', () => {
  const names = ['race-known', 'race-classical', 'race-known-classical', 'race-one-quic', 'alt-svc-known'];
  assert.deepEqual(
    tableOrder(names.map(ours))
      .map(({ name }) => name)
      .toSorted(),
    names.toSorted(),
  );
});

test('the cell without delay and loss belongs to both sweeps', () => {
  const cells: Cell[] = [
    { id: 'loss-10', delayMs: 0, loss: 0.1 },
    { id: 'delay-50', delayMs: 50, loss: 0 },
    { id: 'delay-0', delayMs: 0, loss: 0 },
  ];
  const run = { ...runOf([]), cells: cells.map((each) => ({ cell: each, trials: {}, link: [] })) };
  assert.deepEqual(
    delayCells(run).map(({ id }) => id),
    ['delay-0', 'delay-50'],
  );
  assert.deepEqual(
    lossCells(run).map(({ id }) => id),
    ['delay-0', 'loss-10'],
  );
});
