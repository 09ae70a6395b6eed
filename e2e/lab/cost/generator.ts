// The load generator: a client process that takes one request per line and prints a line when it has ended, fed by an
// open schedule (P1: exponentially distributed gaps, from a seed) regardless of the outcome of earlier requests.
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Random, seededRandom } from '@photofinish/shared/testing/seeded-random';
import { knownProtocolSchema } from '@photofinish/shared/web/protocol';
import * as v from 'valibot';
import { shuffled } from '../../bench/measure.ts';
import { PHOTOFINISH } from '../client.ts';
import type { Testbed } from '../testbed.ts';
import { type Cell, winnersOf } from './cells.ts';
import type { RunningServer } from './segment.ts';

/** Moments in milliseconds from 0 up to `durationMs`; the mean gap is 1000 / `perSecond`. */
export function exponentialMoments(perSecond: number, durationMs: number, random: Random): number[] {
  const moments: number[] = [];
  for (;;) {
    const gapMs = (-Math.log(1 - random()) * 1000) / perSecond;
    const atMs = (moments.at(-1) ?? 0) + gapMs;
    if (atMs >= durationMs) return moments;
    moments.push(atMs);
  }
}

/** Which protocol wins a race to a host; the path determines that. */
export type Winner = 'h2' | 'h3';

/** One request of P1's third test case. */
interface CachedRequest {
  readonly winner: Winner;
  /** Whether the outcome is cached, so that only the winner is attempted. */
  readonly hit: boolean;
}

/**
 * Ten requests represent every hit ratio in steps of a tenth; a block of ten for each winner also represents the
 * half-and-half mix.
 */
const BLOCK = 10;

/**
 * An endless sequence of requests in which each block has exactly `hitShare` of hits for each winner: if they were
 * drawn independently, a cell's share would itself be random.
 */
export function* cachedRequests(
  winners: readonly Winner[],
  hitShare: number,
  random: Random,
): Generator<CachedRequest, never> {
  const hits = Math.round(hitShare * BLOCK);
  const block = winners.flatMap((winner) =>
    Array.from({ length: BLOCK }, (_, index): CachedRequest => ({ winner, hit: index < hits })),
  );
  for (;;) yield* shuffled(block, random);
}

const PROBE = fileURLToPath(new URL('probe.ts', import.meta.url));
const TIMEOUT_MS = 5000;
/** So many concurrent requests that waiting for a slot means the client is far behind. */
const AT_A_TIME = 2048;
/** P2's head start for HTTP/3. */
const START_DELAY_MS = 10;

/** The client's warning about this concurrency: here it generates load, and its times are not measured. */
const OF_THE_LOAD = /^photofinish: (many-at-once|machine-busy):/;

const probeSchema = v.object({ atMs: v.number(), ok: v.boolean() });
const adoptedSchema = v.nullable(knownProtocolSchema);
/**
 * The part of a photofinish.race/1 document that is used: parsing all of each would cost processor time during the run.
 */
const raceSchema = v.object({
  mode: v.string(),
  races: v.tuple([v.object({ atMs: v.number(), trials: v.array(v.object({ adopted: adoptedSchema })) })]),
});

/** A completed request. */
export interface Outcome {
  /** When the client started it, milliseconds since 1970. */
  readonly startedAtMs: number;
  readonly mode: string;
  readonly adopted: v.InferOutput<typeof adoptedSchema>;
  readonly ok: boolean;
}

export interface LoadGenerator {
  readonly pid: number;
  readonly outcomes: readonly Outcome[];
  readonly complaints: readonly string[];
  /** Writes a request at each of these moments, milliseconds from now, and returns them in milliseconds since 1970. */
  drive(momentsMs: readonly number[]): Promise<number[]>;
  /** Ends the client after requests under way have ended. */
  finish(): Promise<void>;
}

function readRace(line: string): Outcome {
  const { mode, races } = v.parse(raceSchema, JSON.parse(line));
  const [race] = races;
  const adopted = race.trials[0]?.adopted ?? null;
  return { startedAtMs: race.atMs, mode, adopted, ok: adopted !== null };
}

function readProbe(line: string): Outcome {
  const { atMs, ok } = v.parse(probeSchema, JSON.parse(line));
  return { startedAtMs: atMs, mode: 'part', adopted: null, ok };
}

