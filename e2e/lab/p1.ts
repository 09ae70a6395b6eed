// Measures P1 with its own transports: what racing SCTP against TCP costs a server, plain and with TLS, and how much a
// cache saves; also six candidates and a middlebox, which P1 left to later work.
import { seededRandom } from '@photofinish/shared/testing/seeded-random';
import { OBJECTS, objectTitle } from './cost/cells.ts';
import {
  findLoads,
  isWanted,
  LOAD_OPTIONS,
  type LoadOptions,
  measureTurns,
  printLoad,
  readLoadOptions,
} from './cost/loads.ts';
import { BadUsage, choose, type Experiment, readOptions, runExperiment } from './experiment.ts';
import {
  BASIC,
  cellOf,
  type Group,
  groupsOf,
  P1,
  type P1Findings,
  type P1Plan,
  SECURITIES,
  type Security,
  TURN_SECONDS,
  type TurnRecord,
  turnsOf,
} from './p1/cells.ts';
import { TRANSPORTS, type Transport } from './p1/transports.ts';
import { measureTurn, openTestbed, type Testbed, TURN_OVERHEAD_SECONDS } from './p1/turn.ts';

const USAGE = `usage: npm run lab -- p1 [OPTION...]
  --seconds N       measured seconds of each cell, 3 to 600; 60 unless said
  --quick           12 seconds of each cell
  --full            hit ratios of both objects, and TLS 1.3
  --object A,B      only these objects, KiB: ${OBJECTS.map((bytes) => bytes / 1024).join(', ')}
  --tls A,B         only with these: ${SECURITIES.join(', ')}; plain and 1.2 unless said
  --loads A,B       these requests a second instead of what is found to be driven
  --cells A,B       only cells whose names contain one of these
  --sctp NAME       SCTP's transport: ${TRANSPORTS.slice(1).join(', ')}; sctp unless said
  --seed N          decides order and gaps; 1 unless said
  --fresh           measure anew instead of going on where the last run stopped`;

interface P1Options extends LoadOptions {
  readonly full: boolean;
  readonly securities: readonly Security[];
  readonly sctp: Transport;
}

const OPTIONS = {
  ...LOAD_OPTIONS,
  tls: { type: 'string' },
  sctp: { type: 'string', default: 'sctp' },
} as const;

/** Throws BadUsage for the first mistake. */
export function parseOptions(args: readonly string[]): P1Options {
  const values = readOptions(args, OPTIONS);
  const { full } = values;
  const options = readLoadOptions(values);
  const securities = full ? SECURITIES : SECURITIES.filter((each) => each !== '1.3');
  const [sctp, another] = choose('sctp', values.sctp, TRANSPORTS.slice(1), (name) => name);
  if (sctp === undefined || another !== undefined) throw new BadUsage('--sctp takes one name');
  return {
    ...options,
    full,
    securities: values.tls === undefined ? securities : choose('tls', values.tls, SECURITIES, (name) => name),
    sctp,
  };
}

/** The groups of a run with these loads. */
function groupsOfRun(plan: P1Plan, loads: P1Findings['loads']): Group[] {
  return groupsOf(loads, plan.full)
    .map((group) => group.filter(({ id }) => isWanted(plan, id)))
    .filter((group) => group.length > 0);
}

/** P1's four loads, and lower ones for a smaller machine. */
const TRIED = [50, 100, 200, 300, 400, 550, 700, 850, 1000] as const;
const WHOLE_TURN_SECONDS = TURN_SECONDS + TURN_OVERHEAD_SECONDS;

async function find(testbed: Testbed, { seed, ...plan }: P1Options): Promise<P1Findings> {
  const running = await testbed.start();
  const { timers } = running;
  await running.stop();
  const pairs = plan.objects.flatMap((objectBytes) =>
    plan.securities.map((security) => ({ objectBytes, security })),
  );
  const loads = await findLoads(pairs, plan.loads, {
    tried: TRIED,
    secondsPerTry: WHOLE_TURN_SECONDS,
    titleOf: ({ objectBytes, security }) => `${objectTitle(objectBytes)}, ${security}`,
    async tryLoad(of, perSecond) {
      const cell = cellOf({ ...of, perSecond, way: BASIC.naive });
      return (await measureTurn(testbed, { cell, round: 0 }, seed)).drive.why;
    },
  });
  return { loads, timers, scenarios: groupsOfRun(plan, loads).flat() };
}

/** Measures every turn of the selected cells; the run is complete even if some loads could not be driven. */
export function p1(options: P1Options): Experiment<P1Plan, P1Findings, TurnRecord, Testbed> {
  const { seed, fresh, ...plan } = options;
  return {
    schema: P1,
    seed,
    fresh,
    open(drawn) {
      printLoad();
      return openTestbed(drawn, plan.sctp);
    },
    plan: () => plan,
    find: (testbed) => find(testbed, options),
    measure(testbed, journal) {
      const groups = groupsOfRun(plan, journal.meta.found.loads);
      return measureTurns(journal, turnsOf(groups, plan.seconds, seededRandom(seed)), {
        words: ['turns', 'round'],
        seconds: () => WHOLE_TURN_SECONDS,
        measure: (turn) => measureTurn(testbed, turn, seed),
      });
    },
  };
}

if (import.meta.main) await runExperiment(USAGE, (args) => p1(parseOptions(args)));
