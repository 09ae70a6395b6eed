// What a run measures, from the command line's words: which rows, with how many trials, and about how long. Pure.
import { choose, readOptions, wholeNumber } from '../command-line.ts';
import type { Row } from './row.ts';

export interface Planned {
  readonly row: Row;
  readonly trials: number;
  /** Why its hypotheses cannot be judged; undefined: they can. */
  readonly tooFew: string | undefined;
}

export interface Plan {
  readonly rows: readonly Planned[];
  readonly full: boolean;
  readonly fresh: boolean;
}

const OPTIONS = {
  rows: { type: 'string' },
  trials: { type: 'string' },
  full: { type: 'boolean', default: false },
  fresh: { type: 'boolean', default: false },
} as const;
const MOST_TRIALS = 100_000;

export function usage(rows: readonly Row[]): string {
  return [
    'usage: npm run lab -- paths [--rows NAME,...] [--trials N] [--full] [--fresh]',
    '',
    ...rows.map(({ name, title }) => `  ${name.padEnd(14)}${title}`),
    '',
    '  --trials N    of each client in each condition',
    '  --full        more than the usual, on which hypotheses are judged already',
    '  --fresh       measure anew instead of going on where the last run stopped',
  ].join('\n');
}

/** Reads the words. Throws BadUsage for the first mistake. */
export function planOf(args: readonly string[], rows: readonly Row[]): Plan {
  const { full, fresh, ...values } = readOptions(args, OPTIONS);
  const asked = values.trials === undefined ? null : wholeNumber('trials', values.trials, 1, MOST_TRIALS);
  const planned = choose('rows', values.rows, rows, ({ name }) => name).map((row) => {
    const trials = asked ?? (full ? row.trials.full : row.trials.usual);
    const tooFew = trials < row.trials.usual ? `${trials} of ${row.trials.usual} trials` : undefined;
    return { row, trials, tooFew };
  });
  return { rows: planned, full, fresh };
}

/** About how long that takes, milliseconds. */
export function estimatedMs({ rows }: Plan): number {
  return rows.reduce((sum, { row, trials }) => sum + row.fixedMs + trials * row.trialMs, 0);
}
