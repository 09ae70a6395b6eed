import 'fake-indexeddb/auto';
import '../testing/catalogs.ts';
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { writtenVerdictSchema } from '@photofinish/shared/race/verdict-schema';
import { NO_REQUESTS } from '@photofinish/shared/report/adoption';
import { REPORT_1 } from '@photofinish/shared/testing/reports';
import { verdictAsText } from '@photofinish/shared/verdict/verdict-text';
import type { Origin } from '@photofinish/shared/web/origin';
import type { Protocol } from '@photofinish/shared/web/protocol';
import { IDBFactory } from 'fake-indexeddb';
import fc from 'fast-check';
import * as v from 'valibot';
import { loadNames, nameNetwork } from '../common/network-names.ts';
import type { DayRow } from '../common/records/schema.ts';
import { DEFAULT_SETTINGS, loadSettings, type Settings } from '../common/settings.ts';
import { fillLedger } from '../testing/filled-ledger.ts';
import { checkInvariants, dump, steps } from '../testing/ledger-properties.ts';
import { failAt, type MemoryStore, memoryStore } from '../testing/storage.ts';
import { DATA_VERSION, type DataErrorCode } from './data-document.ts';
import { type Ledger, openLedger } from './ledger.ts';
import { emptyTotal } from './row-changes.ts';
import {
  CONSENTS,
  consentsWanted,
  exportData,
  type ImportOptions,
  importData,
  withConsents,
} from './transfer.ts';

const NOW_MS = Date.UTC(2026, 10, 21, 12);
const RUNS = 40;
const TAKE_ALL: ImportOptions = { nowMs: NOW_MS, consent: async () => new Set(CONSENTS) };
const SMALL = { seed: 7, origins: 60, sites: 10, days: 20, daysPerOrigin: 4, raced: 10, nowMs: NOW_MS };

function options(settings: object = {}, version = 1): MemoryStore {
  return memoryStore({ settings: { version, settings } });
}

function fresh(): Ledger {
  globalThis.indexedDB = new IDBFactory();
  return openLedger();
}

async function small(): Promise<Ledger> {
  const ledger = fresh();
  await fillLedger(SMALL);
  return ledger;
}

function asFile(document: unknown, space?: number): Blob {
  return new Blob([JSON.stringify(document, null, space)]);
}

async function documentOf(ledger: Ledger, settings = options()) {
  return JSON.parse(await (await exportData(ledger, settings, NOW_MS)).text());
}

beforeEach(() => {
  globalThis.indexedDB = new IDBFactory();
});

test('data is the same after export, wipe and import', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const ledger = fresh();
      for (const step of all) await step.run(ledger);
      const before = await dump(ledger);
      const file = await exportData(ledger, options(), NOW_MS);
      await ledger.wipe();
      await importData(ledger, options(), file, TAKE_ALL);
      assert.deepEqual(await dump(ledger), before);
    }),
    { numRuns: RUNS },
  );
});

test('merging a file with other rows leaves consistent sums, and importing it again changes nothing', async () => {
  await fc.assert(
    fc.asyncProperty(steps, steps, async (theirs, mine) => {
      const other = fresh();
      for (const step of theirs) await step.run(other);
      const file = await exportData(other, options(), NOW_MS);
      const ledger = fresh();
      for (const step of mine) await step.run(ledger);
      const before = await dump(ledger);
      await importData(ledger, options(), file, TAKE_ALL);
      const once = await dump(ledger);
      checkInvariants({ ...once, records: [] });
      assert.ok(once.records.length >= before.records.length);
      await importData(ledger, options(), file, TAKE_ALL);
      assert.deepEqual(await dump(ledger), once);
    }),
    { numRuns: RUNS },
  );
});

