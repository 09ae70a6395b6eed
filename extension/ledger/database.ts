// The ledger's database, migrated to the newest version; every module of the ledger uses it. Durability is the
// browser's default (`relaxed`): what is committed survives the browser, but not a power failure.
import { holdOpen, type Opener } from '../common/open-database.ts';
import { LEDGER_NAME, type LedgerSchema } from '../common/records/schema.ts';
import { LEDGER_VERSION, upgradeFrom } from './migrations.ts';

/** Returns the database, reopened if it was closed. */
export type Database = Opener<LedgerSchema>;

/** The database, opened and migrated in the background; see `holdOpen`. */
export function openDatabase(name = LEDGER_NAME): Database {
  return holdOpen<LedgerSchema>({ name, version: LEDGER_VERSION, upgrade: upgradeFrom });
}
