// UTC days: none is lost or doubled, and labels never overlap.
import '../../testing/catalogs.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { DAY_MS, dayOf } from '../../common/records/schema.ts';
import { dayStartMs, daysBetween, dayTicks } from './days.ts';

const instants = fc.integer({ min: Date.UTC(2000, 0, 1), max: Date.UTC(2060, 0, 1) });

test('days are consecutive without a gap, ends included', () => {
  fc.assert(
    fc.property(instants, fc.integer({ min: 0, max: 800 }), (startMs, more) => {
      const days = daysBetween(dayOf(startMs), dayOf(startMs + more * DAY_MS));
      assert.equal(days.length, more + 1);
      assert.equal(days[0], dayOf(startMs));
      for (const [i, day] of days.entries())
        assert.equal(dayStartMs(day), dayStartMs(days[0] ?? '') + i * DAY_MS);
    }),
  );
});

test('reversed days give none', () => {
  assert.deepEqual(daysBetween('2026-11-21', '2026-11-20'), []);
});

test('there are never more labels than requested', () => {
  fc.assert(
    fc.property(
      instants,
      fc.integer({ min: 0, max: 800 }),
      fc.integer({ min: 1, max: 30 }),
      (startMs, more, most) => {
        const days = daysBetween(dayOf(startMs), dayOf(startMs + more * DAY_MS));
        const ticks = dayTicks(days, most);
        assert.ok(ticks.length <= most, `${ticks.length} of ${most}`);
        assert.ok(ticks.every(({ index }) => days[index] !== undefined));
      },
    ),
  );
});

test('weeks are counted from the newest day, months from their first', () => {
  const month = daysBetween('2026-10-23', '2026-11-21');
  assert.equal(dayTicks(month, 5).at(-1)?.index, month.length - 1);
  const year = daysBetween('2025-10-18', '2026-11-21');
  const ticks = dayTicks(year, 14);
  assert.ok(ticks.every(({ index }) => year[index]?.endsWith('-01')));
  assert.match(ticks.map(({ label }) => label).join(), /2026/, 'January says its year');
});
