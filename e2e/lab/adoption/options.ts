// The command line of `npm run lab -- adoption`: every mistake is found before anything is opened.
import { parseArgs } from 'node:util';
import type { ContestantKind } from '../contestant.ts';
import { CELLS } from './cells.ts';
import { type Entrant, FULL_TRIALS } from './contestants.ts';
import type { Cell } from './run.ts';

export const USAGE = `usage: npm run lab -- adoption [OPTION...]
  --full            as many trials as goals are judged on; with the ablations
  --ablations       each idea of ours also on its own
  --trials N        trials of each contestant in each cell
  --cells A,B       only these links, such as delay-50,loss-10
  --only A,B        only these contestants
  --no-browsers     all but the browsers
  --seed N          decides order and losses; 1 unless said
  --fresh           measure anew instead of going on where the last run stopped
  --results-only    print what has been measured so far
  --strict          exit code 1 if a goal is missed`;

/** A mistake on the command line; its message says which. */
export class BadUsage extends Error {}

export interface AdoptionOptions {
  readonly full: boolean;
  readonly trials: Readonly<Record<ContestantKind, number>>;
  /** Of that one contestant in each cell. */
  readonly trialsOf: (entrant: Entrant) => number;
  readonly cells: readonly Cell[];
  readonly entrants: readonly Entrant[];
  readonly seed: number;
  readonly fresh: boolean;
  readonly resultsOnly: boolean;
  readonly strict: boolean;
}

const OPTIONS = {
  full: { type: 'boolean', default: false },
  ablations: { type: 'boolean', default: false },
  trials: { type: 'string' },
  cells: { type: 'string' },
  only: { type: 'string' },
  'no-browsers': { type: 'boolean', default: false },
  seed: { type: 'string' },
  fresh: { type: 'boolean', default: false },
  'results-only': { type: 'boolean', default: false },
  strict: { type: 'boolean', default: false },
} as const;

/** Enough to show a trend. */
const TREND_TRIALS = { ours: 100, peer: 100, browser: 5 } as const;
const MOST_TRIALS = 100_000;
/** The link takes 32 bits, and a resumed run counts on from here. */
const GREATEST_SEED = 2 ** 31;

function wholeNumber(option: string, text: string, greatest: number): number {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : 0;
  if (value < 1 || value > greatest)
    throw new BadUsage(`--${option} takes a whole number from 1 to ${greatest}, not "${text}"`);
  return value;
}

/** Those of `all` that the list names, in the order of `all`. */
function choose<T>(option: string, list: string, all: readonly T[], nameOf: (each: T) => string): T[] {
  const wanted = list.split(',').map((name) => name.trim());
  const names = all.map(nameOf);
  const stranger = wanted.find((name) => !names.includes(name));
  if (stranger !== undefined)
    throw new BadUsage(`--${option} does not know "${stranger}". There are: ${names.join(', ')}`);
  return all.filter((each) => wanted.includes(nameOf(each)));
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, strict: true, allowPositionals: false }).values;
  } catch (error) {
    throw new BadUsage(error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error));
  }
}

function chooseEntrants(values: ReturnType<typeof parse>, all: readonly Entrant[]): readonly Entrant[] {
  const chosen =
    values.only === undefined
      ? all.filter(({ ablation }) => !ablation || values.ablations || values.full)
      : choose('only', values.only, all, ({ name }) => name);
  const entrants = chosen.filter(({ kind }) => kind !== 'browser' || !values['no-browsers']);
  if (entrants.length === 0)
    throw new BadUsage('--only names nothing but browsers, and --no-browsers no browser');
  return entrants;
}

/** Throws BadUsage for the first mistake. */
export function parseOptions(args: readonly string[], all: readonly Entrant[]): AdoptionOptions {
  const values = parse(args);
  const { full } = values;
  if (full && values.trials !== undefined) throw new BadUsage('choose one of --full and --trials');
  if (values.fresh && values['results-only']) throw new BadUsage('choose one of --fresh and --results-only');
  const asked = values.trials === undefined ? null : wholeNumber('trials', values.trials, MOST_TRIALS);
  const usual = full ? FULL_TRIALS : TREND_TRIALS;
  const trials = asked === null ? usual : { ours: asked, peer: asked, browser: asked };
  return {
    full,
    trials,
    trialsOf: ({ kind, fullTrials }) => (full ? fullTrials : trials[kind]),
    cells: values.cells === undefined ? CELLS : choose('cells', values.cells, CELLS, ({ id }) => id),
    entrants: chooseEntrants(values, all),
    seed: values.seed === undefined ? 1 : wholeNumber('seed', values.seed, GREATEST_SEED),
    fresh: values.fresh,
    resultsOnly: values['results-only'],
    strict: values.strict,
  };
}
