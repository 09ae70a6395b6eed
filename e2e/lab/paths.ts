// Measures races on broken and lossy paths: UDP dropped, refused or known to be broken, everything blocked, first
// flights lost, servers with a single protocol, and the number of packets that handling all this costs.
import { seededRandom } from '@photofinish/shared/testing/seeded-random';
import { beginStep } from '../run/display.ts';
import { type Client, commandLine, isAbsent, type Opener, type UnavailableClient } from './client.ts';
import { choose, type Experiment, numberOr, readOptions, readSeed, runExperiment } from './experiment.ts';
import { type Journal, turnKey } from './journal.ts';
import {
  blackHole,
  established,
  interoperability,
  oneProtocol,
  packets,
  spurious,
} from './paths/client-scenarios.ts';
import {
  dead,
  knownBroken,
  type Line,
  PATHS,
  type PathsPlan,
  refused,
  type Scenario,
  type Session,
} from './paths/scenario.ts';
import { openServedTestbed, type ServedTestbed, servedBy } from './testbed.ts';

interface PlannedScenario {
  readonly scenario: Scenario;
  readonly trials: number;
  /** Why its hypotheses cannot be judged; undefined if they can. */
  readonly tooFew: string | undefined;
}

interface PathsOptions {
  readonly scenarios: readonly PlannedScenario[];
  readonly full: boolean;
  readonly seed: number;
  readonly fresh: boolean;
}

const OPTIONS = {
  rows: { type: 'string' },
  trials: { type: 'string' },
  full: { type: 'boolean', default: false },
  seed: { type: 'string' },
  fresh: { type: 'boolean', default: false },
} as const;
const MAX_TRIALS = 100_000;

export function usage(scenarios: readonly Scenario[]): string {
  return [
    'usage: npm run lab -- paths [--rows NAME,...] [--trials N] [--full] [--seed N] [--fresh]',
    '',
    ...scenarios.map(({ name, title }) => `  ${name.padEnd(14)}${title}`),
    '',
    '  --trials N    of each client in each condition',
    '  --full        more than the usual, on which hypotheses are judged already',
    '  --seed N      decides losses and the order of turns; default: 1',
    '  --fresh       start a new record instead of resuming the last one',
  ].join('\n');
}

/** Parses the arguments. Throws BadUsage for the first mistake. */
export function parseOptions(args: readonly string[], all: readonly Scenario[]): PathsOptions {
  const { full, fresh, ...values } = readOptions(args, OPTIONS);
  const override = numberOr(null, 'trials', values.trials, 1, MAX_TRIALS);
  const scenarios = choose('rows', values.rows, all, ({ name }) => name).map((scenario) => {
    const trials = override ?? (full ? scenario.trials.full : scenario.trials.usual);
    const tooFew =
      trials < scenario.trials.usual ? `${trials} of ${scenario.trials.usual} trials` : undefined;
    return { scenario, trials, tooFew };
  });
  return { scenarios, full, seed: readSeed(values.seed), fresh };
}

/** The approximate duration, milliseconds. */
export function expectedMs({ scenarios }: Pick<PathsOptions, 'scenarios'>): number {
  return scenarios.reduce(
    (sum, { scenario: { fixedMs, trialMs }, trials }) => sum + fixedMs + trials * trialMs,
    0,
  );
}

type PathsJournal = Journal<PathsPlan, object, Line>;

const presentIn = (all: readonly (Client | UnavailableClient)[]): Client[] =>
  all.filter((each): each is Client => !isAbsent(each));

interface PathsSession extends Omit<Session, 'progress'> {
  /** Records the clients used so far. */
  recordClients(): Promise<void>;
  /** Closes the clients. */
  close(): Promise<void>;
}

/** A session on a testbed, whose progress is displayed by whoever uses it. */
export function sessionOn(testbed: ServedTestbed, journal: PathsJournal): PathsSession {
  const { server, caddy } = testbed;
  const opened = new Map<Opener, Client | UnavailableClient>();
  return {
    testbed,
    command: commandLine(testbed),
    random: seededRandom(journal.meta.seed),
    async open(openers) {
      for (const opener of openers) if (!opened.has(opener)) opened.set(opener, await opener(testbed));
      return presentIn(openers.flatMap((opener) => opened.get(opener) ?? []));
    },
    record: (where, { name, title, kind }, measure) =>
      journal.once(turnKey(where.scenario, name, where.turn), async () => {
        // Discards what lessons and earlier clients' connections were still sending.
        await server.report();
        const trials = await measure();
        const client = { client: name, title, clientKind: kind };
        const link = await server.report();
        return { kind: 'turn', ...where, ...client, endedAtMs: Date.now(), trials, link };
      }),
    async recordClients() {
      const all = [...opened.values()];
      const versions = Object.assign(
        { Caddy: caddy.version },
        ...presentIn(all).map((each) => each.versions),
      );
      await journal.append({ kind: 'versions', versions });
      for (const { name, title, kind, why } of all.filter(isAbsent))
        await journal.append({ kind: 'absent', client: name, title, clientKind: kind, why });
    },
    async close() {
      for (const client of presentIn([...opened.values()])) await client.close();
    },
  };
}

const SCENARIOS: readonly Scenario[] = [
  established,
  spurious,
  blackHole,
  refused,
  knownBroken,
  dead,
  oneProtocol,
  interoperability,
  packets,
];

async function measure(
  { scenarios }: PathsOptions,
  testbed: ServedTestbed,
  journal: PathsJournal,
): Promise<boolean> {
  const { server } = testbed;
  const session = sessionOn(testbed, journal);
  try {
    for (const { scenario, trials } of scenarios)
      await journal.once(scenario.name, async () => {
        const step = beginStep(scenario.title);
        await server.report();
        await scenario
          .measure({ ...session, progress: step.detail }, trials)
          .finally(() => server.obstruct([]));
        step.end(true);
        return { kind: 'link', scenario: scenario.name, link: await server.report() };
      });
    await session.recordClients();
    return true;
  } finally {
    await session.close();
  }
}

function paths(options: PathsOptions): Experiment<PathsPlan, object, Line, ServedTestbed> {
  const { full, seed, fresh, scenarios } = options;
  const rows = scenarios.map(({ scenario: { name, title }, trials, tooFew }) => ({
    name,
    title,
    trials,
    ...(tooFew !== undefined && { tooFew }),
  }));
  return {
    schema: PATHS,
    seed,
    fresh,
    expectedMs: expectedMs(options),
    open: openServedTestbed,
    plan: (testbed) => ({ served: servedBy(testbed), full, rows }),
    find: async () => ({}),
    measure: (testbed, journal) => measure(options, testbed, journal),
  };
}

if (import.meta.main) await runExperiment(usage(SCENARIOS), (args) => paths(parseOptions(args, SCENARIOS)));
