// Many origins, many trials, several at a time: schedules races, and merges the runs of one origin into one record.
import { knownRootOf } from '@photofinish/shared/race/conclusive';
import type { Discovered, OriginRace } from '@photofinish/shared/race/outcome';
import type { Memory, Mode } from '@photofinish/shared/race/terms';
import { evidenceOfRace, verdictOf } from '@photofinish/shared/verdict/verdict';
import { MODE_RULES } from '../race/modes.ts';
import { summaryOf } from '../race/summary.ts';

export interface Series {
  readonly mode: Mode;
  readonly memory: Memory;
  readonly trials: number;
  readonly concurrency: number;
}

/**
 * How one origin's trials may be split into parallel runs, as the number of trials of each. Trials that learn from each
 * other and the pairs of a series, which must never overlap, stay in one run.
 */
export function splitTrials({ mode, memory, trials, concurrency }: Series): readonly number[] {
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
function joinDiscovered(runs: readonly OriginRace[]): Discovered {
  const each = runs.map(({ discovered }) => discovered);
  const names = each.findLast((d) => d.names !== undefined)?.names;
  const alternatives = each.findLast((d) => d.alternatives !== undefined)?.alternatives;
  return {
    altSvc: each.findLast((d) => d.altSvc !== null)?.altSvc ?? null,
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
