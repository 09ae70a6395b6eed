// Measures P1 with its own transports: what racing SCTP against TCP costs a server, plain and with TLS, and how much a
// cache saves; also six candidates and a middlebox, which P1 left to later work.
import { seededRandom } from '@photofinish/shared/testing/seeded-random';
import { beginStep, formatDuration, heading, say } from '../run/display.ts';
import { OBJECTS, objectTitle } from './cost/cells.ts';
import { LOAD_OPTIONS, type LoadOptions, measureTurns, readLoadOptions } from './cost/load-run.ts';
import { BadUsage, choose, type Experiment, loadLines, readOptions, runExperiment } from './experiment.ts';
import { type Group, groupsOf, SECURITIES, type Security, TURN_SECONDS, turnsOf } from './p1/cells.ts';
import { TRANSPORTS, type Transport } from './p1/contenders.ts';
import { findLoads, TRIES_SECONDS } from './p1/loads.ts';
import {
  type Loads,
  P1,
  type P1Findings,
  type P1Journal,
  type P1Plan,
  type TurnRecord,
  turnKey,
} from './p1/p1-record.ts';
import { type Ground, measureTurn, openGround, TURN_OVERHEAD_SECONDS } from './p1/turn.ts';

const USAGE = `usage: npm run lab -- p1 [OPTION...]
  --seconds N       measured seconds of each cell, 3 to 600; 60 unless said
  --quick           12 seconds of each cell
  --full            hit ratios of both objects, and TLS 1.3
  --object A,B      only these objects, KiB: ${OBJECTS.map((bytes) => bytes / 1024).join(', ')}
  --tls A,B         only with these: ${SECURITIES.join(', ')}; plain and 1.2 unless said
  --loads A,B       these requests a second instead of what is found to be driven
  --cells A,B       only cells whose names contain one of these
  --sctp NAME       TCP's contender: ${TRANSPORTS.slice(1).join(', ')}; sctp unless said
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

function planOf({ seed: _seed, fresh: _fresh, ...options }: P1Options): P1Plan {
  const { objects, securities, loads, cells } = options;
  return {
    ...options,
    objects: [...objects],
    securities: [...securities],
    loads: loads === null ? null : [...loads],
    cells: cells === null ? null : [...cells],
  };
}

/** The groups of a run with these loads. */
function groupsOfRun({ full, cells: wanted }: P1Plan, loads: Loads): Group[] {
  const all = groupsOf(loads, full);
  if (wanted === null) return all;
  const chosen = all.map((group) => group.filter(({ id }) => wanted.some((part) => id.includes(part))));
  return chosen.filter((group) => group.length > 0);
}

async function loadsFor(ground: Ground, { objects, securities, loads, seed }: P1Options): Promise<Loads> {
  const pairs = objects.flatMap((objectBytes) => securities.map((security) => ({ objectBytes, security })));
  if (loads !== null) return pairs.map((pair) => ({ ...pair, driven: [...loads], notDriven: [] }));
  heading(`Loads that this machine drives (at most ${formatDuration(1000 * TRIES_SECONDS * pairs.length)})`);
  const found: Loads = [];
  for (const { objectBytes, security } of pairs) {
    const step = beginStep(`${objectTitle(objectBytes)}, ${security}`);
    const result = await findLoads(ground, objectBytes, security, seed, (perSecond) =>
      step.detail(`${perSecond} requests/s`),
    );
    const [first] = result.notDriven;
    const limits = first === undefined ? '' : `; not driven: ${first.perSecond} and above (${first.why})`;
    step.end(result.driven.length > 0, `${result.driven.join(', ')} requests/s${limits}`);
    found.push(result);
  }
  return found;
}

function measureAll(
  ground: Ground,
  journal: P1Journal,
  groups: readonly Group[],
  { seconds, seed }: P1Options,
): Promise<boolean> {
  const all = turnsOf(groups, seconds, seededRandom(seed));
  return measureTurns(
    all.filter(({ cell, round }) => !journal.has(turnKey(cell.id, round))),
    {
      noun: 'turns',
      expectedMs: () => 1000 * (TURN_SECONDS + TURN_OVERHEAD_SECONDS),
      titleOf: ({ cell, round }) => `${cell.id}, round ${round + 1}`,
      async measure(turn) {
        const measured = await measureTurn(ground, turn, seed);
        await journal.append(measured);
        return measured.drive.why;
      },
    },
  );
}

/** Measures every turn of the selected cells; the run is complete even if some loads could not be driven. */
export function p1(options: P1Options): Experiment<P1Plan, P1Findings, TurnRecord, Ground> {
  const { seed, fresh } = options;
  const plan = planOf(options);
  return {
    schema: P1,
    seed,
    fresh,
    open(drawn) {
      for (const line of loadLines(': fewer loads are driven, and the others cost more')) say(line);
      return openGround(drawn, options.sctp);
    },
    plan: () => plan,
    async find(ground) {
      const running = await ground.start();
      const { timers } = running;
      await running.stop();
      const loads = await loadsFor(ground, options);
      return { loads, timers, scenarios: groupsOfRun(plan, loads).flat() };
    },
    measure: (ground, journal) =>
      measureAll(ground, journal, groupsOfRun(plan, journal.meta.found.loads), options),
  };
}

if (import.meta.main) await runExperiment(USAGE, (args) => p1(parseOptions(args)));
