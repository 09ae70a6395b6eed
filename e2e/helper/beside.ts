// Races over a helper's port while forecasts are asked for: what the one costs the other, what of that is the machine's,
// and the helper's memory.
import { setTimeout as pause } from 'node:timers/promises';
import { type Mode, type OriginRace, originRaceSchema } from '@photofinish/shared/race/outcome';
import * as v from 'valibot';
import { coreWaitMs, residentMiB } from '../proc.ts';
import type { HostPort } from './port.ts';

const FORECAST_EVERY_MS = 10;
/** Ids of forecasts; those of races are below. */
const FIRST_FORECAST = 1_000_000;

export interface RaceRequest {
  readonly id: number;
  readonly origin: string;
  readonly mode: Mode;
}

export interface SideBySide {
  /** In the order in which they were asked for. */
  readonly races: readonly OriginRace[];
  /** Until the last of them was over. */
  readonly tookMs: number;
  /** Round trips of the forecasts. */
  readonly forecastsMs: readonly number[];
  /** The same without the time for which the helper's first thread, or ours, waited for a core that others held. */
  readonly onCoreMs: readonly number[];
  /** Round trips, at the same moments, to a helper that races nothing; empty without one. */
  readonly idleMs: readonly number[];
  /** The most that the helper held. */
  readonly mostMiB: number;
}

type Message = Record<string, unknown>;

/** Asks one helper for forecasts and times the answers. */
class Asker {
  readonly forecastsMs: number[] = [];
  readonly onCoreMs: number[] = [];
  readonly #helper: HostPort;
  readonly #asked = new Map<number, { readonly atMs: number; readonly coreWaitMs: number }>();

  constructor(helper: HostPort) {
    this.#helper = helper;
  }

  get waits(): boolean {
    return this.#asked.size > 0;
  }

  ask(id: number, origin: string): void {
    this.#asked.set(id, { atMs: performance.now(), coreWaitMs: this.#coreWaitMs() });
    this.#helper.send({ type: 'forecast', id, browser: 'chromium', site: 'page.test', origins: [origin] });
  }

  /** Whether it was the answer to a forecast. */
  take({ id }: Message): boolean {
    const asked = this.#asked.get(Number(id));
    if (asked === undefined) return false;
    const tookMs = performance.now() - asked.atMs;
    this.forecastsMs.push(tookMs);
    this.onCoreMs.push(Math.max(0, tookMs - (this.#coreWaitMs() - asked.coreWaitMs)));
    return this.#asked.delete(Number(id));
  }

  /** The helper's, and our own, for whom the answer waits as well. */
  #coreWaitMs(): number {
    return coreWaitMs(this.#helper.pid) + coreWaitMs(process.pid);
  }
}

/**
 * Races these at once and asks for a forecast every few milliseconds until all are over; of `idle`, which races nothing,
 * at the same moments. Rejects where a race is refused.
 */
export async function raceBesideForecasts(
  helper: HostPort,
  orders: readonly RaceRequest[],
  idle: HostPort | null = null,
): Promise<SideBySide> {
  const startedMs = performance.now();
  const races = new Map<number, Message>();
  const chunks = new Map<number, string>();
  const asker = new Asker(helper);
  const idleAsker = idle === null ? null : new Asker(idle);
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
  // Read now, for it takes time in which no answer would be heard.
  const told = orders.flatMap(({ id }) => v.parse(originRaceSchema, races.get(id)));
  return { races: told, tookMs, forecastsMs, onCoreMs, idleMs: idleAsker?.forecastsMs ?? [], mostMiB };
}