test('imported days count in the existing records', async () => {
  const old = await documentOf(await small());
  const ledger = fresh();
  const { origin, site, lastSeenMs, counts } = old.records[0];
  const kind = 'resource' as const;
  const delivery = 'network' as const;
  const seen = { id: '1', origin, site, kind, delivery, bytes: 1, protocol: 'h2' as const };
  const atMs = lastSeenMs + 86_400_000;
  const observations = [{ ...seen, atMs }];
  await ledger.record({
    key: '1',
    observations,
    scores: [],
    pageBegunMs: atMs,
    nowMs: atMs,
    network: 'home',
    mode: 'light',
  });
  await importData(ledger, options(), asFile(old), TAKE_ALL);
  const record = (await ledger.recordsOf([origin], site)).get(origin);
  assert.equal(record?.counts.h2, counts.h2 + 1);
  assert.equal(record?.lastSeenMs, atMs);
  assert.equal(record?.firstSeenMs, old.records[0].firstSeenMs);
  assert.deepEqual(record?.modes, ['full', 'light']);
});

test('rows of a file that do not say how they were counted were counted in full', async () => {
  const ledger = await small();
  const before = await brought(ledger);
  const document = await documentOf(ledger);
  for (const section of ['days', 'totals', 'records']) for (const row of document[section]) delete row.modes;
  await ledger.wipe();
  await importData(ledger, options(), asFile(document), TAKE_ALL);
  assert.deepEqual(await brought(ledger), before);
});

test('of merged records HTTP/3 was first used when it was in either', async () => {
  const later = await documentOf(await small());
  for (const row of later.records) Object.assign(row, { h3SinceMs: 20 });
  const earlier = structuredClone(later);
  for (const row of earlier.records) Object.assign(row, { h3SinceMs: 10, lastSeenMs: row.firstSeenMs });
  for (const files of [
    [earlier, later],
    [later, earlier],
  ]) {
    const ledger = fresh();
    for (const file of files) await importData(ledger, options(), asFile(file), TAKE_ALL);
    for (const { h3SinceMs } of (await dump(ledger)).records) assert.equal(h3SinceMs, 10);
  }
});

test('a record that does not say when HTTP/3 was first used had used it by when it was last seen', async () => {
  const recent = await documentOf(await small());
  for (const row of recent.records) Object.assign(row, { h3SinceMs: row.lastSeenMs + 20 });
  const old = structuredClone(recent);
  for (const row of old.records) {
    delete row.h3SinceMs;
    row.counts.h3 += 1;
  }
  const ledger = fresh();
  for (const file of [recent, old]) await importData(ledger, options(), asFile(file), TAKE_ALL);
  const { records } = await dump(ledger);
  assert.ok(records.length > 0);
  for (const { h3SinceMs, lastSeenMs } of records) assert.equal(h3SinceMs, lastSeenMs);
});

test('of two rows that counted the same the one that knows more protocols is kept, else the existing one', async () => {
  const ledger = fresh();
  for (const [theirs, kept] of [
    [{ unknown: 2 }, { unknown: 2 }],
    [
      { unknown: 1, h2: 1 },
      { unknown: 1, h2: 1 },
    ],
    [
      { unknown: 1, h3: 1 },
      { unknown: 1, h2: 1 },
    ],
    [{ unknown: 2 }, { unknown: 1, h2: 1 }],
    [{ h2: 1 }, { unknown: 1, h2: 1 }],
  ]) {
    await ledger.merge('totals', [
      { ...emptyTotal('2026-11-21', 'home'), counts: { ...NO_REQUESTS, ...theirs } },
    ]);
    const [total] = await ledger.totals('2026', '2027');
    assert.deepEqual(total?.counts, { ...NO_REQUESTS, ...kept });
  }
});

test('merged rows have the modes of both, whichever counted more', async () => {
  const document = await documentOf(await small());
  const light = structuredClone(document);
  for (const section of ['days', 'totals', 'records'])
    for (const row of light[section])
      Object.assign(row, { modes: ['light'], bytes: 0, counts: NO_REQUESTS, navigations: NO_REQUESTS });
  for (const files of [
    [document, light],
    [light, document],
  ]) {
    const ledger = fresh();
    for (const file of files) await importData(ledger, options(), asFile(file), TAKE_ALL);
    const { days, totals, records } = await dump(ledger);
    for (const { modes } of [...days, ...totals, ...records]) assert.deepEqual(modes, ['full', 'light']);
    assert.deepEqual(
      days.map(({ counts }) => counts),
      document.days.map((row: DayRow) => row.counts),
    );
  }
});

