// What a report contains, which part of the ledger it covers, and what its file is called.
import { otherFindings, verdictText } from '@photofinish/shared/verdict/verdict-text';
import '../../testing/catalogs.ts';
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { NO_REQUESTS } from '@photofinish/shared/report/adoption';
import type { Origin } from '@photofinish/shared/web/origin';
import { emptyDay, emptyRecord } from '../../common/records/fold.ts';
import { type DayRow, NOTHING_DELIVERED } from '../../common/records/schema.ts';
import { aRace } from '../../testing/samples.ts';
import { addDays, buildReport, type DaySums, noDays, type ReportInput } from './build.ts';
import 'fake-indexeddb/auto';
import { openLedger } from '../../ledger/ledger.ts';
import { fillLedger } from '../../testing/filled-ledger.ts';
import { collectReport, type Progress, type ReportSelection } from './collect.ts';
import { exportName } from './export-names.ts';

const A = 'https://a.test' as Origin;
const B = 'https://b.test' as Origin;

function day(name: string, origin: Origin, more: Partial<DayRow>): DayRow {
  return { ...emptyDay(name, 'a.test', origin, 'home'), ...more };
}

function sumsOf(rows: readonly DayRow[]): DaySums {
  const sums = noDays();
  addDays(sums, rows);
  return sums;
}

const input: ReportInput = {
  sums: sumsOf([
    day('2026-11-20', A, {
      counts: { ...NO_REQUESTS, h2: 3, 'http/1.0': 1, 'http/1.1': 1 },
      navigations: { ...NO_REQUESTS, h2: 1 },
      bytes: 100,
      lookups: 4,
      hits: 3,
    }),
    day('2026-11-21', A, {
      counts: { ...NO_REQUESTS, h3: 5 },
      modes: ['full'],
      navigations: { ...NO_REQUESTS, h3: 1 },
      bytes: 50,
      scored: 2,
      right: 1,
    }),
    day('2026-11-21', B, { counts: { ...NO_REQUESTS, unknown: 2 }, modes: ['light'] }),
  ]),
  records: new Map([
    [
      'a.test',
      new Map([
        [A, { ...emptyRecord(A, 'a.test', 0), protocol: 'h3', protocolAtMs: 1 }],
        [B, { ...emptyRecord(B, 'a.test', 0), reason: 'no-timing-allow-origin' }],
      ]),
    ],
  ]),
  races: new Map([
    [A, [aRace({ origin: A, atMs: 1 }), aRace({ origin: A, atMs: Date.UTC(2026, 10, 20, 9) })]],
  ]),
  browser: { name: 'chromium', version: '156.0.1.2' },
  network: 'home',
  networkNames: null,
  fromMs: Date.UTC(2026, 10, 20),
  toMs: Date.UTC(2026, 10, 21, 12),
  nowMs: Date.UTC(2026, 10, 22, 9),
};

test('a race that could not be run is listed, and the verdict rests on the one before it', () => {
  const error = { code: 'dns-failed', message: 'no such host' } as const;
  const failed = aRace({ origin: B, atMs: Date.UTC(2026, 10, 20, 11), trials: [], error });
  const races = new Map([[B, [aRace({ origin: B, atMs: Date.UTC(2026, 10, 20, 10) }), failed]]]);
  const origins = buildReport({ ...input, races }).sites[0]?.origins ?? [];
  const b = origins.find(({ origin }) => origin === B);
  assert.deepEqual([b?.races.length, b?.verdict.code], [2, 'h3-available']);
});

test('days add up by origin and site, with the hidden beside the known', () => {
  const [site] = buildReport(input).sites;
  assert.deepEqual(
    site?.origins.map((o) => [o.origin, o.protocols, o.bytes, o.hidden, o.races.length]),
    [
      [A, { h3: 5, h2: 3, 'http/1.1': 2, unknown: 0 }, 150, 0, 1],
      [B, { h3: 0, h2: 0, 'http/1.1': 0, unknown: 2 }, 0, 2, 0],
    ],
  );
  assert.deepEqual(site?.adoption, {
    byRequest: { h3: 5, known: 10, hidden: 2 },
    byOrigin: { h3: 1, known: 1, hidden: 1 },
    byNavigation: { h3: 1, known: 2, hidden: 0 },
  });
  assert.deepEqual(
    [site?.hidden, site?.hitRatio, site?.accuracy],
    [2, { hits: 3, of: 4 }, { hits: 1, of: 2 }],
  );
});

