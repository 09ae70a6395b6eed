// Ranges of keys that several rooms of the ledger read by.
import type { Origin } from '@photofinish/shared/web/origin';

/** Sorts after every string that is kept. */
export const AFTER_ALL = '\uffff';

/** The races of an origin, oldest first. */
export function racesOf(origin: Origin): IDBKeyRange {
  return IDBKeyRange.bound([origin, 0], [origin, Number.POSITIVE_INFINITY]);
}

/** The records of an origin on every site. */
export function recordsOf(origin: Origin): IDBKeyRange {
  return IDBKeyRange.bound([origin, ''], [origin, AFTER_ALL]);
}
