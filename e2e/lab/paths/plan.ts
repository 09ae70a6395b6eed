// What a run measures, from the command line's words: which rows, with how many trials, and about how long. Pure.
import { parseArgs } from 'node:util';
import type { Row } from './row.ts';

export interface Planned {
  readonly row: Row;
  readonly trials: number;
  /** Why its goals cannot be judged; undefined: they can. */
  readonly tooFew: string | undefined;
}

export interface Plan {
  readonly rows: readonly Planned[];
  readonly full: boolean;
}

const MOST_TRIALS = 100_000;

export function usage(rows: readonly Row[]): string {
  return [
    'usage: npm run lab -- paths [--rows NAME,...] [--trials N] [--full]',
    '',
    ...rows.map(({ name, title }) => `  ${name.padEnd(14)}${title}`),
    '',
    '  --trials N    of each contestant in each condition',
    '  --full        more than the usual, on which goals are judged already',
  ].join('\n');
}

function selected(rows: readonly Row[], names: string | undefined): readonly Row[] {
  if (names === undefined) return rows;
  const wanted = names.split(',');
  const unknown = wanted.find((name) => !rows.some((row) => row.name === name));
  if (unknown !== undefined) throw new RangeError(`there is no row "${unknown}"`);
  return rows.filter(({ name }) => wanted.includes(name));
}

function trialsFrom(text: string | undefined): number | null {
  if (text === undefined) return null;
  const trials = Number(text);
  if (!/^\d+$/.test(text) || trials < 1 || trials > MOST_TRIALS)
    throw new RangeError(`--trials must be between 1 and ${MOST_TRIALS}`);
  return trials;
}

/** Reads the words. Throws with what is wrong with them. */
export function planOf(args: readonly string[], rows: readonly Row[]): Plan {
  const options = {
    rows: { type: 'string' },
    trials: { type: 'string' },
    full: { type: 'boolean' },
  } as const;
  const { values } = parseArgs({ args: [...args], options });
  const asked = trialsFrom(values.trials);
  const full = values.full === true;
  const planned = selected(rows, values.rows).map((row) => {
    const trials = asked ?? (full ? row.trials.full : row.trials.usual);
    const tooFew = trials < row.trials.usual ? `${trials} of ${row.trials.usual} trials` : undefined;
    return { row, trials, tooFew };
  });
  return { rows: planned, full };
}

/** About how long that takes, milliseconds. */
export function estimatedMs({ rows }: Plan): number {
  return rows.reduce((sum, { row, trials }) => sum + row.fixedMs + trials * row.trialMs, 0);
}
