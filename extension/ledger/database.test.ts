import 'fake-indexeddb/auto';
import '../testing/catalogs.ts';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { beforeEach, test } from 'node:test';
import type { OriginRace } from '@photofinish/shared/race/outcome';
import { type VerdictAsText, writtenVerdictSchema } from '@photofinish/shared/race/verdict-schema';
import { verdictAsText } from '@photofinish/shared/verdict/verdict-text';
import { NETWORK_UNKNOWN } from '@photofinish/shared/web/network-name';
import type { Origin } from '@photofinish/shared/web/origin';
import { IDBFactory, IDBObjectStore } from 'fake-indexeddb';
import { openDB } from 'idb';
import * as v from 'valibot';
import { emptyRecord } from '../common/records/fold.ts';
import {
  type DayRow,
  LEDGER_NAME,
  type LedgerSchema,
  type OriginRecord,
  type OutboxRow,
} from '../common/records/schema.ts';
import { checkInvariants, dump } from '../testing/ledger-properties.ts';
import { aRace } from '../testing/samples.ts';
import { type Failure, failAt } from '../testing/storage.ts';
import { CHUNK_ROWS, troubleText, upgradeFrom } from './database.ts';
import { openLedger } from './ledger.ts';

// A database as left by version 1 of the ledger: stores, indexes and rows dumped from the released code, so that
// changes of today's code do not change what upgrades are tested with.

interface DumpedStore<Row> {
  readonly keyPath: string | string[] | null;
  readonly autoIncrement: boolean;
  readonly indexes: readonly { readonly name: string; readonly keyPath: string | string[] }[];
  /** For rows that do not contain their keys. */
  readonly keys: readonly number[] | null;
  readonly rows: readonly Row[];
}

interface Version1 {
  readonly version: 1;
  readonly stores: {
    readonly records: DumpedStore<Omit<OriginRecord, 'verdict'>>;
    readonly days: DumpedStore<Omit<DayRow, 'network'>>;
    readonly races: DumpedStore<Omit<OriginRace, 'verdict'> & { readonly verdict: VerdictAsText }>;
    readonly outbox: DumpedStore<OutboxRow>;
    readonly batches: DumpedStore<{ readonly key: string; readonly atMs: number }>;
  };
}

const VERSION_1: Version1 = JSON.parse(
  readFileSync(new URL('../testing/ledger-version-1.json', import.meta.url), 'utf8'),
);

/** Creates the database, with this many additional rows of days and records, identical except for their origin. */
async function createVersion1(more = 0, name = LEDGER_NAME): Promise<void> {
  const stores = Object.entries(VERSION_1.stores) as [string, DumpedStore<object>][];
  const db = await openDB(name, VERSION_1.version, {
    upgrade(fresh) {
      for (const [storeName, { keyPath, autoIncrement, indexes }] of stores) {
        const store = fresh.createObjectStore(storeName, { keyPath, autoIncrement });
        for (const index of indexes) store.createIndex(index.name, index.keyPath);
      }
    },
  });
  const tx = db.transaction(
    stores.map(([storeName]) => storeName),
    'readwrite',
  );
  for (const [storeName, { keys, rows }] of stores)
    for (const [i, row] of rows.entries()) await tx.objectStore(storeName).put(row, keys?.[i]);
  const { records, days } = VERSION_1.stores;
  const { counts, navigations, delivered, bytes } = days.rows[0] as (typeof days.rows)[number];
  const once = { ...records.rows[0], counts, navigations, delivered, bytes };
  for (let i = 0; i < more; i += 1) {
    const origin = `https://more${i}.test`;
    await tx.objectStore('days').put({ ...days.rows[0], origin });
    await tx.objectStore('records').put({ ...once, origin });
  }
  await tx.done;
  db.close();
}

const { stores } = VERSION_1;

beforeEach(() => {
  globalThis.indexedDB = new IDBFactory();
});

test('a ledger of version 1 is migrated to this one without losses', async () => {
  await createVersion1();
  const ledger = await openLedger();
  const all = await dump(ledger);
  checkInvariants(all);
  assert.deepEqual(
    all.records.map(({ verdict, ...record }) => record),
    stores.records.rows,
  );
  assert.deepEqual(
    all.days,
    stores.days.rows.map((row) => ({ ...row, network: NETWORK_UNKNOWN })),
  );
  assert.deepEqual(
    all.races.map((race) => ({ ...race, verdict: verdictAsText(race.verdict) })),
    stores.races.rows,
    'verdicts are data now, and say what they said',
  );
  assert.ok(all.races.length > 0 && all.races.every(({ verdict }) => v.is(writtenVerdictSchema, verdict)));
  assert.deepEqual(
    await ledger.outbox(100),
    stores.outbox.rows.map((row, i) => ({ ...row, key: stores.outbox.keys?.[i] })),
  );
  for (const { key } of stores.batches.rows) {
    const again = {
      key,
      observations: [],
      scores: [],
      pageBegunMs: 0,
      nowMs: 0,
      network: 'home',
      mode: 'full' as const,
    };
    assert.equal(await ledger.record(again), false);
  }
});