/** An endless sequence of request lines. */
function* linesOf({ way }: Cell, origins: RunningServer['origins'], random: Random): Iterator<string> {
  if (way.kind === 'part') for (;;) yield way.part;
  if (way.kind === 'near') for (;;) yield JSON.stringify({ origin: origins.h3.origin, mode: way.mode });
  for (const { winner, hit } of cachedRequests(winnersOf(way.winner), way.hitShare, random))
    yield JSON.stringify({ origin: origins[winner].origin, mode: hit ? winner : 'naive' });
}

/**
 * The client's command line. Our race is used unchanged; what it is compared with is P1's, one connection per protocol,
 * so that a fresh QUIC attempt on a busy machine makes neither a single protocol more expensive nor the race above it
 * cheaper.
 */
export function commandOf(
  cell: Cell,
  { origins, caPath }: Pick<RunningServer, 'origins' | 'caPath'>,
): readonly [string, readonly string[]] {
  if (cell.way.kind === 'part') {
    const { address, port, host } = origins.h2;
    return [process.execPath, [PROBE, address, String(port), host, caPath]];
  }
  // The client warns of a pin that no race looks up, and a load with a warning does not count.
  const reached = cell.way.kind === 'near' ? (['h3'] as const) : winnersOf(cell.way.winner);
  const pins = reached.flatMap((winner) => {
    const { host, port, address } = origins[winner];
    return ['--resolve', `${host}:${port}:${address}`];
  });
  const how = ['--memory', 'none', '--timeout', String(TIMEOUT_MS), '--concurrency', String(AT_A_TIME)];
  const delay = ['--start-delay', String(START_DELAY_MS)];
  const keys = cell.postQuantum ? [] : ['--no-post-quantum'];
  const single = cell.way.kind === 'near' && cell.way.mode === 'race' ? [] : ['--no-fresh-quic'];
  const target = ['--allow-private', '--ca', caPath, ...pins];
  return [PHOTOFINISH, ['race', '-', ...how, ...delay, ...keys, ...single, ...target]];
}

/** Writes what is due, then sleeps until the next request: timers have a resolution of a millisecond. */
async function writeOnTime(
  child: ChildProcessWithoutNullStreams,
  momentsMs: readonly number[],
  nextLine: () => string,
): Promise<number[]> {
  const zeroMs = performance.now();
  const epochMs = Date.now();
  let due = 0;
  while (due < momentsMs.length) {
    const nowMs = performance.now() - zeroMs;
    let text = '';
    for (; due < momentsMs.length && (momentsMs[due] ?? 0) <= nowMs; due += 1) text += `${nextLine()}\n`;
    if (text !== '') child.stdin.write(text);
    const waitMs = (momentsMs[due] ?? nowMs) - (performance.now() - zeroMs);
    if (waitMs > 0) await pause(waitMs);
  }
  return momentsMs.map((ms) => epochMs + ms);
}

/** Starts the client that a cell needs; it is idle until `drive`. */
export function startGenerator(
  testbed: Testbed,
  cell: Cell,
  server: RunningServer,
  seed: number,
): LoadGenerator {
  const child = testbed.client.spawn(...commandOf(cell, server));
  const { pid } = child;
  if (pid === undefined) throw new Error('the client cannot be started');
  const outcomes: Outcome[] = [];
  const complaints: string[] = [];
  const read = cell.way.kind === 'part' ? readProbe : readRace;
  const heard = createInterface({ input: child.stdout }).on('line', (line) => outcomes.push(read(line)));
  createInterface({ input: child.stderr }).on('line', (line) => {
    if (!OF_THE_LOAD.test(line)) complaints.push(line);
  });
  child.stdin.on('error', () => {});
  const ended = Promise.all([once(child, 'exit'), once(heard, 'close')]);
  const lines = linesOf(cell, server.origins, seededRandom(seed));
  const nextLine = () => lines.next().value ?? '';
  return {
    pid,
    outcomes,
    complaints,
    drive: (momentsMs) => writeOnTime(child, momentsMs, nextLine),
    async finish() {
      child.stdin.end();
      await ended;
    },
  };
}