test('the settings of the file apply, a host never to be recorded as its site', async () => {
  const file = await exportData(fresh(), options({ retentionDays: 30, neverRecord: ['www.a.test'] }), NOW_MS);
  const target = options({ retentionDays: 90 });
  await importData(fresh(), target, file, TAKE_ALL);
  const settings = await loadSettings(target);
  assert.deepEqual([settings.retentionDays, settings.neverRecord], [30, ['a.test']]);
});

test('what a file would switch on requires consent, and stays off without it', async () => {
  const file = await exportData(fresh(), options({ privateWindows: true, retentionDays: 1 }), NOW_MS);
  const target = options({ retentionDays: 90 });
  const asked: string[][] = [];
  const consent: ImportOptions['consent'] = async (wanted) => {
    asked.push([...wanted]);
    return new Set();
  };
  const { refused } = await importData(fresh(), target, file, { nowMs: NOW_MS, consent });
  assert.deepEqual([asked, refused], [[['private-windows', 'retention']], 2]);
  const { privateWindows, retentionDays } = await loadSettings(target);
  assert.deepEqual([privateWindows, retentionDays], [false, 90]);
});

test('an imported file cannot make excluded sites be recorded', async () => {
  const ledger = await small();
  const file = await exportData(ledger, options({ neverRecord: ['b.test', 'theirs.test'] }), NOW_MS);
  const target = options({ neverRecord: ['mine.test', 'b.test'] });
  await importData(ledger, target, file, TAKE_ALL);
  assert.deepEqual((await loadSettings(target)).neverRecord, ['b.test', 'mine.test', 'theirs.test']);
});

/** Without what a record knows about its origin on other sites, which no file contains. */
async function brought(ledger: Parameters<typeof dump>[0]) {
  const { records, ...rest } = await dump(ledger);
  return { ...rest, records: records.map(({ reachedOverH3: _, ...record }) => record) };
}

test('a file reformatted by another program can be read', async () => {
  const ledger = await small();
  const before = await brought(ledger);
  const document = await documentOf(ledger);
  await ledger.wipe();
  const { rows } = await importData(ledger, options(), asFile(document, 2), TAKE_ALL);
  assert.deepEqual(rows, document.rows);
  assert.deepEqual(await brought(ledger), before);
});

test('an import that fails half-way is completed by the next', async () => {
  const ledger = await small();
  const before = await brought(ledger);
  const file = await exportData(ledger, options(), NOW_MS);
  await ledger.wipe();
  const failing = failAt(900, 'aborts');
  await assert.rejects(importData(ledger, options(), file, TAKE_ALL));
  failing.restore();
  await importData(ledger, options(), file, TAKE_ALL);
  assert.deepEqual(await brought(ledger), before);
});

test('the progress of an import is reported', async () => {
  const ledger = await small();
  const file = await exportData(ledger, options(), NOW_MS);
  const told: [number, number][] = [];
  const { rows } = await importData(ledger, options(), file, {
    ...TAKE_ALL,
    onRows: (done, of) => told.push([done, of]),
  });
  const all = Object.values(rows).reduce((sum, n) => sum + n, 0);
  assert.deepEqual(told.at(-1), [all, all]);
  assert.ok(told.every(([done], i) => i === 0 || done > (told[i - 1]?.[0] ?? 0)));
});

test('a file of version 1 has races whose verdicts are text, which become data', async () => {
  const ledger = await small();
  const document = await documentOf(ledger);
  const [old] = REPORT_1.sites[0]?.origins[0]?.races ?? [];
  assert.ok(old);
  const rows = { ...document.rows, races: 1 };
  const file = asFile({ ...document, schema: 'photofinish.data/1', races: [old], rows });
  await ledger.wipe();
  await importData(ledger, options(), file, TAKE_ALL);
  const [race] = (await dump(ledger)).races;
  assert.ok(v.is(writtenVerdictSchema, race?.verdict));
  assert.deepEqual(verdictAsText(race.verdict), old.verdict);
});

