// The common procedure of all experiments: they parse their command line, open a testbed, resume their record or start
// a new one, measure, and name the command that turns the record into tables.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { availableParallelism, loadavg } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { networkUnavailable } from '../network/open.ts';
import { formatElapsed, printLine } from '../run/display.ts';
import { SCRATCH, TOP } from '../scratch.ts';
import {
  DamagedRecord,
  identify,
  type Journal,
  openJournal,
  type RecordSchema,
  readJournal,
} from './journal.ts';

/** A usage error; its message describes it. */
export class BadUsage extends Error {}

/** The link takes 32 bits, and a resumed run counts up from here. */
const GREATEST_SEED = 2 ** 31;

/** Parses the options by name. Throws BadUsage for unknown arguments. */
export function readOptions<const Options extends NonNullable<ParseArgsConfig['options']>>(
  args: readonly string[],
  options: Options,
) {
  try {
    return parseArgs({ args: [...args], options, strict: true, allowPositionals: false }).values;
  } catch (error) {
    throw new BadUsage(error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error));
  }
}

/** Throws BadUsage for anything but an integer within the bounds. */
export function wholeNumber(option: string, text: string, least: number, most: number): number {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= least && value <= most))
    throw new BadUsage(`--${option} takes a whole number from ${least} to ${most}, not "${text}"`);
  return value;
}

/** The same, or `otherwise` if the option is not given. */
export function numberOr<T>(
  otherwise: T,
  option: string,
  text: string | undefined,
  least: number,
  most: number,
): number | T {
  return text === undefined ? otherwise : wholeNumber(option, text, least, most);
}

/** The value of `--seed`; 1 by default. */
export const readSeed = (text: string | undefined): number => numberOr(1, 'seed', text, 1, GREATEST_SEED);

/** The items of a comma-separated list. */
export const listOf = (text: string): string[] => text.split(',').map((part) => part.trim());

/**
 * The items of `all` that the list names, in the order of `all`; all of them without a list. Throws BadUsage for an
 * unknown name.
 */
export function choose<T>(
  option: string,
  list: string | undefined,
  all: readonly T[],
  nameOf: (each: T) => string,
): readonly T[] {
  if (list === undefined) return all;
  const wanted = listOf(list);
  const names = all.map(nameOf);
  const stranger = wanted.find((name) => !names.includes(name));
  if (stranger !== undefined)
    throw new BadUsage(`--${option} does not know "${stranger}". There are: ${names.join(', ')}`);
  return all.filter((each) => wanted.includes(nameOf(each)));
}

/** Per core; above it, other processes take processor time that the experiment needs. */
const QUIET_LOAD = 0.5;

/** The load as text, and on a busy machine a second line with a warning: `harm` is the effect of measuring now. */
export function loadLines(harm: string): string[] {
  const [load = 0] = loadavg();
  const cores = availableParallelism();
  const line = `load ${load.toFixed(2)} on ${cores} ${cores === 1 ? 'core' : 'cores'}`;
  if (load / cores <= QUIET_LOAD) return [line];
  return [line, `Warning: this machine is busy${harm}. End what else is running.`];
}

/** The experiment's folder, which may not exist yet. */
export function folderOf(experiment: string): string {
  return join(SCRATCH, 'lab', experiment);
}

/** Whether the laboratory can run here; prints the reason if it cannot. */
export async function laboratoryOpens(): Promise<boolean> {
  const why = await networkUnavailable('tun');
  if (why !== null) printLine(`The laboratory cannot be opened here: ${why}`);
  return why === null;
}

/** The steps that differ between experiments; their order is the same for all. */
export interface Experiment<Plan extends object, Findings, Line, Setup extends Closable> {
  readonly schema: RecordSchema<Plan, Findings, Line>;
  readonly seed: number;
  /** Whether to start a new record instead of resuming. */
  readonly fresh: boolean;
  /** Duration on an idle machine, if it is known before anything is opened. */
  readonly expectedMs?: number;
  /** Opens testbed and clients; losses are determined by that seed. */
  open(seed: number): Promise<Setup>;
  /** What is to be measured, as the record describes it. */
  plan(setup: Setup): Plan;
  /** What must be determined before the first turn. */
  find(setup: Setup): Promise<Findings>;
  /** Makes and records the turns that the journal lacks; returns whether it is then complete. */
  measure(setup: Setup, journal: Journal<Plan, Findings, Line>): Promise<boolean>;
}

interface Closable {
  close(): Promise<void>;
}

/** Ends a run early without being a program error: what was measured is kept. */
export class RunInterrupted extends Error {}

