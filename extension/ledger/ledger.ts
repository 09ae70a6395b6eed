// The one owner of IndexedDB. Every change is one transaction that happens whole or not at all, so the service worker
// may die at any point; a batch that was counted is known by its key and never counted again.
// Durability is the browser's default (`relaxed`): what is committed outlives the browser, not a power cut.
import type { Forecast } from '@photofinish/shared/forecast';
import type { Observation } from '@photofinish/shared/observation';
import type { Origin } from '@photofinish/shared/origin';
import type { OriginRace } from '@photofinish/shared/outcome';
import { type IDBPDatabase, openDB } from 'idb';
import { emptyDay, emptyRecord, foldDay, foldRecord } from './fold.ts';
import { worthTelling } from './outbox.ts';
import { pruneStep } from './prune.ts';
import {
  type DayRow,
  dayOf,
  LEDGER_NAME,
  type LedgerSchema,
  MAX_OUTBOX_ROWS,
  MIGRATIONS,
  type OriginRecord,
  type OutboxRow,
  RACES_PER_ORIGIN,
} from './schema.ts';
import { whole } from './transaction.ts';

/** How one forecast fared against what the browser used. */
export interface Score {
  readonly origin: Origin;
  readonly site: string;
  readonly right: boolean;
}

export interface Batch {
  /** Names the batch over retries; null when it is never sent again. */
  readonly key: string | null;
  readonly observations: readonly Observation[];
  readonly scores: readonly Score[];
  /** When the page they belong to began, milliseconds since the epoch. */
  readonly pageStartedMs: number;
  readonly nowMs: number;
}

export interface OutboxEntry extends OutboxRow {
  readonly key: number;
}

/** Keys that sort after every string and origin. */
const AFTER_ALL = '\uffff';

/**
 * The ledger, opened and migrated in the background. While it cannot be opened each of its calls tries anew and rejects
 * with the browser's error; one newer than this program knows with a VersionError.
 */
export function openLedger(name = LEDGER_NAME): Ledger {
  let open: Promise<IDBPDatabase<LedgerSchema>> | null = null;
  const database = (): Promise<IDBPDatabase<LedgerSchema>> => {
    open ??= openDB<LedgerSchema>(name, MIGRATIONS.length, {
      upgrade(db, oldVersion) {
        for (const migrate of MIGRATIONS.slice(oldVersion)) migrate(db);
      },
      // A newer program wants the database: let go, and open again when asked.
      blocking: (_current, _blocked, event) => {
        (event.target as IDBDatabase).close();
        open = null;
      },
      terminated: () => {
        open = null;
      },
    }).catch((error) => {
      open = null;
      throw error;
    });
    return open;
  };
  // Whoever needs it hears of a failure; this is only so that it is open by then.
  database().catch(() => {});
  return ledgerOn(database);
}

