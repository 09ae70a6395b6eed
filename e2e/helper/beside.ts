// Races over a helper's port while forecasts are asked for: what the one costs the other, and the helper's memory.
import { setTimeout as pause } from 'node:timers/promises';
import { type Mode, type OriginRace, originRaceSchema } from '@photofinish/shared/outcome';
import * as v from 'valibot';
import { residentMiB } from '../bench/race-memory.ts';
import type { HostPort } from './port.ts';

const FORECAST_EVERY_MS = 10;
/** Ids of forecasts; those of races are below. */
const FIRST_FORECAST = 1_000_000;

export interface RaceAsked {
  readonly id: number;
  readonly origin: string;
  readonly mode: Mode;
}

export interface Beside {
  /** In the order in which they were asked for. */
  readonly races: readonly OriginRace[];
  /** Until the last of them was over. */
  readonly tookMs: number;
  /** Round trips of the forecasts. */
  readonly forecastsMs: readonly number[];
  /** The most that the helper held. */
  readonly mostMiB: number;
}

/** Races these at once and asks for a forecast every few milliseconds until all are over. Rejects where one is refused. */
export async function raceBesideForecasts(helper: HostPort, orders: readonly RaceAsked[]): Promise<Beside> {
  const startedMs = performance.now();
  const races = new Map<number, OriginRace>();
  const asked = new Map<number, number>();
  const chunks = new Map<number, string>();
  const forecastsMs: number[] = [];
  let tookMs = 0;
  let mostMiB = 0;
  for (const order of orders) helper.send({ type: 'race', ...order, reason: 'click' });

  const asking = (async () => {
    for (let id = FIRST_FORECAST; races.size < orders.length; id += 1) {
      const { origin = '' } = orders[id % orders.length] ?? {};
      asked.set(id, performance.now());
      helper.send({ type: 'forecast', id, browser: 'chromium', site: 'page.test', origins: [origin] });
      mostMiB = Math.max(mostMiB, residentMiB(helper.pid));
      await pause(FORECAST_EVERY_MS);
    }
  })();

  while (races.size < orders.length || asked.size > 0) {
    let reply = await helper.next();
    const id = Number(reply.id);
    if (reply.type === 'chunk') {
      chunks.set(id, (chunks.get(id) ?? '') + String(reply.data));
      if (reply.last !== true) continue;
      reply = JSON.parse(chunks.get(id) ?? '');
    }
    const sentMs = asked.get(id);
    if (sentMs !== undefined) forecastsMs.push(performance.now() - sentMs);
    if (asked.delete(id) || reply.type === 'progress') continue;
    if (reply.type !== 'race') throw new Error(`no race but ${JSON.stringify(reply)}`);
    races.set(id, v.parse(originRaceSchema, reply));
    tookMs = performance.now() - startedMs;
  }
  await asking;
  const told = orders.flatMap(({ id }) => races.get(id) ?? []);
  return { races: told, tookMs, forecastsMs, mostMiB };
}
