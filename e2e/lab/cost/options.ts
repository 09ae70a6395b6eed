// The command line of `npm run lab -- cost`: every mistake is found before anything is opened.
import { BadUsage, choose, GREATEST_SEED, listOf, readOptions, wholeNumber } from '../command-line.ts';
import { type Extent, OBJECTS, type ObjectBytes, SERVERS, type ServerName } from './cells.ts';

export const USAGE = `usage: npm run lab -- cost [OPTION...]
  --seconds N       measured seconds of each cell, 3 to 600; 60 unless said
  --quick           12 seconds of each cell, hit ratios of one object only
  --full            both objects and all hit ratios at every load
  --server A,B      only these servers: ${SERVERS.join(', ')}
  --object A,B      only these objects, KiB: ${OBJECTS.map((bytes) => bytes / 1024).join(', ')}
  --loads A,B       these requests a second instead of what is found to be driven
  --cells A,B       only cells whose names contain one of these
  --seed N          decides order and gaps; 1 unless said
  --fresh           measure anew instead of going on where the last run stopped`;

export interface CostOptions {
  /** Of each cell. */
  readonly seconds: number;
  readonly extent: Extent;
  readonly servers: readonly ServerName[];
  readonly objects: readonly ObjectBytes[];
  /** Ascending; null: found by trying. */
  readonly loads: readonly number[] | null;
  /** Parts of the names of cells; null: all. */
  readonly cells: readonly string[] | null;
  readonly seed: number;
  readonly fresh: boolean;
}

const OPTIONS = {
  seconds: { type: 'string' },
  quick: { type: 'boolean', default: false },
  full: { type: 'boolean', default: false },
  server: { type: 'string' },
  object: { type: 'string' },
  loads: { type: 'string' },
  cells: { type: 'string' },
  seed: { type: 'string' },
  fresh: { type: 'boolean', default: false },
} as const;

/** P1 ran each load for 600 s; its claims are judged on 60. */
const JUDGED_SECONDS = 60;
const QUICK_SECONDS = 12;
const MOST_PER_SECOND = 10_000;

function readLoads(text: string | undefined): readonly number[] | null {
  if (text === undefined) return null;
  const loads = listOf(text).map((load) => wholeNumber('loads', load, 1, MOST_PER_SECOND));
  return [...new Set(loads)].toSorted((a, b) => a - b);
}

/** Throws BadUsage for the first mistake. */
export function parseOptions(args: readonly string[]): CostOptions {
  const values = readOptions(args, OPTIONS);
  const { quick, full, fresh } = values;
  if (quick && full) throw new BadUsage('choose one of --quick and --full');
  const usual = quick ? QUICK_SECONDS : JUDGED_SECONDS;
  return {
    seconds: values.seconds === undefined ? usual : wholeNumber('seconds', values.seconds, 3, 600),
    extent: full ? 'full' : quick ? 'quick' : 'usual',
    servers: choose('server', values.server, SERVERS, (name) => name),
    objects: choose('object', values.object, OBJECTS, (bytes) => String(bytes / 1024)),
    loads: readLoads(values.loads),
    cells: values.cells === undefined ? null : listOf(values.cells),
    seed: values.seed === undefined ? 1 : wholeNumber('seed', values.seed, 1, GREATEST_SEED),
    fresh,
  };
}
