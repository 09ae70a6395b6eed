// A map in `storage.session` that outlives the service worker. Reads are from memory; writes are coalesced per key,
// with at most one write of a key in flight, so that an older value can never overwrite a newer one.

export interface SessionArea {
  get(keys: null): Promise<Record<string, unknown>>;
  set(items: Record<string, unknown>): Promise<void>;
  remove(keys: string[]): Promise<void>;
}

export interface SavedMap<Value> {
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
  delete(key: string): void;
  entries(): IterableIterator<[string, Value]>;
  readonly size: number;
  /** Resolves once everything set so far is in storage. */
  saved(): Promise<void>;
}

/** Loads what an earlier service worker saved under `prefix`; unreadable values are ignored. */
export async function loadSavedMap<Value>(area: SessionArea, prefix: string): Promise<SavedMap<Value>> {
  const map = new Map<string, Value>();
  const saved = await area.get(null).catch(() => ({}));
  for (const [key, value] of Object.entries(saved))
    if (key.startsWith(prefix)) map.set(key.slice(prefix.length), value as Value);

  const dirty = new Set<string>();
  let writing: Promise<void> | null = null;

  const writeAll = async (): Promise<void> => {
    // One turn of the event loop collects everything that a batch of events changed.
    await Promise.resolve();
    while (dirty.size > 0) {
      const keys = [...dirty];
      dirty.clear();
      const gone = keys.filter((key) => !map.has(key)).map((key) => prefix + key);
      const items = keys.filter((key) => map.has(key)).map((key) => [prefix + key, map.get(key)] as const);
      if (gone.length > 0) await area.remove(gone);
      if (items.length > 0) await area.set(Object.fromEntries(items));
    }
  };

  const touch = (key: string): void => {
    dirty.add(key);
    writing ??= writeAll().finally(() => {
      writing = null;
    });
    // A full or failing storage costs the view after a restart, never the record; `saved` still reports it.
    writing.catch(() => {});
  };

  return {
    get: (key) => map.get(key),
    set(key, value) {
      map.set(key, value);
      touch(key);
    },
    delete(key) {
      if (map.delete(key)) touch(key);
    },
    entries: () => map.entries(),
    get size() {
      return map.size;
    },
    saved: () => writing ?? Promise.resolve(),
  };
}
