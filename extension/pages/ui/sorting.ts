// Sorting a table by a click on the header of a column, in popup and panel. Pure.
import { catalogLanguage } from '@photofinish/shared/language/catalog';

export interface SortOrder<Key extends string> {
  readonly key: Key;
  readonly direction: 'ascending' | 'descending';
}
/** The sort value of a row; null: none, which comes last in either direction. */
export type Rank = number | string | null;

/** Items in the requested order. The sort is stable. */
export function sortBy<Item, Key extends string>(
  items: readonly Item[],
  { key, direction }: SortOrder<Key>,
  rankOf: (item: Item, key: Key) => Rank,
): Item[] {
  const sign = direction === 'ascending' ? 1 : -1;
  const { compare } = new Intl.Collator(catalogLanguage());
  return items
    .map((item) => ({ item, by: rankOf(item, key) }))
    .sort((a, b) => {
      if (a.by === null || b.by === null) return Number(a.by === null) - Number(b.by === null);
      return sign * (typeof a.by === 'string' ? compare(a.by, String(b.by)) : a.by - Number(b.by));
    })
    .map(({ item }) => item);
}

/** The sorting after a click on a column's header: first descending for these columns, which are numbers. */
export function nextSorting<Key extends string>(
  current: SortOrder<Key> | null,
  key: Key,
  numbers: readonly Key[],
): SortOrder<Key> {
  if (current?.key === key)
    return { key, direction: current.direction === 'ascending' ? 'descending' : 'ascending' };
  return { key, direction: numbers.includes(key) ? 'descending' : 'ascending' };
}
