// The ledger's database, led to the newest version; every room of the ledger works on what this gives.
// Durability is the browser's default (`relaxed`): what is committed outlives the browser, not a power cut.
import { holdOpen, type Opener } from '../common/open-database.ts';
import { LEDGER_NAME, type LedgerSchema } from '../common/records/schema.ts';
import { LEDGER_VERSION, upgradeFrom } from './migrations.ts';

/** Gives the database, opened anew where it was closed. */
export type Database = Opener<LedgerSchema>;

/** The database, opened and migrated in the background; see `holdOpen`. */
export function openDatabase(name = LEDGER_NAME): Database {
  return holdOpen<LedgerSchema>({ name, version: LEDGER_VERSION, upgrade: upgradeFrom });
}
