// What the experiments under load, `cost` and `p1`, have in common: their options, and how their turns are measured one
// after the other.
import { beginStep, formatDuration, heading } from '../../run/display.ts';
import { BadUsage, choose, GREATEST_SEED, listOf, type readOptions, wholeNumber } from '../experiment.ts';
import { OBJECTS, type ObjectBytes } from './cells.ts';

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

export interface LoadOptions {
  /** Per cell. */
  readonly seconds: number;
  readonly objects: readonly ObjectBytes[];
  /** Ascending; null: determined by trial. */
  readonly loads: readonly number[] | null;
  /** Substrings of cell names; null: all. */
  readonly cells: readonly string[] | null;
  readonly seed: number;
  readonly fresh: boolean;
}

/** P1 ran each load for 600 s; its claims are judged on 60. */
const JUDGED_SECONDS = 60;
const QUICK_SECONDS = 12;

const MOST_PER_SECOND = 10_000;

/** The value of `--loads`, ascending; null without one. Throws BadUsage for anything but requests a second. */
function readLoads(text: string | undefined): readonly number[] | null {
  if (text === undefined) return null;
  const loads = listOf(text).map((load) => wholeNumber('loads', load, 1, MOST_PER_SECOND));
  return [...new Set(loads)].toSorted((a, b) => a - b);
}

/** Throws BadUsage for the first mistake. */
export function readLoadOptions(values: ReturnType<typeof readOptions<typeof LOAD_OPTIONS>>): LoadOptions {
  const { quick, full, fresh } = values;
  if (quick && full) throw new BadUsage('choose one of --quick and --full');
  const usual = quick ? QUICK_SECONDS : JUDGED_SECONDS;
  return {
    seconds: values.seconds === undefined ? usual : wholeNumber('seconds', values.seconds, 3, 600),
    objects: choose('object', values.object, OBJECTS, (bytes) => String(bytes / 1024)),
    loads: readLoads(values.loads),
    cells: values.cells === undefined ? null : listOf(values.cells),
    seed: values.seed === undefined ? 1 : wholeNumber('seed', values.seed, 1, GREATEST_SEED),
    fresh,
  };
}

interface LoadTurns<Turn> {
  /** What the turns are called, in the plural. */
  readonly noun: string;
  readonly expectedMs: (turn: Turn) => number;
  readonly titleOf: (turn: Turn) => string;
  /** Measures and records one; resolves with the reasons for which its load was not driven. */
  readonly measure: (turn: Turn) => Promise<readonly string[]>;
}

/** Measures all of them and shows how far it is; false if one failed, which does not keep it from the others. */
export async function measureTurns<Turn>(
  todo: readonly Turn[],
  { noun, expectedMs, titleOf, measure }: LoadTurns<Turn>,
): Promise<boolean> {
  const totalMs = todo.reduce((sum, turn) => sum + expectedMs(turn), 0);
  heading(`${todo.length} ${noun}, about ${formatDuration(totalMs)}`);
  const startedMs = performance.now();
  let failed = 0;
  for (const [index, turn] of todo.entries()) {
    const step = beginStep(`${index + 1} of ${todo.length}  ${titleOf(turn)}`);
    try {
      const why = await measure(turn);
      const leftMs = ((performance.now() - startedMs) / (index + 1)) * (todo.length - index - 1);
      const not = why.length === 0 ? '' : `not driven: ${why.join('; ')}; `;
      step.end(why.length === 0, `${not}${formatDuration(leftMs)} left`);
    } catch (error) {
      failed += 1;
      step.end(false, error instanceof Error ? error.message : String(error));
    }
  }
  return failed === 0;
}
