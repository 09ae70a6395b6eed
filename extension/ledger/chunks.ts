// Reads a whole store in chunks, so that memory use does not grow with the amount of data.

/** Rows per step: enough that steps are cheap, few enough that a page stays responsive between two of them. */
export const CHUNK_ROWS = 2000;

/** The part of a transaction's store that is used; `keyPath` names the parts of its key. */
interface ChunkedStore<Row> {
  readonly keyPath: string | string[] | null;
  getAll(range?: IDBKeyRange | null, count?: number): Promise<Row[]>;
}

/**
 * The rows of a store with a compound key, in key order. The transaction stays open as long as nothing but its own
 * requests is awaited between two chunks.
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
 * Passes on rows chunk by chunk, each in a transaction of its own; the next is read while the previous one is
 * processed. `read` returns those after a row, or the first. Rejects when `take` does. What is written meanwhile may or
 * may not be included.
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
