// What browsers really do: which delay of QUIC, of IPv6 and of DNS answers they wait for, seen in their packets and in
// the server's log, beside our own modes. The offline counterpart of happy-eyeballs.net.
import { loadavg } from 'node:os';
import { seededRandom } from '@photofinish/shared/testing/seeded-random';
import { count, ms } from '@photofinish/shared/web/untrusted';
import * as v from 'valibot';
import { shuffled } from '../bench/measure.ts';
import { beginStep, heading, printLine } from '../run/display.ts';
import { observationSchema } from './browsers/observation.ts';
import { SUBJECTS, type Subject } from './browsers/subjects.ts';
import {
  avoid,
  avoidanceSchema,
  CLEAN,
  DELAYS_MS,
  hostOf,
  hostsOf,
  SWEEPS,
  type Sweep,
  WAYS,
  type Way,
} from './browsers/sweeps.ts';
import { type NamedTestbed, openNamedTestbed, type Visitor } from './browsers/testbed.ts';
import { clientKindSchema } from './client.ts';
import {
  BadUsage,
  choose,
  type Experiment,
  loadLines,
  numberOr,
  readOptions,
  readSeed,
  runExperiment,
} from './experiment.ts';
import { figure, type Journal, type RecordSchema, turnKey } from './journal.ts';

const askedSchema = v.object({
  full: v.boolean(),
  trials: count,
  delaysMs: v.array(ms),
  sweeps: v.array(v.object({ name: v.string(), title: v.string(), late: v.string() })),
  ways: v.array(v.object({ name: v.string(), title: v.string(), trials: count, limitMs: figure })),
  clients: v.array(
    v.object({
      name: v.string(),
      title: v.string(),
      kind: clientKindSchema,
      version: v.string(),
    }),
  ),
});
type BrowsersPlan = v.InferOutput<typeof askedSchema>;

const foundSchema = v.object({
  versions: v.record(v.string(), v.string()),
  absent: v.array(v.object({ name: v.string(), title: v.string() })),
});
type BrowsersFindings = v.InferOutput<typeof foundSchema>;

const turnSchema = v.object({
  kind: v.literal('turn'),
  sweep: v.string(),
  client: v.string(),
  /** Numbers this client's turns in the sweep from 0. */
  turn: count,
  endedAtMs: v.number(),
  /** The load average of one minute when the turn ended. */
  load: v.number(),
  trials: v.array(v.object({ delayMs: ms, ...observationSchema.entries })),
});
const lineSchema = v.variant('kind', [turnSchema, avoidanceSchema]);
type Line = v.InferOutput<typeof lineSchema>;
type SweepTurn = v.InferOutput<typeof turnSchema>;

const BROWSERS: RecordSchema<BrowsersPlan, BrowsersFindings, Line> = {
  experiment: 'browsers',
  asked: askedSchema,
  found: foundSchema,
  turn: lineSchema,
  keyOf: (line) =>
    line.kind === 'turn' ? turnKey(line.sweep, line.client, line.turn) : turnKey(line.way, line.turn),
};

/** A way, how often it is gone, and for how long. */
interface PlannedWay {
  readonly way: Way;
  readonly trials: number;
  readonly limitMs: number;
}

interface BrowsersOptions {
  readonly full: boolean;
  /** Visits of each client at each delay of each sweep. */
  readonly trials: number;
  readonly sweeps: readonly Sweep[];
  readonly ways: readonly PlannedWay[];
  readonly delaysMs: readonly number[];
  readonly subjects: readonly Subject[];
  readonly seed: number;
  readonly fresh: boolean;
}

const OPTIONS = {
  sweeps: { type: 'string' },
  only: { type: 'string' },
  delays: { type: 'string' },
  trials: { type: 'string' },
  full: { type: 'boolean', default: false },
  seed: { type: 'string' },
  fresh: { type: 'boolean', default: false },
} as const;
const TRIALS = { usual: 3, full: 20 } as const;
const MAX_TRIALS = 1000;
/** Of all clients together. */
const WAY_TRIALS = { usual: 1, full: 3 } as const;

