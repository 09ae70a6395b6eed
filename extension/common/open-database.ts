// Opens one of the extension's databases and keeps it open; only the extension's own pages and background can access
// it.
import { type DBSchema, type IDBPDatabase, type IDBPTransaction, openDB, type StoreNames } from 'idb';

/** Returns the database, reopened if it was closed. */
export type Opener<Schema extends DBSchema> = () => Promise<IDBPDatabase<Schema>>;

export interface DatabaseShape<Schema extends DBSchema> {
  readonly name: string;
  readonly version: number;
  /** Migrates from the existing version, 0 for none, to this one. */
  readonly upgrade: (
    oldVersion: number,
    database: IDBPDatabase<Schema>,
    tx: IDBPTransaction<Schema, StoreNames<Schema>[], 'versionchange'>,
  ) => Promise<void>;
}

/**
 * Begins to open the database. While it cannot be opened, each call retries and rejects with the browser's error, and
 * with a VersionError if the database is newer than this program supports.
 */
export function holdOpen<Schema extends DBSchema>(shape: DatabaseShape<Schema>): Opener<Schema> {
  const { name, version, upgrade } = shape;
  let open: Promise<IDBPDatabase<Schema>> | null = null;
  const opener: Opener<Schema> = () => {
    let failed: unknown = null;
    open ??= openDB<Schema>(name, version, {
      upgrade(database, oldVersion, _newVersion, tx) {
        upgrade(oldVersion, database, tx).catch((error) => {
          failed = error;
        });
      },
      // A newer program needs the database: close it, and reopen on request.
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
  // Errors reach the callers that need it; this only opens it ahead of time.
  opener().catch(() => {});
  return opener;
}
