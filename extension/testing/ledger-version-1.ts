// A database as left by version 1 of the ledger: stores, indexes and rows dumped from the released code, so that
// changes of today's code do not change what upgrades are tested with.
import { readFileSync } from 'node:fs';
import type { OriginRace } from '@photofinish/shared/race/outcome';
import type { VerdictAsText } from '@photofinish/shared/race/verdict-schema';
import { openDB } from 'idb';
import { type DayRow, LEDGER_NAME, type OriginRecord, type OutboxRow } from '../common/records/schema.ts';

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

export const VERSION_1: Version1 = JSON.parse(
  readFileSync(new URL('ledger-version-1.json', import.meta.url), 'utf8'),
);

/** Creates the database, with this many additional rows of days and records, identical except for their origin. */
export async function createVersion1(more = 0, name = LEDGER_NAME): Promise<void> {
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
