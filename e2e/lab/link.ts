// How exact the emulated link is: delay, loss and rate asked and got, round trips as programs see them, and what it
// takes of the machine.
import { startEcho } from '../network/echo.ts';
import { netemUnavailable } from '../network/netem.ts';
import { openNetwork } from '../network/open.ts';
import type { Direction, Loss } from '../network/shape.ts';
import { beginStep, formatElapsed, heading, say } from '../run/display.ts';
import { readOptions } from './command-line.ts';
import { laboratoryOpens, runExperiment } from './experiment.ts';
import { leaveResults } from './folder.ts';
import {
  type CpuRow,
  type Joined,
  measureCpu,
  measureDelay,
  measureLoss,
  measureRate,
  measureRoundTrips,
  type RoundTripRow,
} from './link/measure.ts';
import { cpuTable, delayTable, lossTable, rateTable, roundTripTable } from './link/tables.ts';

const DIRECTIONS: readonly Direction[] = ['up', 'down'];
const DELAYS_MS = [0, 25, 50, 75, 100];
const LOSSES: readonly Loss[] = [
  ...[0.03, 0.1, 0.25, 0.5].map((share): Loss => ({ kind: 'independent', share })),
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

async function overBoth<Row, Asked>(
  asked: readonly Asked[],
  measure: (direction: Direction, asked: Asked) => Promise<Row>,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const each of asked) for (const direction of DIRECTIONS) rows.push(await measure(direction, each));
  return rows;
}

async function step<Rows>(title: string, measure: () => Promise<Rows>): Promise<Rows> {
  const shown = beginStep(title);
  try {
    const rows = await measure();
    shown.end(true);
    return rows;
  } catch (error) {
    shown.end(false);
    throw error;
  }
}

async function roundTrips(network: Joined, delaysMs: readonly number[]): Promise<RoundTripRow[]> {
  const echo = await startEcho(network.peers.server);
  const rows: RoundTripRow[] = [];
  for (const delayMs of delaysMs)
    rows.push(...(await measureRoundTrips(network, echo, delayMs, ROUND_TRIPS)));
  return rows;
}

async function cpu(network: Joined): Promise<CpuRow[]> {
  const rows: (CpuRow | null)[] = [];
  for (const perSecond of PACKETS_PER_SECOND) rows.push(await measureCpu(network, perSecond));
  return rows.filter((row) => row !== null);
}

async function measureLink(network: Joined, cable: Joined) {
  return {
    delays: await step('delay', () =>
      overBoth(DELAYS_MS, (direction, delayMs) =>
        measureDelay(network, direction, delayMs, DELAYED_DATAGRAMS),
      ),
    ),
    losses: await step('loss', () =>
      overBoth(LOSSES, (direction, loss) => measureLoss(network, direction, loss, LOST_DATAGRAMS)),
    ),
    rates: await step('rate', () =>
      overBoth(RATES_MBPS, (direction, mbps) => measureRate(network, direction, mbps)),
    ),
    cable: await step('round trips over a bare cable', () => roundTrips(cable, [0])),
    roundTrips: await step('round trips', () => roundTrips(network, DELAYS_MS)),
    cpu: await step('processor time', () => cpu(network)),
  };
}

type Accuracy = Awaited<ReturnType<typeof measureLink>>;

function print({ delays, losses, rates, roundTrips, cable, cpu }: Accuracy): void {
  heading('Delay one way, above what was asked, ms: by the link itself, and between two programs');
  say(delayTable(delays));
  heading('Loss');
  say(lossTable(losses));
  heading('Rate');
  say(rateTable(rates));
  heading('Round trips between two programs, ms');
  say(roundTripTable(roundTrips, cable));
  heading('The forwarder');
  say(cpuTable(cpu));
}

async function main(args: readonly string[]): Promise<number> {
  readOptions(args, {});
  if (!(await laboratoryOpens())) return 1;
  const netem = await netemUnavailable();
  say(`Measured is the forwarder, which the laboratory uses for its reports; netem: ${netem ?? 'is there'}.`);
  say(`About ${formatElapsed(EXPECTED_MS)}.`);
  const network = await openNetwork({ link: { kind: 'tun', shape: {}, seed: SEED } });
  try {
    const cable = await openNetwork();
    try {
      const accuracy = await measureLink(network, cable);
      print(accuracy);
      const document = {
        schema: 'photofinish.link/1',
        createdAt: new Date().toISOString(),
        seed: SEED,
        netem,
        ...accuracy,
      };
      await leaveResults('link', { 'result.json': `${JSON.stringify(document, null, 1)}\n` });
      return 0;
    } finally {
      await cable.close();
    }
  } finally {
    await network.close();
  }
}

await runExperiment('usage: npm run lab -- link', main);