test('rows dated later than tomorrow are left out and counted, and the rest is imported', async () => {
  const ledger = await small();
  const document = await documentOf(ledger);
  const [first, ...days] = document.days;
  const [record, ...records] = document.records;
  await ledger.wipe();
  const file = asFile({
    ...document,
    days: [...days, { ...first, day: '9999-12-31' }],
    records: [...records, { ...record, lastSeenMs: 8.64e15 }],
  });
  const { rows, future } = await importData(ledger, options(), file, TAKE_ALL);
  assert.equal(future, 2);
  assert.deepEqual(rows, { ...document.rows, days: days.length, records: records.length });
  const imported = await dump(ledger);
  assert.deepEqual([imported.days.length, imported.records.length], [days.length, records.length]);
});

test('rows of sites that either set of options excludes are left out and counted, with their races', async () => {
  const ledger = await small();
  const document = await documentOf(ledger, options({ neverRecord: ['excluded.test'] }));
  const [race, ...races] = document.races;
  const [first, second, third, ...days] = document.days;
  await ledger.wipe();
  const file = asFile({
    ...document,
    races: [{ ...race, origin: 'https://cdn.excluded.test' }, ...races],
    days: [
      { ...first, site: 'excluded.test' },
      { ...second, site: 'mine.test' },
      { ...third, origin: 'https://cdn.mine.test' },
      ...days,
    ],
  });
  const { rows, excluded } = await importData(
    ledger,
    options({ neverRecord: ['mine.test'] }),
    file,
    TAKE_ALL,
  );
  assert.equal(excluded, 4);
  assert.deepEqual(rows, { ...document.rows, races: races.length, days: days.length });
  const imported = await dump(ledger);
  assert.deepEqual(imported.races.length, races.length);
  assert.ok(imported.days.every(({ site }) => site !== 'excluded.test' && site !== 'mine.test'));
  assert.equal(imported.days.length, days.length);
});

test('totals of a file are imported without the sites that are left out, so that nothing recorded is lost', async () => {
  const record = (ledger: Ledger, key: string, site: string, protocol: Protocol, times: number) => {
    const origin = `https://${site}` as Origin;
    const seen = {
      id: '1',
      origin,
      site,
      kind: 'resource',
      delivery: 'network',
      bytes: 1,
      protocol,
    } as const;
    const observations = Array.from({ length: times }, () => ({ ...seen, atMs: NOW_MS }));
    const when = { pageBegunMs: NOW_MS, nowMs: NOW_MS };
    return ledger.record({ key, observations, scores: [], ...when, network: 'home', mode: 'full' });
  };
  const theirs = fresh();
  await record(theirs, '1', 'shop.test', 'h3', 5);
  await record(theirs, '2', 'bank.test', 'h2', 20);
  const file = await exportData(theirs, options({ neverRecord: ['bank.test'] }), NOW_MS);
  const ledger = fresh();
  await record(ledger, '1', 'mine.test', 'unknown', 8);
  await importData(ledger, options(), file, TAKE_ALL);
  checkInvariants(await dump(ledger));
  const revealed = { origin: 'https://mine.test' as Origin, site: 'mine.test', kind: 'resource' } as const;
  const backfills = [{ ...revealed, atMs: NOW_MS, protocol: 'h2', count: 8 } as const];
  await ledger.backfill({ key: '2', backfills, nowMs: NOW_MS });
  const after = await dump(ledger);
  checkInvariants(after);
  assert.deepEqual(after.totals[0]?.counts, { ...NO_REQUESTS, h3: 5, h2: 8 });
  const own = await exportData(ledger, options(), NOW_MS);
  await ledger.wipe();
  await importData(ledger, options(), own, TAKE_ALL);
  assert.deepEqual(await dump(ledger), after);
});

test('a total of nothing but sites that are left out is left out', async () => {
  const document = await documentOf(await small(), options({ neverRecord: ['excluded.test'] }));
  for (const row of document.days) row.site = 'excluded.test';
  const ledger = fresh();
  const { rows, excluded } = await importData(ledger, options(), asFile(document), TAKE_ALL);
  assert.deepEqual([rows.days, rows.totals], [0, 0]);
  assert.equal(excluded, document.days.length + document.totals.length);
  assert.deepEqual((await dump(ledger)).totals, []);
});

