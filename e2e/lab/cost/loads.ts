// What the experiments under load, `cost` and `p1`, have in common: options, turns one after the other, and the loads
// that this machine can drive, P1's if possible and otherwise steps up to the highest that passes the check.
import { messageOf } from '@photofinish/shared/web/untrusted';
import type * as v from 'valibot';
import { beginStep, formatDuration, heading, printLine } from '../../run/display.ts';
import {
  BadUsage,
  choose,
  listOf,
  loadLines,
  numberOr,
  type readOptions,
  readSeed,
  wholeNumber,
} from '../experiment.ts';
import { type Journal, turnKey } from '../journal.ts';
import { type askedOfLoads, type DrivenLoads, type LoadTurn, OBJECTS } from './cells.ts';

export const LOAD_OPTIONS = {
  seconds: { type: 'string' },
  quick: { type: 'boolean', default: false },
  full: { type: 'boolean', default: false },
  object: { type: 'string' },
  loads: { type: 'string' },
  cells: { type: 'string' },
  seed: { type: 'string' },
  fresh: { type: 'boolean', default: false },
} as const;

export interface LoadOptions extends v.InferOutput<v.ObjectSchema<typeof askedOfLoads, undefined>> {
  readonly seed: number;
  readonly fresh: boolean;
}

/** P1 ran each load for 600 s; its claims are judged on 60. */
const JUDGED_SECONDS = 60;
const QUICK_SECONDS = 12;

const MAX_PER_SECOND = 10_000;

/** The value of `--loads`, ascending; null without one. Throws BadUsage for anything but requests a second. */
function readLoads(text: string | undefined): readonly number[] | null {
  if (text === undefined) return null;
  const loads = listOf(text).map((load) => wholeNumber('loads', load, 1, MAX_PER_SECOND));
  return [...new Set(loads)].toSorted((a, b) => a - b);
}

/** Throws BadUsage for the first mistake. */
export function readLoadOptions(values: ReturnType<typeof readOptions<typeof LOAD_OPTIONS>>): LoadOptions {
  const { quick, full, fresh } = values;
  if (quick && full) throw new BadUsage('choose one of --quick and --full');
  return {
    seconds: numberOr(quick ? QUICK_SECONDS : JUDGED_SECONDS, 'seconds', values.seconds, 3, 600),
    objects: choose('object', values.object, OBJECTS, (bytes) => String(bytes / 1024)),
    loads: readLoads(values.loads),
    cells: values.cells === undefined ? null : listOf(values.cells),
    seed: readSeed(values.seed),
    fresh,
  };
}

/** Whether `--cells` names the cell. */
export const isWanted = ({ cells }: Pick<LoadOptions, 'cells'>, id: string): boolean =>
  cells === null || cells.some((part) => id.includes(part));

/** A load counts as driven only with as much of the processors left, and with no more failures. */
export const MIN_IDLE_SHARE = 0.03;
export const MAX_FAILED_SHARE = 0.01;

export const percent = (share: number) => `${(100 * share).toFixed(1)} %`;

/** Warns on a busy machine. */
export function printLoad(): void {
  for (const line of loadLines(': fewer loads are driven, and the others cost more')) printLine(line);
}

const P1_LOADS = [100, 400, 700, 1000] as const;
/** Fewer show no trend over the load. */
const STEPS = 4;

/** So that a load which barely passed does not fail in half of its cells. */
const HEADROOM = 0.8;

/** P1's loads up to the highest, or even steps if fewer than two of those are among them; ascending. */
export function loadsUpTo(highest: number): number[] {
  const papers = P1_LOADS.filter((load) => load <= highest);
  const steps = Array.from({ length: STEPS }, (_, step) => Math.round((highest * (step + 1)) / STEPS));
  const loads = papers.length >= 3 ? [...papers, highest] : [...steps, ...papers];
  return [...new Set(loads)].filter((load) => load > 0).toSorted((a, b) => a - b);
}

/**
 * Tries ascending loads until one is not driven. `tryLoad` resolves with the reasons for which it was not, none if it
 * was. Returns the loads to measure, and those of P1 that are not measured.
 */
