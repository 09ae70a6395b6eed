// One rule for all goals: the favourable end of the interval decides, the unfavourable one is said.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { anyMissed, type Bound, formatGoals, formatNumber, type GoalRow, judgeGoal } from './goal-row.ts';

const claim = { group: 'times', name: 'race', unit: 'ms', anchor: 'P2 57.4' };
const atMost = (value: number): Bound => ({ kind: 'at most', value });
const judge = (goal: Bound | null, low: number, value: number, high: number, tooFew?: string): GoalRow =>
  judgeGoal({ ...claim, goal, measured: { value, low, high } }, tooFew);

describe('judging a goal', () => {
  test('the favourable end decides, its edge included', () => {
    assert.equal(judge(atMost(2), 2, 2.5, 3).verdict, 'holds');
    assert.equal(judge(atMost(2), 2.001, 2.5, 3).verdict, 'MISSED');
  });

  test('the unfavourable end makes it whole', () => {
    assert.equal(judge(atMost(3), 2, 2.5, 3).verdict, 'holds, whole interval');
    assert.equal(judge({ kind: 'at least', value: 0.98 }, 0.97, 0.99, 1).verdict, 'holds');
    assert.equal(judge({ kind: 'at least', value: 0.98 }, 0.98, 0.99, 1).verdict, 'holds, whole interval');
    assert.equal(judge({ kind: 'at least', value: 0.98 }, 0.9, 0.95, 0.97).verdict, 'MISSED');
  });

  test('below leaves the edge out', () => {
    assert.equal(judge({ kind: 'below', value: 1 }, 1, 1, 1).verdict, 'MISSED');
    assert.equal(judge({ kind: 'below', value: 1 }, 0.9, 0.95, 1).verdict, 'holds');
  });

  test('an interval without an upper end never meets a goal as a whole', () => {
    assert.equal(judge(atMost(0.5), 0, Number.NaN, Infinity).verdict, 'holds');
  });

  test('with too few trials there is a trend only, which misses nothing', () => {
    const row = judge(atMost(2), 3, 4, 5, '100 of 1000 trials');
    assert.equal(row.verdict, 'not judged');
    assert.equal(row.trend, 'missed');
    assert.equal(anyMissed([row]), false);
    assert.match(formatGoals([row]), /not judged \(100 of 1000 trials; trend: missed\)/);
  });

  test('without a goal a figure is reported, without a figure nothing is', () => {
    assert.equal(judge(null, 1, 2, 3).verdict, 'reported');
    assert.equal(judgeGoal({ ...claim, goal: atMost(1), measured: null }).verdict, 'not measured');
  });

  test('the table has both ends of the interval and the groups in their order', () => {
    const other = { ...judge(atMost(2), 1.5, 1.75, 2.25), group: 'ratios' };
    const text = formatGoals([judge(atMost(2), 3, 4, 5), other]);
    assert.match(text, /^times\n.*\n.*\n.*4 ms\s+3 to 5.*MISSED/);
    assert.match(text, /\n\nratios\n(?:.*\n)*.*1.75 ms\s+1.5 to 2.25.*holds$/);
    assert.equal(anyMissed([judge(atMost(2), 3, 4, 5), other]), true);
  });
});

describe('figures', () => {
  test('keep four significant figures, at most three decimals', () => {
    assert.deepEqual([0, 0.12345, 1.5, 12.3456, 203.83, 30_000, -1.25, -0.0001, Infinity].map(formatNumber), [
      '0',
      '0.123',
      '1.5',
      '12.35',
      '203.8',
      '30000',
      '−1.25',
      '0',
      '∞',
    ]);
  });
});
