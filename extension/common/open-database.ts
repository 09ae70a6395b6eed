// Opens a database of the extension's and holds it open; nothing but the extension's own pages and background can.
import { type DBSchema, type IDBPDatabase, type IDBPTransaction, openDB, type StoreNames } from 'idb';

/** Gives the database, opened anew where it was closed. */
export type Opener<Schema extends DBSchema> = () => Promise<IDBPDatabase<Schema>>;

export interface DatabaseShape<Schema extends DBSchema> {
  readonly name: string;
  readonly version: number;
  /** Leads from the version that is there, 0 for none, to this one. */
  readonly upgrade: (
    oldVersion: number,
    database: IDBPDatabase<Schema>,
    tx: IDBPTransaction<Schema, StoreNames<Schema>[], 'versionchange'>,
  ) => Promise<void>;
}

/**
 * Begins to open the database. While it cannot be opened each call tries anew and rejects with the browser's error; one
 * newer than this program knows with a VersionError.
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
  opener().catch(() => {});
  return opener;
}
