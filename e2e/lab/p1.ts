// Measures P1 with its own transports: what racing SCTP against TCP costs a server, plain and with TLS, and how much a
// cache saves; also six candidates and a middlebox, which P1 left to later work. The cells of a group are compared, and
// take turns of seconds, so that a machine which slows down affects all of them alike.
import { isIP } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { type Random, seededRandom } from '@photofinish/shared/testing/seeded-random';
import { count } from '@photofinish/shared/web/untrusted';
import * as v from 'valibot';
import { bufferBytes, mainThreadMs, memoryOf, processors, processorTimeOf, slabBytes } from '../proc.ts';
import { scratchIn } from '../scratch.ts';
import {
  askedOfLoads,
  cellsSchema,
  drivenEntries,
  HIT_SHARES,
  type HitShare,
  type LoadTurn,
  OBJECTS,
  type ObjectBytes,
  objectTitle,
  RTT_MS,
  turnsIn,
} from './cost/cells.ts';
import {
  findLoads,
  isWanted,
  LOAD_OPTIONS,
  type LoadOptions,
  MAX_FAILED_SHARE,
  MIN_IDLE_SHARE,
  measureTurns,
  percent,
  printLoad,
  readLoadOptions,
} from './cost/loads.ts';
import { seedOf, widenPortRange } from './cost/segment.ts';
import { BadUsage, choose, type Experiment, readOptions, runExperiment } from './experiment.ts';
import { figure, type RecordSchema, turnKey } from './journal.ts';
import {
  type Candidate,
  type Load,
  type LoadResult,
  loadSchema,
  PLAIN_PORT,
  type RunningTransports,
  runLoad,
  startTransports,
  TLS_PORT,
  TRANSPORTS,
  type Transport,
} from './p1/transports.ts';
import { openLink } from './testbed.ts';

/** P1's two, and the version that has replaced its own. */
const SECURITIES = ['plain', '1.2', '1.3'] as const;
type Security = (typeof SECURITIES)[number];

/** P1's HE-TCP, HE-SCTP and HE-50 %. */
const WINNERS = ['tcp', 'sctp', 'half'] as const;
type Winners = (typeof WINNERS)[number];

type Way =
  /** At 1 only the winner is attempted, at 0 it is the naive race. */
  | { readonly kind: 'cached'; readonly winner: Winners; readonly hitShare: HitShare }
  /** {TCP, SCTP, SCTP over UDP} over {IPv4, IPv6}, without a cache. */
  | { readonly kind: 'six' }
  /** The naive race behind a middlebox that drops SCTP. */
  | { readonly kind: 'middlebox' };

interface Cell {
  readonly id: string;
  readonly objectBytes: ObjectBytes;
  readonly security: Security;
  readonly perSecond: number;
  readonly way: Way;
}

function cellOf(parts: Omit<Cell, 'id'>): Cell {
  const { objectBytes, security, perSecond, way } = parts;
  const secured = security === 'plain' ? security : `tls${security}`;
  const wayId = way.kind === 'cached' ? `${way.winner}-hit${100 * way.hitShare}` : way.kind;
  return { ...parts, id: `${objectBytes / 1024}k-${secured}-${perSecond}rps-${wayId}` };
}

const cached = (winner: Winners, hitShare: HitShare): Way => ({ kind: 'cached', winner, hitShare });
/** TCP alone, SCTP alone, and the naive race that TCP wins (P1, test cases 1 and 2). */
const BASIC = { tcp: cached('tcp', 1), sctp: cached('sctp', 1), naive: cached('tcp', 0) } as const;
const SWEEP = WINNERS.flatMap((winner) => HIT_SHARES.map((hitShare) => cached(winner, hitShare)));
/** P1's future work. */
const BEYOND: readonly Way[] = [{ kind: 'six' }, { kind: 'middlebox' }];

/** The loads that are driven for one object and security. */
export type DrivenLoads = Omit<P1Findings['loads'][number], 'notDriven'>;

/** The cells that are compared with each other. */
type Group = readonly Cell[];

/**
 * P1's basic cells at every load, and at the highest one those beyond P1. Hit ratios at the highest load of P1's object
 * for them, 1 KiB; with `full` of both.
 */
export function groupsOf(loads: readonly DrivenLoads[], full: boolean): Group[] {
  return loads.flatMap(({ objectBytes, security, driven }) =>
    driven.map((perSecond) => {
      const highest = perSecond === driven.at(-1);
      const sweeps = highest && (full || objectBytes === OBJECTS[0]);
      const ways = [...(sweeps ? SWEEP : Object.values(BASIC)), ...(highest ? BEYOND : [])];
      return ways.map((way) => cellOf({ objectBytes, security, perSecond, way }));
    }),
  );
}

/** Long enough for some hundred requests, short enough that the machine is the same for a whole group. */
const TURN_SECONDS = 3;

type Turn = LoadTurn<Cell>;

/** All turns in order. */
export function turnsOf(groups: readonly Group[], secondsPerCell: number, random: Random): Turn[] {
  return turnsIn(groups, Math.max(1, Math.round(secondsPerCell / TURN_SECONDS)), random);
}

