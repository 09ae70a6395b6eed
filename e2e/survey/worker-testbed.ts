// The testbed of a worker of a survey: a real NATS server on loopback, and races, a network and a clock that a spec
// controls.
import { zstdDecompressSync } from 'node:zlib';
import type { OriginRace } from '@photofinish/shared/race/outcome';
import { attempt, comparison, originRace, trial } from '@photofinish/shared/testing/race-samples';
import type { Origin } from '@photofinish/shared/web/origin';
import { fixedPace } from '../../native-host/cli/race-pace.ts';
import { type Clock, systemClock } from '../../native-host/clock.ts';
import { namedNetwork } from '../../native-host/network/watch.ts';
import type { RaceSpec } from '../../native-host/racer.ts';
import { connectTo } from '../../native-host/survey/connect.ts';
import { Control } from '../../native-host/survey/control.ts';
import { jetstream, jetstreamManager } from '../../native-host/survey/nats.ts';
import { SURVEY_SCHEMA, type Survey, type SurveyResult } from '../../native-host/survey/schema.ts';
import { createStreams, namesOf } from '../../native-host/survey/streams.ts';
import { type WorkerParts, work } from '../../native-host/survey/worker.ts';
import type { RunningNats } from '../origins/nats.ts';

export const CANARY = 'https://canary.test';
export const VANTAGE = 'office';

/** So long that none is raced unless a spec skips the time. */
export const CANARY_EVERY_MS = 60_000;

/** The machine's clock, on which a spec may skip time. */
interface SkippingClock extends Clock {
  skip(ms: number): void;
}

export function skippingClock(): SkippingClock {
  let skippedMs = 0;
  const timers = new Set<{ readonly dueMs: number; readonly fire: () => void }>();
  const nowMs = (): number => systemClock.nowMs() + skippedMs;
  return {
    nowMs,
    epochMs: () => systemClock.epochMs() + skippedMs,
    after(delayMs, run) {
      const forget = (): void => {
        stop();
        timers.delete(timer);
      };
      const fire = (): void => {
        forget();
        run();
      };
      const stop = systemClock.after(delayMs, fire);
      const timer = { dueMs: nowMs() + delayMs, fire };
      timers.add(timer);
      return forget;
    },
    skip(ms) {
      skippedMs += ms;
      for (const timer of [...timers]) if (timer.dueMs <= nowMs()) timer.fire();
    },
  };
}

const CANCELLED = originRace([], { error: { code: 'cancelled', message: 'cancelled' } });
const silent = (protocol: 'h3' | 'h2', code: 'udp-timeout' | 'tcp-timeout') =>
  attempt({ protocol, outcome: 'failed', error: { code, message: 'nothing came' } });
const UNREACHED = originRace([trial([silent('h3', 'udp-timeout'), silent('h2', 'tcp-timeout')], null)]);

/** A race that a worker began. */
interface RaceStart {
  readonly origin: string;
  readonly memory: RaceSpec['memory'];
  /** Between these its budget allowed it. */
  readonly askedMs: number;
  readonly allowedMs: number;
}

export type Testbed = Awaited<ReturnType<typeof openTestbed>>;

/** The network and the peers of a worker, as a spec wants them. */
function openWorld() {
  const clock = skippingClock();
  const logged: string[] = [];
  const raced: RaceStart[] = [];
  let key = 'home';
  let left: () => void = () => {};
  async function race({ origin, network, memory, mayUse, signal }: RaceSpec): Promise<OriginRace> {
    const of = (result: OriginRace): OriginRace => ({ ...result, origin: origin.origin as Origin, network });
    if (origin.origin === CANARY) {
      world.canaries += 1;
      return of(world.canaryReached ? comparison([10], [20]) : UNREACHED);
    }
    const askedMs = clock.nowMs();
    const endpoint = { host: origin.host, address: world.addresses[origin.host] ?? '192.0.2.1' };
    if (mayUse?.([endpoint], null) !== true) return of(CANCELLED);
    raced.push({ origin: origin.origin, memory, askedMs, allowedMs: clock.nowMs() });
    const atMs = raced.length;
    await world.gate;
    const result = world.hostsReached ? comparison([10], [20]) : UNREACHED;
    return of(signal?.aborted ? CANCELLED : { ...result, atMs });
  }
  /** The address of each host; default 192.0.2.1. */
  const addresses: Record<string, string> = {};
  const world = {
    ...{ clock, logged, raced, race, addresses },
    canaries: 0,
    canaryReached: true,
    /** Whether anything but the canary is. */
    hostsReached: true,
    /** Races end when it resolves. */
    gate: Promise.resolve(),
    log: (message: string) => void logged.push(message),
    network: {
      ...namedNetwork(key),
      settled: async () => key,
      watch: (_: string, onLeft: () => void) => {
        left = onLeft;
        return () => {};
      },
    },
    moveTo(network: string) {
      key = network;
      left();
    },
  };
  return world;
}

