// An experiment's record: `meta.json` describes the request, the software and the machine once; `trials.jsonl` gets a
// line as soon as a turn is over, so that a run can be resumed after any interruption.
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { appendFile, mkdir, readFile, rename, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { count } from '@photofinish/shared/web/untrusted';
import * as v from 'valibot';
import { describeMachine } from '../bench/measure.ts';
import { runCommand } from '../child-process.ts';
import { TOP } from '../scratch.ts';
import { digestOfBuild } from './client.ts';

const SCHEMA = 'photofinish.lab/1';
const META = 'meta.json';
const TRIALS = 'trials.jsonl';

/** Identifies a turn within a run: where, perhaps which client, and the number of the turn from 0. */
export const turnKey = (...parts: readonly (string | number)[]): string => parts.join(' ');

/** Any finite number. */
export const figure = v.pipe(v.number(), v.finite());

/** The link's statistics, for one direction and for both. */
export const directionReportSchema = v.object({
  delivered: count,
  lost: count,
  overflowed: count,
  oversized: count,
  lateUs: v.nullable(v.object({ median: v.number(), p99: v.number(), max: v.number() })),
  shortestUs: v.nullable(v.number()),
});
export const linkReportSchema = v.object({ up: directionReportSchema, down: directionReportSchema });

/** The contents of one experiment's files. */
export interface RecordSchema<Plan, Findings, Line> {
  readonly experiment: string;
  /** What was requested; turns belong to one run only if all of this is equal. */
  readonly asked: v.GenericSchema<unknown, Plan>;
  /** What was determined before the first turn; kept when a run resumes. */
  readonly found: v.GenericSchema<unknown, Findings>;
  /** A line of `trials.jsonl`. */
  readonly turn: v.GenericSchema<unknown, Line>;
  /** Identifies the measurement that produced the line; null if it is incomplete, so that a resumed run repeats it. */
  keyOf(line: Line): string | null;
}

const metaSchema = v.object({
  schema: v.literal(SCHEMA),
  experiment: v.string(),
  startedAtMs: v.number(),
  machine: v.object({
    cpu: v.string(),
    cores: count,
    memoryGiB: count,
    system: v.string(),
    versions: v.record(v.string(), v.string()),
  }),
  seed: count,
  /** Of the checkout, with `-dirty` and a digest of the changes if files are modified; null outside a checkout. */
  commit: v.nullable(v.string()),
  /** Digest of our build output. */
  build: v.string(),
});

export interface Meta<Plan, Findings> extends v.InferOutput<typeof metaSchema> {
  readonly asked: Plan;
  readonly found: Findings;
}

/** What must be equal for turns to belong to one run. */
export type Identity<Plan> = Pick<Meta<Plan, unknown>, 'machine' | 'seed' | 'commit' | 'build' | 'asked'>;

export interface ExperimentRecord<Plan, Findings, Line> {
  readonly meta: Meta<Plan, Findings>;
  readonly turns: readonly Line[];
}

export interface Journal<Plan, Findings, Line> extends ExperimentRecord<Plan, Findings, Line> {
  /** Resolves once the turn has been written to the file. */
  append(turn: Line): Promise<void>;
  /** Whether it contains the measurement with that key. */
  has(key: string): boolean;
  /** Runs and records the measurement with that key, unless the journal already contains it. */
  once(key: string, measure: () => Promise<Line | readonly Line[]>): Promise<void>;
}

/** The commit checked out in the directory, as the record has it. */
export async function commitOf(dir: string): Promise<string | null> {
  const git = async (...args: readonly string[]) => {
    const result = await runCommand('git', ['-C', dir, ...args]).catch(() => null);
    return result?.code === 0 ? result.stdout : null;
  };
  const commit = (await git('describe', '--always', '--dirty', '--abbrev=40', '--exclude=*'))?.trim() ?? null;
  if (commit?.endsWith('-dirty') !== true) return commit;
  // The laboratory runs from source, so that the build does not tell two states of it apart. Documents do not matter.
  const changes = (await git('diff', '--binary', 'HEAD', '--', '.', ':!*.md')) ?? '';
  return `${commit}-${createHash('sha256').update(changes).digest('hex').slice(0, 12)}`;
}

/** The identity of a run with this checkout's current build, on this machine. */
export async function identify<Plan>(seed: number, asked: Plan): Promise<Identity<Plan>> {
  const machine = describeMachine({});
  return { machine, seed, commit: await commitOf(TOP), build: await digestOfBuild(), asked };
}

/** The files contain what no run has written; the message names the file, and the line. */
export class DamagedRecord extends Error {}

/** A line being written when a run was killed lacks its newline, and does not count. */
const wholeLines = (text: string) => text.slice(0, text.lastIndexOf('\n') + 1);

function parse<T>(schema: v.GenericSchema<unknown, T>, text: string, where: string): T {
  try {
    return v.parse(schema, JSON.parse(text));
  } catch (error) {
    throw new DamagedRecord(`${where}: ${(error as Error).message}`, { cause: error });
  }
}

/** Null if nothing has been recorded. Throws a DamagedRecord for content that no run has written. */
export async function readJournal<Plan, Findings, Line>(
  dir: string,
  schema: RecordSchema<Plan, Findings, Line>,
): Promise<ExperimentRecord<Plan, Findings, Line> | null> {
  const file = join(dir, META);
  if (!existsSync(file)) return null;
  const text = await readFile(file, 'utf8');
  const { experiment, ...common } = parse(metaSchema, text, file);
  if (experiment !== schema.experiment)
    throw new DamagedRecord(`${file}: of ${experiment}, not of ${schema.experiment}`);
  const { asked, found } = parse(v.object({ asked: schema.asked, found: schema.found }), text, file);
  const trials = join(dir, TRIALS);
  const lines = existsSync(trials)
    ? wholeLines(await readFile(trials, 'utf8'))
        .split('\n')
        .slice(0, -1)
    : [];
  return {
    meta: { ...common, experiment, asked: asked as Plan, found: found as Findings },
    turns: lines.map((line, index) => parse(schema.turn, line, `${trials}, line ${index + 1}`)),
  };
}

/** The names of the properties in which two runs differ; empty if they are the same. */
export function differences<Plan extends object>(a: Identity<Plan>, b: Identity<Plan>): string[] {
  const flat = ({ machine, seed, commit, build, asked }: Identity<Plan>) => ({
    machine,
    seed,
    commit,
    build,
    ...asked,
  });
  const [one, other] = [flat(a) as Record<string, unknown>, flat(b) as Record<string, unknown>];
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...names].filter((name) => !isDeepStrictEqual(one[name], other[name]));
}

