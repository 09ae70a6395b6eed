// `photofinish race`: runs what the command line requests, shows progress, and prints the document or its text.

import { existsSync } from 'node:fs';
import type { OriginRace } from '@photofinish/shared/race/outcome';
import { NO_OTHERS } from '@photofinish/shared/verdict/evidence';
import type { Origin } from '@photofinish/shared/web/origin';
import { messageOf } from '@photofinish/shared/web/untrusted';
import { ALLOW_EVERYTHING, addressPolicy } from '../address/guard.ts';
import { openHostCache } from '../cache/store.ts';
import { systemClock } from '../clock.ts';
import type { Fleet } from '../fleet/fleet.ts';
import { saltPath } from '../network/key.ts';
import { type Network, namedNetwork, recordOnlyOn, systemSource, watchNetwork } from '../network/watch.ts';
import { openRacer, type RacerParts, type RunRace } from '../racer.ts';
import {
  cacheComplaints,
  cachePath,
  fleetSettings,
  joinFleet,
  networkSalt,
  sharing,
} from './helper-caches.ts';
import { MAX_UNDISTORTED_RACES } from './option-tables.ts';
import { PROGRESS_EVERY_MS, raceInput } from './race-input.ts';
import { type Pins, parseRaceCommand, type RaceCommand } from './race-options.ts';
import {
  allAdopted,
  cannotRace,
  cutShort,
  documentOf,
  exitCode,
  inParallel,
  joinRuns,
  type Run,
  type Session,
  specOf,
  splitTrials,
} from './race-session.ts';
import { raceText } from './race-text.ts';
import { stoppedByInterrupt, type Terminal } from './terminal.ts';
import { keyNamed, type NetworkNames, NO_NAMES } from './text.ts';
import { Complaint } from './usage.ts';

/** The network's name if nothing is remembered and no name was given. */
const UNNAMED_NETWORK = 'unnamed';

/** Replaces the host cache for memory `none`. */
export const NO_CACHE: RacerParts['cache'] = {
  recall: () => null,
  recordRace: () => {},
  udpEvidence: () => NO_OTHERS,
};

/** Returns a function to call when another trial is done. */
function trialCounter(command: RaceCommand, terminal: Terminal): () => void {
  const perOrigin = command.mode === 'compare' ? 2 * command.trials : command.trials;
  const total = command.origins.length * perOrigin;
  let done = 0;
  let shownMs = Number.NEGATIVE_INFINITY;
  return () => {
    done += 1;
    const nowMs = systemClock.nowMs();
    if (total === 1 || nowMs - shownMs < PROGRESS_EVERY_MS) return;
    shownMs = nowMs;
    terminal.progress(`${done} of ${total} trials`);
  };
}

/**
 * A text that names no network is a label of its own. Only memory `full` writes; the others do not even create the salt
 * for network keys. Throws a Complaint if several networks have the name.
 */
export function networkOf(
  command: Pick<RaceCommand, 'network' | 'memory'>,
  path: string,
  names: NetworkNames,
  terminal: Terminal,
): Network {
  if (command.network !== null) return namedNetwork(keyNamed(command.network, names) ?? command.network);
  if (command.memory !== 'full' && !existsSync(saltPath(path))) return namedNetwork(UNNAMED_NETWORK);
  const source = systemSource(process.platform, systemClock);
  return watchNetwork({ source, salt: networkSalt(path, terminal), clock: systemClock });
}

async function runOnce(session: Session, run: Run, trialOver: () => void): Promise<OriginRace> {
  const { command, network, stop } = session;
  let current = 1;
  const race = await session.race({
    ...specOf(command, run, { network, signal: stop.signal }),
    onProgress({ trial }) {
      if (trial === current) return;
      current = trial;
      trialOver();
    },
  });
  trialOver();
  return race;
}

/** One record per origin, in the order of the command line. */
async function raceAll(session: Session, terminal: Terminal): Promise<OriginRace[]> {
  const { command } = session;
  const trialOver = trialCounter(command, terminal);
  const shares = splitTrials(command);
  const runs = command.origins.flatMap((origin) => shares.map((trials): Run => ({ origin, trials })));
  try {
    const raced = await inParallel(runs, command.concurrency, (run) => runOnce(session, run, trialOver));
    return command.origins.map((_, index) =>
      joinRuns(raced.slice(index * shares.length, (index + 1) * shares.length)),
    );
  } catch (error) {
    throw cannotRace(error);
  }
}

