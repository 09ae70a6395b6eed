// How exact the emulated link is: delay, loss and rate asked and got, round trips as programs see them, and what it
// takes of the machine.
import { startEcho } from '../network/echo.ts';
import { netemUnavailable } from '../network/netem.ts';
import { openNetwork } from '../network/open.ts';
import type { Direction } from '../network/shape.ts';
import { beginStep, formatElapsed, say } from '../run/display.ts';
import { readOptions } from './command-line.ts';
import { laboratoryOpens, record, runExperiment } from './experiment.ts';
import { folderOf, sayReport } from './folder.ts';
import type { Journal } from './journal.ts';
import {
  LINK,
  type Line,
  type LossLine,
  measureCpu,
  measureDelay,
  measureLoss,
  measureRate,
  measureRoundTrips,
} from './link/measure.ts';

const DIR = folderOf('link');
const DIRECTIONS: readonly Direction[] = ['up', 'down'];
const DELAYS_MS = [0, 25, 50, 75, 100];
const LOSSES: readonly LossLine['asked'][] = [
  ...[0.03, 0.1, 0.25, 0.5].map((share) => ({ kind: 'independent' as const, share })),
  { kind: 'bursts', enter: 0.02, leave: 0.25 },
];
const RATES_MBPS = [5, 50];
const PACKETS_PER_SECOND = [0, 1000, 5000];
const DELAYED_DATAGRAMS = 300;
const LOST_DATAGRAMS = 5000;
const ROUND_TRIPS = 60;
const SEED = 1;
/** On an idle machine. */
const EXPECTED_MS = 90_000;

/** What tells the lines of a record apart. */
function keyOf(line: Line): string {
  switch (line.kind) {
    case 'delay':
      return `delay ${line.direction} ${line.askedMs}`;
    case 'loss':
      return `loss ${line.direction} ${JSON.stringify(line.asked)}`;
    case 'rate':
      return `rate ${line.direction} ${line.askedMbps}`;
    case 'round-trip':
      return `round-trip ${line.by} ${line.cable} ${line.askedMs}`;
    case 'cpu':
      return `cpu ${line.packetsPerSecond}`;
  }
}

class Recording {
  readonly #journal: Journal<object, object, Line>;
  constructor(journal: Journal<object, object, Line>) {
    this.#journal = journal;
  }

  /** A step of those measurements, of which one that the record has is not made again; `key` names what each gives. */
  async step<T>(
    title: string,
    values: readonly T[],
    key: (value: T) => string,
    measure: (value: T) => Promise<Line | Line[]>,
  ): Promise<void> {
    const step = beginStep(title);
    try {
      for (const value of values) {
        if (this.#has(key(value))) continue;
        for (const line of [await measure(value)].flat())
          if (!this.#has(keyOf(line))) await this.#journal.append(line);
      }
      step.end(true);
    } catch (error) {
      step.end(false);
      throw error;
    }
  }

  #has(key: string): boolean {
    return this.#journal.turns.some((line) => keyOf(line) === key);
  }
}

async function open(seed: number) {
  const network = await openNetwork({ link: { kind: 'tun', shape: {}, seed } });
  const cable = await openNetwork().catch(async (error: unknown) => {
    await network.close();
    throw error;
  });
  const close = async () => {
    await cable.close();
    await network.close();
  };
  return { network, cable, close };
}

const find = async () => ({ netem: await netemUnavailable() });

async function measure(
  { network, cable }: Awaited<ReturnType<typeof open>>,
  journal: Journal<object, object, Line>,
): Promise<boolean> {
  const recording = new Recording(journal);
  const overBoth = <T>(values: readonly T[]) =>
    values.flatMap((value) => DIRECTIONS.map((direction) => ({ direction, value })));
  await recording.step(
    'delay',
    overBoth(DELAYS_MS),
    ({ direction, value }) => `delay ${direction} ${value}`,
    ({ direction, value }) => measureDelay(network, direction, value, DELAYED_DATAGRAMS),
  );
  await recording.step(
    'loss',
    overBoth(LOSSES),
    ({ direction, value }) => `loss ${direction} ${JSON.stringify(value)}`,
    ({ direction, value }) => measureLoss(network, direction, value, LOST_DATAGRAMS),
  );
  await recording.step(
    'rate',
    overBoth(RATES_MBPS),
    ({ direction, value }) => `rate ${direction} ${value}`,
    ({ direction, value }) => measureRate(network, direction, value),
  );
  for (const { title, over, delaysMs } of [
    { title: 'round trips over a bare cable', over: cable, delaysMs: [0] },
    { title: 'round trips', over: network, delaysMs: DELAYS_MS },
  ]) {
    const echo = await startEcho(over.peers.server);
    // TCP's is the last of both to be recorded.
    const key = (delayMs: number) => `round-trip TCP connect ${over === cable} ${2 * delayMs}`;
    await recording.step(title, delaysMs, key, (delayMs) =>
      measureRoundTrips(over, echo, delayMs, ROUND_TRIPS),
    );
  }
  const key = (perSecond: number) => `cpu ${perSecond}`;
  await recording.step('processor time', PACKETS_PER_SECOND, key, (perSecond) =>
    measureCpu(network, perSecond),
  );
  return true;
}

async function main(args: readonly string[]): Promise<number> {
  const { fresh } = readOptions(args, { fresh: { type: 'boolean', default: false } });
  if (!(await laboratoryOpens())) return 1;
  say(`About ${formatElapsed(EXPECTED_MS)}.`);
  await record({ form: LINK, seed: SEED, fresh, open, asked: () => ({}), find, measure }, DIR);
  sayReport(DIR);
  return 0;
}

await runExperiment(
  'usage: npm run lab -- link [--fresh]\n  --fresh    measure anew instead of going on where the last run stopped',
  main,
);
