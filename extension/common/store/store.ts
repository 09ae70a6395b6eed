// What is kept beside the ledger and must be neither readable nor writable by a page: options, names of networks, the
// state of steering. The background keeps it (`background/store/open-store.ts`), and pages ask the background
// (`common/store/page-store.ts`), because Firefox denies databases to pages in private windows.

export const STORE_KEYS = ['settings', 'network-names', 'steering'] as const;
export type StoreKey = (typeof STORE_KEYS)[number];

/** What is stored, and how many changes led to it; 0 and no value: nothing yet. */
export interface StoredValue {
  readonly revision: number;
  readonly value?: unknown;
}

/** Values are plain JSON. All methods reject if the database fails. */
export interface Store {
  get(key: StoreKey): Promise<StoredValue>;
  /** Stores `value` unless something was stored after that revision; returns what is stored afterwards. */
  replace(key: StoreKey, revision: number, value: unknown): Promise<StoredValue>;
  /**
   * Calls `listen` after each change, whoever made it, with the currently stored value, and never with an older one.
   */
  onChanged(key: StoreKey, listen: (value: unknown) => void): void;
}

/**
 * Stores the result of `change` on the stored value; undefined: nothing. `change` is called again if another writer was
 * faster, so that no change overwrites another one.
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
