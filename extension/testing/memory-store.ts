// A store in memory, for tests of its users.
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
