// The ledger's database, migrated to the newest version inside the browser's upgrade transaction: if a migration fails,
// the previous version stays intact. Durability is the browser's default (`relaxed`): what is committed survives the
// browser, but not a power failure. Errors are explained by their consequences, which the browser's own do not name.
import type { OriginRace } from '@photofinish/shared/race/outcome';
import { type VerdictAsText, verdictAsWritten } from '@photofinish/shared/race/verdict-schema';
import { NETWORK_UNKNOWN } from '@photofinish/shared/web/network-name';
import type { Origin } from '@photofinish/shared/web/origin';
import type { IDBPDatabase, IDBPTransaction, StoreNames } from 'idb';
import { getMessage, type MessageKey } from '../common/catalog.ts';
import { holdOpen, type Opener } from '../common/open-database.ts';
import { emptyDay } from '../common/records/fold.ts';
import { type DayRow, type DayTotal, LEDGER_NAME, type LedgerSchema } from '../common/records/schema.ts';
import { verdictOfRecord } from '../common/verdict.ts';
import { emptyTotal, movedTotal, newestRacesOf } from './row-changes.ts';

/** Returns the database, reopened if it was closed. */
export type Database = Opener<LedgerSchema>;

/** The database, opened and migrated in the background; see `holdOpen`. */
export function openDatabase(name = LEDGER_NAME): Database {
  return holdOpen<LedgerSchema>({ name, version: LEDGER_VERSION, upgrade: upgradeFrom });
}

export type Upgrade = IDBPTransaction<LedgerSchema, Store[], 'versionchange'>;
type Migration = (db: IDBPDatabase<LedgerSchema>, tx: Upgrade) => void | Promise<void>;

/** Before version 2, days were stored without their network. */
type DayRow1 = Omit<DayRow, 'network'>;
/** Before version 3, verdicts of races were stored as text. */
type RaceInText = Omit<OriginRace, 'verdict'> & { readonly verdict: VerdictAsText };

function createVersion1(db: IDBPDatabase<LedgerSchema>): void {
  const records = db.createObjectStore('records', { keyPath: ['origin', 'site'] });
  records.createIndex('site', 'site');
  records.createIndex('lastSeenMs', 'lastSeenMs');
  db.createObjectStore('days', { keyPath: ['day', 'site', 'origin'] }).createIndex('site', ['site', 'day']);
  db.createObjectStore('races', { keyPath: ['origin', 'atMs'] }).createIndex('atMs', 'atMs');
  db.createObjectStore('outbox', { autoIncrement: true });
  db.createObjectStore('batches', { keyPath: 'key' }).createIndex('atMs', 'atMs');
}

/** Stores days by network, and totals beside them; the network of what was recorded before is unknown. */
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
    // In parallel: sequentially, a year's rows would take minutes.
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

/** Records store the verdict that follows from them and their origin's races. */
async function verdicts(tx: Upgrade): Promise<void> {
  const records = tx.objectStore('records');
  const races = tx.objectStore('races');
  const raced = new Set((await races.getAllKeys()).map(([origin]) => origin));
  const judged = async (origin: Origin): Promise<OriginRace | undefined> =>
    raced.has(origin) ? (await newestRacesOf(races, origin))?.judged : undefined;
  for await (const rows of chunksOf(records))
    await Promise.all(
      rows.map(async (row) =>
        records.put({ ...row, verdict: verdictOfRecord(row, await judged(row.origin)).code }),
      ),
    );
}

/** Verdicts of races become data; earlier ones were text, and remain text. */
async function verdictsAsData(tx: Upgrade): Promise<void> {
  const races = tx.objectStore('races');
  for await (const rows of chunksOf(races))
    await Promise.all(
      (rows as readonly (OriginRace | RaceInText)[]).map(async (row) => {
        if ('text' in row.verdict) await races.put({ ...row, verdict: verdictAsWritten(row.verdict) });
      }),
    );
}

/** `MIGRATIONS[n]` converts version n to n + 1. Never edited once released; a change is another migration. */
const MIGRATIONS: readonly Migration[] = [
  createVersion1,
  async (db, tx) => {
    await networksAndTotals(db, tx);
    await verdicts(tx);
  },
  (_, tx) => verdictsAsData(tx),
  // Their rules changed: visits elsewhere, proxies and records that DNS was not asked for now leave a verdict open.
  (_, tx) => verdicts(tx),
];

