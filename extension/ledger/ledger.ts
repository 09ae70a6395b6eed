// The one owner of IndexedDB: opens it, leads it to the newest version, and offers what is read and written of it.
// Durability is the browser's default (`relaxed`): what is committed outlives the browser, not a power cut.
import { type IDBPDatabase, openDB } from 'idb';
import { LEDGER_VERSION, upgradeFrom } from './migrations.ts';
import { pruneStep } from './prune.ts';
import { readsOn } from './reading.ts';
import { LEDGER_NAME, type LedgerSchema } from './schema.ts';
import { writesOn } from './writing.ts';

export type { Batch, Score } from './batch.ts';
export type { OutboxEntry, RowCounts } from './reading.ts';
export type { Reveal, RevealBatch } from './reveal.ts';

/**
 * The ledger, opened and migrated in the background. While it cannot be opened each of its calls tries anew and rejects
 * with the browser's error; one newer than this program knows with a VersionError.
 */
export function openLedger(name = LEDGER_NAME): Ledger {
  let open: Promise<IDBPDatabase<LedgerSchema>> | null = null;
  const database = (): Promise<IDBPDatabase<LedgerSchema>> => {
    open ??= openDB<LedgerSchema>(name, LEDGER_VERSION, {
      upgrade: (db, oldVersion, _newVersion, tx) => upgradeFrom(oldVersion, db, tx),
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
    ...readsOn(database),
    ...writesOn(database),

    /**
     * Deletes one small batch of what is older than the retention or too much; the number deleted, 0 when nothing is
     * left to do.
     */
    async prune(nowMs: number, retentionDays: number): Promise<number> {
      return pruneStep(await database(), nowMs, retentionDays);
    },

    async close(): Promise<void> {
      (await database()).close();
    },
  };
}

export type Ledger = ReturnType<typeof ledgerOn>;