/** Moves both files to a new folder named after a time, without overwriting another. */
async function setAside(dir: string, startedAtMs: number): Promise<string> {
  const stamp = new Date(startedAtMs).toISOString().replaceAll(/[:.]/g, '-');
  const name = (nth: number) => join(dir, nth === 1 ? stamp : `${stamp}-${nth}`);
  let nth = 1;
  while (existsSync(name(nth))) nth += 1;
  await mkdir(name(nth));
  for (const file of [META, TRIALS])
    if (existsSync(join(dir, file))) await rename(join(dir, file), join(name(nth), file));
  return name(nth);
}

interface JournalOptions<Plan, Findings> {
  readonly identity: Identity<Plan>;
  readonly startedAtMs: number;
  /** Whether to start a new record in any case. */
  readonly fresh: boolean;
  /** Called only when a run begins. */
  find(): Promise<Findings>;
}

/**
 * Opens the journal for that run: resumes the existing one if it belongs to the same run, otherwise moves it aside and
 * starts a new one. Throws as `readJournal` does, unless `fresh` is set.
 */
export async function openJournal<Plan extends object, Findings, Line>(
  dir: string,
  schema: RecordSchema<Plan, Findings, Line>,
  { identity, startedAtMs, fresh, find }: JournalOptions<Plan, Findings>,
): Promise<{
  readonly journal: Journal<Plan, Findings, Line>;
  /** Where an earlier run that could not be resumed was moved, and why. */
  readonly aside: { readonly dir: string; readonly because: string } | null;
}> {
  await mkdir(dir, { recursive: true });
  const trials = join(dir, TRIALS);
  const journal = ({
    meta,
    turns,
  }: ExperimentRecord<Plan, Findings, Line>): Journal<Plan, Findings, Line> => {
    const all = [...turns];
    const keyed = (turns: readonly Line[]) => turns.flatMap((turn) => schema.keyOf(turn) ?? []);
    const keys = new Set(keyed(all));
    const append = async (turn: Line) => {
      await appendFile(trials, `${JSON.stringify(turn)}\n`);
      all.push(turn);
      for (const key of keyed([turn])) keys.add(key);
    };
    return {
      meta,
      turns: all,
      append,
      has: (key) => keys.has(key),
      async once(key, measure) {
        if (keys.has(key)) return;
        // One that was interrupted between its lines produces the first of them again.
        const lines = [await measure()].flat() as readonly Line[];
        for (const line of lines) if (!keyed([line]).some((each) => keys.has(each))) await append(line);
      },
    };
  };
  const earlier = fresh ? null : await readJournal(dir, schema);
  const changed = earlier === null ? [] : differences(earlier.meta, identity);
  if (earlier !== null && changed.length === 0) {
    if (existsSync(trials))
      await truncate(trials, Buffer.byteLength(wholeLines(await readFile(trials, 'utf8'))));
    return { journal: journal(earlier), aside: null };
  }
  const meta: Meta<Plan, Findings> = {
    schema: SCHEMA,
    experiment: schema.experiment,
    startedAtMs,
    ...identity,
    found: await find(),
  };
  const because = earlier === null ? 'asked to' : `changed: ${changed.join(', ')}`;
  const aside = existsSync(join(dir, META))
    ? { dir: await setAside(dir, earlier?.meta.startedAtMs ?? startedAtMs), because }
    : null;
  await writeFile(trials, '');
  // Renamed only once it is complete.
  await writeFile(join(dir, `${META}.part`), `${JSON.stringify(meta, null, 1)}\n`);
  await rename(join(dir, `${META}.part`), join(dir, META));
  return { journal: journal({ meta, turns: [] }), aside };
}
