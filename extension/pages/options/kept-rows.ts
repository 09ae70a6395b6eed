// A list whose rows stay the elements that they are while what they stand for is listed, so that neither the focus nor a
// press under way is lost when the list changes elsewhere.

/** What of a list's element is used. */
export interface RowList<Row> {
  readonly children: { readonly [index: number]: unknown };
  insertBefore(row: Row, before: Row | null): unknown;
}

/** Gives the function that makes the list show these keys, in this order. */
export function keepRows<Row extends { remove(): void }>(
  list: () => RowList<Row>,
  make: (key: string) => Row,
): (keys: readonly string[]) => void {
  const rows = new Map<string, Row>();
  return (keys) => {
    const wanted = new Set(keys);
    for (const [key, row] of rows) {
      if (wanted.has(key)) continue;
      row.remove();
      rows.delete(key);
    }
    const { children } = list();
    for (const [i, key] of keys.entries()) {
      const row = rows.get(key) ?? make(key);
      rows.set(key, row);
      if (children[i] !== row) list().insertBefore(row, (children[i] as Row | undefined) ?? null);
    }
  };
}
