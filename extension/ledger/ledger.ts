// The whole ledger: what the background keeps, and what pages read from it and import into it.

import type { Origin } from '@photofinish/shared/web/origin';
import type { IDBPDatabase } from 'idb';
import { advertisesH3 } from '../common/records/fold.ts';
import {
  BATCH_RETENTION_MS,
  DAY_MS,
  dayOf,
  type LedgerSchema,
  MAX_BATCHES,
  MAX_DAYS,
  MAX_RACES,
  MAX_RECORDS,
  MAX_TOTALS,
  type OriginRecord,
  type OutboxRow,
} from '../common/records/schema.ts';
import type { NewestRaces } from '../common/verdict.ts';
import { browsingOn } from './browsing.ts';
import { type Database, openDatabase, whole } from './database.ts';
import { mergingOn } from './merge.ts';
import { newestRacesOf, recordsOf } from './row-changes.ts';
import { writingOn } from './writing.ts';

function ledgerOn(database: Database) {
  return { ...backgroundLedgerOn(database), ...browsingOn(database), ...mergingOn(database) };
}

export type Ledger = ReturnType<typeof ledgerOn>;

/** The ledger on `openDatabase`. */
export function openLedger(name?: string): Ledger {
  return ledgerOn(openDatabase(name));
}

// The ledger as the background uses it: what is counted, what views, forecasts and the helper need of it, and nothing
// else, because the background's code is loaded again each time it wakes.

/** What the background does with the ledger, its own upkeep included. */
function backgroundLedgerOn(database: Database) {
  return {
    ...readingOn(database),
    ...writingOn(database),

    /**
     * Deletes what is older than the retention and the oldest rows beyond the limits, in small transactions that let
     * recording continue in between; returns the number of rows. If interrupted, the next call continues.
     */
    async prune(nowMs: number, retentionDays: number): Promise<number> {
      const db = await database();
      let deleted = 0;
      for (const plan of plansAt(nowMs, retentionDays)) {
        // Counting half a million rows takes a second, so it is done once rather than at each step.
        let tooMany = (await db.count(plan.store)) - plan.maxRows;
        for (let step = STEP_ROWS; step === STEP_ROWS; tooMany -= step) {
          step = await pruneStep(db, plan, tooMany);
          deleted += step;
        }
      }
      return deleted;
    },

    async close(): Promise<void> {
      (await database()).close();
    },
  };
}

export type BackgroundLedger = ReturnType<typeof backgroundLedgerOn>;

/** The ledger on `openDatabase`, for the background, its only writer. */
export function openBackgroundLedger(name?: string): BackgroundLedger {
  return backgroundLedgerOn(openDatabase(name));
}

// What the background reads from the ledger: the little that a page in view, a forecast and the helper's outbox need.

export interface OutboxEntry extends OutboxRow {
  readonly key: number;
}

/** All queries that the background runs. */
function readingOn(database: Database) {
  return {
    /** Whether an origin still advertised HTTP/3 when it was last seen, on any site. */
    async advertised(origin: Origin): Promise<boolean> {
      const records = await (await database()).getAll('records', recordsOf(origin));
      return records.some(advertisesH3);
    },

    /** The origins a site has used, the most recently seen first, at most `limit`. */
    async originsOfSite(site: string, limit: number): Promise<Origin[]> {
      const records = await (await database()).getAllFromIndex('records', 'site', site);
      return records
        .toSorted((a, b) => b.lastSeenMs - a.lastSeenMs)
        .slice(0, limit)
        .map((r) => r.origin);
    },

    async recordsOf(origins: readonly Origin[], site: string): Promise<Map<Origin, OriginRecord>> {
      const tx = (await database()).transaction('records');
      const found = await Promise.all(origins.map((origin) => tx.store.get([origin, site])));
      return new Map(found.filter((r) => r !== undefined).map((r) => [r.origin, r]));
    },

    async newestRaces(origins: readonly Origin[]): Promise<Map<Origin, NewestRaces>> {
      const tx = (await database()).transaction('races');
      const found = await Promise.all(origins.map((origin) => newestRacesOf(tx.store, origin)));
      return new Map(found.filter((r) => r !== undefined).map((r) => [r.newest.origin, r]));
    },

    /** The oldest rows not acknowledged by the helper; of those whose keys are higher than `above`. */
    async outbox(limit: number, above = 0): Promise<OutboxEntry[]> {
      const tx = (await database()).transaction('outbox');
      const range = IDBKeyRange.lowerBound(above, true);
      const [keys, rows] = await Promise.all([
        tx.store.getAllKeys(range, limit),
        tx.store.getAll(range, limit),
      ]);
      return rows.flatMap((row, i) => {
        const key = keys[i];
        return key === undefined ? [] : [{ key, ...row }];
      });
    },
  };
}

// Keeps the ledger bounded: deletes what is older than the retention and the oldest rows beyond the limits, in small
// batches, so that no transaction of a busy browser waits long for it.

const STEP_ROWS = 500;

interface Plan {
  readonly store: 'records' | 'days' | 'totals' | 'races' | 'batches';
  /** Index that orders the rows by age; null: the primary key does. */
  readonly byAge: string | null;
  readonly before: number | [string];
  readonly maxRows: number;
}

function plansAt(nowMs: number, retentionDays: number): readonly Plan[] {
  const cutMs = nowMs - retentionDays * DAY_MS;
  return [
    { store: 'records', byAge: 'lastSeenMs', before: cutMs, maxRows: MAX_RECORDS },
    { store: 'days', byAge: null, before: [dayOf(cutMs)], maxRows: MAX_DAYS },
    { store: 'totals', byAge: null, before: [dayOf(cutMs)], maxRows: MAX_TOTALS },
    { store: 'races', byAge: 'atMs', before: cutMs, maxRows: MAX_RACES },
    { store: 'batches', byAge: 'atMs', before: nowMs - BATCH_RETENTION_MS, maxRows: MAX_BATCHES },
  ];
}

/** Deletes the oldest rows that are too old, or among the `tooMany` oldest, at most STEP_ROWS; returns their number. */
async function pruneStep(
  db: IDBPDatabase<LedgerSchema>,
  { store, byAge, before }: Plan,
  tooMany: number,
): Promise<number> {
  return whole(db.transaction(store, 'readwrite'), async (tx) => {
    const source = byAge === null ? tx.store : tx.store.index(byAge as never);
    let deleted = 0;
    let cursor = await source.openCursor();
    while (cursor !== null && deleted < STEP_ROWS) {
      const tooOld = indexedDB.cmp(cursor.key, before) < 0;
      if (!tooOld && deleted >= tooMany) break;
      await cursor.delete();
      deleted += 1;
      cursor = await cursor.continue();
    }
    return deleted;
  });
}

// Prunes the ledger on an alarm, because the background rarely lives for an hour.

const ALARM = 'prune';
const EVERY_MINUTES = 60;

async function schedule(): Promise<void> {
  // Recreating it at each start would postpone it forever.
  if ((await chrome.alarms.get(ALARM)) === undefined)
    await chrome.alarms.create(ALARM, { periodInMinutes: EVERY_MINUTES });
}

/** Calls `prune` every hour; must be called synchronously when the background starts, or the alarm is lost. */
export function pruneHourly(prune: () => Promise<unknown>): void {
  chrome.alarms.onAlarm.addListener(({ name }) => {
    if (name === ALARM) prune().catch(console.error);
  });
  schedule().catch(console.error);
}
