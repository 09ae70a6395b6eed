// What of the ledger a report is made of: the sites and days that were selected, and no claim beyond them.
import '../words.fixture.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_REQUESTS } from '@photofinish/shared/adoption';
import type { Origin } from '@photofinish/shared/origin';
import { emptyDay, emptyRecord } from '../ledger/fold.ts';
import type { DayRow } from '../ledger/schema.ts';
import { collectReport, type ReportSelection } from './collect.ts';
import { aRace } from './race.fixture.ts';

const ORIGIN = 'https://cdn.test' as Origin;
const SITES = ['a.test', 'b.test', 'c.test'];
const DAYS = ['2026-11-19', '2026-11-20', '2026-11-21'];
const NOW_MS = Date.UTC(2026, 10, 21, 12);
const FIRST_MS = Date.UTC(2026, 10, 19, 6);

const rows: DayRow[] = SITES.flatMap((site) =>
  DAYS.map((day, i) => ({
    ...emptyDay(day, site, ORIGIN, i === 0 ? 'work' : 'home'),
    counts: { ...NO_REQUESTS, h3: 1 },
  })),
);

const ledger = {
  days: async (site: string | null, fromDay: string, toDay = '9') =>
    rows.filter((row) => (site === null || row.site === site) && row.day >= fromDay && row.day <= toDay),
  records: async (site: string | null) =>
    SITES.filter((own) => site === null || own === site).map((own) => emptyRecord(ORIGIN, own, FIRST_MS)),
  races: async (origin: Origin) => DAYS.map((day) => aRace({ origin, atMs: Date.parse(day) + 1000 })),
};

async function report(selection: ReportSelection) {
  const browser = { name: 'firefox', version: '153' } as const;
  const made = await collectReport(ledger, selection, { browser, network: 'home', nowMs: NOW_MS });
  return {
    made,
    counted: made.sites.map(({ site, adoption }) => [site, adoption.byRequest.h3]),
    races: made.sites[0]?.origins[0]?.races.length,
  };
}

test('without a selection everything kept is in it, over every network it came from', async () => {
  const { made, counted, races } = await report({ sites: null });
  assert.deepEqual(counted, [
    ['a.test', 3],
    ['b.test', 3],
    ['c.test', 3],
  ]);
  assert.deepEqual([races, made.networks], [3, ['home', 'work']]);
  assert.deepEqual(made.period, { from: '2026-11-19T00:00:01.000Z', to: '2026-11-21T12:00:00.000Z' });
});

test('several sites, each once', async () => {
  const { counted } = await report({ sites: ['c.test', 'a.test', 'c.test'] });
  assert.deepEqual(counted, [
    ['a.test', 3],
    ['c.test', 3],
  ]);
});

test('days are whole UTC days, both ends included, with the races of that time', async () => {
  const { made, counted, races } = await report({
    sites: ['a.test'],
    fromDay: '2026-11-20',
    toDay: '2026-11-20',
  });
  assert.deepEqual([counted, races, made.networks], [[['a.test', 1]], 1, ['home']]);
  assert.deepEqual(made.period, { from: '2026-11-20T00:00:00.000Z', to: '2026-11-21T00:00:00.000Z' });
});

test('the period claims nothing before the first thing known and nothing after now', async () => {
  const { made } = await report({ sites: null, fromDay: '2020-01-01', toDay: '2030-01-01' });
  assert.deepEqual(made.period, { from: '2026-11-19T00:00:01.000Z', to: '2026-11-21T12:00:00.000Z' });
  const before = await report({ sites: null, fromDay: '2020-01-01', toDay: '2020-02-01' });
  assert.deepEqual(before.made.sites, []);
  assert.ok(before.made.period.from <= before.made.period.to);
});