/** A survey of its own on the server: these jobs, given as the bytes of their messages. */
export async function openTestbed(
  { url }: RunningNats,
  name: string,
  jobs: readonly string[],
  over: Partial<Survey> = {},
) {
  const server = { servers: [url], credsFile: null, nkeyFile: null, caFile: null };
  const connection = await connectTo(server);
  const manager = await jetstreamManager(connection);
  const client = jetstream(connection);
  const names = namesOf(name);
  const survey: Survey = {
    ...{ schema: SURVEY_SCHEMA, survey: name, createdAtMs: 0, seed: '', mode: 'compare', trials: 1 },
    list: { jobs: jobs.length, badLines: 0, sha256: '0'.repeat(64) },
    ...{ timeoutMs: 1000, canaries: [], contact: null, perNetworkPerSecond: 1000, totalPerSecond: 0 },
    ...over,
  };
  await createStreams(manager, names, 1);
  const control = await Control.open(connection, names.bucket, 1);
  await control.writeSurvey(survey);
  for (const job of jobs) await client.publish(names.todoSubject(0), job);
  const world = openWorld();
  const stopping: (() => Promise<void>)[] = [];

  async function messages(stream: string): Promise<Uint8Array[]> {
    const { state } = await manager.streams.info(stream);
    const found: Uint8Array[] = [];
    // An empty stream begins at 0, which is no message's.
    for (let seq = Math.max(1, state.first_seq); seq <= state.last_seq; seq += 1) {
      const message = await manager.streams.getMessage(stream, { seq });
      if (message !== null) found.push(message.data);
    }
    return found;
  }

  return {
    ...{ names, client, manager, control, world },
    /** Starts a worker with a connection of its own. */
    async startWorker({ atOnce = 8, ...parts }: Partial<WorkerParts> & { readonly atOnce?: number } = {}) {
      const own = await connectTo(server);
      const ownControl = await Control.open(own, names.bucket);
      const stop = new AbortController();
      const done = work({
        ...{ ...world, connection: own, control: ownControl, names, survey, vantage: VANTAGE },
        ...{ worker: 'only', pace: fixedPace(atOnce), drains: true, signal: stop.signal, progress() {} },
        canaryEveryMs: () => CANARY_EVERY_MS,
        share: null,
        ...parts,
      });
      // The spec that expects an error looks at it; without one it is seen in what the worker did not do.
      const ended = done.then(
        () => {},
        () => {},
      );
      stopping.push(async () => {
        stop.abort();
        await ended;
        await own.close();
      });
      return {
        control: ownControl,
        /** Resolves with how many results it stored. */
        done,
        /** Cuts it off from the server without notice, as the death of its process would. */
        cutOff: () => own.close(),
      };
    },
    /** Of every batch in the stream of results, in order. */
    async results() {
      const batches = await messages(names.streams.result);
      const lines = batches.map((bytes) => zstdDecompressSync(bytes).toString('utf8').trimEnd().split('\n'));
      return lines.flat().map((line): SurveyResult => JSON.parse(line));
    },
    async dead(): Promise<unknown[]> {
      const found = await messages(names.streams.dead);
      return found.map((bytes) => JSON.parse(Buffer.from(bytes).toString('utf8')));
    },
    async close() {
      await Promise.all(stopping.map((stop) => stop()));
      await connection.close();
    },
  };
}

/** The job of an origin, as it is loaded. */
export function jobOf(host: string): string {
  return JSON.stringify({ origin: `https://${host}`, mode: 'compare' });
}
