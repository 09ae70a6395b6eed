// The one owner of IndexedDB: opens it, leads it to the newest version, and offers what is read and written of it.
// Durability is the browser's default (`relaxed`): what is committed outlives the browser, not a power cut.
import { type IDBPDatabase, openDB } from 'idb';
import { mergesOn } from './merge.ts';
import { LEDGER_VERSION, upgradeFrom } from './migrations.ts';
import { pruneAll } from './prune.ts';
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
    let failed: unknown = null;
    open ??= openDB<LedgerSchema>(name, LEDGER_VERSION, {
      upgrade(db, oldVersion, _newVersion, tx) {
        upgradeFrom(oldVersion, db, tx).catch((error) => {
          failed = error;
        });
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
      // The browser only says that the upgrade was aborted, not why.
      throw failed ?? error;
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
    ...mergesOn(database),

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

export type Ledger = ReturnType<typeof ledgerOn>;
