// What an experiment records: `meta.json` says once what was asked for, of what and on which machine; `trials.jsonl` grows
// by a line as soon as a turn is over, so that a run that was ended by anything goes on where it stopped.
import { existsSync } from 'node:fs';
import { appendFile, mkdir, readFile, rename, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import { describeMachine } from '../bench/result.ts';
import { runCommand } from '../child-process.ts';
import { TOP } from '../scratch.ts';
import { digestOfBuild } from './photofinish.ts';

const SCHEMA = 'photofinish.lab/1';
const META = 'meta.json';
const TRIALS = 'trials.jsonl';

export const count = v.pipe(v.number(), v.integer(), v.minValue(0));

/** What the link tells of itself, of one direction and of both. */
export const directionReportSchema = v.object({
  delivered: count,
  lost: count,
  overflowed: count,
  oversized: count,
  lateUs: v.nullable(v.object({ median: v.number(), p99: v.number(), max: v.number() })),
  shortestUs: v.nullable(v.number()),
});
export const linkReportSchema = v.object({ up: directionReportSchema, down: directionReportSchema });

/** What one experiment's files hold. */
export interface RecordSchema<Plan, Findings, Line> {
  readonly experiment: string;
  /** What was asked for; turns belong to one run only if all of it is the same. */
  readonly asked: v.GenericSchema<unknown, Plan>;
  /** What was found before the first turn, and is kept when a run goes on. */
  readonly found: v.GenericSchema<unknown, Findings>;
  /** A line of `trials.jsonl`. */
  readonly turn: v.GenericSchema<unknown, Line>;
  /** Names the measurement that gave the line; null: none that is over, so that a run which goes on makes it again. */
  keyOf(line: Line): string | null;
}

const machineSchema = v.object({
  cpu: v.string(),
  cores: count,
  memoryGiB: count,
  system: v.string(),
  versions: v.record(v.string(), v.string()),
});

const metaSchema = v.object({
  schema: v.literal(SCHEMA),
  experiment: v.string(),
  startedAtMs: v.number(),
  machine: machineSchema,
  seed: count,
  /** Of the checkout, with `-dirty` where files differ from it; null outside of one. */
  commit: v.nullable(v.string()),
  /** Digest of what was built of ours. */
  build: v.string(),
});

/** What must be the same for turns to belong to one run. */
export interface Identity<Plan> extends Pick<v.InferOutput<typeof metaSchema>, 'seed' | 'commit' | 'build'> {
  readonly asked: Plan;
}

export interface Meta<Plan, Findings> extends v.InferOutput<typeof metaSchema> {
  readonly asked: Plan;
  readonly found: Findings;
}

export interface ExperimentRecord<Plan, Findings, Line> {
  readonly meta: Meta<Plan, Findings>;
  readonly turns: readonly Line[];
}

export interface Journal<Plan, Findings, Line> extends ExperimentRecord<Plan, Findings, Line> {
  /** Resolves once the turn is in the file. */
  append(turn: Line): Promise<void>;
  /** Whether it has what the measurement of that key gave. */
  has(key: string): boolean;
  /** Records what the measurement of that key gives, which is not made again where the journal has it. */
  once(key: string, measure: () => Promise<Line | readonly Line[]>): Promise<void>;
}

/** The identity of a run of this checkout, as it is built. */
export async function identify<Plan>(seed: number, asked: Plan): Promise<Identity<Plan>> {
  const describe = ['-C', TOP, 'describe', '--always', '--dirty', '--abbrev=40', '--exclude=*'];
  const said = await runCommand('git', describe).catch(() => null);
  return { seed, commit: said?.code === 0 ? said.stdout.trim() : null, build: await digestOfBuild(), asked };
}

/** What was being written when a run was killed has no line's end, and does not count. */
const wholeLines = (text: string) => text.slice(0, text.lastIndexOf('\n') + 1);

function parse<T>(schema: v.GenericSchema<unknown, T>, text: string, where: string): T {
  try {
    return v.parse(schema, JSON.parse(text));
  } catch (error) {
    throw new Error(`${where}: ${(error as Error).message}`, { cause: error });
  }
}

/** Null where nothing has been recorded. Throws, naming file and line, for what no run of ours has written. */
export async function readJournal<Plan, Findings, Line>(
  dir: string,
  schema: RecordSchema<Plan, Findings, Line>,
): Promise<ExperimentRecord<Plan, Findings, Line> | null> {
  const file = join(dir, META);
  if (!existsSync(file)) return null;
  const text = await readFile(file, 'utf8');
  const { experiment, ...common } = parse(metaSchema, text, file);
  if (experiment !== schema.experiment)
    throw new Error(`${file}: of ${experiment}, not of ${schema.experiment}`);
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

/** What tells two runs apart, by name; empty: nothing does. */
export function differences<Plan extends object>(a: Identity<Plan>, b: Identity<Plan>): string[] {
  const flat = ({ seed, commit, build, asked }: Identity<Plan>) => ({ seed, commit, build, ...asked });
  const [one, other] = [flat(a) as Record<string, unknown>, flat(b) as Record<string, unknown>];
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...names].filter((name) => !isDeepStrictEqual(one[name], other[name]));
}

/** Moves both files to a folder of their own, named after a time, without taking the place of another. */
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

export interface OpenJournal<Plan, Findings, Line> {
  readonly journal: Journal<Plan, Findings, Line>;
  /** Where an earlier run is now that could not be continued, and why it could not. */
  readonly aside: { readonly dir: string; readonly because: string } | null;
}

export interface JournalOptions<Plan, Findings> {
  readonly identity: Identity<Plan>;
  readonly startedAtMs: number;
  /** Whether to begin anew whatever is there. */
  readonly fresh: boolean;
  /** Asked only where a run begins. */
  find(): Promise<Findings>;
}

/**
 * Opens the journal of that run: goes on with the one that is there if it is of the same run, else begins anew and sets
 * that one aside. Throws as `readJournal` does, unless it is to begin anew anyway.
 */
export async function openJournal<Plan extends object, Findings, Line>(
  dir: string,
  schema: RecordSchema<Plan, Findings, Line>,
  { identity, startedAtMs, fresh, find }: JournalOptions<Plan, Findings>,
): Promise<OpenJournal<Plan, Findings, Line>> {
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
        // One that was interrupted between its lines gives the first of them again.
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
    machine: describeMachine({}),
    ...identity,
    found: await find(),
  };
  const because = earlier === null ? 'asked to' : `changed: ${changed.join(', ')}`;
  const aside = existsSync(join(dir, META))
    ? { dir: await setAside(dir, earlier?.meta.startedAtMs ?? startedAtMs), because }
    : null;
  await writeFile(trials, '');
  // Under its own name only once it is whole.
  await writeFile(join(dir, `${META}.part`), `${JSON.stringify(meta, null, 1)}\n`);
  await rename(join(dir, `${META}.part`), join(dir, META));
  return { journal: journal({ meta, turns: [] }), aside };
}
