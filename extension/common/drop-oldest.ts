// Bounds everything that a page can make grow by dropping the oldest entries.

/** A map or a set: both keep insertion order. */
interface OrderedKeys<Key> {
  readonly size: number;
  keys(): Iterable<Key>;
  delete(key: Key): boolean;
}

/** Removes the oldest entry if there are more than `most`; called after each insertion, so one is enough. */
export function dropOldest<Key>(kept: OrderedKeys<Key>, most: number): void {
  const [oldest] = kept.keys();
  if (kept.size > most && oldest !== undefined) kept.delete(oldest);
}
