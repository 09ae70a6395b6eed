import { otherFindings, verdictText } from '@photofinish/shared/verdict/verdict-text';
import '../../testing/catalogs.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_REQUESTS } from '@photofinish/shared/report/adoption';
import type { Origin } from '@photofinish/shared/web/origin';
import { emptyDay, emptyRecord } from '../../common/records/fold.ts';
import { type DayRow, NOTHING_DELIVERED } from '../../common/records/schema.ts';
import { aRace } from '../../testing/samples.ts';
import { buildReport, noDays, type ReportInput, sumsOf } from './build.ts';

const A = 'https://a.test' as Origin;
const B = 'https://b.test' as Origin;

function day(name: string, origin: Origin, more: Partial<DayRow>): DayRow {
  return { ...emptyDay(name, 'a.test', origin, 'home'), ...more };
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
