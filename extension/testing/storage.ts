// Storage for tests: the store in memory, and an IndexedDB that fails.

import { IDBObjectStore } from 'fake-indexeddb';
import type { Store, StoredValue, StoreKey } from '../common/store/store.ts';

export interface MemoryStore extends Store {
  /** What is in it. */
  readonly values: Map<StoreKey, StoredValue>;
}

/** A store with these values in it. */
export function memoryStore(values: Partial<Record<StoreKey, unknown>> = {}): MemoryStore {
  const kept = new Map<StoreKey, StoredValue>(
    Object.entries(values).map(([key, value]) => [key as StoreKey, { revision: 1, value }]),
  );
  const listeners: [StoreKey, (value: unknown) => void][] = [];
  const of = (key: StoreKey): StoredValue => structuredClone(kept.get(key) ?? { revision: 0 });
  return {
    values: kept,
    get: async (key) => of(key),
    async replace(key, revision, value) {
      if (of(key).revision !== revision) return of(key);
      kept.set(key, { revision: revision + 1, value: structuredClone(value) });
      for (const [of, listen] of listeners) if (of === key) listen(value);
      return { revision: revision + 1, value };
    },
    onChanged: (key, listen) => listeners.push([key, listen]),
  };
}

// IndexedDB fails at a chosen operation, as when a disk is full or a service worker is terminated.

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