const USAGE = [
  'usage: npm run lab -- browsers [--sweeps NAME,...] [--only CLIENT,...] [--delays MS,...] [--trials N] [--full]',
  '                              [--seed N] [--fresh]',
  '',
  ...[...SWEEPS, ...WAYS].map(({ name, title }) => `  ${name.padEnd(16)}${title}`),
  '',
  `  --only CLIENT,...  ${SUBJECTS.map(({ name }) => name).join(', ')}`,
  `  --delays MS,...    some of ${DELAYS_MS.join(', ')}`,
  `  --trials N         visits of each client at each delay (${TRIALS.usual}; ${TRIALS.full} with --full)`,
  '  --full             takes hours; an interrupted run resumes',
  '  --fresh            start a new record instead of resuming the last one',
].join('\n');

/** Parses the arguments. Throws BadUsage for the first mistake. */
export function parseOptions(args: readonly string[]): BrowsersOptions {
  const { full, fresh, ...values } = readOptions(args, OPTIONS);
  if (full && values.trials !== undefined) throw new BadUsage('choose one of --full and --trials');
  const usual = full ? TRIALS.full : TRIALS.usual;
  const chosen = choose<Sweep | Way>('sweeps', values.sweeps, [...SWEEPS, ...WAYS], ({ name }) => name);
  const often = full ? WAY_TRIALS.full : WAY_TRIALS.usual;
  return {
    full,
    fresh,
    trials: numberOr(usual, 'trials', values.trials, 1, MAX_TRIALS),
    sweeps: SWEEPS.filter((sweep) => chosen.includes(sweep)),
    ways: WAYS.filter((way) => chosen.includes(way)).map((way) => ({
      way,
      trials: often,
      limitMs: full ? way.limitMs.full : way.limitMs.usual,
    })),
    delaysMs: choose('delays', values.delays, DELAYS_MS, String),
    subjects: choose('only', values.only, SUBJECTS, ({ name }) => name),
    seed: readSeed(values.seed),
  };
}

/**
 * On an idle machine, a browser's start and the mean of a visit, apart from its delay; a visit after others takes three
 * times that. With these, the run of docs/laboratory.md is expected to take as long as it did.
 */
const START_MS = 5000;
const VISIT_MS = 450;

/** The approximate duration, milliseconds. */
export function expectedMs({ sweeps, ways, delaysMs, subjects, trials }: BrowsersOptions): number {
  const turnMs = (sweep: Sweep) =>
    START_MS +
    delaysMs.reduce((sum, delayMs) => sum + (sweep.knowledge === 'nothing' ? 1 : 3) * VISIT_MS + delayMs, 0);
  const learnMs = subjects.length * (START_MS + 4 * VISIT_MS);
  const waysMs = ways.reduce((sum, way) => sum + way.trials * (learnMs + way.limitMs), 0);
  return trials * subjects.length * sweeps.reduce((sum, sweep) => sum + turnMs(sweep), 0) + waysMs;
}

type BrowsersJournal = Journal<BrowsersPlan, BrowsersFindings, Line>;

type OpenTestbed = Awaited<ReturnType<typeof open>>;

/** The testbed, the clients that are installed, with their versions, and the others. */
async function open({ subjects, sweeps, ways, delaysMs }: BrowsersOptions, seed: number) {
  const versions = await Promise.all(
    subjects.map(async (subject) => ({ subject, version: await subject.version() })),
  );
  const avoided = ways.flatMap(({ way }) => subjects.map((subject) => hostOf(way, subject)));
  const testbed = await openNamedTestbed(seed, [...hostsOf(sweeps, delaysMs), ...avoided]);
  return {
    testbed,
    present: versions.flatMap(({ subject, version }) => (version === null ? [] : { subject, version })),
    absent: versions.flatMap(({ subject, version }) => (version === null ? subject : [])),
    close: testbed.close,
  };
}