test('an upgraded ledger has verdicts and totals for what was recorded before', async () => {
  await createVersion1();
  const { records, totals } = await dump(openLedger());
  assert.deepEqual(
    records.map(({ origin, site, verdict }) => [origin, site, verdict]),
    [
      ['https://a.test', 'a.test', 'h3-used'],
      ['https://b.test', 'b.test', 'h3-available'],
      ['https://cdn.test', 'a.test', 'unknown'],
      ['https://cdn.test', 'b.test', 'h3-used'],
      ['https://old.test', 'b.test', 'unknown'],
    ],
  );
  const [, second] = totals;
  assert.deepEqual(second, {
    day: '2026-11-19',
    network: NETWORK_UNKNOWN,
    counts: { h3: 3, h2: 1, 'http/1.1': 0, 'http/1.0': 0, unknown: 1 },
    navigations: { h3: 1, h2: 1, 'http/1.1': 0, 'http/1.0': 0, unknown: 0 },
    origins: { h3: 2, known: 3, hidden: 1 },
    delivered: { 'http-cache': 0, 'service-worker': 0, prefetch: 0 },
    bytes: 6000,
    modes: ['full'],
    lookups: 2,
    hits: 1,
    scored: 1,
    right: 0,
  });
});

test('what does not say how it was counted was counted by webRequest', async () => {
  await createVersion1();
  const ledger = openLedger();
  const [day] = stores.days.rows;
  assert.ok(day);
  const { origin, site } = day;
  const atMs = Date.parse(day.day);
  const told = { id: '1', origin, site, atMs, kind: 'resource', delivery: 'network', bytes: 1 } as const;
  await ledger.record({
    key: null,
    observations: [{ ...told, protocol: 'h2' }],
    scores: [],
    pageBegunMs: atMs,
    nowMs: atMs,
    network: NETWORK_UNKNOWN,
    mode: 'light',
  });
  const { records, days, totals } = await dump(ledger);
  const record = records.find((row) => row.origin === origin && row.site === site);
  const added = days.find((row) => row.day === day.day && row.origin === origin && row.site === site);
  const total = totals.find((row) => row.day === day.day);
  for (const row of [record, added, total]) assert.deepEqual(row?.modes, ['full', 'light']);
  checkInvariants(await dump(ledger));
});

test('verdicts by the rules of version 3 are judged anew', async () => {
  const db = await openDB<LedgerSchema>(LEDGER_NAME, 3, {
    upgrade: (created, _, __, tx) => upgradeFrom(0, created, tx),
  });
  const origin = 'https://a.test' as Origin;
  const { discovered } = aRace();
  await db.put('races', aRace({ origin, atMs: 1, discovered }));
  await db.put('records', {
    ...emptyRecord(origin, 'a.test', 0),
    ...{ protocol: 'h2', protocolAtMs: 0, altSvc: discovered.altSvc, advertisedSinceMs: 0 },
    ...{ visitsSinceAdvertised: 3, verdict: 'h3-browser-avoids' },
  });
  db.close();
  const all = await dump(openLedger());
  assert.deepEqual(
    all.records.map(({ verdict }) => verdict),
    ['h3-available'],
  );
  checkInvariants(all);
});

test('a large ledger is upgraded a chunk at a time', async (t) => {
  const more = 2 * CHUNK_ROWS + 7;
  await createVersion1(more);
  const { getAll } = IDBObjectStore.prototype;
  let most = 0;
  const spied = t.mock.method(
    IDBObjectStore.prototype,
    'getAll',
    function (this: IDBObjectStore, query?: IDBValidKey | IDBKeyRange | null, count?: number) {
      most = Math.max(most, count ?? Number.POSITIVE_INFINITY);
      return getAll.call(this, query, count);
    },
  );
  const ledger = openLedger();
  const rows = await ledger.countRows();
  spied.mock.restore();
  assert.equal(most, CHUNK_ROWS);
  assert.deepEqual(rows, {
    records: stores.records.rows.length + more,
    days: stores.days.rows.length + more,
    totals: 4,
    races: stores.races.rows.length,
  });
  checkInvariants(await dump(ledger));
});

/** Rows and version of the stored database, without an upgrade. */
async function asStored(): Promise<unknown> {
  const db = await openDB(LEDGER_NAME);
  const names = [...db.objectStoreNames];
  const rows = await Promise.all(names.map(async (name) => [name, await db.getAll(name)] as const));
  db.close();
  return { version: db.version, rows: Object.fromEntries(rows) };
}

for (const how of ['throws', 'aborts'] satisfies Failure[])
  test(`an upgrade that ${how} at any step leaves version 1 intact, and the next one succeeds`, async () => {
    await createVersion1();
    const before = await asStored();
    for (let nth = 1; ; nth += 1) {
      const failing = failAt(nth, how);
      const ledger = openLedger();
      const opened = await ledger.countRows().then(
        () => true,
        () => false,
      );
      failing.restore();
      if (!failing.reached()) break;
      assert.equal(opened, false, `operation ${nth}`);
      assert.deepEqual(await asStored(), before, `operation ${nth}`);
    }
    checkInvariants(await dump(openLedger()));
  });

test('a ledger of a newer program is rejected and left alone', async () => {
  (await openDB(LEDGER_NAME, 99)).close();
  await assert.rejects(openLedger().countRows(), { name: 'VersionError' });
});

test('a failing storage is reported with what to do about it', () => {
  assert.match(troubleText(new DOMException('', 'VersionError')), /\(VersionError\).*update the extension/);
  assert.match(troubleText(new DOMException('', 'QuotaExceededError')), /free up some space/);
  assert.match(troubleText(new DOMException('', 'UnknownError')), /may be full: free up some space.*restart/);
  assert.match(
    troubleText(new DOMException('', 'InvalidStateError')),
    /Restart the browser.*records will be lost/,
  );
  assert.match(troubleText('text'), /nothing is being recorded/);
});
