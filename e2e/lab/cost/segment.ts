// One segment: a new server, so that no cell inherits another's memory, behind a link that determines the winner of a
// race; a new client, a warm-up, then samples of the resources used by each process and the kernel. Also the check that
// its load was really driven: if the generator is the bottleneck, the figures are of a lower load.
import { setTimeout as pause } from 'node:timers/promises';
import { percentile } from '@photofinish/shared/race/statistics';
import { seededRandom } from '@photofinish/shared/testing/seeded-random';
import { FNV_BASIS, fnv1a } from '@photofinish/shared/web/fnv';
import type { Shape } from '../../network/link.ts';
import type { Namespace } from '../../network/namespace.ts';
import type { Peer } from '../../network/open.ts';
import { type OriginSettings, startOrigins } from '../../origins/start.ts';
import {
  bufferBytes,
  memoryOf,
  type ProcessorTime,
  processors,
  processorTimeOf,
  slabBytes,
  socketsOf,
} from '../../proc.ts';
import { openTestbed, type Target, type Testbed } from '../testbed.ts';
import type {
  DriveJudgement,
  LoadTurn,
  ObjectBytes,
  Sample,
  Segment,
  SegmentRecord,
  ServerName,
} from './cells.ts';
import { exponentialMoments, type LoadGenerator, startGenerator, type Winner } from './generator.ts';
import { MAX_FAILED_SHARE, MIN_IDLE_SHARE, percent } from './loads.ts';

const PORT = 443;
/** For the other winner, where a server needs a port per host. */
const OTHER_PORT = 444;
/** By the winner of a race to it: the path to the old protocol's address delays UDP. */
const HOSTS: Readonly<Record<Winner, string>> = { h2: 'old-wins.test', h3: 'new-wins.test' };
/**
 * Additional delay for UDP to the address where TCP wins, each way: QUIC then takes 60 ms more than its round
 * trip, and TCP with TLS, at two round trips, has won by then however busy the machine is.
 */
const UDP_EXTRA_MS = 30;
/**
 * Closed connections occupy a client's port for a minute (TIME-WAIT). At a thousand a second the usual 28,000 do not
 * suffice, nor do all: connect() searches the even half first, port by port, and starts late when it is exhausted. A
 * port is therefore free after a second.
 */
const MORE_PORTS = [
  'echo 1024 65535 > /proc/sys/net/ipv4/ip_local_port_range',
  'echo 1 > /proc/sys/net/ipv4/tcp_tw_reuse',
].join('; ');

export interface RunningServer {
  readonly pid: number;
  readonly version: string;
  readonly origins: Readonly<Record<Winner, Target>>;
  readonly caPath: string;
  stop(): Promise<void>;
}

/** Measures one segment. Rejects if the server or the client exits early. */
export async function measureSegment(
  testbed: Testbed,
  segment: Segment,
  seed: number,
): Promise<SegmentRecord> {
  const { server, objectBytes, rttMs } = segment.cell;
  await setLink(testbed, rttMs);
  await using closing = new AsyncDisposableStack();
  const running = await startServer(testbed, server, objectBytes);
  closing.defer(running.stop);
  const own = seedOf(segment, seed);
  const generator = startGenerator(testbed, segment.cell, running, own);
  closing.defer(generator.finish);
  const pids: Pids = { server: running.pid, client: generator.pid, link: testbed.linkPid };
  // Separate seeds for the kinds of requests and for their moments, which must be independent.
  const driven = await drive(segment, pids, generator, own ^ 1);
  await generator.finish();
  return { ...measuredBy(segment, driven, generator), serverVersion: running.version };
}

function originsOf(server: Peer, ports: Readonly<Record<Winner, number>>): Record<Winner, Target> {
  const reached = (winner: Winner, address: string): Target => {
    const [host, port] = [HOSTS[winner], ports[winner]];
    return { host, port, address, origin: `https://${host}:${port}` };
  };
  return { h2: reached('h2', server.ipv4), h3: reached('h3', server.ipv6) };
}

async function startOwn(server: Peer, bodyBytes: number): Promise<RunningServer> {
  const ports = { h2: PORT, h3: OTHER_PORT };
  const settings = (winner: Winner): OriginSettings => ({
    host: HOSTS[winner],
    address: '::',
    port: ports[winner],
    h3: true,
    altSvc: 'auto',
    bodyBytes,
  });
  const { pid, caPath, stop } = await startOrigins({
    origins: { h2: settings('h2'), h3: settings('h3') },
    inside: server,
  });
  return { pid, version: 'this checkout', origins: originsOf(server, ports), caPath, stop };
}

