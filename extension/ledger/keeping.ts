// The ledger as the background uses it: what is counted, what views, forecasts and the helper need of it, and nothing
// else, because the background's code is loaded again each time it wakes.

import type { Origin } from '@photofinish/shared/web/origin';
import { advertisesH3 } from '../common/records/fold.ts';
import type { OriginRecord, OutboxRow } from '../common/records/schema.ts';
import type { NewestRaces } from '../common/verdict.ts';
import { type Database, openDatabase } from './database.ts';
import { pruneAll } from './prune.ts';
import { newestRacesOf, recordsOf } from './row-changes.ts';
import { writingOn } from './writing.ts';

/** What the background does with the ledger, its own upkeep included. */
export function backgroundLedgerOn(database: Database) {
  return {
    ...readingOn(database),
    ...writingOn(database),

    /**
     * Deletes what is older than the retention and the oldest rows beyond the limits, in small transactions that let
     * recording continue in between; returns the number of rows. If interrupted, the next call continues.
     */
    async prune(nowMs: number, retentionDays: number): Promise<number> {
      return pruneAll(await database(), nowMs, retentionDays);
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
