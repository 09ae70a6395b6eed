// What a run's trials come to, by cell and contestant: the one place where trials become figures, so that tables, goals,
// plots and files all say the same.

import { seededRandom } from '@photofinish/shared/seeded-random.fixture';
import { statistics } from '@photofinish/shared/statistics';
import type { AdoptionRun, Cell, CellResult, ContestantInfo } from '../adoption/run.ts';
import { type LabTrial, type TimeKey, timesOf } from '../trial.ts';
import type { Estimate } from './goal-row.ts';
import { type Count, meanEstimate, percentileEstimate, wilson } from './intervals.ts';

const P95 = 0.95;

/** Milliseconds; a failed trial counts as the deadline. */
export interface Times {
  /** Sorted ascending. */
  readonly valuesMs: readonly number[];
  readonly mean: Estimate;
  readonly sigmaMs: number;
  readonly medianMs: number;
  readonly p95: Estimate;
  readonly maxMs: number;
}

export interface Figures {
  readonly cell: Cell;
  readonly contestant: ContestantInfo;
  readonly trials: readonly LabTrial[];
  /** Whether it broke off here: its trials are fewer than asked for, and those of the turn in which it did are lost. */
  readonly brokeOff: boolean;
  /** Trials that went on over HTTP/3, of all, failed ones included. */
  readonly adopted: Count;
  readonly adoption: Estimate;
  readonly failed: number;
  /** Null where the client does not tell. */
  readonly established: Times | null;
  readonly firstByte: Times | null;
}

function summariseTimes(trials: readonly LabTrial[], key: TimeKey, seed: number): Times | null {
  const valuesMs = timesOf(trials, key).sort((a, b) => a - b);
  const summary = statistics(valuesMs);
  if (summary === null) return null;
  return {
    valuesMs,
    mean: meanEstimate(valuesMs, seededRandom(seed)),
    sigmaMs: summary.stdev,
    medianMs: summary.median,
    p95: percentileEstimate(valuesMs, P95, seededRandom(seed)),
    maxMs: summary.max,
  };
}

/** One contestant's figures in one cell; null without trials. */
function figuresOf(
  { cell, trials, crashed }: CellResult,
  contestant: ContestantInfo,
  seed: number,
): Figures | null {
  const own = trials[contestant.name] ?? [];
  if (own.length === 0) return null;
  const adopted = { hits: own.filter((trial) => trial.adopted === 'h3').length, of: own.length };
  return {
    cell,
    contestant,
    trials: own,
    brokeOff: crashed?.[contestant.name] !== undefined,
    adopted,
    adoption: wilson(adopted),
    failed: own.filter((trial) => trial.adopted === null).length,
    established: summariseTimes(own, 'establishedMs', seed),
    firstByte: summariseTimes(own, 'firstByteMs', seed),
  };
}

/** Trials that did not go on over HTTP/3. */
export function missesOf({ adopted }: Pick<Figures, 'adopted'>): Count {
  return { hits: adopted.of - adopted.hits, of: adopted.of };
}

/** Contestants in the order of the run, but each known host right after its first contact. */
export function tableOrder(contestants: readonly ContestantInfo[]): ContestantInfo[] {
  const names = new Set(contestants.map(({ name }) => name));
  const knownOf = (name: string) => name.replace(/^(race|alt-svc)/, '$1-known');
  const isSecond = ({ name }: ContestantInfo) =>
    /^(race|alt-svc)-known/.test(name) && names.has(name.replace('-known', ''));
  return contestants
    .filter((contestant) => !isSecond(contestant))
    .flatMap((first) => [
      first,
      ...contestants.filter((second) => isSecond(second) && second.name === knownOf(first.name)),
    ]);
}

/** A run with its figures. */
export interface Derived {
  readonly run: AdoptionRun;
  /** As the tables have them. */
  readonly contestants: readonly ContestantInfo[];
  readonly all: readonly Figures[];
  /** Undefined: not measured in that cell. */
  find(cell: Cell, contestant: string): Figures | undefined;
}

/** Computes every figure of a run, once. The same run gives the same intervals. */
export function derive(run: AdoptionRun): Derived {
  const contestants = tableOrder(run.contestants);
  const all = run.cells.flatMap((result) =>
    contestants.flatMap((contestant) => figuresOf(result, contestant, run.seed) ?? []),
  );
  const byKey = new Map(all.map((figures) => [`${figures.cell.id} ${figures.contestant.name}`, figures]));
  return { run, contestants, all, find: (cell, contestant) => byKey.get(`${cell.id} ${contestant}`) };
}

/** P2's first sweep: its cells by delay. */
export function delayCells({ cells }: AdoptionRun): Cell[] {
  return cells
    .map(({ cell }) => cell)
    .filter(({ loss }) => loss === 0)
    .sort((a, b) => a.delayMs - b.delayMs);
}

/** P2's second sweep: its cells by loss, without delay; and any cell with both, behind them. */
export function lossCells({ cells }: AdoptionRun): Cell[] {
  return cells
    .map(({ cell }) => cell)
    .filter(({ loss, delayMs }) => loss > 0 || delayMs === 0)
    .sort((a, b) => a.delayMs - b.delayMs || a.loss - b.loss);
}
