// Transactions that are atomic even if our own code throws in the middle.
import type { IDBPTransaction, StoreNames } from 'idb';
import type { LedgerSchema } from '../common/records/schema.ts';

export type Store = StoreNames<LedgerSchema>;
/** A transaction that may write to any store it was opened on. */
export type WriteTransaction = IDBPTransaction<LedgerSchema, Store[], 'readwrite'>;

/** Runs `work` in the transaction and waits for the commit; if anything fails, all of it is rolled back. */
export async function whole<DnsResults extends ArrayLike<Store>, Result>(
  tx: IDBPTransaction<LedgerSchema, DnsResults, 'readwrite'>,
  work: (tx: IDBPTransaction<LedgerSchema, DnsResults, 'readwrite'>) => Promise<Result>,
): Promise<Result> {
  // The rejection of `done` is the same failure that `work` reports; unhandled, it would end up in the service worker's
  // log.
  tx.done.catch(() => {});
  try {
    const result = await work(tx);
    await tx.done;
    return result;
  } catch (error) {
    abandon(tx);
    throw error;
  }
}

/** Aborts a transaction that may have ended already, which is fine. */
export function abandon(tx: { abort(): void }): void {
  try {
    tx.abort();
  } catch {
    // It had already ended.
  }
}