export async function tryAscendingLoads(
  tried: readonly number[],
  tryLoad: (perSecond: number) => Promise<readonly string[]>,
): Promise<DrivenLoads> {
  let highest = 0;
  let failed = { perSecond: Number.POSITIVE_INFINITY, why: '' };
  for (const perSecond of tried) {
    const why = (await tryLoad(perSecond)).join('; ');
    if (why !== '') {
      failed = { perSecond, why };
      break;
    }
    highest = perSecond;
  }
  const top = tried.at(-1) ?? 0;
  const driven = highest === 0 ? [] : loadsUpTo(highest === top ? highest : Math.round(highest * HEADROOM));
  const most = driven.at(-1) ?? 0;
  const headroom = `above ${100 * HEADROOM} % of ${highest}/s, the highest load that was driven`;
  const notDriven = P1_LOADS.filter((load) => load > most).map((perSecond) => ({
    perSecond,
    why: perSecond < failed.perSecond ? headroom : failed.why,
  }));
  return { driven, notDriven };
}

interface LoadSearch<Of> {
  readonly tried: readonly number[];
  /** An upper bound of a try, for the estimate. */
  readonly secondsPerTry: number;
  readonly titleOf: (of: Of) => string;
  /** Measures the most expensive requests, the naive race, at that load; as for `tryAscendingLoads`. */
  readonly tryLoad: (of: Of, perSecond: number) => Promise<readonly string[]>;
}

/** For each of `all` the requested loads, or those that this machine drives. */
export async function findLoads<Of extends object>(
  all: readonly Of[],
  requested: readonly number[] | null,
  { tried, secondsPerTry, titleOf, tryLoad }: LoadSearch<Of>,
): Promise<(Of & DrivenLoads)[]> {
  if (requested !== null) return all.map((of) => ({ ...of, driven: [...requested], notDriven: [] }));
  const mostMs = 1000 * tried.length * secondsPerTry * all.length;
  heading(`Loads that this machine drives (at most ${formatDuration(mostMs)})`);
  const found: (Of & DrivenLoads)[] = [];
  for (const of of all) {
    const step = beginStep(titleOf(of));
    const loads = await tryAscendingLoads(tried, (perSecond) => {
      step.detail(`${perSecond} requests/s`);
      return tryLoad(of, perSecond);
    });
    const limits = [...Map.groupBy(loads.notDriven, ({ why }) => why)].map(
      ([why, own]) => `; not ${own.map(({ perSecond }) => perSecond).join(', ')} (${why})`,
    );
    step.end(loads.driven.length > 0, `${loads.driven.join(', ')} requests/s${limits.join('')}`);
    found.push({ ...of, ...loads });
  }
  return found;
}

interface LoadTurns<Turn extends LoadTurn, Line> {
  /** What the turns are called, in the plural, and the round of one. */
  readonly words: readonly [turns: string, round: string];
  readonly seconds: (turn: Turn) => number;
  readonly measure: (turn: Turn) => Promise<Line>;
}

/**
 * Measures and records those that the journal lacks, and shows how far it is; false if one failed, which does not keep
 * it from the others.
 */
export async function measureTurns<
  Turn extends LoadTurn,
  Line extends { readonly drive: { readonly why: readonly string[] } },
>(
  journal: Pick<Journal<unknown, unknown, Line>, 'has' | 'append'>,
  all: readonly Turn[],
  { words: [noun, part], seconds, measure }: LoadTurns<Turn, Line>,
): Promise<boolean> {
  const todo = all.filter(({ cell, round }) => !journal.has(turnKey(cell.id, round)));
  const totalMs = todo.reduce((sum, turn) => sum + 1000 * seconds(turn), 0);
  heading(`${todo.length} ${noun}, about ${formatDuration(totalMs)}`);
  const startedMs = performance.now();
  let failed = 0;
  for (const [index, turn] of todo.entries()) {
    const step = beginStep(`${index + 1} of ${todo.length}  ${turn.cell.id}, ${part} ${turn.round + 1}`);
    try {
      const measured = await measure(turn);
      await journal.append(measured);
      const { why } = measured.drive;
      const leftMs = ((performance.now() - startedMs) / (index + 1)) * (todo.length - index - 1);
      const not = why.length === 0 ? '' : `not driven: ${why.join('; ')}; `;
      step.end(why.length === 0, `${not}${formatDuration(leftMs)} left`);
    } catch (error) {
      failed += 1;
      step.end(false, messageOf(error));
    }
  }
  return failed === 0;
}