/**
 * Racing with the options for resolution and trust; `userAgent` is sent instead of the usual one. Throws a Complaint for
 * an unusable CA file.
 */
export async function openRacerFor(
  command: Pick<RaceCommand, 'caFiles' | 'pins' | 'resolver' | 'allowPrivate'> &
    Partial<Pick<RaceCommand, 'postQuantum'>>,
  cache: RacerParts['cache'],
  userAgent: string | null = null,
): Promise<RunRace> {
  try {
    return await openRacer({
      ca: command.caFiles,
      pins: command.pins,
      resolver: command.resolver,
      postQuantum: command.postQuantum ?? true,
      policy: addressPolicy(command.allowPrivate ? ALLOW_EVERYTHING : []),
      cache,
      clock: systemClock,
      ...(userAgent !== null && { userAgent }),
    });
  } catch (error) {
    throw new Complaint('bad-file', messageOf(error));
  }
}

async function raceCommandLine(session: Session, terminal: Terminal): Promise<number> {
  const { command, names, moved } = session;
  const raced = await raceAll(session, terminal);
  const races = moved() ? raced.map(cutShort) : raced;
  const document = documentOf(command, races);
  terminal.result(command.json ? JSON.stringify(document) : raceText(document, terminal.paint, names));
  return exitCode(session, allAdopted(races), terminal);
}

function manyAtOnce(concurrency: number): string {
  const why = `with ${concurrency} at a time the times may reflect this machine rather than the network`;
  return `${why}; use at most ${MAX_UNDISTORTED_RACES}, or omit --concurrency`;
}

/** Stops a command once the machine has left the network, as `moved` tells: its races would be of two. */
export function stopOnMove(network: Network, key: string, stop: AbortController) {
  let moved = false;
  const end = network.watch(key, () => {
    moved = true;
    stop.abort();
  });
  return { moved: () => moved, end };
}

/** Warns of pins that no race looked up, which are mistyped or not needed. */
export function complainOfPins({ unused }: Pins, terminal: Pick<Terminal, 'error'>): void {
  if (unused.size === 0) return;
  const [first, ...rest] = unused;
  const more = rest.length === 0 ? '' : ` and ${rest.length} more`;
  terminal.error('unused-resolve', `--resolve: no race looked up ${first}${more}; check host and port`);
}

/** Runs `race`; returns the documented exit code. */
export async function runRace(args: readonly string[], terminal: Terminal): Promise<number> {
  const command = parseRaceCommand(args);
  if (command.concurrency > MAX_UNDISTORTED_RACES)
    terminal.error('many-at-once', manyAtOnce(command.concurrency));
  const path = cachePath(command.cacheFile);
  const { stop, forget } = stoppedByInterrupt();
  const shared = command.fleet ? fleetSettings() : null;
  let fleet: Fleet | null = null;
  const remembers =
    command.memory === 'full' || (command.memory === 'hints' && (shared !== null || existsSync(path)));
  const sharedKey = (origin: Origin): string | null => fleet?.keyOf(origin) ?? null;
  const cache = remembers
    ? openHostCache({ path, clock: systemClock, ...cacheComplaints(terminal), sharedKey })
    : null;
  const names = cache?.networkNames() ?? NO_NAMES;
  let watch: ReturnType<typeof stopOnMove> | null = null;
  try {
    const network = networkOf(command, path, names, terminal);
    const opened = await openRacerFor(command, cache === null ? NO_CACHE : recordOnlyOn(network, cache));
    if (shared !== null && cache !== null) fleet = await joinFleet(shared, cache, terminal);
    // Without the host cache it is unknown whether the network blocks UDP, and a failure not the host's.
    const race = fleet === null || command.memory !== 'full' ? opened : sharing(opened, fleet, network);
    const key = await network.settled();
    if (command.memory !== 'none') watch = stopOnMove(network, key, stop);
    const moved = watch?.moved ?? (() => false);
    const session: Session = { command, race, network: key, names, stop, moved };
    const code = await (command.fromInput
      ? raceInput(session, terminal)
      : raceCommandLine(session, terminal));
    // The others may be of lines that are raced by other shards, or were raced before.
    const isWhole = command.shard === null && command.resumeFile === null && !stop.signal.aborted;
    if (isWhole) complainOfPins(command.pins, terminal);
    return code;
  } finally {
    watch?.end();
    await fleet?.close();
    forget();
    cache?.close();
  }
}
