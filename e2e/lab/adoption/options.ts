// The command line of `npm run lab -- adoption`: every mistake is found before anything is opened.

import type { ClientKind } from '../client.ts';
import { BadUsage, choose, GREATEST_SEED, readOptions, wholeNumber } from '../command-line.ts';
import { CELLS } from './cells.ts';
import { type ClientChoice, FULL_TRIALS } from './clients.ts';
import type { Cell } from './run.ts';

export const USAGE = `usage: npm run lab -- adoption [OPTION...]
  --full            as many trials as hypotheses are judged on; with the ablations
  --ablations       each idea of ours also on its own
  --trials N        trials of each client in each cell
  --cells A,B       only these links, such as delay-50,loss-10
  --only A,B        only these clients
  --no-browsers     all but the browsers
  --seed N          decides order and losses; 1 unless said
  --fresh           measure anew instead of going on where the last run stopped`;

export interface AdoptionOptions {
  readonly full: boolean;
  readonly trials: Readonly<Record<ClientKind, number>>;
  /** Of that one client in each cell. */
  readonly trialsOf: (choice: ClientChoice) => number;
  readonly cells: readonly Cell[];
  readonly choices: readonly ClientChoice[];
  readonly seed: number;
  readonly fresh: boolean;
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
} as const;

/** Enough to show a trend. */
const TREND_TRIALS = { ours: 100, peer: 100, browser: 5 } as const;
const MOST_TRIALS = 100_000;

const read = (args: readonly string[]) => readOptions(args, OPTIONS);

function chooseClients(
  values: ReturnType<typeof read>,
  all: readonly ClientChoice[],
): readonly ClientChoice[] {
  const chosen =
    values.only === undefined
      ? all.filter(({ ablation }) => !ablation || values.ablations || values.full)
      : choose('only', values.only, all, ({ name }) => name);
  const choices = chosen.filter(({ kind }) => kind !== 'browser' || !values['no-browsers']);
  if (choices.length === 0)
    throw new BadUsage('--only names nothing but browsers, and --no-browsers no browser');
  return choices;
}

/** Throws BadUsage for the first mistake. */
export function parseOptions(args: readonly string[], all: readonly ClientChoice[]): AdoptionOptions {
  const values = read(args);
  const { full } = values;
  if (full && values.trials !== undefined) throw new BadUsage('choose one of --full and --trials');
  const asked = values.trials === undefined ? null : wholeNumber('trials', values.trials, 1, MOST_TRIALS);
  const usual = full ? FULL_TRIALS : TREND_TRIALS;
  const trials = asked === null ? usual : { ours: asked, peer: asked, browser: asked };
  return {
    full,
    trials,
    trialsOf: ({ kind, fullTrials }) => (full ? fullTrials : trials[kind]),
    cells: choose('cells', values.cells, CELLS, ({ id }) => id),
    choices: chooseClients(values, all),
    seed: values.seed === undefined ? 1 : wholeNumber('seed', values.seed, 1, GREATEST_SEED),
    fresh: values.fresh,
  };
}
