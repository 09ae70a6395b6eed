// The published rows, found by cell, with the counts and intervals that follow from them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PAPER_ALT_SVC, PAPER_RACE, paperAdopted, paperMean, paperRow } from './paper.ts';

test('percentages of 1000 trials are counts', () => {
  const counts = PAPER_RACE.map((row) => paperAdopted(row)?.hits);
  assert.deepEqual(counts, [997, 1000, 1000, 1000, 1000, 964, 910, 780, 627]);
  assert.equal(paperAdopted(PAPER_ALT_SVC[0] ?? assert.fail()), null);
});

test('rows are found by delay and loss; Alt-Svc has none at 50 % loss', () => {
  assert.equal(paperRow(PAPER_RACE, { delayMs: 200, loss: 0 })?.meanMs, 208.4);
  assert.equal(paperRow(PAPER_RACE, { delayMs: 0, loss: 0.5 })?.maxMs, 15475);
  assert.equal(paperRow(PAPER_ALT_SVC, { delayMs: 0, loss: 0.5 }), undefined);
  assert.equal(paperRow(PAPER_RACE, { delayMs: 50, loss: 0.1 }), undefined);
});

test("a mean's interval follows from its deviation", () => {
  const row = paperRow(PAPER_RACE, { delayMs: 50, loss: 0 });
  const { value, low, high } = paperMean(row ?? assert.fail());
  assert.equal(value, 57.4);
  assert.ok(Math.abs(high - low - 2 * 0.2727) < 0.001);
});
