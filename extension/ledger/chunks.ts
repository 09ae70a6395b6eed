// Reads a whole store a chunk at a time, so that what is in memory never grows with what is kept.

/** Rows of one step: enough that steps cost little, few enough that a page stays alive between two of them. */
export const CHUNK_ROWS = 2000;

/** What of a store inside a transaction is used; `keyPath` names the parts of its key. */
interface ChunkedStore<Row> {
  readonly keyPath: string | string[] | null;
  getAll(range?: IDBKeyRange | null, count?: number): Promise<Row[]>;
}

/**
 * The rows of a store with a compound key, in the order of that key. The transaction stays open as long as nothing but
 * requests of its own is waited for between two chunks.
 */
export async function* chunksOf<Row extends object>(
  store: ChunkedStore<Row>,
  chunkRows: number = CHUNK_ROWS,
): AsyncGenerator<Row[]> {
  let rows = await store.getAll(null, chunkRows);
  for (let last = rows.at(-1); last !== undefined; last = rows.at(-1)) {
    yield rows;
    const fields = last as Readonly<Record<string, IDBValidKey>>;
    const key = [store.keyPath ?? []].flat().map((name) => fields[name] as IDBValidKey);
    rows = await store.getAll(IDBKeyRange.lowerBound(key, true), chunkRows);
  }
}

/**
 * Hands over rows chunk by chunk, each in a transaction of its own; the next is read while the last is being taken.
 * `read` gives those after a row, or the first. Rejects when `take` does. What is written meanwhile may or may not be
 * among them.
 */
export async function eachChunk<Row>(
  read: (after: Row | null, chunkRows: number) => Promise<Row[]>,
  take: (rows: readonly Row[]) => void | Promise<void>,
  chunkRows: number = CHUNK_ROWS,
): Promise<void> {
  let rows = await read(null, chunkRows);
  for (let last = rows.at(-1); last !== undefined; last = rows.at(-1)) {
    const [next] = await Promise.all([rows.length < chunkRows ? [] : read(last, chunkRows), take(rows)]);
    rows = next;
  }
}
