// The whole ledger: what the background keeps, and what pages read from it and import into it.
import { browsesOn } from './browsing.ts';
import { type Database, openDatabase } from './database.ts';
import { keepsOn } from './keeping.ts';
import { mergesOn } from './merge.ts';

export type { Backfill } from '../common/records/backfill.ts';
export type { Batch, Score } from './batch.ts';
export type { RowCounts } from './browsing.ts';
export type { OutboxEntry } from './keeping.ts';

function ledgerOn(database: Database) {
  return { ...keepsOn(database), ...browsesOn(database), ...mergesOn(database) };
}

export type Ledger = ReturnType<typeof ledgerOn>;

/** The ledger on `openDatabase`. */
export function openLedger(name?: string): Ledger {
  return ledgerOn(openDatabase(name));
}