const turnSchema = v.object({
  kind: v.literal('turn'),
  /** The cell. */
  scenario: v.string(),
  /** The round, from 0. */
  turn: count,
  endedAtMs: figure,
  /** Of the whole turn, from the first request to the end of the last connection. */
  trials: v.array(
    v.object({
      seconds: figure,
      /** Connections that ended, including those of races before the first request. */
      requests: figure,
      /** The server's processor time, precise; user and kernel in hundredths of a second. */
      serverMs: figure,
      serverUserMs: figure,
      serverSystemMs: figure,
      /** The process that carries the link's packets, and on whose account the kernel processes what arrives. */
      linkMs: figure,
      serverPssBytes: v.nullable(figure),
      /** In the middle of the turn, of the whole kernel; null if it does not report them. */
      bufferBytes: v.nullable(figure),
      slabBytes: v.nullable(figure),
    }),
  ),
  drive: v.object({ idleShare: figure, why: v.array(v.string()) }),
  load: loadSchema,
});
type TurnRecord = v.InferOutput<typeof turnSchema>;

const planSchema = v.object({
  ...askedOfLoads,
  full: v.boolean(),
  securities: v.pipe(v.array(v.picklist(SECURITIES)), v.readonly()),
  /** The transport raced against TCP. */
  sctp: v.picklist(TRANSPORTS),
});
type P1Plan = v.InferOutput<typeof planSchema>;

const foundSchema = v.object({
  loads: v.array(
    v.object({ objectBytes: v.picklist(OBJECTS), security: v.picklist(SECURITIES), ...drivenEntries }),
  ),
  /** SCTP's retransmission timers, those of the kernel's TCP. */
  timers: v.record(v.string(), figure),
  scenarios: cellsSchema<Cell>(),
});
type P1Findings = v.InferOutput<typeof foundSchema>;

export const P1: RecordSchema<P1Plan, P1Findings, TurnRecord> = {
  experiment: 'p1',
  asked: planSchema,
  found: foundSchema,
  turn: turnSchema,
  keyOf: ({ scenario, turn }) => turnKey(scenario, turn),
};

/** Additional delay for TCP over IPv6, each way: SCTP, which takes two round trips, is established before it. */
const TCP_EXTRA_MS = 60;
const WARM_UP_MS = 500;
/** Connections over a transport that should have lost: a busy machine delays the other more than the link does. */
const MAX_ASTRAY_SHARE = 0.05;
/** A start of the server and of two loads, and the ends of their connections. */
const TURN_OVERHEAD_SECONDS = 1 + WARM_UP_MS / 1000;

type Testbed = Awaited<ReturnType<typeof openTestbed>>;

/** The network of all turns, and the folder of the server's certificate; rejects if it cannot be opened. */
async function openTestbed(seed: number, sctp: Transport) {
  const apart = { transport: 'tcp', family: 6, delayMs: TCP_EXTRA_MS } as const;
  const transports = [...new Set<Transport>(['tcp', sctp, 'sctp', 'sctp-udp'])];
  await using opening = new AsyncDisposableStack();
  const dir = await scratchIn(opening, 'p1');
  const { client, server, linkPid, close } = await openLink(seed, { delayMs: RTT_MS / 2, apart });
  opening.defer(close);
  await widenPortRange(client);
  const closing = opening.move();
  return {
    client,
    server,
    linkPid,
    sctp,
    /** Rejects if TCP or the transport raced against it is not available here. */
    async start(): Promise<RunningTransports> {
      const running = await startTransports(server, dir, transports, [server.ipv4, server.ipv6]);
      const missing = running.unavailable.find(({ transport }) => transport === 'tcp' || transport === sctp);
      if (missing === undefined) return running;
      await running.stop();
      throw new Error(`${missing.transport}: ${missing.reason}`);
    },
    close: () => closing.disposeAsync(),
  };
}

/** TCP wins over IPv4, SCTP over IPv6. */
function pathsOf({ way }: Cell, { server, sctp }: Testbed, served: readonly Candidate[]): Candidate[][] {
  if (way.kind === 'six') return [served.filter(({ transport }) => transport !== 'sctp-kernel')];
  const race = (address: string): Candidate[] =>
    (['tcp', sctp] as const).map((transport) => ({ transport, address }));
  if (way.kind === 'middlebox') return [race(server.ipv4)];
  const of: Readonly<Record<Exclude<Winners, 'half'>, Candidate[]>> = {
    tcp: way.hitShare === 1 ? [{ transport: 'tcp', address: server.ipv4 }] : race(server.ipv4),
    sctp: way.hitShare === 1 ? [{ transport: sctp, address: server.ipv6 }] : race(server.ipv6),
  };
  return way.winner === 'half' ? [of.tcp, of.sctp] : [of[way.winner]];
}

