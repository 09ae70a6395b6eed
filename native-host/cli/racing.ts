// `photofinish race`: runs what the command line requests, shows progress, and prints the document or its text.
import { existsSync } from 'node:fs';
import { addAbortSignal } from 'node:stream';
import { type OriginRace, RACE_SCHEMA, type RaceDocument } from '@photofinish/shared/race/outcome';
import type { OriginParts } from '@photofinish/shared/web/origin';
import { ALLOW_EVERYTHING, addressPolicy } from '../address/guard.ts';
import { type HostCache, openHostCache } from '../cache/store.ts';
import { systemClock } from '../clock.ts';
import { recordOnlyOn } from '../network/recording.ts';
import { saltPath } from '../network/salt.ts';
import { systemSource } from '../network/source.ts';
import { NETWORK_CHANGED, type Network, namedNetwork, watchNetwork } from '../network/watch.ts';
import { TCP_ATTEMPT_DELAY_MS } from '../race/pacing.ts';
import { openRacing, type RaceSpec, type Racing, type RacingParts } from '../racing.ts';
import { cachePath, networkSalt } from './caching.ts';
import { SOUND_AT_A_TIME } from './command-table.ts';
import { linesOf, readAhead } from './input-lines.ts';
import { type NetworkNames, NO_NAMES, networkMeant } from './network-names.ts';
import { isIdle, MAX_LINE_CHARS } from './race-line.ts';
import { parseRaceCommand, type RaceCommand, trialsIn } from './race-options.ts';
import { paceFor } from './race-pace.ts';
import { allAdopted, inParallel, joinRuns, splitTrials } from './race-series.ts';
import { raceStream } from './race-stream.ts';
import { raceText } from './race-text.ts';
import { PROGRESS_EVERY_MS, surveyCounter } from './survey-progress.ts';
import { stoppedByInterrupt, type Terminal } from './terminal.ts';
import { Complaint, EXIT_FAILED, EXIT_INTERRUPTED, EXIT_OK } from './usage.ts';

/** Number of lines of standard input that may be read ahead. */
const MOST_LINES_AHEAD = 100_000;
/** The network's name if nothing is remembered and no name was given. */
const UNNAMED_NETWORK = 'unnamed';

