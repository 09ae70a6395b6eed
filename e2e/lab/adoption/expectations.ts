// What a run must show for the laboratory itself to be trusted: adoption and losses within bounds that chance exceeds
// less than once in a million; times no shorter than any client can achieve, and half of them not longer than a busy
// machine explains.
import { median } from '@photofinish/shared/race/statistics';
import type { DirectionReport } from '../../network/link.ts';
import paper from '../report/paper.json' with { type: 'json' };
import type { AdoptionResult, CellResult } from './adoption-record.ts';

/** Bounds that chance exceeds less often than this cause practically no false alarms. */
export const ONE_IN_A_MILLION = 1e-6;

/**
 * The probabilities of 0 to `trials` successes (binomial distribution), computed from logarithms to avoid early
 * underflow.
 */
function chances(trials: number, share: number): number[] {
  let log = trials * Math.log1p(-share);
  return Array.from({ length: trials + 1 }, (_, count) => {
    if (count > 0) log += Math.log((trials - count + 1) / count) + Math.log(share) - Math.log1p(-share);
    return Math.exp(log);
  });
}

interface Bounds {
  readonly least: number;
  readonly most: number;
}

/**
 * The narrowest bounds on the number of successes such that chance falls below and above them with less than `risk`
 * each; `share` is one trial's probability, strictly between 0 and 1.
 */
export function countBounds(trials: number, share: number, risk = ONE_IN_A_MILLION): Bounds {
  if (!(share > 0 && share < 1)) throw new RangeError(`a chance of ${share} needs no bounds`);
  const all = chances(trials, share);
  const firstAtRisk = (ordered: readonly number[]) => {
    let sum = 0;
    return ordered.findIndex((chance) => {
      sum += chance;
      return sum >= risk;
    });
  };
  return { least: firstAtRisk(all), most: trials - firstAtRisk(all.toReversed()) };
}

/** Clocks are read slightly before and after what they measure. */
const ROUNDING_MS = 1;
const BUSY_MS = 1000;

export interface Expectation {
  readonly title: string;
  readonly holds: boolean;
  readonly found: string;
}

/** The least that P2 found at that loss, whatever the delay: a correct race does no worse. */
function paperShare(loss: number): number {
  const shares = paper.race.filter((row) => row.loss === loss).flatMap(({ adoption }) => adoption ?? []);
  if (shares.length === 0) throw new RangeError(`P2 has no race at a loss of ${loss}`);
  return Math.min(...shares);
}

/** HTTP/3 is adopted at least as often as P2 found for a race. */
export function adopts({ cell, trials }: CellResult, client: string): Expectation {
  const own = trials[client] ?? [];
  const { least } = countBounds(own.length, paperShare(cell.loss));
  const adopted = own.filter((trial) => trial.adopted === 'h3').length;
  return {
    title: `${cell.id}: ${client} adopts HTTP/3 in at least ${least} of ${own.length}`,
    holds: own.length > 0 && adopted >= least,
    found: String(adopted),
  };
}

/** For links without loss, where no client has a reason to fail. */
export function neverFails({ cell, trials }: CellResult, client: string): Expectation {
  const own = trials[client] ?? [];
  const failed = own.filter(({ adopted }) => adopted === null);
  return {
    title: `${cell.id}: ${client} fails in none of ${own.length}`,
    holds: own.length > 0 && failed.length === 0,
    found: [failed.length, ...failed.flatMap(({ error }) => error ?? [])].join(', '),
  };
}

/**
 * A handshake takes at least this many round trips of the link, and half of the handshakes hardly more. For links
 * without loss.
 */
export function takesRoundTrips(
  { cell, trials }: CellResult,
  client: string,
  roundTrips: number,
): Expectation {
  const times = (trials[client] ?? []).flatMap(({ establishedMs }) => establishedMs ?? []);
  const [shortest, middle] = [Math.min(...times), median(times) ?? Number.NaN];
  const leastMs = roundTrips * cell.delayMs;
  return {
    title: `${cell.id}: ${client} connects in ${leastMs} ms or more, and half the time within ${leastMs + BUSY_MS} ms`,
    holds: shortest >= leastMs - ROUNDING_MS && middle <= leastMs + BUSY_MS,
    found: `${shortest.toFixed(1)} and ${middle.toFixed(1)} ms`,
  };
}

/** The link loses what was configured, and only in the configured direction. */
export function linkLoses({ cell, link }: CellResult): Expectation {
  const sum = (direction: 'up' | 'down', part: keyof Pick<DirectionReport, 'lost' | 'delivered'>) =>
    link.reduce((total, { report }) => total + report[direction][part], 0);
  const [lost, upLost] = [sum('down', 'lost'), sum('up', 'lost')];
  const packets = lost + sum('down', 'delivered');
  const { least, most } = cell.loss === 0 ? { least: 0, most: 0 } : countBounds(packets, cell.loss);
  return {
    title: `${cell.id}: the link loses ${least} to ${most} of ${packets} packets from the server, none to it`,
    holds: packets > 0 && lost >= least && lost <= most && upLost === 0,
    found: `${lost} and ${upLost}`,
  };
}

/** No client crashed in any cell. */
export function nobodyBrokeOff({ cells }: AdoptionResult): Expectation {
  const crashed = cells.flatMap((cell) => Object.entries(cell.crashed ?? {}));
  return {
    title: 'nobody broke off',
    holds: crashed.length === 0,
    found: crashed.map(([name, words]) => `${name}: ${words}`).join('; ') || 'nobody',
  };
}
