// Batches of results between a worker and the archive: lines compressed as one zstd frame (RFC 8878), so that a
// segment of the archive is batches one after the other. The id follows from the jobs in it.
import { createHash } from 'node:crypto';
import { zstdCompressSync } from 'node:zlib';
import type { SurveyResult } from './result.ts';

/** Results in a batch at most. */
export const MAX_BATCH = 200;
/** A server takes messages of up to 1 MiB unless it is configured otherwise. */
const MAX_BATCH_BYTES = 900_000;

export interface Batch {
  readonly id: string;
  readonly bytes: Uint8Array;
}

function pack(results: readonly SurveyResult[]): Batch {
  const [first] = results;
  const lines = results.map((result) => `${JSON.stringify(result)}\n`).join('');
  const jobs = results.map(({ job }) => job).join();
  const digest = createHash('sha256').update(`${first?.survey}/${first?.vantage}/${jobs}`).digest('hex');
  return { id: digest.slice(0, 32), bytes: zstdCompressSync(lines) };
}

/** Packs results; a batch that would be larger than a message may be is halved. */
export function batchesOf(
  results: readonly SurveyResult[],
): readonly (Batch & { results: readonly SurveyResult[] })[] {
  if (results.length === 0) return [];
  const batch = results.length <= MAX_BATCH ? pack(results) : null;
  if (batch !== null && (batch.bytes.length <= MAX_BATCH_BYTES || results.length === 1))
    return [{ ...batch, results }];
  const half = results.length > MAX_BATCH ? MAX_BATCH : Math.ceil(results.length / 2);
  return [...batchesOf(results.slice(0, half)), ...batchesOf(results.slice(half))];
}
