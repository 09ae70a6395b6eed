// Opens IndexedDB and leads it to the newest version; every room of the ledger works on what this gives.
// Durability is the browser's default (`relaxed`): what is committed outlives the browser, not a power cut.
import { type IDBPDatabase, openDB } from 'idb';
import { LEDGER_VERSION, upgradeFrom } from './migrations.ts';
import { LEDGER_NAME, type LedgerSchema } from './schema.ts';

/** Gives the database, opened anew where it was closed. */
export type Database = () => Promise<IDBPDatabase<LedgerSchema>>;

/**
 * The database, opened and migrated in the background. While it cannot be opened each call tries anew and rejects with
 * the browser's error; one newer than this program knows with a VersionError.
 */
export function openDatabase(name = LEDGER_NAME): Database {
  let open: Promise<IDBPDatabase<LedgerSchema>> | null = null;
  const database: Database = () => {
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
  return database;
}