type Changes = (document: Awaited<ReturnType<typeof documentOf>>) => unknown;

const REFUSED: Record<string, readonly [DataErrorCode, Changes]> = {
  'another document': ['not-data', () => ({ schema: 'photofinish.report/1' })],
  'no object': ['damaged', () => [1, 2]],
  'a schema that comes last': ['not-data', ({ schema, ...rest }) => ({ ...rest, schema })],
  'a newer document': ['newer', (d) => ({ ...d, schema: 'photofinish.data/3' })],
  'newer settings': ['newer', (d) => ({ ...d, settings: { ...d.settings, version: 99 } })],
  'a browser that does not exist': ['bad-row', (d) => ({ ...d, browser: 'lynx' })],
  'settings out of their limits': [
    'bad-row',
    (d) => ({ ...d, settings: { version: 1, settings: { ...d.settings.settings, retentionDays: -1 } } }),
  ],
  'no settings': ['damaged', ({ settings: _, ...rest }) => rest],
  'a section missing': ['damaged', ({ days: _, ...rest }) => rest],
  'no counts of rows': ['damaged', ({ rows: _, ...rest }) => rest],
  'a row too few': ['damaged', (d) => ({ ...d, days: d.days.slice(1) })],
  'sections out of order': ['damaged', ({ days, rows, ...rest }) => ({ ...rest, days, rows })],
  'a record of no origin': [
    'bad-row',
    (d) => ({ ...d, records: [...d.records.slice(1), { ...d.records[0], origin: 'http://a.test' }] }),
  ],
  'a negative count': ['bad-row', (d) => ({ ...d, days: [...d.days.slice(1), { ...d.days[0], bytes: -1 }] })],
  'an address of characters that cannot be seen': [
    'bad-row',
    (d) => ({ ...d, records: [...d.records.slice(1), { ...d.records[0], address: '\u007f'.repeat(20) }] }),
  ],
  'a mode that does not exist': [
    'bad-row',
    (d) => ({ ...d, days: [...d.days.slice(1), { ...d.days[0], modes: ['dim'] }] }),
  ],
  'modes out of order': [
    'bad-row',
    (d) => ({ ...d, totals: [...d.totals.slice(1), { ...d.totals[0], modes: ['light', 'full'] }] }),
  ],
  'a mode twice': [
    'bad-row',
    (d) => ({ ...d, records: [...d.records.slice(1), { ...d.records[0], modes: ['full', 'full'] }] }),
  ],
  'more hits than lookups': [
    'bad-row',
    (d) => ({ ...d, days: [...d.days.slice(1), { ...d.days[0], lookups: 1, hits: 2 }] }),
  ],
};

for (const [name, [code, change]] of Object.entries(REFUSED))
  test(`rejected, and nothing changes: ${name}`, async () => {
    const ledger = await small();
    const document = await documentOf(ledger);
    await ledger.wipe();
    const settings = options({ retentionDays: 90 });
    await assert.rejects(importData(ledger, settings, asFile(change(document)), TAKE_ALL), {
      name: 'DataError',
      code,
    });
    assert.deepEqual(await ledger.countRows(), { records: 0, days: 0, totals: 0, races: 0 });
    assert.equal((await loadSettings(settings)).retentionDays, 90);
  });

test('rejected, and nothing changes: a file truncated anywhere, or that is not JSON', async () => {
  const ledger = await small();
  const text = await (await exportData(ledger, options(), NOW_MS)).text();
  await ledger.wipe();
  const damaged = (part: string) =>
    assert.rejects(importData(ledger, options(), new Blob([part]), TAKE_ALL), {
      name: 'DataError',
      code: 'damaged',
    });
  for (const share of [0, 0.3, 0.7, 0.999]) await damaged(text.slice(0, text.length * share));
  await damaged(text.replaceAll('"days"', 'days'));
  await damaged(`${text}{}`);
  // Brackets alone would keep a parser busy for minutes.
  await damaged(`${text.slice(0, -2)},"more":${'{"a":'.repeat(1e6)}1${'}'.repeat(1e6)}}`);
  assert.deepEqual(await ledger.countRows(), { records: 0, days: 0, totals: 0, races: 0 });
});

