// `photofinish race`: wires resolver, guard, contenders, host cache and engine together for a person at a terminal.
import { existsSync } from 'node:fs';
import type { OriginParts } from '@photofinish/shared/origin';
import { type OriginRace, RACE_SCHEMA, type RaceDocument } from '@photofinish/shared/outcome';
import { CacheUnavailable } from '../cache/database.ts';
import { readSalt, saltPath, watchNetwork } from '../cache/network.ts';
import { type HostCache, openHostCache } from '../cache/store.ts';
import { ALLOW_EVERYTHING, addressPolicy } from '../guard.ts';
import { systemClock } from '../race/clock.ts';
import type { Contenders } from '../race/drive.ts';
import { h2Contender } from '../race/h2.ts';
import { h3Contender } from '../race/h3.ts';
import { type Known, raceOrigin } from '../race/run.ts';
import { resolveOrigin } from '../resolve.ts';
import { readTrust } from '../trust.ts';
import { cachePath } from './caching.ts';
import { parseRaceCommand, type RaceCommand } from './race-options.ts';
import { allAdopted, inParallel, joinRuns, splitTrials, unraced } from './race-series.ts';
import { raceText } from './race-text.ts';
import type { Terminal } from './terminal.ts';
import { Complaint, EXIT_FAILED, EXIT_INTERRUPTED, EXIT_OK } from './usage.ts';

/** Progress is for people: nobody reads faster. */
const PROGRESS_EVERY_MS = 100;
/** Stands for the network where nothing is remembered and no name was given. */
const UNNAMED_NETWORK = 'unnamed';

interface Racing {
  readonly command: RaceCommand;
  readonly contenders: Contenders;
  /** Null with memory `none`. */
  readonly cache: HostCache | null;
  readonly network: string;
  readonly signal: AbortSignal;
  readonly progress: Progress;
  readonly terminal: Terminal;
}

interface Progress {
  /** One more trial is over. */
  step(): void;
}

function progressOf(command: RaceCommand, terminal: Terminal): Progress {
  const perOrigin = command.mode === 'compare' ? 2 * command.trials : command.trials;
  const total = command.origins.length * perOrigin;
  let done = 0;
  let shownMs = Number.NEGATIVE_INFINITY;
  return {
    step() {
      done += 1;
      const nowMs = systemClock.nowMs();
      if (total === 1 || nowMs - shownMs < PROGRESS_EVERY_MS) return;
      shownMs = nowMs;
      terminal.progress(`${done} of ${total} trials`);
    },
  };
}

/** With memory `none` nothing is written, not even the salt that names networks. */
function networkOf(command: RaceCommand, path: string): string {
  if (command.network !== null) return command.network;
  const salt = saltPath(path);
  if (command.memory === 'none' && !existsSync(salt)) return UNNAMED_NETWORK;
  return watchNetwork({ salt: readSalt(salt), clock: systemClock })();
}

function knownOf(racing: Racing, origin: OriginParts): { known?: Known; initialRttMs?: number } {
  const recall = racing.cache?.recall(racing.network, origin.origin) ?? null;
  if (recall === null) return {};
  const { decision, altSvc, altSvcAgeSeconds, rttMs } = recall;
  return {
    known: {
      decision,
      ...(altSvc !== null && { altSvc }),
      ageSeconds: altSvcAgeSeconds,
    },
    ...(rttMs.h3 !== null && { initialRttMs: rttMs.h3 }),
  };
}

function remember(racing: Racing, race: OriginRace): void {
  if (racing.cache === null || race.trials.length === 0) return;
  try {
    racing.cache.recordRace(race);
  } catch (error) {
    // The measurement is done and worth printing; only remembering it failed, and that was said by the cache.
    if (!(error instanceof CacheUnavailable)) throw error;
  }
}

interface Run {
  readonly origin: OriginParts;
  readonly addresses: readonly string[];
  readonly trials: number;
}

