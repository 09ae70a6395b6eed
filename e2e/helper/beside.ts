// Runs races over a helper's port while requesting forecasts: measures how much races delay forecasts, how much of that
// is due to processor contention, and the helper's memory.
import { setTimeout as pause } from 'node:timers/promises';
import { type OriginRace, originRaceSchema } from '@photofinish/shared/race/outcome';
import type { Mode } from '@photofinish/shared/race/terms';
import * as v from 'valibot';
import { coreWaitMs, residentMiB } from '../proc.ts';
import type { HostPort } from './port.ts';

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

type Message = Record<string, unknown>;

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