/** Lets a client open more connections than usual; rejects if that is impossible. */
export async function widenPortRange(client: Namespace): Promise<void> {
  await client.runOrThrow('sh', ['-c', MORE_PORTS]);
}

/** A testbed for servers under load; otherwise like `openTestbed`. */
export async function openLoadedTestbed(seed: number): Promise<Testbed> {
  await using opening = new AsyncDisposableStack();
  const testbed = await openTestbed(seed, Object.values(HOSTS));
  opening.defer(testbed.close);
  await widenPortRange(testbed.client);
  // From here on the caller closes it.
  opening.move();
  return testbed;
}

/** Sets the link's round trip. The additional UDP delay, by which the old protocol wins, applies unless that is 0. */
async function setLink({ server }: Testbed, rttMs: number): Promise<void> {
  const shape: Shape = {
    delayMs: rttMs / 2,
    ...(rttMs > 0 && { apart: { transport: 'udp', family: 4, delayMs: UDP_EXTRA_MS } }),
  };
  await server.shape({ up: shape, down: shape });
}

/** Starts a server that responds with objects of that size. */
async function startServer(
  { server, caPath, startCaddy }: Testbed,
  name: ServerName,
  objectBytes: ObjectBytes,
): Promise<RunningServer> {
  if (name === 'own') return startOwn(server, objectBytes);
  const { pid, version, stop } = await startCaddy([HOSTS.h2, HOSTS.h3], { bodyBytes: objectBytes });
  return { pid, version, origins: originsOf(server, { h2: PORT, h3: PORT }), caPath, stop };
}

/** One round trip of P1's link: a start later than that no longer follows the schedule. */
const MAX_LATE_P99_MS = 20;
const MIN_RATE_SHARE = 0.97;
/** More requests may be under way at the end than at the beginning without any being late. */
const MIN_SHORTFALL = 5;

export interface Drive {
  /**
   * The scheduled and the actual start of each request, milliseconds of the same clock; both in chronological order.
   */
  readonly scheduledMs: readonly number[];
  readonly startedMs: readonly number[];
  /** Requests that ended within the measured time, including failed ones, and the number scheduled for it. */
  readonly ended: number;
  readonly expected: number;
  readonly failed: number;
  /** Unused share of the whole machine's processor time. */
  readonly idleShare: number;
  /** Error messages of the generator. */
  readonly complaints: readonly string[];
}

/** The delay of each start; an apparently early one, due to a coarser clock, counts as 0. */
export function lateness(scheduledMs: readonly number[], startedMs: readonly number[]): number[] {
  return startedMs.map((atMs, index) => Math.max(0, atMs - (scheduledMs[index] ?? atMs)));
}

/** Judges a load; without a single start it was not driven. */
export function judgeDrive(drive: Drive): DriveJudgement {
  const late = lateness(drive.scheduledMs, drive.startedMs).toSorted((a, b) => a - b);
  const lateP99Ms = late.length === 0 ? Number.POSITIVE_INFINITY : percentile(late, 0.99);
  const rateShare = drive.expected === 0 ? 0 : drive.ended / drive.expected;
  const failedShare = drive.ended === 0 ? 1 : drive.failed / drive.ended;
  const { idleShare } = drive;
  const why: string[] = [];
  if (lateP99Ms > MAX_LATE_P99_MS) why.push(`starts late: p99 ${lateP99Ms.toFixed(0)} ms`);
  const short = drive.expected - drive.ended >= MIN_SHORTFALL || drive.ended === 0;
  if (rateShare < MIN_RATE_SHARE && short) why.push(`rate: ${percent(rateShare)} of what was asked`);
  if (idleShare < MIN_IDLE_SHARE) why.push(`processors: ${percent(idleShare)} left`);
  if (failedShare > MAX_FAILED_SHARE) why.push(`failed: ${percent(failedShare)}`);
  if (drive.complaints.length > 0) why.push(`generator: ${drive.complaints[0]}`);
  return { lateP99Ms: late.length === 0 ? null : lateP99Ms, rateShare, failedShare, idleShare, why };
}

/** Loads code, fills caches, and lets garbage collection reach a steady state; not measured. */
const WARM_UP_MS = 2000;
/** Long enough that the kernel's resolution of a hundredth of a second does not matter. */
const SAMPLE_MS = 3000;
/** A client answers its first line once it has loaded: at most half a second, plus margin. */
const LOAD_MS = 1200;

/** Requests that open both protocols, so that one can win. */
const MODES_OF_RACES: ReadonlySet<string> = new Set(['naive', 'race']);

interface Pids {
  readonly server: number;
  readonly client: number;
  readonly link: number;
}

type Reading = ReturnType<typeof readAll>;

