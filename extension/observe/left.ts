// Batches that pages left in the extension's storage when they went away unanswered: each is recorded, then removed.
import * as v from 'valibot';
import { LEFT_PREFIX, type LeftBatch } from './timing.ts';
import { leftBatchSchema } from './timing-schema.ts';

/** The part of `storage.local` that this needs. */
export interface LeftArea {
  get(keys: string[] | null): Promise<Record<string, unknown>>;
  remove(key: string): Promise<void>;
}

/** A left batch is JSON text; programs before this one left objects. */
function read(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value);
  } catch {
    return null;
  }
}

/**
 * Hands left batches, all or those of the keys, to `record` and forgets each once that has resolved; what does not fit is
 * forgotten at once.
 */
export async function takeLeftBatches(
  area: LeftArea,
  record: (batch: LeftBatch) => Promise<void>,
  keys: string[] | null = null,
): Promise<void> {
  const stored = await area.get(keys);
  for (const [key, value] of Object.entries(stored)) {
    if (!key.startsWith(LEFT_PREFIX)) continue;
    const batch = v.safeParse(leftBatchSchema, read(value));
    if (batch.success) await record(batch.output);
    await area.remove(key);
  }
}
