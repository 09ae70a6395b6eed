// Every segment as soon as it is over, one JSON document a line, so that a run that was ended by anything goes on where
// it stopped.
import { existsSync } from 'node:fs';
import { appendFile, mkdir, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import { dropTornLine, readLines } from '../json-lines.ts';
import { EXTENTS, OBJECTS, SERVERS } from './cells.ts';
import { type Measured, measuredSchema } from './measured.ts';

const SCHEMA = 'photofinish.lab.cost/1';

const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const loadsSchema = v.array(
  v.object({
    server: v.picklist(SERVERS),
    driven: v.array(count),
    notDriven: v.array(v.object({ perSecond: count, why: v.string() })),
  }),
);
export type Loads = v.InferOutput<typeof loadsSchema>;

/** What was asked for; segments belong to one run only if all of it is the same. */
const askedSchema = v.object({
  seed: count,
  seconds: count,
  extent: v.picklist(EXTENTS),
  servers: v.array(v.picklist(SERVERS)),
  objects: v.array(v.picklist(OBJECTS)),
  /** Loads asked for; null: found by trying. */
  loads: v.nullable(v.array(count)),
  cells: v.nullable(v.array(v.string())),
  /** Digest of what was built of ours. */
  build: v.string(),
});
export type Asked = v.InferOutput<typeof askedSchema>;

const headSchema = v.object({
  schema: v.literal(SCHEMA),
  startedAtMs: v.number(),
  asked: askedSchema,
  /** By trying, before the first segment. */
  loads: loadsSchema,
});
export type Head = Omit<v.InferOutput<typeof headSchema>, 'schema'>;

export interface Recorded {
  readonly head: Head;
  readonly segments: readonly Measured[];
}

/** Null where nothing has been recorded. Throws, naming the line, for what no run of ours has written. */
export async function readJournal(file: string): Promise<Recorded | null> {
  const lines = await readLines(file, headSchema, measuredSchema);
  if (lines === null) return null;
  const { schema: _, ...head } = lines.first;
  return { head, segments: lines.rest };
}

export interface Journal extends Recorded {
  /** Resolves once the segment is in the file. */
  append(segment: Measured): Promise<void>;
}

function journalOf(file: string, { head, segments }: Recorded): Journal {
  const all = [...segments];
  return {
    head,
    segments: all,
    async append(segment) {
      await appendFile(file, `${JSON.stringify(segment)}\n`);
      all.push(segment);
    },
  };
}

/** The journal of a run that was asked for the same, to go on with; null: there is none. */
export async function resumeJournal(file: string, asked: Asked): Promise<Journal | null> {
  const earlier = await readJournal(file);
  if (earlier === null || !isDeepStrictEqual(earlier.head.asked, asked)) return null;
  await dropTornLine(file);
  return journalOf(file, earlier);
}

/** Begins a journal; an earlier one is kept beside it under the time at which the new one began. */
export async function beginJournal(file: string, head: Head): Promise<Journal> {
  await mkdir(dirname(file), { recursive: true });
  const stamp = new Date(head.startedAtMs).toISOString().replaceAll(/[:.]/g, '-');
  if (existsSync(file)) await rename(file, file.replace(/\.jsonl$/, `-until-${stamp}.jsonl`));
  await appendFile(file, `${JSON.stringify({ schema: SCHEMA, ...head })}\n`);
  return journalOf(file, { head, segments: [] });
}