const LEDGER_VERSION = MIGRATIONS.length;

/** Migrates a database from an older version to this one. If anything fails, the upgrade is undone. */
export async function upgradeFrom(
  oldVersion: number,
  db: IDBPDatabase<LedgerSchema>,
  tx: Upgrade,
): Promise<void> {
  // The caller that opens the database reports the failure.
  tx.done.catch(() => {});
  try {
    for (const migrate of MIGRATIONS.slice(oldVersion)) await migrate(db, tx);
  } catch (error) {
    abandon(tx);
    throw error;
  }
}

const REMEDIES: Record<string, MessageKey> = {
  VersionError: 'popupStorageNewer',
  QuotaExceededError: 'popupStorageFull',
  // Chromium's error for a full disk, and for one that it cannot read.
  UnknownError: 'popupStorageMaybeFull',
};

/** What failed and what to do, for any error that the ledger rejects with. */
export function troubleText(error: unknown): string {
  const name = error instanceof Error || error instanceof DOMException ? error.name : 'Error';
  return getMessage('popupStorageFails', { name, remedy: getMessage(REMEDIES[name] ?? 'popupStorageOther') });
}

// Transactions that are atomic even if our own code throws in the middle.

export type Store = StoreNames<LedgerSchema>;
/** A transaction that may write to any store it was opened on. */
export type WriteTransaction = IDBPTransaction<LedgerSchema, Store[], 'readwrite'>;

/** Runs `work` in the transaction and waits for the commit; if anything fails, all of it is rolled back. */
export async function whole<Stores extends ArrayLike<Store>, Result>(
  tx: IDBPTransaction<LedgerSchema, Stores, 'readwrite'>,
  work: (tx: IDBPTransaction<LedgerSchema, Stores, 'readwrite'>) => Promise<Result>,
): Promise<Result> {
  // The rejection of `done` is the same failure that `work` reports; unhandled, it would end up in the service worker's
  // log.
  tx.done.catch(() => {});
  try {
    const result = await work(tx);
    await tx.done;
    return result;
  } catch (error) {
    abandon(tx);
    throw error;
  }
}

/** Aborts a transaction that may have ended already, which is fine. */
function abandon(tx: { abort(): void }): void {
  try {
    tx.abort();
  } catch {
    // It had already ended.
  }
}

// Reads a whole store in chunks, so that memory use does not grow with the amount of data.

/** Rows per step: enough that steps are cheap, few enough that a page stays responsive between two of them. */
export const CHUNK_ROWS = 2000;

/** The part of a transaction's store that is used; `keyPath` names the parts of its key. */
interface ChunkedStore<Row> {
  readonly keyPath: string | string[] | null;
  getAll(range?: IDBKeyRange | null, count?: number): Promise<Row[]>;
}

/**
 * The rows of a store with a compound key, in key order. The transaction stays open as long as nothing but its own
 * requests is awaited between two chunks.
 */
export async function* chunksOf<Row extends object>(
  store: ChunkedStore<Row>,
  chunkRows: number = CHUNK_ROWS,
): AsyncGenerator<Row[]> {
  let rows = await store.getAll(null, chunkRows);
  for (let last = rows.at(-1); last !== undefined; last = rows.at(-1)) {
    yield rows;
    const fields = last as Readonly<Record<string, IDBValidKey>>;
    const key = [store.keyPath ?? []].flat().map((name) => fields[name] as IDBValidKey);
    rows = await store.getAll(IDBKeyRange.lowerBound(key, true), chunkRows);
  }
}

/**
 * Passes on rows chunk by chunk, each in a transaction of its own; the next is read while the previous one is
 * processed. `read` returns those after a row, or the first. Rejects when `take` does. What is written meanwhile may or
 * may not be included.
 */
export async function eachChunk<Row>(
  read: (after: Row | null, chunkRows: number) => Promise<Row[]>,
  take: (rows: readonly Row[]) => void | Promise<void>,
  chunkRows: number = CHUNK_ROWS,
): Promise<void> {
  let rows = await read(null, chunkRows);
  for (let last = rows.at(-1); last !== undefined; last = rows.at(-1)) {
    const [next] = await Promise.all([rows.length < chunkRows ? [] : read(last, chunkRows), take(rows)]);
    rows = next;
  }
}