/**
 * Keeps other runs out of the folder: both would record the same turns. The kernel gives an abstract socket up with its
 * process, so that one that was killed leaves nothing behind. Throws RunInterrupted if another run is there.
 */
async function claim(dir: string): Promise<AsyncDisposable> {
  const server = createServer();
  const name = createHash('sha256').update(resolve(dir)).digest('hex');
  try {
    await once(server.listen(`\0photofinish-lab-${name}`), 'listening');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw cause;
    throw new RunInterrupted(`Another run is recording in ${dir}`, { cause });
  }
  return server;
}

/**
 * Runs the experiment and records it in the folder, or resumes the run there. Rejects if no testbed can be opened, or
 * another run is recording there.
 */
export async function record<Plan extends object, Findings, Line, Setup extends Closable>(
  { schema, seed, fresh, ...experiment }: Experiment<Plan, Findings, Line, Setup>,
  dir: string,
): Promise<{ readonly journal: Journal<Plan, Findings, Line>; readonly complete: boolean }> {
  await using closing = new AsyncDisposableStack();
  closing.use(await claim(dir));
  // A resumed run uses a new seed: the same one would repeat the losses of its beginning.
  const earlier = fresh ? null : await readJournal(dir, schema);
  const resumedSeed = seed + (earlier?.turns.length ?? 0);
  let setup = await experiment.open(resumedSeed);
  closing.defer(() => setup.close());
  const { journal, aside } = await openJournal(dir, schema, {
    identity: await identify(seed, experiment.plan(setup)),
    startedAtMs: Date.now(),
    fresh,
    find: async () => {
      // The run begins after all, and its losses must be those of the seed that is recorded.
      if (resumedSeed !== seed) {
        await setup.close();
        setup = await experiment.open(seed);
      }
      return experiment.find(setup);
    },
  });
  if (aside !== null)
    printLine(`  Beginning anew (${aside.because}); the earlier run is in ${relative(TOP, aside.dir)}`);
  if (journal.turns.length > 0)
    printLine(`  Going on after ${journal.turns.length} turns; --fresh begins anew`);
  return { journal, complete: await experiment.measure(setup, journal) };
}

/**
 * Runs the experiment described by the command line, in its own folder. The process's exit code is 1 if the run is
 * incomplete.
 */
export function runExperiment<Plan extends object, Findings, Line, Setup extends Closable>(
  usage: string,
  experimentOf: (args: readonly string[]) => Experiment<Plan, Findings, Line, Setup>,
): Promise<void> {
  return runProgram(usage, experimentOf, async (experiment) => {
    if (!(await laboratoryOpens())) return 1;
    if (experiment.expectedMs !== undefined) printLine(`About ${formatElapsed(experiment.expectedMs)}.`);
    const dir = folderOf(experiment.schema.experiment);
    const { complete } = await record(experiment, dir);
    printLine(`\nnpm run lab -- report ${relative(TOP, dir)}`);
    return complete ? 0 : 1;
  });
}

/** What to print of an error that is none of the program's, and the exit code; null: it is one. */
function explained(
  error: unknown,
  usage: string,
): { readonly text: string; readonly exitCode: number } | null {
  if (error instanceof BadUsage) return { text: `${error.message}\n${usage}\n`, exitCode: 2 };
  if (error instanceof DamagedRecord)
    return { text: `${error.message}\nRepair that file, or start again with --fresh\n`, exitCode: 2 };
  return error instanceof RunInterrupted ? { text: `${error.message}\n`, exitCode: 1 } : null;
}

/** In the environment of a program that is only to check its arguments. */
export const ONLY_ARGUMENTS = 'PHOTOFINISH_ONLY_ARGUMENTS';

/**
 * Passes what `parse` reads of the command line to `main` and sets the process's exit code: 2 for BadUsage and
 * DamagedRecord, 1 for RunInterrupted. `--help` only prints the usage.
 */
export async function runProgram<Parsed>(
  usage: string,
  parse: (args: readonly string[]) => Parsed,
  main: (parsed: Parsed) => Promise<number>,
): Promise<void> {
  const args = process.argv.slice(2);
  if (args.includes('--help')) return printLine(usage);
  try {
    const parsed = parse(args);
    if (process.env[ONLY_ARGUMENTS] === undefined) process.exitCode = await main(parsed);
  } catch (error) {
    const explanation = explained(error, usage);
    if (explanation === null) throw error;
    process.stderr.write(explanation.text);
    process.exitCode = explanation.exitCode;
  }
}
