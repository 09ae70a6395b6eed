// What is kept beside the ledger and may neither be read nor written by a page: options, names of networks, the state of
// steering. Each has one owner, who checks what is read; here are the ways to it. The background keeps it
// (`background/store/open-store.ts`), and pages ask the background (`common/store/asked.ts`), because Firefox refuses those in private windows
// every database.

export const STORE_KEYS = ['settings', 'network-names', 'steering'] as const;
export type StoreKey = (typeof STORE_KEYS)[number];

/** What is stored, and how many changes led to it; 0, and no value: nothing yet. */
export interface StoredValue {
  readonly revision: number;
  readonly value?: unknown;
}

/** Values are plain JSON. Everything rejects where the database fails. */
export interface Store {
  get(key: StoreKey): Promise<StoredValue>;
  /** Stores `value` unless something was stored after that revision; gives what is stored by then. */
  replace(key: StoreKey, revision: number, value: unknown): Promise<StoredValue>;
  /** Calls `listen` after each change, whoever made it, with the value that is stored by then, and never with an older one. */
  onChanged(key: StoreKey, listen: (value: unknown) => void): void;
}

/**
 * Stores what becomes of the value that is stored by then; undefined: nothing. `change` is asked again when somebody
 * else was quicker, so that none takes back what another changed meanwhile.
 */
export async function update(
  store: Pick<Store, 'get' | 'replace'>,
  key: StoreKey,
  change: (value: unknown) => unknown,
): Promise<void> {
  for (;;) {
    const { revision, value } = await store.get(key);
    const wanted = change(value);
    if (wanted === undefined) return;
    const now = await store.replace(key, revision, wanted);
    if (now.revision > revision && JSON.stringify(now.value) === JSON.stringify(wanted)) return;
  }
}
