// Figures keep their samples, and their intervals hold the value.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { judgeGoal } from '../results/goal-row.ts';
import { atMost, estimate, figureOf, shareOf } from './figure.ts';
import { toCsv } from './result.ts';

const said = { group: 'a group', name: 'a "name", quoted', unit: 'ms' };
const SILENT = { delivered: 0, lost: 0, overflowed: 0, oversized: 0, lateUs: null, shortestUs: null };

test('every statistic lies within its interval', () => {
  const samples = fc.array(fc.integer({ min: -100, max: 30_000 }), { minLength: 1, maxLength: 30 });
  fc.assert(
    fc.property(samples, fc.constantFrom('median', 'p95', 'max', 'total'), (values, statistic) => {
      const found = estimate(statistic, values);
      assert.ok(found !== null && found.low <= found.value && found.value <= found.high);
    }),
    { numRuns: 30 },
  );
});

test('without samples nothing is measured', () => {
  assert.equal(estimate('mean', []), null);
  assert.equal(judgeGoal(figureOf({ ...said, goal: atMost(1) }, 'p95', [])).verdict, 'not measured');
  assert.equal(shareOf(said, []).measured, null);
});

test('a share is per cent of all trials', () => {
  const { measured, samples, unit } = shareOf(said, [true, true, true, false]);
  assert.equal(measured?.value, 75);
  assert.ok(measured.low < 75 && measured.high > 75 && measured.high < 100);
  assert.deepEqual(samples, [1, 1, 1, 0]);
  assert.equal(unit, '%');
});

test('a count of no packets meets a goal of none as a whole', () => {
  const none = figureOf({ ...said, goal: atMost(0) }, 'total', [0, 0, 0]);
  assert.equal(judgeGoal(none).verdict, 'holds, whole interval');
  const one = figureOf({ ...said, goal: atMost(0) }, 'total', [0, 1, 0]);
  assert.equal(judgeGoal(one).verdict, 'MISSED');
});

test('the CSV has a line for each figure, quoted where it must be', () => {
  const goals = [{ ...judgeGoal(figureOf({ ...said, goal: atMost(7) }, 'max', [5, 6])), samples: [5, 6] }];
  const link = { up: SILENT, down: SILENT };
  const text = toCsv({ rows: [{ name: 'dead', title: 'title', trials: 2, goals, link }] });
  const [head, line, end] = text.split('\r\n');
  assert.match(head ?? '', /^row,group,name,unit,value,low,high,/);
  assert.equal(line, 'dead,a group,"a ""name"", quoted",ms,6,6,6,at most,7,"holds, whole interval",,');
  assert.equal(end, '');
});
