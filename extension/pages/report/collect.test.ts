// Which part of the ledger a report covers: the selected sites and days, and no claim beyond them.
import 'fake-indexeddb/auto';
import '../../testing/catalogs.ts';
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { NO_REQUESTS } from '@photofinish/shared/report/adoption';
import type { Origin } from '@photofinish/shared/web/origin';
import { emptyDay, emptyRecord } from '../../common/records/fold.ts';
import type { DayRow } from '../../common/records/schema.ts';
import { openLedger } from '../../ledger/ledger.ts';
import { fillLedger } from '../../testing/filled-ledger.ts';
import { aRace } from '../../testing/samples.ts';
import { collectReport, type Progress, type ReportSelection } from './collect.ts';

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

const ledger = openLedger('collect');

before(async () => {
  await ledger.merge(
    'races',
    DAYS.map((day) => aRace({ origin: ORIGIN, atMs: Date.parse(day) + 1000 })),
  );
  await ledger.merge('days', rows);
  await ledger.merge(
    'records',
    SITES.map((site) => emptyRecord(ORIGIN, site, FIRST_MS)),
  );
});

const conditions = {
  browser: { name: 'firefox', version: '153' },
  network: 'home',
  networkNames: null,
  nowMs: NOW_MS,
} as const;

async function report(selection: ReportSelection) {
  const made = await collectReport(ledger, selection, conditions);
  return {
    made,
    counted: made.sites.map(({ site, adoption }) => [site, adoption.byRequest.h3]),
    races: made.sites[0]?.origins[0]?.races.length,
  };
}

test('without a selection everything stored is included, over every network it came from', async () => {
  const { made, counted, races } = await report({ sites: null });
  assert.deepEqual(counted, [
    ['a.test', 3],
    ['b.test', 3],
    ['c.test', 3],
  ]);
  assert.deepEqual([races, made.networks], [3, ['home', 'work']]);
  assert.deepEqual(made.period, { from: '2026-11-19T00:00:01.000Z', to: '2026-11-21T12:00:00.000Z' });
});

test('the period begins with the oldest day that is still kept, not with the first visit', async () => {
  const pruned = openLedger('collect-pruned');
  await pruned.merge('days', rows);
  await pruned.merge('records', [emptyRecord(ORIGIN, 'a.test', Date.UTC(2026, 5, 1))]);
  const made = await collectReport(pruned, { sites: null }, conditions);
  assert.equal(made.period.from, '2026-11-19T00:00:00.000Z');
});

test('of some sites the period begins with their own data, not with a race that another site began', async () => {
  const { made } = await report({ sites: ['a.test'] });
  assert.equal(made.period.from, '2026-11-19T06:00:00.000Z');
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

test('the period begins no earlier than the first data and ends no later than now', async () => {
  const { made } = await report({ sites: null, fromDay: '2020-01-01', toDay: '2030-01-01' });
  assert.deepEqual(made.period, { from: '2026-11-19T00:00:01.000Z', to: '2026-11-21T12:00:00.000Z' });
  const before = await report({ sites: null, fromDay: '2020-01-01', toDay: '2020-02-01' });
  assert.deepEqual(before.made.sites, []);
  assert.ok(before.made.period.from <= before.made.period.to);
});

test('a large ledger, read in chunks, gives the same result for each site as alone, and reports progress', async () => {
  const filling = { seed: 5, origins: 900, sites: 100, days: 30, daysPerOrigin: 6, raced: 60, nowMs: NOW_MS };
  await fillLedger(filling, 'large');
  const large = openLedger('large');
  const told: Progress[] = [];
  const whole = await collectReport(large, { sites: null }, conditions, (progress) => told.push(progress));
  assert.equal(whole.sites.length, 100);
  assert.ok(whole.sites.some((site) => site.origins.some(({ races }) => races.length > 0)));
  for (const site of whole.sites) {
    const alone = await collectReport(large, { sites: [site.site] }, conditions);
    assert.deepEqual(alone.sites, [site]);
  }
  const counts = await large.countRows();
  const rows = counts.days + counts.records;
  const reading = told.filter(({ stage }) => stage === 'reading');
  assert.deepEqual(
    [reading[0]?.done, reading.at(-1)?.done, new Set(reading.map(({ of }) => of))],
    [0, rows, new Set([rows])],
  );
  assert.ok(reading.length > 3, 'more than beginning and end');
  const building = told.filter(({ stage }) => stage === 'building');
  assert.deepEqual(
    building.map(({ done, of }) => [done, of]),
    Array.from({ length: 100 }, (_, i) => [i, 100]),
  );
});
