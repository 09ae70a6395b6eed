// The client under load: a process that takes a request a line and prints a line when it is over, written to by an open
// schedule (P1: exponentially distributed gaps, from a seed) whatever has become of earlier requests.
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Random, seededRandom } from '@photofinish/shared/testing/seeded-random';
import { knownProtocolSchema } from '@photofinish/shared/web/protocol';
import * as v from 'valibot';
import { shuffled } from '../../bench/measure.ts';
import { PHOTOFINISH } from '../photofinish.ts';
import type { Testbed } from '../testbed.ts';
import { type Cell, winnersOf } from './cells.ts';
import type { RunningServer } from './servers.ts';

/** Moments in milliseconds from 0 up to `durationMs`; the gaps' mean is 1000 / `perSecond`. */
export function exponentialMoments(perSecond: number, durationMs: number, random: Random): number[] {
  const moments: number[] = [];
  for (;;) {
    const gapMs = (-Math.log(1 - random()) * 1000) / perSecond;
    const atMs = (moments.at(-1) ?? 0) + gapMs;
    if (atMs >= durationMs) return moments;
    moments.push(atMs);
  }
}

/** Which protocol wins a race to a host; the path decides that. */
export type Winner = 'h2' | 'h3';

/** One request of P1's third test case. */
interface CachedRequest {
  readonly winner: Winner;
  /** Whether the outcome is known, so that the winner alone is attempted. */
  readonly hit: boolean;
}

/** Ten hold every share of hits in steps of a tenth, a block of ten for each winner the half-and-half mix as well. */
const BLOCK = 10;

/**
 * Requests without end of which, in each block, exactly `hitShare` are hits for each winner: drawn one by one, a cell's
 * share would itself be a matter of chance.
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
/** So many at a time that waiting for a place tells of a client far behind. */
const AT_A_TIME = 2048;
/** P2's head start for HTTP/3. */
const START_DELAY_MS = 10;

/** What the client says of so many at a time: it is a load here, and its times are not what is measured. */
const OF_THE_LOAD = /^photofinish: (many-at-once|machine-busy):/;

const probeSchema = v.object({ atMs: v.number(), ok: v.boolean() });
const adoptedSchema = v.nullable(knownProtocolSchema);
/** What is of use here of a photofinish.race/1 document: reading all of each would cost processor time in the run. */
const raceSchema = v.object({
  mode: v.string(),
  races: v.tuple([v.object({ atMs: v.number(), trials: v.array(v.object({ adopted: adoptedSchema })) })]),
});

/** A request that is over. */
export interface Outcome {
  /** When the client began it, milliseconds since 1970. */
  readonly startedAtMs: number;
  readonly mode: string;
  readonly adopted: v.InferOutput<typeof adoptedSchema>;
  readonly ok: boolean;
}

export interface LoadGenerator {
  readonly pid: number;
  readonly outcomes: readonly Outcome[];
  readonly complaints: readonly string[];
  /** Writes a request at each of these moments, milliseconds from now, and gives them in milliseconds since 1970. */
  drive(momentsMs: readonly number[]): Promise<number[]>;
  /** Ends it after what is under way is over. */
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

/** Request lines without end. */
function* linesOf({ way }: Cell, origins: RunningServer['origins'], random: Random): Iterator<string> {
  if (way.kind === 'part') for (;;) yield way.part;
  if (way.kind === 'near') for (;;) yield JSON.stringify({ origin: origins.h3.origin, mode: way.mode });
  for (const { winner, hit } of cachedRequests(winnersOf(way.winner), way.hitShare, random))
    yield JSON.stringify({ origin: origins[winner].origin, mode: hit ? winner : 'naive' });
}

/**
 * The client's command line. A race is ours as it is; what it is compared with is P1's, one connection a protocol, so that
 * a fresh QUIC attempt on a busy machine makes neither a single protocol dearer nor the race above it cheaper.
 */
export function commandOf(
  cell: Cell,
  { origins, caPath }: Pick<RunningServer, 'origins' | 'caPath'>,
): readonly [string, readonly string[]] {
  if (cell.way.kind === 'part') {
    const { address, port, host } = origins.h2;
    return [process.execPath, [PROBE, address, String(port), host, caPath]];
  }
  const pins = Object.values(origins).flatMap(({ host, port, address }) => [
    '--resolve',
    `${host}:${port}:${address}`,
  ]);
  const how = ['--memory', 'none', '--timeout', String(TIMEOUT_MS), '--concurrency', String(AT_A_TIME)];
  const delay = ['--start-delay', String(START_DELAY_MS)];
  const keys = cell.postQuantum ? [] : ['--no-post-quantum'];
  const single = cell.way.kind === 'near' && cell.way.mode === 'race' ? [] : ['--no-fresh-quic'];
  const target = ['--allow-private', '--ca', caPath, ...pins];
  return [PHOTOFINISH, ['race', '-', ...how, ...delay, ...keys, ...single, ...target]];
}

/** Writes what is due, then sleeps until the next is: timers are as coarse as a millisecond. */
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

/** Starts the client that a cell needs; it is idle until it is driven. */
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
