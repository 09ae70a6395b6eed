// Makes IndexedDB fail at a chosen operation, as when a disk is full or a service worker is terminated: for tests.
import { IDBObjectStore } from 'fake-indexeddb';

const OPERATIONS = [
  'get',
  'getKey',
  'getAll',
  'getAllKeys',
  'openCursor',
  'add',
  'put',
  'delete',
  'clear',
] as const;

/**
 * `throws`: the operation is rejected. `aborts`: the whole transaction is aborted, as when its program is terminated.
 */
export type Failure = 'throws' | 'aborts';

export interface FailurePoint {
  /** Whether the operation was reached. */
  readonly reached: () => boolean;
  restore(): void;
}

/** Lets the operations before the nth succeed (the first is 1), and that one fail. */
export function failAt(nth: number, how: Failure): FailurePoint {
  const prototype = IDBObjectStore.prototype as unknown as Record<string, (...args: unknown[]) => unknown>;
  const originals = new Map(OPERATIONS.map((name) => [name, prototype[name]]));
  let done = 0;
  for (const [name, original] of originals)
    prototype[name] = function (this: unknown, ...args: unknown[]) {
      done += 1;
      if (done === nth) {
        if (how === 'throws') throw new DOMException('the disk is full', 'QuotaExceededError');
        (this as IDBObjectStore).transaction.abort();
      }
      return original?.apply(this, args);
    };
  return {
    reached: () => done >= nth,
    restore() {
      for (const [name, original] of originals) if (original) prototype[name] = original;
    },
  };
}
