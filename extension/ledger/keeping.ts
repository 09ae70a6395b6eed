// The ledger as the background keeps it: what is counted, what views, forecasts and the helper need of it, and no more,
// because the background is read anew each time it wakes.
import { type Database, openDatabase } from './database.ts';
import { pruneAll } from './prune.ts';
import { readsOn } from './reading.ts';
import { writesOn } from './writing.ts';

export function keepsOn(database: Database) {
  return {
    ...readsOn(database),
    ...writesOn(database),

    /**
     * Deletes what is older than the retention and the oldest of what is too much, in small transactions that
     * recording goes on between; the number of rows. Where it is interrupted the next call goes on.
     */
    async prune(nowMs: number, retentionDays: number): Promise<number> {
      return pruneAll(await database(), nowMs, retentionDays);
    },

    async close(): Promise<void> {
      (await database()).close();
    },
  };
}

export type KeptLedger = ReturnType<typeof keepsOn>;

/** The ledger as `openDatabase` gives it, for the one who writes it. */
export function openKeptLedger(name?: string): KeptLedger {
  return keepsOn(openDatabase(name));
}
