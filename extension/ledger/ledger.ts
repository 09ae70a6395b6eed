// The whole ledger: what the background keeps, and what pages read from it and import into it.
import { browsingOn } from './browsing.ts';
import { type Database, openDatabase } from './database.ts';
import { backgroundLedgerOn } from './keeping.ts';
import { mergingOn } from './merge.ts';

export type { Backfill } from '../common/records/fold.ts';
export type { RowCounts } from './browsing.ts';
export type { OutboxEntry } from './keeping.ts';
export type { Batch, Score } from './writing.ts';

function ledgerOn(database: Database) {
  return { ...backgroundLedgerOn(database), ...browsingOn(database), ...mergingOn(database) };
}

export type Ledger = ReturnType<typeof ledgerOn>;

/** The ledger on `openDatabase`. */
export function openLedger(name?: string): Ledger {
  return ledgerOn(openDatabase(name));
}