function readAll(pids: Pids, generator: LoadGenerator) {
  const all = processors();
  if (all === null) throw new Error('/proc/stat cannot be read');
  return {
    atMs: performance.now(),
    requests: generator.outcomes.length,
    server: processorTimeOf(pids.server),
    client: processorTimeOf(pids.client),
    link: processorTimeOf(pids.link),
    all,
  };
}

const spent = (from: ProcessorTime, to: ProcessorTime): ProcessorTime => ({
  userMs: to.userMs - from.userMs,
  systemMs: to.systemMs - from.systemMs,
});

function sampleBetween(from: Reading, to: Reading, pids: Pids): Sample {
  return {
    seconds: (to.atMs - from.atMs) / 1000,
    requests: to.requests - from.requests,
    server: spent(from.server, to.server),
    client: spent(from.client, to.client),
    link: spent(from.link, to.link),
    idleMs: to.all.idleMs - from.all.idleMs,
    busyMs: to.all.busyMs - from.all.busyMs,
    serverMemory: memoryOf(pids.server),
    clientMemory: memoryOf(pids.client),
    serverSockets: socketsOf(pids.server),
    clientSockets: socketsOf(pids.client),
    bufferBytes: bufferBytes(),
    slabBytes: slabBytes(),
  };
}

/** Samples of equal length, the last reading of each being the first of the next. */
async function takeSamples(pids: Pids, generator: LoadGenerator, durationMs: number): Promise<Sample[]> {
  const count = Math.max(1, Math.round(durationMs / SAMPLE_MS));
  const startMs = performance.now();
  const samples: Sample[] = [];
  let last = readAll(pids, generator);
  for (let taken = 1; taken <= count; taken += 1) {
    await pause(Math.max(0, startMs + (durationMs * taken) / count - performance.now()));
    const reading = readAll(pids, generator);
    samples.push(sampleBetween(last, reading, pids));
    last = reading;
  }
  return samples;
}

const sum = (samples: readonly Sample[], value: (sample: Sample) => number) =>
  samples.reduce((total, sample) => total + value(sample), 0);

/** A number that differs for every part and is the same in every run with one seed. */
export function seedOf({ cell, round }: LoadTurn, seed: number): number {
  return fnv1a(`${seed} ${cell.id} ${round}`, FNV_BASIS);
}

/**
 * Resolves with the start of the measured time, and the scheduled start of each request, including warm-up,
 * milliseconds since 1970.
 */
async function drive({ cell, seconds }: Segment, pids: Pids, generator: LoadGenerator, seed: number) {
  await pause(LOAD_MS);
  const durationMs = 1000 * seconds;
  const moments = exponentialMoments(cell.perSecond, WARM_UP_MS + durationMs, seededRandom(seed));
  const fromMs = Date.now() + WARM_UP_MS;
  const driving = generator.drive(moments);
  await pause(WARM_UP_MS);
  const samples = await takeSamples(pids, generator, durationMs);
  return { fromMs, samples, scheduledMs: await driving };
}

function measuredBy(
  { cell, round }: Segment,
  driven: Awaited<ReturnType<typeof drive>>,
  generator: LoadGenerator,
): Omit<SegmentRecord, 'serverVersion'> {
  const { fromMs, scheduledMs, samples } = driven;
  const { outcomes, complaints } = generator;
  const started = outcomes.map(({ startedAtMs }) => startedAtMs).toSorted((a, b) => a - b);
  const warmingUp = scheduledMs.filter((atMs) => atMs < fromMs).length;
  const [idleMs, busyMs] = [sum(samples, (one) => one.idleMs), sum(samples, (one) => one.busyMs)];
  const judged = judgeDrive({
    scheduledMs: scheduledMs.slice(warmingUp),
    startedMs: started.slice(warmingUp),
    ended: sum(samples, ({ requests }) => requests),
    expected: scheduledMs.length - warmingUp,
    failed: outcomes.filter(({ ok, startedAtMs }) => !ok && startedAtMs >= fromMs).length,
    idleShare: idleMs / (idleMs + busyMs),
    complaints,
  });
  const races = outcomes.filter(({ mode }) => MODES_OF_RACES.has(mode));
  return {
    kind: 'turn',
    scenario: cell.id,
    turn: round,
    endedAtMs: Date.now(),
    trials: samples,
    drive: judged,
    races: { of: races.length, h3: races.filter(({ adopted }) => adopted === 'h3').length },
  };
}

/** The overhead of a segment beyond the measured seconds, for the estimate of a run's length. */
export const SEGMENT_OVERHEAD_SECONDS = (WARM_UP_MS + LOAD_MS) / 1000 + 1;
