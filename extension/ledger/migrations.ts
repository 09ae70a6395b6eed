// The way from each version of the ledger to the next. A migration runs inside the browser's upgrade transaction:
// fails it, or is the browser ended, the version before stays whole.

import type { OriginRace } from '@photofinish/shared/race/outcome';
import { type VerdictInWords, verdictAsWritten } from '@photofinish/shared/race/verdict-schema';
import type { Origin } from '@photofinish/shared/web/origin';
import type { IDBPDatabase, IDBPTransaction } from 'idb';
import { emptyDay } from '../common/records/fold.ts';
import { type DayRow, type DayTotal, type LedgerSchema, NETWORK_UNKNOWN } from '../common/records/schema.ts';
import { verdictOfRecord } from '../common/verdict.ts';
import { chunksOf } from './chunks.ts';
import { racesOf } from './row-changes.ts';
import { emptyTotal, movedTotal } from './totals.ts';
import { abandon, type Store } from './transaction.ts';

export type Upgrade = IDBPTransaction<LedgerSchema, Store[], 'versionchange'>;
type Migration = (db: IDBPDatabase<LedgerSchema>, tx: Upgrade) => void | Promise<void>;

/** Days were kept without their network until version 2. */
type DayRow1 = Omit<DayRow, 'network'>;
/** Verdicts of races were in words until version 3. */
type RaceInWords = Omit<OriginRace, 'verdict'> & { readonly verdict: VerdictInWords };

function createVersion1(db: IDBPDatabase<LedgerSchema>): void {
  const records = db.createObjectStore('records', { keyPath: ['origin', 'site'] });
  records.createIndex('site', 'site');
  records.createIndex('lastSeenMs', 'lastSeenMs');
  db.createObjectStore('days', { keyPath: ['day', 'site', 'origin'] }).createIndex('site', ['site', 'day']);
  db.createObjectStore('races', { keyPath: ['origin', 'atMs'] }).createIndex('atMs', 'atMs');
  db.createObjectStore('outbox', { autoIncrement: true });
  db.createObjectStore('batches', { keyPath: 'key' }).createIndex('atMs', 'atMs');
}

/** Days are kept by network, with totals beside them; what was recorded before tells none. */
async function networksAndTotals(db: IDBPDatabase<LedgerSchema>, tx: Upgrade): Promise<void> {
  const old = tx.objectStore('days');
  old.name = 'days-1';
  const days = db.createObjectStore('days', { keyPath: ['day', 'site', 'origin', 'network'] });
  days.createIndex('site', ['site', 'day']);
  const totals = db.createObjectStore('totals', { keyPath: ['day', 'network'] });
  let total: DayTotal | null = null;
  for await (const rows of chunksOf(old)) {
    const changes = (rows as readonly DayRow1[]).map((row) => ({
      before: emptyDay(row.day, row.site, row.origin, NETWORK_UNKNOWN),
      after: { ...row, network: NETWORK_UNKNOWN },
    }));
    // At once: one after the other, a year's rows would take minutes.
    await Promise.all(changes.map(async ({ after }) => days.put(after)));
    for (const change of changes) {
      const { day } = change.after;
      if (total !== null && total.day !== day) await totals.put(total);
      total = movedTotal(total?.day === day ? total : emptyTotal(day, NETWORK_UNKNOWN), change);
    }
  }
  if (total !== null) await totals.put(total);
  db.deleteObjectStore('days-1' as Store);
}

/** Records carry the verdict that they and the newest race of their origin come to. */
async function verdicts(tx: Upgrade): Promise<void> {
  const records = tx.objectStore('records');
  const races = tx.objectStore('races');
  const raced = new Set((await races.getAllKeys()).map(([origin]) => origin));
  const newest = async (origin: Origin): Promise<OriginRace | undefined> =>
    raced.has(origin) ? (await races.openCursor(racesOf(origin), 'prev'))?.value : undefined;
  for await (const rows of chunksOf(records))
    await Promise.all(
      rows.map(async (row) =>
        records.put({ ...row, verdict: verdictOfRecord(row, await newest(row.origin)).code }),
      ),
    );
}

/** Verdicts of races are data; those of before were in words, and stay in them. */
async function verdictsAsData(tx: Upgrade): Promise<void> {
  const races = tx.objectStore('races');
  for await (const rows of chunksOf(races))
    await Promise.all(
      (rows as readonly (OriginRace | RaceInWords)[]).map(async (row) => {
        if ('text' in row.verdict) await races.put({ ...row, verdict: verdictAsWritten(row.verdict) });
      }),
    );
}

/** `MIGRATIONS[n]` leads from version n to n + 1. Never edited once released; a change is a further one. */
const MIGRATIONS: readonly Migration[] = [
  createVersion1,
  async (db, tx) => {
    await networksAndTotals(db, tx);
    await verdicts(tx);
  },
  (_, tx) => verdictsAsData(tx),
];

export const LEDGER_VERSION = MIGRATIONS.length;

/** Leads a database of an older version to this one. Whatever fails, the upgrade is undone. */
export async function upgradeFrom(
  oldVersion: number,
  db: IDBPDatabase<LedgerSchema>,
  tx: Upgrade,
): Promise<void> {
  // The failure is told by whoever opens the database.
  tx.done.catch(() => {});
  try {
    for (const migrate of MIGRATIONS.slice(oldVersion)) await migrate(db, tx);
  } catch (error) {
    abandon(tx);
    throw error;
  }
}