test('the report says how each origin was observed, and all of them together', () => {
  const { modes, sites } = buildReport(input);
  assert.deepEqual(
    [modes, sites[0]?.origins.map((o) => o.modes)],
    [
      ['full', 'light'],
      [['full'], ['light']],
    ],
  );
});

test('the report contains its conditions, and verdicts say why', () => {
  const report = buildReport(input);
  assert.equal(report.createdAt, '2026-11-22T09:00:00.000Z', 'after the period');
  assert.deepEqual(report.period, { from: '2026-11-20T00:00:00.000Z', to: '2026-11-21T12:00:00.000Z' });
  assert.deepEqual([report.networks, report.language], [['home'], undefined]);
  const [a, b] = report.sites[0]?.origins ?? [];
  assert.equal(a?.races.length, 1, 'the race before the period is not one of it');
  assert.equal(a?.verdict.code, 'h3-used');
  const others = a ? otherFindings(a.verdict).map(({ text }) => text) : [];
  assert.match(others.join(' '), /on the network on which its latest race ran/);
  assert.match(b ? verdictText(b.verdict) : '', /Timing-Allow-Origin/);
});

test('of an origin that sent nothing over the network the report says where its answers came from', () => {
  const delivered = { ...NOTHING_DELIVERED, 'http-cache': 1 };
  const records = new Map([['a.test', new Map([[A, { ...emptyRecord(A, 'a.test', 0), delivered }]])]]);
  const sums = sumsOf([day('2026-11-21', A, { delivered })]);
  const [origin] = buildReport({ ...input, sums, records, races: new Map() }).sites[0]?.origins ?? [];
  assert.match(
    origin ? verdictText(origin.verdict) : '',
    /^Served from the browser’s cache, not the network\./,
  );
});

test('an origin that never answered is not listed, nor its site; look-ups for it count on a site that has others', () => {
  const failed = { ...day('2026-11-21', B, { lookups: 2 }), site: 'b.test' };
  const sums = sumsOf([
    day('2026-11-21', A, { counts: { ...NO_REQUESTS, h2: 1 }, lookups: 1 }),
    day('2026-11-21', B, { lookups: 2 }),
    failed,
  ]);
  const { sites } = buildReport({ ...input, sums });
  assert.deepEqual(
    sites.map(({ site, origins, hitRatio }) => [site, origins.map(({ origin }) => origin), hitRatio.of]),
    [['a.test', [A], 3]],
  );
});

test('an origin that never answered the browser is listed with its races, whose verdict it has', () => {
  const atMs = Date.UTC(2026, 10, 21, 9);
  const sums = sumsOf([day('2026-11-21', B, { lookups: 2 })]);
  const report = (at: number) =>
    buildReport({
      ...input,
      sums,
      records: new Map(),
      races: new Map([[B, [aRace({ origin: B, atMs: at })]]]),
    });
  const [b] = report(atMs).sites[0]?.origins ?? [];
  assert.deepEqual([b?.origin, b?.races.length, b?.verdict.code], [B, 1, 'h3-available']);
  assert.doesNotMatch(b ? verdictText(b.verdict) : '', /did not report/);
  assert.match(b ? verdictText(b.verdict) : '', /on the network on which its latest race ran/);
  assert.deepEqual(report(0).sites, [], 'raced before the period');
});

test('without records the report has no sites', () => {
  assert.deepEqual(buildReport({ ...input, sums: noDays() }).sites, []);
});

test('a row that violates the schema never gets into a report', () => {
  const broken = day('2026-11-21', A, { counts: { ...NO_REQUESTS, h3: 1 }, bytes: -1 });
  assert.throws(() => buildReport({ ...input, sums: sumsOf([broken]) }));
});

test('names of networks are included only on request, and only those of its own networks', () => {
  assert.equal(buildReport(input).networkNames, undefined);
  const networkNames = new Map([
    ['home', 'Flat'],
    ['work', 'Office'],
  ]);
  assert.deepEqual(buildReport({ ...input, networkNames }).networkNames, { home: 'Flat' });
});

// Which part of the ledger a report covers: the selected sites and days, and no claim beyond them.

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

test('a file name contains the site and the day, and nothing that a file system rejects', () => {
  const at = '2026-11-21T09:45:00.000Z';
  assert.equal(exportName('example.org', at, 'html'), 'photofinish-example.org-2026-11-21.html');
  assert.equal(exportName(null, at, 'csv'), 'photofinish-all-sites-2026-11-21.csv');
  assert.equal(exportName('[::1]/../x', at, 'json'), 'photofinish--1-..-x-2026-11-21.json');
});
