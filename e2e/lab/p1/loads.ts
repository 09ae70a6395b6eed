// Which of P1's loads this machine drives, for each object with and without TLS, determined with the naive race.
import type { ObjectBytes } from '../cost/cells.ts';
import { climbLoads } from '../cost/loads.ts';
import { BASIC, cellOf, type Security, TURN_SECONDS } from './cells.ts';
import type { Loads } from './p1-record.ts';
import { type Ground, measureTurn, TURN_OVERHEAD_SECONDS } from './turn.ts';

/** P1's four, and lower ones for a smaller machine. */
const TRIED = [50, 100, 200, 300, 400, 550, 700, 850, 1000] as const;

/** An upper bound in seconds for one object and security, for the estimate. */
export const TRIES_SECONDS = TRIED.length * (TURN_SECONDS + TURN_OVERHEAD_SECONDS);

export async function findLoads(
  ground: Ground,
  objectBytes: ObjectBytes,
  security: Security,
  seed: number,
  onTry: (perSecond: number) => void,
): Promise<Loads[number]> {
  const way = BASIC[2];
  if (way === undefined) throw new Error('there is no naive race');
  const found = await climbLoads(TRIED, async (perSecond) => {
    onTry(perSecond);
    const cell = cellOf({ objectBytes, security, perSecond, way });
    return (await measureTurn(ground, { cell, round: 0 }, seed)).drive.why;
  });
  return { objectBytes, security, ...found };
}
