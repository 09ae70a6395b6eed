// The laboratory's smoke test: a few trials on two links, our client and the paper's code, with bounds on adoption and
// losses that chance exceeds less than once in a million, and on times.
import { rm } from 'node:fs/promises';
import { median } from '@photofinish/shared/race/statistics';
import { heading, printLine } from '../run/display.ts';
import { CELLS, type CellResult, collect } from './adoption/turns.ts';
import { adoption, CLIENTS } from './adoption.ts';
import { folderOf, laboratoryOpens, readOptions, record, runProgram } from './experiment.ts';
import paper from './report/paper.json' with { type: 'json' };

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

interface Expectation {
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
  const sum = (direction: 'up' | 'down', part: 'lost' | 'delivered') =>
    link.reduce((total, report) => total + report[direction][part], 0);
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
export function noClientCrashed(cells: readonly CellResult[]): Expectation {
  const crashed = cells.flatMap((cell) => Object.entries(cell.crashed));
  return {
    title: 'no client crashed',
    holds: crashed.length === 0,
    found: crashed.map(([name, words]) => `${name}: ${words}`).join('; ') || 'none',
  };
}

/** The folder of its record. */
export const QUICK_DIR = folderOf('quick');
/** With a round trip so long that a server which waits for the processor seldom loses QUIC's lead. */
const [LOSSLESS, LOSSY] = ['delay-100', 'loss-10'];
const RACES = ['race', 'race-known', 'go-race'];
const ALL = [...RACES, 'alt-svc'];
/** Enough to distinguish a race that loses HTTP/3 to every lost packet from a correct one. */
const TRIALS = 20;
/** Its trials take an additional round trip over TCP, and without loss are all alike. */
const ALT_SVC_TRIALS = 10;

function expectations(cells: readonly CellResult[]): Expectation[] {
  const lossless = cells.find(({ cell }) => cell.id === LOSSLESS);
  const lossy = cells.find(({ cell }) => cell.id === LOSSY);
  if (lossless === undefined || lossy === undefined) throw new Error('a cell was not measured');
  return [
    noClientCrashed(cells),
    ...[lossless, lossy].map(linkLoses),
    ...ALL.flatMap((name) => [neverFails(lossless, name), adopts(lossless, name)]),
    ...RACES.map((name) => takesRoundTrips(lossless, name, 1)),
    // TCP's, then TLS's.
    takesRoundTrips(lossless, 'alt-svc', 2),
    ...RACES.map((name) => adopts(lossy, name)),
  ];
}

async function main(): Promise<number> {
  if (!(await laboratoryOpens())) return 1;
  await rm(QUICK_DIR, { recursive: true, force: true });
  const { journal } = await record(
    adoption({
      full: false,
      trials: { ours: TRIALS, peer: TRIALS, browser: 0 },
      trialsOf: ({ name }) => (name === 'alt-svc' ? ALT_SVC_TRIALS : TRIALS),
      cells: CELLS.filter(({ id }) => id === LOSSLESS || id === LOSSY),
      choices: CLIENTS.filter(({ name }) => ALL.includes(name)),
      seed: 1,
      fresh: true,
      checksLink: false,
    }),
    QUICK_DIR,
  );
  heading('Expectations');
  const all = expectations(collect(journal));
  for (const { title, holds, found } of all) printLine(`  ${holds ? '✓' : '✗'} ${title}: ${found}`);
  return all.every(({ holds }) => holds) ? 0 : 1;
}

if (import.meta.main) await runProgram('usage: npm run lab -- quick', (args) => readOptions(args, {}), main);
