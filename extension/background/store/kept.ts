// The store as the background keeps it on a shelf, database or session: the one place where changes are made, so that
// they are told in their order.
import type { Store, Stored, StoreKey } from '../../common/store/store.ts';

/** Where values lie. */
export interface Shelf {
  get(key: StoreKey): Promise<Stored>;
  /** Stores `value`, and gives that very value, unless something was stored after that revision, which is given then. */
  put(key: StoreKey, revision: number, value: unknown): Promise<Stored>;
}

/** The store on this shelf; `tell` lets everybody else know that something is stored. */
export function keepOn(shelf: Shelf, tell: (key: StoreKey) => void): Store {
  const listeners = new Map<StoreKey, ((value: unknown) => void)[]>();
  return {
    get: shelf.get,
    async replace(key, revision, value) {
      const stored = await shelf.put(key, revision, value);
      if (stored.value !== value || stored.revision !== revision + 1) return stored;
      for (const listen of listeners.get(key) ?? []) listen(value);
      tell(key);
      return stored;
    },
    onChanged(key, listen) {
      listeners.set(key, [...(listeners.get(key) ?? []), listen]);
    },
  };
}
