// What races from the command line and from standard input have in common: their options, documents and exit code; and
// many trials of many origins, several at a time, merged into one record of each origin.

import { NETWORK_CHANGED } from '@photofinish/shared/port/wire';
import { joinedAltSvcOver } from '@photofinish/shared/race/alt-svc-over';
import { knownRootOf } from '@photofinish/shared/race/conclusive';
import {
  type DiscoveryEvidence,
  type OriginRace,
  RACE_SCHEMA,
  type RaceDocument,
} from '@photofinish/shared/race/outcome';
import { evidenceOfRace, verdictOf } from '@photofinish/shared/verdict/verdict';
import type { OriginParts } from '@photofinish/shared/web/origin';
import { messageOf } from '@photofinish/shared/web/untrusted';
import { commandLine } from '../install/own-command.ts';
import { MODE_RULES } from '../race/modes.ts';
import { TCP_ATTEMPT_DELAY_MS } from '../race/pacing.ts';
import { summaryOf } from '../race/race-record.ts';
import type { RaceSpec, RunRace } from '../racer.ts';
import type { RaceCommand } from './race-options.ts';
import type { Terminal } from './terminal.ts';
import type { NetworkNames } from './text.ts';
import { Complaint, EXIT_FAILED, EXIT_INTERRUPTED, EXIT_OK } from './usage.ts';

/** The state of a run of `race`, from when the network is known until it ends. */
export interface Session {
  readonly command: RaceCommand;
  readonly race: RunRace;
  readonly network: string;
  readonly names: NetworkNames;
  readonly stop: AbortController;
  /** Whether the network changed during the run, which stops everything. */
  readonly moved: () => boolean;
}

export interface Run {
  readonly origin: OriginParts;
  readonly trials: number;
}

/** The options of one origin's race. */
export function specOf(
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

/** The start delay is the one given, otherwise the first origin's: if derived from memory, it differs by origin. */
export function documentOf({ mode, memory, pacing }: RaceCommand, races: OriginRace[]): RaceDocument {
  const startDelayMs = pacing.tcpAttemptDelayMs ?? races[0]?.startDelayMs ?? TCP_ATTEMPT_DELAY_MS;
  return { schema: RACE_SCHEMA, mode, memory, startDelayMs, races };
}

/** Marks a record that was cut short by a change of network. */
export function cutShort(race: OriginRace): OriginRace {
  if (race.error?.code !== 'cancelled') return race;
  return { ...race, error: { code: 'cancelled', message: NETWORK_CHANGED } };
}

/** Races report failures as data; the only exceptions are a transport that cannot be loaded and unusable input. */
export function cannotRace(error: unknown): Complaint {
  if (error instanceof Complaint) return error;
  const [why] = messageOf(error).split('\n');
  return new Complaint('cannot-race', `${why}; "${commandLine('doctor')}" says what to do`, EXIT_FAILED);
}

/** The exit code when a session ends. */
export function exitCode({ moved, stop }: Session, allWell: boolean, terminal: Terminal): number {
  if (moved()) {
    terminal.error('network-changed', `${NETWORK_CHANGED}; races in progress were not remembered`);
    return EXIT_FAILED;
  }
  if (stop.signal.aborted) return EXIT_INTERRUPTED;
  return allWell ? EXIT_OK : EXIT_FAILED;
}

/**
 * How one origin's trials may be split into parallel runs, as the number of trials of each. Trials that learn from each
 * other and the pairs of a series, which must never overlap, stay in one run.
 */
export function splitTrials(
  command: Pick<RaceCommand, 'mode' | 'memory' | 'trials' | 'concurrency'>,
): readonly number[] {
  const { mode, memory, trials, concurrency } = command;
  if (memory === 'full' || MODE_RULES[mode].kind === 'series') return [trials];
  const runs = Math.min(trials, concurrency);
  const share = Math.floor(trials / runs);
  return Array.from({ length: runs }, (_, index) => share + (index < trials % runs ? 1 : 0));
}

/** Runs every task, at most `limit` at a time, starting them in order; returns the results in the same order. */
export async function inParallel<T, R>(
  tasks: readonly T[],
  limit: number,
  run: (task: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const queue = tasks.entries();
  const worker = async (): Promise<void> => {
    for (const [index, task] of queue) results[index] = await run(task);
  };
  await Promise.all(Array.from({ length: Math.min(limit, tasks.length) }, worker));
  return results;
}

/** For each question the last result of any run; for the root, of one that saw QUIC's chain. */
function joinDiscovered(runs: readonly OriginRace[]): DiscoveryEvidence {
  const each = runs.map(({ discovered }) => discovered);
  const names = each.findLast((d) => d.names !== undefined)?.names;
  const alternatives = each.findLast((d) => d.alternatives !== undefined)?.alternatives;
  return {
    altSvc: each.findLast((d) => d.altSvc !== null)?.altSvc ?? null,
    ...joinedAltSvcOver(each),
    knownRoot: knownRootOf(runs),
    ...(names !== undefined && { names }),
    ...(alternatives !== undefined && { alternatives }),
  };
}

/** Merges one origin's runs into one record. Throws if there are none. */
export function joinRuns([first, ...rest]: readonly OriginRace[]): OriginRace {
  if (first === undefined) throw new RangeError('an origin has at least one run');
  if (rest.length === 0) return first;
  const runs = [first, ...rest];
  const trials = runs.flatMap((run) => run.trials);
  const error = runs.find((run) => run.error !== undefined)?.error;
  const race = {
    ...first,
    atMs: Math.min(...runs.map((run) => run.atMs)),
    trials,
    summary: summaryOf(first.mode, trials),
    discovered: joinDiscovered(runs),
    ...(error !== undefined && { error }),
  };
  return { ...race, verdict: verdictOf(evidenceOfRace(race)) };
}

/** Whether every trial of every origin adopted a protocol. */
export function allAdopted(races: readonly OriginRace[]): boolean {
  return races.every(
    ({ error, summary }) => error === undefined && summary.trials > 0 && summary.failed === 0,
  );
}
