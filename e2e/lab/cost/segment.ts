// One segment: a fresh server, a fresh client, some seconds to get going, then samples of what each process and the
// kernel have used.
import { setTimeout as pause } from 'node:timers/promises';
import { seededRandom } from '@photofinish/shared/testing/seeded-random';
import {
  bufferBytes,
  memoryOf,
  type Processors,
  type ProcessorTime,
  processors,
  processorTimeOf,
  slabBytes,
  socketsOf,
} from '../../proc.ts';
import type { Testbed } from '../testbed.ts';
import type { Segment } from './cells.ts';
import type { Sample, SegmentRecord } from './cost-record.ts';
import { judgeDrive } from './drive-check.ts';
import { exponentialMoments, type LoadGenerator, startGenerator } from './generator.ts';
import { type RunningServer, setLink, startServer } from './servers.ts';

/** Loads code, fills caches, and lets a garbage collector find its pace; not measured. */
const WARM_UP_MS = 2000;
/** Long enough that the kernel's hundredths of a second are small beside it. */
const SAMPLE_MS = 3000;
/** A client answers its first line once it has loaded: half a second at most, here with room. */
const LOAD_MS = 1200;

/** Of requests that open both protocols, so that one can win. */
const MODES_OF_RACES: ReadonlySet<string> = new Set(['naive', 'race']);

interface Pids {
  readonly server: number;
  readonly client: number;
  readonly link: readonly number[];
}

interface Reading {
  readonly atMs: number;
  readonly requests: number;
  readonly server: ProcessorTime;
  readonly client: ProcessorTime;
  readonly link: ProcessorTime;
  readonly all: Processors;
}

function timeOf(pids: readonly number[]): ProcessorTime {
  const times = pids.map((pid) => {
    const time = processorTimeOf(pid);
    if (time === null) throw new Error(`process ${pid} has ended during the measurement`);
    return time;
  });
  return {
    userMs: times.reduce((sum, { userMs }) => sum + userMs, 0),
    systemMs: times.reduce((sum, { systemMs }) => sum + systemMs, 0),
  };
}

function readAll(pids: Pids, generator: LoadGenerator): Reading {
  const all = processors();
  if (all === null) throw new Error('/proc/stat cannot be read');
  return {
    atMs: performance.now(),
    requests: generator.outcomes.length,
    server: timeOf([pids.server]),
    client: timeOf([pids.client]),
    link: timeOf(pids.link),
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

/** Numbers that differ for every segment and are the same in every run of one seed (FNV-1a). */
function seedOf({ cell, round }: Segment, seed: number): number {
  let hash = 0x811c9dc5;
  for (const char of `${seed} ${cell.id} ${round}`) hash = Math.imul(hash ^ char.charCodeAt(0), 0x01000193);
  return hash >>> 0;
}

/** What was asked of the client and what became of it, warming up included. */
interface DriveRecord {
  /** When the time that is measured began, and when each request was to start, milliseconds since 1970. */
  readonly fromMs: number;
  readonly scheduledMs: readonly number[];
  readonly samples: readonly Sample[];
}

async function drive(
  { cell, seconds }: Segment,
  pids: Pids,
  generator: LoadGenerator,
  seed: number,
): Promise<DriveRecord> {
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
  driven: DriveRecord,
  generator: LoadGenerator,
): Omit<SegmentRecord, 'serverVersion'> {
  const { fromMs, scheduledMs, samples } = driven;
  const { outcomes, complaints } = generator;
  const started = outcomes.map(({ startedAtMs }) => startedAtMs).toSorted((a, b) => a - b);
  const warmingUp = scheduledMs.filter((atMs) => atMs < fromMs).length;
  const [idleMs, busyMs] = [sum(samples, (one) => one.idleMs), sum(samples, (one) => one.busyMs)];
  const { lateP99Ms, ...judged } = judgeDrive({
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
    trials: [...samples],
    drive: { ...judged, lateP99Ms: Number.isFinite(lateP99Ms) ? lateP99Ms : null, why: [...judged.why] },
    races: { of: races.length, h3: races.filter(({ adopted }) => adopted === 'h3').length },
  };
}

/** With a server that runs; the client is gone when it resolves or rejects. */
async function measureOn(
  testbed: Testbed,
  segment: Segment,
  server: RunningServer,
  seed: number,
): Promise<SegmentRecord> {
  const own = seedOf(segment, seed);
  const generator = startGenerator(testbed, segment.cell, server, own);
  try {
    const pids: Pids = { server: server.pid, client: generator.pid, link: testbed.linkPids };
    // Of the kinds of requests and of their moments: neither may tell of the other.
    const driven = await drive(segment, pids, generator, own ^ 1);
    await generator.finish();
    return { ...measuredBy(segment, driven, generator), serverVersion: server.version };
  } finally {
    await generator.finish();
  }
}

/** Measures one segment. Rejects if the server or the client ends on the way. */
export async function measureSegment(
  testbed: Testbed,
  segment: Segment,
  seed: number,
): Promise<SegmentRecord> {
  const { server, objectBytes, rttMs } = segment.cell;
  await setLink(testbed, rttMs);
  const running = await startServer(testbed, server, objectBytes);
  try {
    return await measureOn(testbed, segment, running, seed);
  } finally {
    await running.stop();
  }
}

/** What a segment takes beside the seconds that are measured, for the estimate of a run's length. */
export const SEGMENT_OVERHEAD_SECONDS = (WARM_UP_MS + LOAD_MS) / 1000 + 1;