async function runOnce(racing: Racing, { origin, addresses, trials }: Run): Promise<OriginRace> {
  const { command, progress } = racing;
  let current = 1;
  const race = await raceOrigin({
    origin,
    addresses,
    network: racing.network,
    mode: command.mode,
    memory: command.memory,
    trials,
    pairs: trials,
    startDelayMs: command.startDelayMs,
    timeoutMs: command.timeoutMs,
    ...knownOf(racing, origin),
    contenders: racing.contenders,
    clock: systemClock,
    signal: racing.signal,
    onProgress({ trial }) {
      if (trial === current) return;
      current = trial;
      progress.step();
    },
  });
  progress.step();
  // At once, so that what an interrupted or killed command has measured is not lost.
  remember(racing, race);
  return race;
}

/** Looks every origin up, then races those that may be raced; one record each, in the order of the command line. */
async function raceAll(racing: Racing): Promise<OriginRace[]> {
  const { command, network, signal } = racing;
  const policy = addressPolicy(command.allowPrivate ? ALLOW_EVERYTHING : []);
  const looked = await inParallel(command.origins, Math.max(command.concurrency, 8), async (origin) => ({
    origin,
    resolved: await resolveOrigin(origin, {
      pins: command.pins,
      resolver: command.resolver,
      policy,
      signal,
    }),
  }));
  const runs = looked.flatMap(({ origin, resolved }): Run[] =>
    resolved.ok
      ? splitTrials(command).map((trials) => ({ origin, addresses: resolved.addresses, trials }))
      : [],
  );
  const raced = await inParallel(runs, command.concurrency, (run) => runOnce(racing, run));
  return looked.map(({ origin, resolved }): OriginRace => {
    const [first, ...rest] = raced.filter((race) => race.origin === origin.origin);
    const { mode, memory, startDelayMs } = command;
    if (first === undefined) {
      const error = resolved.ok
        ? { code: 'cancelled' as const, message: 'the race was cancelled' }
        : resolved.error;
      return unraced({ origin, mode, memory, startDelayMs, network, atMs: systemClock.epochMs(), error });
    }
    return joinRuns([first, ...rest]);
  });
}

function printed({ command, terminal }: Racing, races: readonly OriginRace[]): void {
  const { mode, memory, startDelayMs } = command;
  const document: RaceDocument = { schema: RACE_SCHEMA, mode, memory, startDelayMs, races: [...races] };
  terminal.result(command.json ? JSON.stringify(document) : raceText(document, terminal.paint));
}

async function contendersOf(command: RaceCommand): Promise<Contenders> {
  const trust = await readTrust(command.caFiles);
  if (!trust.ok) throw new Complaint('bad-file', trust.message);
  const contenders = { h3: h3Contender(trust.value), h2: h2Contender(trust.value) };
  const needed =
    command.mode === 'h2'
      ? [contenders.h2]
      : command.mode === 'h3'
        ? [contenders.h3]
        : Object.values(contenders);
  try {
    await Promise.all(needed.map((contender) => contender.prepare()));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Complaint('cannot-race', why, EXIT_FAILED);
  }
  return contenders;
}

/** Runs `race`; gives the exit code of the contract. */
export async function runRace(args: readonly string[], terminal: Terminal): Promise<number> {
  const command = parseRaceCommand(args);
  const contenders = await contendersOf(command);
  const path = cachePath(command.cacheFile);
  const stop = new AbortController();
  const interrupt = (): void => stop.abort();
  // Once: a second interrupt ends the process the hard way.
  process.once('SIGINT', interrupt);
  const cache =
    command.memory === 'full'
      ? openHostCache({
          path,
          clock: systemClock,
          say: (message) => terminal.error('cache-unavailable', message),
        })
      : null;
  const racing: Racing = {
    command,
    contenders,
    cache,
    network: networkOf(command, path),
    signal: stop.signal,
    progress: progressOf(command, terminal),
    terminal,
  };
  try {
    const races = await raceAll(racing);
    printed(racing, races);
    if (stop.signal.aborted) return EXIT_INTERRUPTED;
    return allAdopted(races) ? EXIT_OK : EXIT_FAILED;
  } finally {
    process.removeListener('SIGINT', interrupt);
    cache?.close();
  }
}
