// Measures what racing costs a server in processor time and memory, and how much a cache saves: P1's three test cases
// over HTTP/2 and HTTP/3, with our own client as load generator.
import { seededRandom } from '@photofinish/shared/testing/seeded-random';
import {
  BASIC,
  COST,
  type CostFindings,
  type CostPlan,
  cellOf,
  cellsOf,
  OBJECTS,
  RTT_MS,
  SERVERS,
  type SegmentRecord,
  segmentsOf,
} from './cost/cells.ts';
import {
  findLoads,
  isWanted,
  LOAD_OPTIONS,
  type LoadOptions,
  measureTurns,
  printLoad,
  readLoadOptions,
} from './cost/loads.ts';
import { measureSegment, openLoadedTestbed, SEGMENT_OVERHEAD_SECONDS } from './cost/segment.ts';
import { choose, type Experiment, readOptions, runExperiment } from './experiment.ts';
import type { Testbed } from './testbed.ts';

const USAGE = `usage: npm run lab -- cost [OPTION...]
  --seconds N       measured seconds of each cell, 3 to 600; default: 60
  --quick           12 seconds of each cell, hit ratios of one object only
  --full            both objects and all hit ratios at every load
  --server A,B      only these servers: ${SERVERS.join(', ')}
  --object A,B      only these objects, KiB: ${OBJECTS.map((bytes) => bytes / 1024).join(', ')}
  --loads A,B       these requests a second instead of what is found to be driven
  --cells A,B       only cells whose names contain one of these
  --seed N          decides order and gaps; default: 1
  --fresh           start a new record instead of resuming the last one`;

type CostOptions = CostPlan & LoadOptions;

const OPTIONS = { ...LOAD_OPTIONS, server: { type: 'string' } } as const;

/** Throws BadUsage for the first mistake. */
export function parseOptions(args: readonly string[]): CostOptions {
  const values = readOptions(args, OPTIONS);
  const { quick, full } = values;
  return {
    ...readLoadOptions(values),
    extent: full ? 'full' : quick ? 'quick' : 'usual',
    servers: choose('server', values.server, SERVERS, (name) => name),
  };
}

/** P1's four loads, with values between and below them for a smaller machine. */
const TRIED = [25, 50, 75, 100, 150, 200, 300, 400, 550, 700, 850, 1000] as const;
const TRY_SECONDS = 5;
const TRY_OVERHEAD_SECONDS = 4;

async function find(testbed: Testbed, { seed, ...plan }: CostOptions): Promise<CostFindings> {
  const { servers, objects, extent } = plan;
  const objectBytes = Math.max(...objects) as (typeof objects)[number];
  const loads = await findLoads(
    servers.map((server) => ({ server })),
    plan.loads,
    {
      tried: TRIED,
      secondsPerTry: TRY_SECONDS + TRY_OVERHEAD_SECONDS,
      titleOf: ({ server }) => (server === 'caddy' ? 'Caddy' : 'own origin'),
      async tryLoad({ server }, perSecond) {
        const way = BASIC.naive;
        const cell = cellOf({ server, objectBytes, perSecond, rttMs: RTT_MS, postQuantum: true, way });
        return (await measureSegment(testbed, { cell, round: 0, seconds: TRY_SECONDS }, seed)).drive.why;
      },
    },
  );
  const driven = Object.fromEntries(loads.map((each) => [each.server, each.driven]));
  const cells = cellsOf({ servers, objects, loads: driven, extent });
  return { loads, scenarios: cells.filter(({ id }) => isWanted(plan, id)) };
}

/** Measures every segment of the selected cells; the run is complete even if some loads could not be driven. */
function cost(options: CostOptions): Experiment<CostPlan, CostFindings, SegmentRecord, Testbed> {
  const { seed, fresh, ...plan } = options;
  return {
    schema: COST,
    seed,
    fresh,
    open(drawn) {
      printLoad();
      return openLoadedTestbed(drawn);
    },
    plan: () => plan,
    find: (testbed) => find(testbed, options),
    measure: (testbed, journal) =>
      measureTurns(journal, segmentsOf(journal.meta.found.scenarios, plan.seconds, seededRandom(seed)), {
        words: ['segments', 'part'],
        seconds: ({ seconds }) => seconds + SEGMENT_OVERHEAD_SECONDS,
        measure: (segment) => measureSegment(testbed, segment, seed),
      }),
  };
}

if (import.meta.main) await runExperiment(USAGE, (args) => cost(parseOptions(args)));