function loadOf(cell: Cell, testbed: Testbed, running: RunningTransports, seed: number): Load {
  const { security, way } = cell;
  const { certificatePath, served } = running;
  const alone = way.kind !== 'cached' || way.hitShare === 1;
  return {
    paths: pathsOf(cell, testbed, served),
    port: security === 'plain' ? PLAIN_PORT : TLS_PORT,
    tls: security === 'plain' ? null : { version: security, certificatePath },
    objectBytes: cell.objectBytes,
    perSecond: cell.perSecond,
    durationMs: 1000 * TURN_SECONDS,
    hitShare: alone ? 0 : way.hitShare,
    seed,
  };
}

function readAll(pid: number, linkPid: number) {
  const preciseMs = mainThreadMs(pid);
  const all = processors();
  if (preciseMs === null || all === null) throw new Error('/proc does not report processor time');
  const link = processorTimeOf(linkPid);
  const linkMs = link.userMs + link.systemMs;
  return { atMs: performance.now(), time: processorTimeOf(pid), preciseMs, all, linkMs };
}

/**
 * Why the load does not count as driven; empty if it does. Unless `anyWinner`, TCP should win over IPv4 and SCTP over
 * IPv6.
 */
export function faultsOf(load: LoadResult, idleShare: number, anyWinner = false): string[] {
  const why: string[] = [];
  if (load.wasLate) why.push(`starts late: p99 ${(load.lateMs?.p99 ?? 0).toFixed(0)} ms`);
  if (load.droppedPackets > 0) why.push(`our own packets dropped: ${load.droppedPackets}`);
  if (idleShare < MIN_IDLE_SHARE) why.push(`processors: ${percent(idleShare)} left`);
  const failed = load.scheduled === 0 ? 1 : (load.scheduled - load.ok) / load.scheduled;
  if (failed > MAX_FAILED_SHARE)
    why.push(`failed: ${percent(failed)} (${Object.keys(load.failures).join(', ') || 'nothing was sent'})`);
  const astray = load.winners.filter(
    ({ transport, address }) => (isIP(address) === 6) === (transport === 'tcp'),
  );
  const astrayShare = astray.reduce((sum, { all }) => sum + all, 0) / Math.max(1, load.ok);
  if (astrayShare > MAX_ASTRAY_SHARE && !anyWinner) why.push(`won by the other: ${percent(astrayShare)}`);
  return why;
}

/** Measures one turn. Rejects if the server or the client fails. */
async function measureTurn(testbed: Testbed, turn: Turn, seed: number): Promise<TurnRecord> {
  const { client, server, linkPid, sctp } = testbed;
  const { way } = turn.cell;
  await using closing = new AsyncDisposableStack();
  const running = await testbed.start();
  closing.defer(running.stop);
  if (way.kind === 'middlebox') {
    closing.defer(() => server.obstruct([]));
    await server.obstruct([{ transport: sctp === 'sctp-udp' ? 'udp' : 'sctp', effect: 'drop' }]);
  }
  const { pid } = running;
  const load = loadOf(turn.cell, testbed, running, seedOf(turn, seed));
  await runLoad(client, { ...load, durationMs: WARM_UP_MS, seed: (load.seed ^ 1) >>> 0 });
  const before = readAll(pid, linkPid);
  const inTheMiddle = pause(load.durationMs / 2).then(() => ({
    bufferBytes: bufferBytes(),
    slabBytes: slabBytes(),
  }));
  const result = await runLoad(client, load);
  const after = readAll(pid, linkPid);
  const idleMs = after.all.idleMs - before.all.idleMs;
  const idleShare = idleMs / (idleMs + after.all.busyMs - before.all.busyMs);
  return {
    kind: 'turn',
    scenario: turn.cell.id,
    turn: turn.round,
    endedAtMs: Date.now(),
    trials: [
      {
        seconds: (after.atMs - before.atMs) / 1000,
        requests: result.ended + result.learning,
        serverMs: after.preciseMs - before.preciseMs,
        serverUserMs: after.time.userMs - before.time.userMs,
        serverSystemMs: after.time.systemMs - before.time.systemMs,
        linkMs: after.linkMs - before.linkMs,
        serverPssBytes: memoryOf(pid)?.pssBytes ?? null,
        ...(await inTheMiddle),
      },
    ],
    drive: { idleShare, why: faultsOf(result, idleShare, way.kind === 'six') },
    load: result,
  };
}

const USAGE = `usage: npm run lab -- p1 [OPTION...]
  --seconds N       measured seconds of each cell, 3 to 600; default: 60
  --quick           12 seconds of each cell
  --full            hit ratios of both objects, and TLS 1.3
  --object A,B      only these objects, KiB: ${OBJECTS.map((bytes) => bytes / 1024).join(', ')}
  --tls A,B         only with these: ${SECURITIES.join(', ')}; default: plain and 1.2
  --loads A,B       these requests a second instead of what is found to be driven
  --cells A,B       only cells whose names contain one of these
  --sctp NAME       SCTP's transport: ${TRANSPORTS.slice(1).join(', ')}; default: sctp
  --seed N          decides order and gaps; default: 1
  --fresh           start a new record instead of resuming the last one`;

type P1Options = P1Plan & LoadOptions;

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
