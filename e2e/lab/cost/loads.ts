// Which loads this machine can drive: P1's if possible, otherwise steps up to the highest that passes the check,
// determined with the most expensive requests.
import type { Testbed } from '../testbed.ts';
import { BASIC, cellOf, type ObjectBytes, RTT_MS, type ServerName } from './cells.ts';
import type { Loads } from './cost-record.ts';
import { measureSegment } from './segment.ts';

/** P1's four, with values between and below them for a smaller machine. */
const TRIED = [25, 50, 75, 100, 150, 200, 300, 400, 550, 700, 850, 1000] as const;
const P1_LOADS = [100, 400, 700, 1000] as const;
const TRY_SECONDS = 5;
/** Fewer show no trend over the load. */
const STEPS = 4;

/** So that a load which barely passed does not fail in half of its cells. */
const HEADROOM = 0.8;

/** An upper bound in seconds, for the estimate. */
export const TRIES_SECONDS = TRIED.length * (TRY_SECONDS + 4);

/** P1's loads up to the highest, or even steps if fewer than two of those are among them; ascending. */
export function loadsUpTo(highest: number): number[] {
  const papers = P1_LOADS.filter((load) => load <= highest);
  const steps = Array.from({ length: STEPS }, (_, step) => Math.round((highest * (step + 1)) / STEPS));
  const loads = papers.length >= 3 ? [...papers, highest] : [...steps, ...papers];
  return [...new Set(loads)].filter((load) => load > 0).toSorted((a, b) => a - b);
}

/**
 * Tries ascending loads until one is not driven. `tryLoad` resolves with the reasons for which it was not, none if it
 * was. Returns the loads to measure, and those of P1 that are not driven.
 */
export async function climbLoads(
  tried: readonly number[],
  tryLoad: (perSecond: number) => Promise<readonly string[]>,
): Promise<Pick<Loads[number], 'driven' | 'notDriven'>> {
  let highest = 0;
  let why = '';
  for (const perSecond of tried) {
    why = (await tryLoad(perSecond)).join('; ');
    if (why !== '') break;
    highest = perSecond;
  }
  const top = tried.at(-1) ?? 0;
  const driven = highest === 0 ? [] : loadsUpTo(highest === top ? highest : Math.round(highest * HEADROOM));
  const most = driven.at(-1) ?? 0;
  const notDriven = P1_LOADS.filter((load) => load > most).map((perSecond) => ({ perSecond, why }));
  return { driven, notDriven };
}

/** Tries one server with the naive race for an object, increasing the load until one is not driven. */
export async function findLoads(
  testbed: Testbed,
  server: ServerName,
  objectBytes: ObjectBytes,
  seed: number,
  onTry: (perSecond: number) => void,
): Promise<Loads[number]> {
  const found = await climbLoads(TRIED, async (perSecond) => {
    onTry(perSecond);
    const way = BASIC.naive;
    const cell = cellOf({ server, objectBytes, perSecond, rttMs: RTT_MS, postQuantum: true, way });
    return (await measureSegment(testbed, { cell, round: 0, seconds: TRY_SECONDS }, seed)).drive.why;
  });
  return { server, ...found };
}
