// The accuracy of the emulated link: configured and measured delay, loss and rate, round trips as programs see them,
// and its processor use.
import { type Direction, netemUnavailable, startEcho } from '../network/link.ts';
import { openNetwork } from '../network/open.ts';
import { beginStep } from '../run/display.ts';
import { readOptions, runExperiment } from './experiment.ts';
import type { Journal } from './journal.ts';
import {
  LINK,
  type Line,
  type LinkFindings,
  type LossLine,
  measureCpu,
  measureDelay,
  measureLoss,
  measureRate,
  measureRoundTrips,
} from './link/accuracy.ts';

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

type LinkJournal = Journal<object, LinkFindings, Line>;

/** One step of the measurements; `key` identifies each result. */
async function measureStep<T>(
  journal: LinkJournal,
  title: string,
  values: readonly T[],
  key: (value: T) => string,
  measure: (value: T) => Promise<Line | Line[]>,
): Promise<void> {
  const step = beginStep(title);
  try {
    for (const value of values) await journal.once(key(value), () => measure(value));
    step.end(true);
  } catch (error) {
    step.end(false);
    throw error;
  }
}

async function open(seed: number) {
  await using opening = new AsyncDisposableStack();
  const network = await openNetwork({ link: { kind: 'tun', shape: {}, seed } });
  opening.defer(network.close);
  const cable = await openNetwork();
  opening.defer(cable.close);
  const closing = opening.move();
  return { network, cable, close: () => closing.disposeAsync() };
}

async function measure(
  { network, cable }: Awaited<ReturnType<typeof open>>,
  journal: LinkJournal,
): Promise<boolean> {
  const overBoth = <T>(values: readonly T[]) =>
    values.flatMap((value) => DIRECTIONS.map((direction) => ({ direction, value })));
  await measureStep(
    journal,
    'delay',
    overBoth(DELAYS_MS),
    ({ direction, value }) => `delay ${direction} ${value}`,
    ({ direction, value }) => measureDelay(network, direction, value, DELAYED_DATAGRAMS),
  );
  await measureStep(
    journal,
    'loss',
    overBoth(LOSSES),
    ({ direction, value }) => `loss ${direction} ${JSON.stringify(value)}`,
    ({ direction, value }) => measureLoss(network, direction, value, LOST_DATAGRAMS),
  );
  await measureStep(
    journal,
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
    // TCP's is the last of the two to be recorded.
    const key = (delayMs: number) => `round-trip TCP connect ${over === cable} ${2 * delayMs}`;
    await measureStep(journal, title, delaysMs, key, (delayMs) =>
      measureRoundTrips(over, echo, delayMs, ROUND_TRIPS),
    );
  }
  const key = (perSecond: number) => `cpu ${perSecond}`;
  await measureStep(journal, 'processor time', PACKETS_PER_SECOND, key, (perSecond) =>
    measureCpu(network, perSecond),
  );
  return true;
}

if (import.meta.main)
  await runExperiment(
    'usage: npm run lab -- link [--fresh]\n  --fresh    measure anew instead of going on where the last run stopped',
    (args) => ({
      schema: LINK,
      seed: SEED,
      ...readOptions(args, { fresh: { type: 'boolean', default: false } }),
      expectedMs: EXPECTED_MS,
      open,
      plan: () => ({}),
      find: async () => ({ netem: await netemUnavailable() }),
      measure,
    }),
  );
