// The overview's sums: denominators add up, a day without rows is not zero, and single rows give the same as totals.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_REQUESTS } from '@photofinish/shared/report/adoption';
import type { Origin } from '@photofinish/shared/web/origin';
import { emptyDay } from '../../common/records/fold.ts';
import type { DayRow } from '../../common/records/schema.ts';
import { emptyTotal, movedTotal } from '../../ledger/row-changes.ts';
import { adoptionDay, networksOf, overviewOf, ratioDay, totalsOfRows } from './overview.ts';

const PERIOD = { fromDay: '2026-11-01', toDay: '2026-11-04' };

function row(day: string, host: string, network: string, h3: number, h2: number, unknown: number): DayRow {
  const empty = emptyDay(day, 'a.test', `https://${host}` as Origin, network);
  return {
    ...empty,
    counts: { ...NO_REQUESTS, h3, h2, unknown },
    navigations: { ...NO_REQUESTS, h2: 1 },
    modes: ['full'],
    lookups: 4,
    hits: 3,
    scored: 2,
    right: 1,
  };
}

const ROWS = [
  row('2026-11-01', 'a.test', 'home', 3, 1, 0),
  row('2026-11-01', 'b.test', 'home', 0, 2, 4),
  row('2026-11-01', 'a.test', 'work', 0, 5, 0),
  { ...row('2026-11-03', 'b.test', 'home', 0, 0, 6), modes: ['light'] as const },
];

test('days are summed over networks, or of one; days without rows are null', () => {
  const all = overviewOf(totalsOfRows(ROWS), PERIOD, null);
  assert.deepEqual(all.days, ['2026-11-01', '2026-11-02', '2026-11-03', '2026-11-04']);
  assert.deepEqual(all.values[0]?.adoption.request, { h3: 3, known: 11, hidden: 4 });
  assert.deepEqual(all.values[0]?.adoption.origin, { h3: 1, known: 3, hidden: 0 });
  assert.equal(all.values[1], null);
  assert.equal(all.recordedDays, 2);
  assert.deepEqual(all.sum.adoption.request, { h3: 3, known: 11, hidden: 10 });
  assert.deepEqual(all.sum.hitRatio, { hits: 12, of: 16 });
  assert.deepEqual(all.sum.accuracy, { hits: 4, of: 8 });
  assert.deepEqual(
    [all.values[0]?.modes, all.values[2]?.modes, all.sum.modes],
    [['full'], ['light'], ['full', 'light']],
  );
  const work = overviewOf(totalsOfRows(ROWS), PERIOD, 'work');
  assert.deepEqual(work.sum.adoption.request, { h3: 0, known: 5, hidden: 0 });
  assert.equal(work.values[2], null);
});

test('rows summed here agree with the ledger’s sums', () => {
  for (const total of totalsOfRows(ROWS)) {
    const own = ROWS.filter(({ day, network }) => day === total.day && network === total.network);
    const kept = own.reduce(
      (sum, after) =>
        movedTotal(sum, { before: emptyDay(after.day, after.site, after.origin, after.network), after }),
      emptyTotal(total.day, total.network),
    );
    const { delivered: _, bytes: __, ...comparable } = kept;
    assert.deepEqual(total, comparable);
  }
});

test('a chart’s day has its parts, its whole, and a line only if something is known', () => {
  assert.deepEqual(adoptionDay({ h3: 1, known: 4, hidden: 2 }), { parts: [1, 3, 2], of: 6, line: 0.25 });
  assert.deepEqual(adoptionDay({ h3: 0, known: 0, hidden: 2 }), { parts: [0, 0, 2], of: 2, line: null });
  assert.equal(adoptionDay({ h3: 0, known: 0, hidden: 0 }), null);
  assert.equal(ratioDay({ hits: 0, of: 0 }), null);
});

test('networks come with the most used first', () => {
  assert.deepEqual(networksOf(totalsOfRows(ROWS)), ['home', 'work']);
});