/** Replaces the host cache for memory `none`. */
const NO_CACHE: RacingParts['cache'] = {
  recall: () => null,
  recordRace: () => {},
  udpEvidence: () => ({ failedHosts: 0, reachedHosts: 0 }),
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

/** Only memory `full` writes; the others do not even create the salt for network keys. */
export function networkOf(
  command: Pick<RaceCommand, 'network' | 'memory'>,
  path: string,
  names: NetworkNames,
  terminal: Terminal,
): Network {
  if (command.network !== null) return namedNetwork(networkMeant(command.network, names));
  if (command.memory !== 'full' && !existsSync(saltPath(path))) return namedNetwork(UNNAMED_NETWORK);
  const source = systemSource(process.platform, systemClock);
  return watchNetwork({ source, salt: networkSalt(path, terminal), clock: systemClock });
}

/** Marks a record that was cut short by a change of network. */
function cutShort(race: OriginRace): OriginRace {
  if (race.error?.code !== 'cancelled') return race;
  return { ...race, error: { code: 'cancelled', message: NETWORK_CHANGED } };
}

interface Run {
  readonly origin: OriginParts;
  readonly trials: number;
}

interface RaceContext {
  readonly command: RaceCommand;
  readonly race: Racing;
  readonly network: string;
  readonly signal: AbortSignal;
  readonly trialOver: () => void;
}

/** The options of one origin's race. */
function specOf(
  command: RaceCommand,
  { origin, trials }: Run,
  where: Pick<RaceSpec, 'network' | 'signal'>,
): RaceSpec {
  return {
    ...where,
    origin,
    mode: command.mode,
    memory: command.memory,
    trials,
    pairs: trials,
    pacing: command.pacing,
    timeoutMs: command.timeoutMs,
  };
}

async function runOnce(context: RaceContext, run: Run): Promise<OriginRace> {
  const { command, network, signal, trialOver } = context;
  let current = 1;
  const race = await context.race({
    ...specOf(command, run, { network, signal }),
    onProgress({ trial }) {
      if (trial === current) return;
      current = trial;
      trialOver();
    },
  });
  trialOver();
  return race;
}

/** Races report failures as data; the only exception is a transport that cannot be loaded. */
function cannotRace(error: unknown): Complaint {
  const [why] = (error instanceof Error ? error.message : String(error)).split('\n');
  return new Complaint('cannot-race', `${why}; "photofinish doctor" says what to do`, EXIT_FAILED);
}

/** One record per origin, in the order of the command line. */
async function raceAll(context: RaceContext): Promise<OriginRace[]> {
  const { command } = context;
  const shares = splitTrials(command);
  const runs = command.origins.flatMap((origin) => shares.map((trials): Run => ({ origin, trials })));
  try {
    const raced = await inParallel(runs, command.concurrency, (run) => runOnce(context, run));
    return command.origins.map((_, index) =>
      joinRuns(raced.slice(index * shares.length, (index + 1) * shares.length)),
    );
  } catch (error) {
    throw cannotRace(error);
  }
}

/** Racing with the options for resolution and trust. Throws a Complaint for an unusable CA file. */
export async function openRacingFor(
  command: Pick<RaceCommand, 'caFiles' | 'pins' | 'resolver' | 'allowPrivate'> &
    Partial<Pick<RaceCommand, 'postQuantum'>>,
  cache: HostCache | null,
  network: Network,
): Promise<Racing> {
  try {
    return await openRacing({
      ca: command.caFiles,
      pins: command.pins,
      resolver: command.resolver,
      postQuantum: command.postQuantum ?? true,
      policy: addressPolicy(command.allowPrivate ? ALLOW_EVERYTHING : []),
      cache: cache === null ? NO_CACHE : recordOnlyOn(network, cache),
      clock: systemClock,
    });
  } catch (error) {
    throw new Complaint('bad-file', error instanceof Error ? error.message : String(error));
  }
}

/** The start delay is the one given, otherwise the first origin's: if derived from memory, it differs by origin. */
function documentOf({ mode, memory, pacing }: RaceCommand, races: OriginRace[]): RaceDocument {
  const startDelayMs = pacing.tcpAttemptDelayMs ?? races[0]?.startDelayMs ?? TCP_ATTEMPT_DELAY_MS;
  return { schema: RACE_SCHEMA, mode, memory, startDelayMs, races };
}

/** The state of a run of `race`, from when the network is known until it ends. */
interface Session {
  readonly command: RaceCommand;
  readonly race: Racing;
  readonly network: string;
  readonly names: NetworkNames;
  readonly stop: AbortController;
  /** Whether the network changed during the run, which stops everything. */
  readonly moved: () => boolean;
}

/** The exit code when a session ends. */
function exitCode({ moved, stop }: Session, allWell: boolean, terminal: Terminal): number {
  if (moved()) {
    terminal.error('network-changed', `${NETWORK_CHANGED}; races in progress were not remembered`);
    return EXIT_FAILED;
  }
  if (stop.signal.aborted) return EXIT_INTERRUPTED;
  return allWell ? EXIT_OK : EXIT_FAILED;
}

async function raceCommandLine(session: Session, terminal: Terminal): Promise<number> {
  const { command, race, network, names, stop, moved } = session;
  const trialOver = trialCounter(command, terminal);
  const raced = await raceAll({ command, race, network, signal: stop.signal, trialOver });
  const races = moved() ? raced.map(cutShort) : raced;
  const document = documentOf(command, races);
  terminal.result(command.json ? JSON.stringify(document) : raceText(document, terminal.paint, names));
  return exitCode(session, allAdopted(races), terminal);
}

/** Standard input as text; ends when the signal is aborted. */
async function* standardInput(signal: AbortSignal): AsyncGenerator<string> {
  try {
    yield* addAbortSignal(signal, process.stdin.setEncoding('utf8'));
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Races the lines of standard input until it ends, the run is stopped, or nobody reads the results any more. */
async function raceInput(session: Session, terminal: Terminal): Promise<number> {
  const { command, race, network, stop, moved } = session;
  const { signal } = stop;
  const survey = surveyCounter(terminal);
  const input = readAhead(
    linesOf(standardInput(signal), MAX_LINE_CHARS),
    MOST_LINES_AHEAD,
    (line) => !isIdle(line),
  );
  let badLines = 0;
  const readerGone = (): void => stop.abort();
  process.stdout.once('error', readerGone);
  try {
    await raceStream({
      lines: input.lines,
      mode: command.mode,
      pace: paceFor(command.concurrencyAsked, systemClock.nowMs),
      tellsWaits: command.concurrencyAsked !== null,
      race({ origin, mode }) {
        const trials = trialsIn(mode, command.trialsAsked);
        return race(specOf({ ...command, mode }, { origin, trials }, { network, signal }));
      },
      finished(raced, { mode }) {
        const record = moved() ? cutShort(raced) : raced;
        terminal.result(JSON.stringify(documentOf({ ...command, mode }, [record])));
        survey.over(record, input.ended() ? input.counted() - badLines : null);
      },
      complain(code, message) {
        if (code === 'bad-line' || code === 'bad-origin') badLines += 1;
        terminal.error(code, message);
      },
      signal,
    });
    survey.end();
    return exitCode(session, survey.counts.failed + badLines === 0, terminal);
  } catch (error) {
    throw cannotRace(error);
  } finally {
    process.stdout.off('error', readerGone);
    process.stdin.destroy();
  }
}

function manyAtOnce(concurrency: number): string {
  const why = `with ${concurrency} at a time the times may reflect this machine rather than the network`;
  return `${why}; use at most ${SOUND_AT_A_TIME}, or omit --concurrency`;
}

/** Runs `race`; returns the documented exit code. */
export async function runRace(args: readonly string[], terminal: Terminal): Promise<number> {
  const command = parseRaceCommand(args);
  if (command.concurrency > SOUND_AT_A_TIME) terminal.error('many-at-once', manyAtOnce(command.concurrency));
  const path = cachePath(command.cacheFile);
  const { stop, forget } = stoppedByInterrupt();
  const say = (message: string): void => terminal.error('cache-unavailable', message);
  const remembers = command.memory === 'full' || (command.memory === 'hints' && existsSync(path));
  const cache = remembers ? openHostCache({ path, clock: systemClock, say }) : null;
  const names = cache?.networkNames() ?? NO_NAMES;
  const network = networkOf(command, path, names, terminal);
  let moved = false;
  let stopWatching: (() => void) | null = null;
  try {
    const race = await openRacingFor(command, cache, network);
    const key = await network.settled();
    if (command.memory !== 'none')
      stopWatching = network.watch(key, () => {
        moved = true;
        stop.abort();
      });
    const session: Session = { command, race, network: key, names, stop, moved: () => moved };
    return await (command.fromInput ? raceInput(session, terminal) : raceCommandLine(session, terminal));
  } finally {
    stopWatching?.();
    forget();
    cache?.close();
  }
}