/** One visit at one delay by a client without history, after those that teach it what it is to know. */
async function observeAt(testbed: NamedTestbed, visitor: Visitor, sweep: Sweep, delayMs: number) {
  const host = sweep.host(delayMs).name;
  const late = sweep.shape(delayMs);
  await visitor.forget();
  if (sweep.knowledge !== 'nothing') {
    await testbed.drain();
    await testbed.server.shape(sweep.knowledge === 'visited' ? late : CLEAN);
    for (let visits = sweep.knowledge === 'used' ? 2 : 1; visits > 0; visits -= 1) {
      await visitor.learn(`https://${host}/`);
      await visitor.part();
    }
  }
  await testbed.drain();
  await testbed.server.shape(late);
  return { delayMs, ...(await testbed.observe(visitor, host)) };
}

async function takeTurn(
  testbed: NamedTestbed,
  subject: Subject,
  sweep: Sweep,
  delaysMs: readonly number[],
): Promise<SweepTurn['trials']> {
  await testbed.server.shape(CLEAN);
  await testbed.server.obstruct(sweep.obstacles);
  const visitor = await subject.start(testbed, 'hints');
  try {
    const trials: SweepTurn['trials'] = [];
    for (const delayMs of delaysMs) trials.push(await observeAt(testbed, visitor, sweep, delayMs));
    return trials;
  } finally {
    await visitor.close();
  }
}

async function measureWay(
  { way, trials, limitMs }: PlannedWay,
  { testbed, present }: OpenTestbed,
  journal: BrowsersJournal,
): Promise<void> {
  const step = beginStep(way.title);
  const subjects = present.map(({ subject }) => subject);
  for (let turn = 0; turn < trials; turn += 1)
    await journal.once(turnKey(way.name, turn), async () => {
      const clients = await avoid(testbed, way, subjects, limitMs, (text) =>
        step.detail(`${text}, turn ${turn + 1} of ${trials}`),
      );
      return { kind: 'avoidance', way: way.name, turn, endedAtMs: Date.now(), clients };
    });
  step.end(true);
}

/** Every turn of every client in every sweep, in an order that the seed determines, then the ways. */
async function measure(
  { sweeps, ways, delaysMs, trials, seed }: BrowsersOptions,
  opened: OpenTestbed,
  journal: BrowsersJournal,
): Promise<boolean> {
  const { testbed, present } = opened;
  heading('Measuring');
  for (const line of loadLines(', and clients start their attempts late')) printLine(`  ${line}`);
  const random = seededRandom(seed);
  for (const sweep of sweeps) {
    const step = beginStep(sweep.title);
    for (let turn = 0; turn < trials; turn += 1)
      for (const { subject } of shuffled(present, random)) {
        const order = shuffled(delaysMs, random);
        step.detail(`${subject.name}, turn ${turn + 1} of ${trials}`);
        await journal.once(turnKey(sweep.name, subject.name, turn), async () => {
          const made = await takeTurn(testbed, subject, sweep, order);
          const where = { sweep: sweep.name, client: subject.name, turn, endedAtMs: Date.now() };
          return { kind: 'turn', ...where, load: loadavg()[0] ?? 0, trials: made };
        });
      }
    step.end(true);
  }
  for (const way of ways) await measureWay(way, opened, journal);
  return true;
}

/** Measures what the options select and the journal does not contain yet. */
export function browsers(
  options: BrowsersOptions,
): Experiment<BrowsersPlan, BrowsersFindings, Line, OpenTestbed> {
  const { full, trials, delaysMs, sweeps, ways, seed, fresh } = options;
  return {
    schema: BROWSERS,
    seed,
    fresh,
    expectedMs: expectedMs(options),
    open: (drawn) => open(options, drawn),
    plan: ({ present }) => ({
      full,
      trials,
      delaysMs: [...delaysMs],
      sweeps: sweeps.map(({ name, title, late }) => ({ name, title, late })),
      ways: ways.map(({ way: { name, title }, trials: own, limitMs }) => ({
        name,
        title,
        trials: own,
        limitMs,
      })),
      clients: present.map(({ subject: { name, title, kind }, version }) => ({ name, title, kind, version })),
    }),
    find: async ({ testbed, absent }) => ({
      versions: { ...testbed.versions },
      absent: absent.map(({ name, title }) => ({ name, title })),
    }),
    measure: (opened, journal) => measure(options, opened, journal),
  };
}

if (import.meta.main) await runExperiment(USAGE, (args) => browsers(parseOptions(args)));
