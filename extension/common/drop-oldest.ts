// Whatever a page's life can make grow is bounded, and the oldest gives way: what maps and sets need for that.

/** A map or a set: both keep the order in which their keys came. */
interface OrderedKeys<Key> {
  readonly size: number;
  keys(): Iterable<Key>;
  delete(key: Key): boolean;
}

/** Takes the oldest out when there are more than `most`. */
export function dropOldest<Key>(kept: OrderedKeys<Key>, most: number): void {
  const [oldest] = kept.keys();
  if (kept.size > most && oldest !== undefined) kept.delete(oldest);
}
