// `race - --shard K/N`: which of several machines races a line. Each decides alone, from a keyed hash of the origin, so
// that they share any list without a server, whatever the order of its lines.
import { createHash } from 'node:crypto';
import { MAX_LABEL_CHARS } from '@photofinish/shared/web/bounds';
import { DEFAULT_SEED, MAX_SHARDS } from './command-table.ts';
import { Complaint } from './usage.ts';

export interface Shard {
  /** From 1 to `of`. */
  readonly index: number;
  readonly of: number;
  /** Machines that share a list have the same. */
  readonly seed: string;
}

/** Of the hash; the remainder is then as good as uniform. */
const HASH_BYTES = 6;

/** Parses `K/N`. Throws a Complaint. */
export function readShard(text: string, seed: string = DEFAULT_SEED): Shard {
  const match = /^(\d{1,5})\/(\d{1,5})$/.exec(text);
  const [index, of] = [Number(match?.[1]), Number(match?.[2])];
  if (!(index >= 1 && index <= of && of <= MAX_SHARDS))
    throw new Complaint(
      'bad-number',
      `--shard takes K/N, with K from 1 to N and N at most ${MAX_SHARDS}, not "${text}"`,
    );
  if (seed === '' || seed.length > MAX_LABEL_CHARS)
    throw new Complaint('bad-usage', `--seed takes 1 to ${MAX_LABEL_CHARS} characters`);
  return { index, of, seed };
}

/** Whether a shard has this origin; each origin is in exactly one of N with the same seed. */
export function inShard({ index, of, seed }: Shard, origin: string): boolean {
  // No origin contains a line feed, so no two pairs of seed and origin are hashed alike.
  const hash = createHash('sha256').update(`${seed}\n${origin}`).digest().readUIntBE(0, HASH_BYTES);
  return hash % of === index % of;
}