test('the document names its version and when it was made', async () => {
  const document = await documentOf(await small());
  assert.deepEqual([document.schema, document.createdAt], [DATA_VERSION, '2026-11-21T12:00:00.000Z']);
  assert.deepEqual(document.rows.records, document.records.length);
});

test('of another browser’s file only what is not about that browser is imported', async () => {
  const theirs = options({ retentionDays: 30 });
  await nameNetwork(theirs, 'net-1', 'Home');
  const document = await documentOf(await small(), theirs);
  assert.equal(document.browser, 'chromium');
  const { browser: _, ...unnamed } = document;
  const mine = options({ retentionDays: 90 });
  const ledger = fresh();
  const file = asFile({ ...document, browser: 'firefox' });
  const { rows, foreign, excluded } = await importData(ledger, mine, file, TAKE_ALL);
  const { races, days, totals, records } = document.rows;
  assert.deepEqual(rows, { races, days: 0, totals: 0, records: 0 });
  assert.deepEqual([foreign, excluded], [days + totals + records, 0]);
  assert.deepEqual(await ledger.countRows(), rows);
  assert.equal((await loadSettings(mine)).retentionDays, 30);
  assert.deepEqual(Object.fromEntries(await loadNames(mine)), { 'net-1': 'Home' });
  for (const own of [unnamed, document])
    assert.deepEqual((await importData(fresh(), options(), asFile(own), TAKE_ALL)).rows, document.rows);
});

test('names of networks are included; existing names are kept, and an unreadable one rejects the file', async () => {
  const theirs = options();
  await nameNetwork(theirs, 'net-1', 'Home');
  await nameNetwork(theirs, 'net-2', 'Work');
  const file = await exportData(await small(), theirs, NOW_MS);
  const mine = options();
  await nameNetwork(mine, 'net-2', 'Office');
  await importData(fresh(), mine, file, TAKE_ALL);
  assert.deepEqual(Object.fromEntries(await loadNames(mine)), { 'net-1': 'Home', 'net-2': 'Office' });

  const text = await file.text();
  const bad = new Blob([text.replace('"Home"', '"a\\u202eb"')]);
  await assert.rejects(importData(fresh(), options(), bad, TAKE_ALL), { code: 'bad-row' });
  const older = new Blob([text.replace(/,"networkNames":\{[^}]*\}/, '')]);
  assert.ok(older.size < file.size);
  await importData(fresh(), options(), older, TAKE_ALL);
});

const bold: Settings = {
  ...DEFAULT_SETTINGS,
  raceWhen: 'first-visit',
  raceMode: 'v3',
  privateWindows: true,
  steering: true,
  retentionDays: 1,
  neverRecord: ['b.test'],
  welcomed: true,
};
const mine: Settings = { ...DEFAULT_SETTINGS, neverRecord: ['a.test'] };

test('nothing in a file is switched on, or shortened, without consent', () => {
  assert.deepEqual(consentsWanted(mine, bold), [
    'first-visit-races',
    'private-windows',
    'steering',
    'retention',
  ]);
  assert.deepEqual(withConsents(mine, bold, new Set()), {
    ...mine,
    raceMode: 'v3',
    neverRecord: ['a.test', 'b.test'],
  });
});

test('each consent is separate', () => {
  const steered = withConsents(mine, bold, new Set(['steering']));
  assert.deepEqual(
    [steered.steering, steered.privateWindows, steered.raceWhen, steered.retentionDays],
    [true, false, 'click', DEFAULT_SETTINGS.retentionDays],
  );
  const all = withConsents(mine, bold, new Set(CONSENTS));
  assert.deepEqual({ ...all, neverRecord: ['b.test'], welcomed: true }, bold);
});

test('what is already in force, switched off or kept longer needs none', () => {
  assert.deepEqual(consentsWanted(bold, bold), []);
  assert.deepEqual(consentsWanted(bold, DEFAULT_SETTINGS), []);
  assert.deepEqual(consentsWanted({ ...mine, raceWhen: 'never' }, mine), ['races']);
});
