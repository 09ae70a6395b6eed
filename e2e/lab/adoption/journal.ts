// Every turn of a run as soon as it is over, one JSON document a line, so that a run that was ended by anything goes on
// where it stopped.
import { existsSync } from 'node:fs';
import { appendFile, mkdir, rename, truncate } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import { dropTornLine, readLines } from '../json-lines.ts';
import { labTrialSchema } from '../trial.ts';

const SCHEMA = 'photofinish.lab.adoption/1';

const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const kindSchema = v.picklist(['ours', 'peer', 'browser']);

const contestantSchema = v.object({
  name: v.string(),
  title: v.string(),
  kind: kindSchema,
  versions: v.record(v.string(), v.string()),
  trials: count,
  batch: count,
});

/** What must be the same for turns to belong to one run. */
const identitySchema = v.object({
  seed: count,
  cells: v.array(v.object({ id: v.string(), delayMs: v.number(), loss: v.number() })),
  contestants: v.array(contestantSchema),
  /** Of the checkout; null outside of one. */
  commit: v.nullable(v.string()),
  /** Digest of what was built of ours. */
  build: v.string(),
});
export type Identity = v.InferOutput<typeof identitySchema>;

const headSchema = v.object({
  kind: v.literal('run'),
  schema: v.literal(SCHEMA),
  startedAtMs: v.number(),
  full: v.boolean(),
  trials: v.object({ ours: count, peer: count, browser: count }),
  identity: identitySchema,
  absent: v.array(v.object({ name: v.string(), title: v.string(), kind: kindSchema, why: v.string() })),
});
export type Head = Omit<v.InferOutput<typeof headSchema>, 'kind' | 'schema'>;

const directionSchema = v.object({
  delivered: count,
  lost: count,
  overflowed: count,
  oversized: count,
  lateUs: v.nullable(v.object({ median: v.number(), p99: v.number(), max: v.number() })),
  shortestUs: v.nullable(v.number()),
});

const turnSchema = v.object({
  kind: v.literal('turn'),
  cell: v.string(),
  contestant: v.string(),
  number: count,
  endedAtMs: v.number(),
  trials: v.array(labTrialSchema),
  link: v.object({ up: directionSchema, down: directionSchema }),
});
export type TurnEntry = v.InferOutput<typeof turnSchema>;

/** The contestant broke off in this cell; a later run tries it again. */
const crashSchema = v.object({
  kind: v.literal('crash'),
  cell: v.string(),
  contestant: v.string(),
  endedAtMs: v.number(),
  error: v.string(),
});
export type CrashEntry = v.InferOutput<typeof crashSchema>;

const entrySchema = v.variant('kind', [turnSchema, crashSchema]);
export type Entry = v.InferOutput<typeof entrySchema>;

export interface Recorded {
  readonly head: Head;
  readonly entries: readonly Entry[];
}

export interface Journal extends Recorded {
  readonly entries: Entry[];
  /** Resolves once the entry is in the file. */
  append(entry: Entry): Promise<void>;
}

/** Null where nothing has been recorded. Throws, naming the line, for what no run of ours has written. */
export async function readJournal(file: string): Promise<Recorded | null> {
  const lines = await readLines(file, headSchema, entrySchema);
  if (lines === null) return null;
  const { kind: _, schema: __, ...head } = lines.first;
  return { head, entries: lines.rest };
}

const NAMES: Readonly<Record<keyof Identity, string>> = {
  seed: 'the seed',
  cells: 'the cells',
  contestants: 'the contestants, their trials or their versions',
  commit: 'the commit',
  build: 'the build of ours',
};

/** In words, what tells two runs apart; empty: nothing does. */
export function differences(a: Identity, b: Identity): string[] {
  const keys = Object.keys(NAMES) as (keyof Identity)[];
  return keys.filter((key) => !isDeepStrictEqual(a[key], b[key])).map((key) => NAMES[key]);
}

/** Renames the file after the run's beginning, without taking the place of another. */
async function setAside(file: string, startedAtMs: number): Promise<string> {
  const stamp = new Date(startedAtMs).toISOString().replaceAll(/[:.]/g, '-');
  const name = (count: number) =>
    join(dirname(file), `${basename(file, '.jsonl')}-${stamp}${count === 1 ? '' : `-${count}`}.jsonl`);
  let count = 1;
  while (existsSync(name(count))) count += 1;
  await rename(file, name(count));
  return name(count);
}

export interface Opened {
  readonly journal: Journal;
  /** Where an earlier run is now that could not be continued, and why it could not. */
  readonly aside: { readonly file: string; readonly because: string } | null;
}

/**
 * Opens the journal of that run: goes on with the file if it is of the same one, else begins anew beside it. Throws as
 * `readJournal` does, unless it is to begin anew anyway.
 */
export async function openJournal(file: string, head: Head, fresh: boolean): Promise<Opened> {
  await mkdir(dirname(file), { recursive: true });
  let aside: Opened['aside'] = null;
  const earlier = await readJournal(file).catch(async (error: Error) => {
    // What cannot be read must not stand in the way of who asks to begin anew.
    if (!fresh) throw error;
    aside = { file: await setAside(file, head.startedAtMs), because: 'asked to' };
    return null;
  });
  const append = (document: object) => appendFile(file, `${JSON.stringify(document)}\n`);
  const journal = (recorded: Recorded): Journal => {
    const entries = [...recorded.entries];
    return {
      head: recorded.head,
      entries,
      async append(entry) {
        await append(entry);
        entries.push(entry);
      },
    };
  };
  const changed = earlier === null ? [] : differences(earlier.head.identity, head.identity);
  if (earlier !== null && changed.length === 0 && !fresh) {
    await dropTornLine(file);
    return { journal: journal(earlier), aside: null };
  }
  if (earlier !== null) {
    const because = changed.length === 0 ? 'asked to' : `changed: ${changed.join('; ')}`;
    aside = { file: await setAside(file, earlier.head.startedAtMs), because };
  } else if (existsSync(file)) await truncate(file, 0);
  await append({ kind: 'run', schema: SCHEMA, ...head });
  return { journal: journal({ head, entries: [] }), aside };
}