function ledgerOn(database: () => Promise<IDBPDatabase<LedgerSchema>>) {
  return {
    /**
     * Counts a batch: records, days, scores and outbox in one transaction. False when it had been counted before.
     * Rejects when storage fails, and then nothing of it was kept.
     */
    async record(batch: Batch): Promise<boolean> {
      const db = await database();
      return whole(db.transaction(['records', 'days', 'outbox', 'batches'], 'readwrite'), async (tx) => {
        if (batch.key !== null) {
          const batches = tx.objectStore('batches');
          if ((await batches.getKey(batch.key)) !== undefined) return false;
          await batches.put({ key: batch.key, atMs: batch.nowMs });
        }
        const records = tx.objectStore('records');
        const days = tx.objectStore('days');
        await Promise.all(
          [...groupByRecord(batch.observations).values()].map(async (group) => {
            const [{ origin, site, atMs }] = group;
            let record = (await records.get([origin, site])) ?? emptyRecord(origin, site, atMs);
            for (const o of group) record = foldRecord(record, o, batch.pageStartedMs);
            await records.put(record);
          }),
        );
        await Promise.all(
          [...groupByDay(batch).values()].map(async ({ day, site, origin, observations, scores }) => {
            let row = (await days.get([day, site, origin])) ?? emptyDay(day, site, origin);
            for (const o of observations) row = foldDay(row, o);
            const right = row.right + scores.filter((s) => s.right).length;
            await days.put({ ...row, scored: row.scored + scores.length, right });
          }),
        );
        const told = worthTelling(batch.observations);
        if (told.length > 0) {
          const outbox = tx.objectStore('outbox');
          const key = await outbox.add({ observations: told });
          if (key > MAX_OUTBOX_ROWS) await outbox.delete(IDBKeyRange.upperBound(key - MAX_OUTBOX_ROWS));
        }
        return true;
      });
    },

    /** Counts the look-ups that a page's forecast made, under the page's own origin. */
    async countLookups(origin: Origin, site: string, forecasts: readonly Forecast[], nowMs: number) {
      const db = await database();
      await whole(db.transaction('days', 'readwrite'), async (tx) => {
        const day = dayOf(nowMs);
        const row = (await tx.store.get([day, site, origin])) ?? emptyDay(day, site, origin);
        const hits = row.hits + forecasts.filter((f) => f.hit).length;
        await tx.store.put({ ...row, lookups: row.lookups + forecasts.length, hits });
      });
    },

    /** The origins a site has used, the most lately seen first, at most `limit`. */
    async originsOfSite(site: string, limit: number): Promise<Origin[]> {
      const records = await (await database()).getAllFromIndex('records', 'site', site);
      return records
        .toSorted((a, b) => b.lastSeenMs - a.lastSeenMs)
        .slice(0, limit)
        .map((r) => r.origin);
    },

    /** The records of a site, or of every site. */
    async records(site: string | null): Promise<OriginRecord[]> {
      const db = await database();
      return site === null ? db.getAll('records') : db.getAllFromIndex('records', 'site', site);
    },

    async recordsOf(origins: readonly Origin[], site: string): Promise<Map<Origin, OriginRecord>> {
      const tx = (await database()).transaction('records');
      const found = await Promise.all(origins.map((origin) => tx.store.get([origin, site])));
      return new Map(found.filter((r) => r !== undefined).map((r) => [r.origin, r]));
    },

    /** The days' rows from a UTC day on, of a site or of every site. */
    async days(site: string | null, fromDay: string): Promise<DayRow[]> {
      const db = await database();
      if (site === null) return db.getAll('days', IDBKeyRange.lowerBound([fromDay]));
      return db.getAllFromIndex('days', 'site', IDBKeyRange.bound([site, fromDay], [site, AFTER_ALL]));
    },

    /** Keeps a race, and of its origin the newest RACES_PER_ORIGIN. */
    async saveRace(race: OriginRace): Promise<void> {
      const db = await database();
      await whole(db.transaction('races', 'readwrite'), async (tx) => {
        await tx.store.put(race);
        const keys = await tx.store.getAllKeys(racesOf(race.origin));
        await Promise.all(keys.slice(0, -RACES_PER_ORIGIN).map((key) => tx.store.delete(key)));
      });
    },

    /** The races of an origin, oldest first. */
    async races(origin: Origin): Promise<OriginRace[]> {
      return (await database()).getAll('races', racesOf(origin));
    },

    async newestRaces(origins: readonly Origin[]): Promise<Map<Origin, OriginRace>> {
      const tx = (await database()).transaction('races');
      const cursors = await Promise.all(
        origins.map((origin) => tx.store.openCursor(racesOf(origin), 'prev')),
      );
      return new Map(cursors.filter((c) => c !== null).map(({ value }) => [value.origin, value]));
    },

    /** The oldest rows the helper has not acknowledged. */
    async outbox(limit: number): Promise<OutboxEntry[]> {
      const tx = (await database()).transaction('outbox');
      const [keys, rows] = await Promise.all([
        tx.store.getAllKeys(null, limit),
        tx.store.getAll(null, limit),
      ]);
      return rows.flatMap((row, i) => {
        const key = keys[i];
        return key === undefined ? [] : [{ key, ...row }];
      });
    },

    /** Forgets outbox rows once the helper has them. */
    async acknowledge(keys: readonly number[]): Promise<void> {
      const db = await database();
      await whole(db.transaction('outbox', 'readwrite'), async (tx) => {
        await Promise.all(keys.map((key) => tx.store.delete(key)));
      });
    },

    /** Deletes one small batch of what is too old or too much; the number deleted, 0 when nothing is left to do. */
    async prune(nowMs: number): Promise<number> {
      return pruneStep(await database(), nowMs);
    },

    /** Forgets everything. */
    async wipe(): Promise<void> {
      const db = await database();
      const stores = [...db.objectStoreNames];
      await whole(db.transaction(stores, 'readwrite'), async (tx) => {
        await Promise.all(stores.map((name) => tx.objectStore(name).clear()));
      });
    },

    async close(): Promise<void> {
      (await database()).close();
    },
  };
}

export type Ledger = ReturnType<typeof ledgerOn>;

function racesOf(origin: Origin): IDBKeyRange {
  return IDBKeyRange.bound([origin, 0], [origin, Number.POSITIVE_INFINITY]);
}

function groupByRecord(observations: readonly Observation[]) {
  const groups = new Map<string, [Observation, ...Observation[]]>();
  for (const o of observations) {
    const key = `${o.origin} ${o.site}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [o]);
    else group.push(o);
  }
  return groups;
}

interface DayGroup {
  readonly day: string;
  readonly site: string;
  readonly origin: Origin;
  readonly observations: Observation[];
  readonly scores: Score[];
}

function groupByDay({ observations, scores, nowMs }: Batch): Map<string, DayGroup> {
  const groups = new Map<string, DayGroup>();
  const groupOf = (day: string, site: string, origin: Origin): DayGroup => {
    const key = `${day} ${site} ${origin}`;
    const group = groups.get(key) ?? { day, site, origin, observations: [], scores: [] };
    groups.set(key, group);
    return group;
  };
  for (const o of observations) groupOf(dayOf(o.atMs), o.site, o.origin).observations.push(o);
  for (const s of scores) groupOf(dayOf(nowMs), s.site, s.origin).scores.push(s);
  return groups;
}
