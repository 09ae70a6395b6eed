// A native messaging client over a pipe, as in a browser: starts a host, the built helper or another, exchanges
// messages with it, fills its host cache as years of browsing would, and runs races while requesting forecasts, to
// measure how much they delay each other and the helper's memory.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { CHROMIUM_EXTENSION_ID } from '@photofinish/shared/port/extension-id';
import { MAX_OBSERVATIONS } from '@photofinish/shared/port/wire';
import { type OriginRace, originRaceSchema } from '@photofinish/shared/race/outcome';
import type { Mode } from '@photofinish/shared/race/terms';
import * as v from 'valibot';
import { coreWaitMs, residentMiB } from '../proc.ts';

const LENGTH_BYTES = 4;

export type HostPort = ReturnType<typeof openHost>;
type Message = Record<string, unknown>;

/** A message in wire format: 32-bit length in native byte order, then JSON. */
function frame(message: unknown): Buffer {
  const json = Buffer.from(JSON.stringify(message));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32LE(json.length);
  return Buffer.concat([length, json]);
}

/** Starts a host; its standard error is passed through. */
export function openHost(file: string, args: readonly string[]) {
  const child = spawn(file, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const messages: Message[] = [];
  const waiting: ((message: Message) => void)[] = [];
  let rest = Buffer.alloc(0);
  child.stdout.on('data', (bytes: Buffer) => {
    rest = Buffer.concat([rest, bytes]);
    while (rest.length >= LENGTH_BYTES && rest.length >= LENGTH_BYTES + rest.readUInt32LE(0)) {
      const end = LENGTH_BYTES + rest.readUInt32LE(0);
      const message = JSON.parse(rest.subarray(LENGTH_BYTES, end).toString());
      rest = rest.subarray(end);
      const taker = waiting.shift();
      if (taker) taker(message);
      else messages.push(message);
    }
  });
  const ended = exited.then(([code]): never => {
    throw new Error(`the host ended with code ${code} before it answered`);
  });
  ended.catch(() => {});
  return {
    pid: child.pid ?? -1,
    child,
    /** Sends one message as a frame. */
    send: (message: unknown) => void child.stdin.write(frame(message)),
    /** The next message from the host, in receiving order; rejects if the host exits first. */
    async next(): Promise<Message> {
      const next = () => new Promise<Message>((resolve) => waiting.push(resolve));
      return messages.shift() ?? Promise.race([next(), ended]);
    },
    /** Closes the host's input, as a browser does when the port is disconnected, and returns its exit code. */
    async close(): Promise<number | null> {
      child.stdin.end();
      const [code] = await exited;
      return code;
    },
  };
}

const HELPER_MAIN = fileURLToPath(new URL('../../native-host/dist/main.cjs', import.meta.url));

/** Arguments after the runtime's: the helper with this configuration file, as started for the extension. */
export function helperArguments(config: string): string[] {
  return [HELPER_MAIN, '--config', config, '--', `chrome-extension://${CHROMIUM_EXTENSION_ID}/`];
}

/** Starts a helper with this configuration file; no `hello` has been sent yet. */
export function openHelper(config: string): HostPort {
  return openHost(process.execPath, helperArguments(config));
}

/** Sends `hello` and returns the reply; throws if it is not a `hello` reply. */
export async function sayHello(port: HostPort): Promise<Message> {
  port.send({ type: 'hello', id: 1, protocol: 1, program: 'e2e/1' });
  const reply = await port.next();
  if (reply.type !== 'hello') throw new Error(`no hello but ${JSON.stringify(reply)}`);
  return reply;
}

/** The nth of many origins, each on its own site. */
function manyOrigin(n: number): { origin: string; site: string } {
  return { origin: `https://www.site-${n}.example`, site: `site-${n}.example` };
}

/** Which of `count` origins a trip of a round requests: spread over the cache, and different in each round. */
export function scatteredOrigin(round: number, trip: number, count: number): ReturnType<typeof manyOrigin> {
  return manyOrigin((round * 7919 + trip * 104_729) % count);
}

/**
 * Sends `hello` and has the helper store `count` origins, half of them HTTP/3; resolves once all are durable.
 * `onStored` is called after each batch with their number.
 */
export async function fillCache(
  helper: HostPort,
  count: number,
  onStored?: (stored: number) => void,
): Promise<void> {
  await sayHello(helper);
  for (let from = 0; from < count; from += MAX_OBSERVATIONS) {
    const observations = Array.from({ length: Math.min(MAX_OBSERVATIONS, count - from) }, (_, i) => ({
      id: `fill-${from + i}`,
      ...manyOrigin(from + i),
      kind: 'navigation',
      delivery: 'network',
      protocol: (from + i) % 2 === 0 ? 'h3' : 'h2',
      altSvc: 'h3=":443"; ma=86400',
      atMs: Date.now(),
      bytes: 1024,
    }));
    helper.send({ type: 'observed', id: 2 + from, browser: 'chromium', observations });
    const reply = await helper.next();
    if (reply.type !== 'observed') throw new Error(`not stored: ${JSON.stringify(reply)}`);
    onStored?.(from + observations.length);
  }
}

const FORECAST_EVERY_MS = 10;
/** Ids of forecasts start here; those of races are lower. */
const FIRST_FORECAST = 1_000_000;

export interface RaceRequest {
  readonly id: number;
  readonly origin: string;
  readonly mode: Mode;
}

export interface SideBySide {
  /** In request order. */
  readonly races: readonly OriginRace[];
  /** Until the last race ended. */
  readonly tookMs: number;
  /** Round-trip times of forecasts. */
  readonly forecastsMs: readonly number[];
  /** The same, less the time for which the helper's main thread, or ours, waited for a processor used by others. */
  readonly onCoreMs: readonly number[];
  /** Round-trip times, at the same moments, of a helper that runs no race; empty without one. */
  readonly idleMs: readonly number[];
  /** Peak memory of the helper. */
  readonly mostMiB: number;
}

/** Requests forecasts from one helper and times the replies. */
class ForecastClient {
  readonly forecastsMs: number[] = [];
  readonly onCoreMs: number[] = [];
  readonly #helper: HostPort;
  readonly #pending = new Map<number, { readonly atMs: number; readonly coreWaitMs: number }>();

  constructor(helper: HostPort) {
    this.#helper = helper;
  }

  get waits(): boolean {
    return this.#pending.size > 0;
  }

  ask(id: number, origin: string): void {
    this.#pending.set(id, { atMs: performance.now(), coreWaitMs: this.#coreWaitMs() });
    this.#helper.send({ type: 'forecast', id, browser: 'chromium', site: 'page.test', origins: [origin] });
  }

  /** Whether the message was the reply to a forecast. */
  take({ id }: Message): boolean {
    const pending = this.#pending.get(Number(id));
    if (pending === undefined) return false;
    const tookMs = performance.now() - pending.atMs;
    this.forecastsMs.push(tookMs);
    this.onCoreMs.push(Math.max(0, tookMs - (this.#coreWaitMs() - pending.coreWaitMs)));
    return this.#pending.delete(Number(id));
  }

  /** Of the helper, and of this process, which receives the reply. */
  #coreWaitMs(): number {
    return coreWaitMs(this.#helper.pid) + coreWaitMs(process.pid);
  }
}

/**
 * Runs these races concurrently and requests a forecast every few milliseconds until all have ended; at the same
 * moments also from `idle`, which runs no race. Rejects if a race is refused.
 */
export async function raceBesideForecasts(
  helper: HostPort,
  orders: readonly RaceRequest[],
  idle: HostPort | null = null,
): Promise<SideBySide> {
  const startedMs = performance.now();
  const races = new Map<number, Message>();
  const chunks = new Map<number, string>();
  const asker = new ForecastClient(helper);
  const idleAsker = idle === null ? null : new ForecastClient(idle);
  let tookMs = 0;
  let mostMiB = 0;
  for (const order of orders) helper.send({ type: 'race', ...order, reason: 'click' });

  async function asking(): Promise<void> {
    for (let id = FIRST_FORECAST; races.size < orders.length; id += 1) {
      const { origin = '' } = orders[id % orders.length] ?? {};
      asker.ask(id, origin);
      idleAsker?.ask(id, origin);
      mostMiB = Math.max(mostMiB, residentMiB(helper.pid));
      const next = pause(FORECAST_EVERY_MS);
      if (idle !== null) idleAsker?.take(await idle.next());
      await next;
    }
  }

  async function listening(): Promise<void> {
    while (races.size < orders.length || asker.waits) {
      let reply = await helper.next();
      const id = Number(reply.id);
      if (reply.type === 'chunk') {
        chunks.set(id, (chunks.get(id) ?? '') + String(reply.data));
        if (reply.last !== true) continue;
        reply = JSON.parse(chunks.get(id) ?? '');
      }
      if (asker.take(reply) || reply.type === 'progress') continue;
      if (reply.type !== 'race') throw new Error(`no race but ${JSON.stringify(reply)}`);
      races.set(id, reply);
      tookMs = performance.now() - startedMs;
    }
  }

  await Promise.all([asking(), listening()]);
  const { forecastsMs, onCoreMs } = asker;
  // Parsed only now, since parsing takes time during which no reply would be received.
  const answers = orders.flatMap(({ id }) => v.parse(originRaceSchema, races.get(id)));
  return { races: answers, tookMs, forecastsMs, onCoreMs, idleMs: idleAsker?.forecastsMs ?? [], mostMiB };
}
