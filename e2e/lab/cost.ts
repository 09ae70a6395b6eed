// Measures what racing costs a server in processor time and memory, and how much a cache saves: P1's three test cases
// over HTTP/2 and HTTP/3, with our own client as load generator.
import { seededRandom } from '@photofinish/shared/testing/seeded-random';
import { beginStep, formatDuration, heading, say } from '../run/display.ts';
import {
  type Cell,
  cellsOf,
  type Extent,
  OBJECTS,
  SERVER_TITLES,
  SERVERS,
  type ServerName,
  segmentsOf,
} from './cost/cells.ts';
import {
  COST,
  type CostFindings,
  type CostPlan,
  type Loads,
  type SegmentRecord,
  segmentKey,
} from './cost/cost-record.ts';
import { LOAD_OPTIONS, type LoadOptions, measureTurns, readLoadOptions } from './cost/load-run.ts';
import { findLoads, TRIES_SECONDS } from './cost/loads.ts';
import { measureSegment, SEGMENT_OVERHEAD_SECONDS } from './cost/segment.ts';
import { openLoadedTestbed } from './cost/servers.ts';
import { choose, type Experiment, loadLines, readOptions, runExperiment } from './experiment.ts';
import type { Testbed } from './testbed.ts';

const USAGE = `usage: npm run lab -- cost [OPTION...]
  --seconds N       measured seconds of each cell, 3 to 600; 60 unless said
  --quick           12 seconds of each cell, hit ratios of one object only
  --full            both objects and all hit ratios at every load
  --server A,B      only these servers: ${SERVERS.join(', ')}
  --object A,B      only these objects, KiB: ${OBJECTS.map((bytes) => bytes / 1024).join(', ')}
  --loads A,B       these requests a second instead of what is found to be driven
  --cells A,B       only cells whose names contain one of these
  --seed N          decides order and gaps; 1 unless said
  --fresh           measure anew instead of going on where the last run stopped`;

interface CostOptions extends LoadOptions {
  readonly extent: Extent;
  readonly servers: readonly ServerName[];
}

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

/** The cells of a run with these loads. */
function cellsOfRun(plan: CostPlan, loads: Loads): Cell[] {
  const { servers, objects, extent, cells: wanted } = plan;
  const driven = Object.fromEntries(loads.map((each) => [each.server, each.driven]));
  const all = cellsOf({ servers, objects, loads: driven, extent });
  return wanted === null ? all : all.filter(({ id }) => wanted.some((part) => id.includes(part)));
}

function planOf(options: CostOptions): CostPlan {
  const { seconds, extent, servers, objects, loads, cells } = options;
  return {
    seconds,
    extent,
    servers: [...servers],
    objects: [...objects],
    loads: loads === null ? null : [...loads],
    cells: cells === null ? null : [...cells],
  };
}

async function loadsFor(testbed: Testbed, { servers, objects, loads, seed }: CostOptions): Promise<Loads> {
  if (loads !== null) return servers.map((server) => ({ server, driven: [...loads], notDriven: [] }));
  heading(
    `Loads that this machine drives (at most ${formatDuration(1000 * TRIES_SECONDS * servers.length)})`,
  );
  const found: Loads = [];
  for (const server of servers) {
    const step = beginStep(SERVER_TITLES[server]);
    const dearest = Math.max(...objects) as (typeof objects)[number];
    const result = await findLoads(testbed, server, dearest, seed, (perSecond) =>
      step.detail(`${perSecond} requests/s`),
    );
    const limits =
      result.notDriven.length === 0
        ? ''
        : `; not driven: ${result.notDriven.map(({ perSecond }) => perSecond).join(', ')} (${result.notDriven[0]?.why})`;
    step.end(result.driven.length > 0, `${result.driven.join(', ')} requests/s${limits}`);
    found.push(result);
  }
  return found;
}

/** Measures every segment of the selected cells; the run is complete even if some loads could not be driven. */
function cost(options: CostOptions): Experiment<CostPlan, CostFindings, SegmentRecord, Testbed> {
  const { seed, fresh } = options;
  const plan = planOf(options);
  return {
    schema: COST,
    seed,
    fresh,
    open(drawn) {
      for (const line of loadLines(': fewer loads are driven, and the others cost more')) say(line);
      return openLoadedTestbed(drawn);
    },
    plan: () => plan,
    async find(testbed) {
      const loads = await loadsFor(testbed, options);
      return { loads, scenarios: cellsOfRun(plan, loads) };
    },
    measure(testbed, journal) {
      const all = segmentsOf(journal.meta.found.scenarios, plan.seconds, seededRandom(seed));
      const left = all.filter(({ cell, round }) => !journal.has(segmentKey(cell.id, round)));
      return measureTurns(left, {
        noun: 'segments',
        expectedMs: ({ seconds }) => 1000 * (seconds + SEGMENT_OVERHEAD_SECONDS),
        titleOf: ({ cell, round }) => `${cell.id}, part ${round + 1}`,
        async measure(segment) {
          const measured = await measureSegment(testbed, segment, seed);
          await journal.append(measured);
          return measured.drive.why;
        },
      });
    },
  };
}

if (import.meta.main) await runExperiment(USAGE, (args) => cost(parseOptions(args)));
