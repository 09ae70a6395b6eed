// The accuracy of the emulated link, from its ends and by its own report: configured and measured delay, loss and rate,
// round trips as programs see them, and its processor use. Each measurement is a line of the record, analysed
// elsewhere.
import { setTimeout as sleep } from 'node:timers/promises';
import { count } from '@photofinish/shared/web/untrusted';
import * as v from 'valibot';
import { type Direction, netemUnavailable, type Shape, startEcho } from '../network/link.ts';
import { type Network, openNetwork } from '../network/open.ts';
import { processorTimeOf } from '../proc.ts';
import { beginStep } from '../run/display.ts';
import { readOptions, readSeed, runExperiment } from './experiment.ts';
import { directionReportSchema, figure, type Journal, type RecordSchema } from './journal.ts';
import { type Stream, sendStream, timeConnects } from './link/traffic.ts';

export type LinkedNetwork = Network<'server'>;

const share = v.pipe(figure, v.minValue(0), v.maxValue(1));
const directionSchema = v.picklist(['up', 'down']);
const lossSchema = v.variant('kind', [
  v.object({ kind: v.literal('independent'), share }),
  v.object({ kind: v.literal('bursts'), enter: share, leave: share }),
]);

const delaySchema = v.object({
  kind: v.literal('delay'),
  direction: directionSchema,
  askedMs: figure,
  link: directionReportSchema,
  /** From the sender's call to the receiver's callback, minus the configured delay: includes sockets and processes. */
  aboveUs: v.array(figure),
});
const lossLineSchema = v.object({
  kind: v.literal('loss'),
  direction: directionSchema,
  asked: lossSchema,
  sent: count,
  link: directionReportSchema,
  /** The numbers, from 0, of those that did not arrive. */
  missed: v.array(count),
});
const rateSchema = v.object({
  kind: v.literal('rate'),
  direction: directionSchema,
  askedMbps: figure,
  /** Those that arrived, and the time between the first and the last. */
  packets: count,
  packetBits: count,
  tookUs: figure,
});
const roundTripSchema = v.object({
  kind: v.literal('round-trip'),
  by: v.picklist(['UDP echo', 'TCP connect']),
  /** Whether a bare cable was used instead of the link. */
  cable: v.boolean(),
  /** Both directions together. */
  askedMs: figure,
  tookMs: v.array(figure),
});
const cpuSchema = v.object({
  kind: v.literal('cpu'),
  packetsPerSecond: count,
  usedMs: figure,
  spanMs: figure,
});

type DelayLine = v.InferOutput<typeof delaySchema>;
type LossLine = v.InferOutput<typeof lossLineSchema>;
const lineSchema = v.variant('kind', [delaySchema, lossLineSchema, rateSchema, roundTripSchema, cpuSchema]);
type Line = v.InferOutput<typeof lineSchema>;

const foundSchema = v.object({
  /** Why the kernel has no netem here; null if it has. */
  netem: v.nullable(v.string()),
});
type LinkFindings = v.InferOutput<typeof foundSchema>;

/** Identifies a line of a record. */
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

const LINK: RecordSchema<object, LinkFindings, Line> = {
  experiment: 'link',
  asked: v.object({}),
  found: foundSchema,
  turn: lineSchema,
  keyOf,
};

const IPV4_UDP_BYTES = 28;
const PAYLOAD_BYTES = 100;
/** Datagrams per second when measuring delay: few enough for the machine to go idle in between. */
const CALM_PER_SECOND = 250;
/** At this rate a receiver may stall for 0.1 s before its buffer is full. */
const LOSS_PER_SECOND = 2500;
const RATE_PAYLOAD_BYTES = 1200;
const RATE_EXCESS = 4;
const CPU_SPAN_MS = 2000;

const BARE = { delayMs: 0 };

function ends({ client, peers: { server } }: LinkedNetwork, direction: Direction) {
  return direction === 'up'
    ? { from: client, to: server, address: server.ipv4 }
    : { from: server, to: client, address: server.clientIpv4 };
}

const thousandths = (value: number) => Math.round(value * 1000) / 1000;

/** What arrives of a stream over a link with that shape, and the link's own report; `delayMs` as for `sendStream`. */
async function sendOver(
  network: LinkedNetwork,
  direction: Direction,
  shape: Shape,
  stream: Omit<Stream, 'address'>,
  delayMs?: number,
) {
  const { server } = network.peers;
  const { from, to, address } = ends(network, direction);
  await server.shape({ [direction]: shape });
  await server.report();
  const arrivals = await sendStream(from, to, { address, ...stream }, delayMs);
  const link = (await server.report())[direction];
  await server.shape({ [direction]: BARE });
  return { arrivals, link };
}

async function measureDelay(
  network: LinkedNetwork,
  direction: Direction,
  askedMs: number,
  datagrams: number,
): Promise<DelayLine> {
  const stream = { datagrams, bytes: PAYLOAD_BYTES, perSecond: CALM_PER_SECOND };
  const { arrivals, link } = await sendOver(network, direction, { delayMs: askedMs }, stream, askedMs);
  const aboveUs = arrivals.map(({ stayUs }) => thousandths(stayUs - askedMs * 1000));
  return { kind: 'delay', direction, askedMs, link, aboveUs };
}

async function measureLoss(
  network: LinkedNetwork,
  direction: Direction,
  asked: LossLine['asked'],
  datagrams: number,
): Promise<LossLine> {
  const stream = { datagrams, bytes: PAYLOAD_BYTES, perSecond: LOSS_PER_SECOND };
  const { arrivals, link } = await sendOver(network, direction, { loss: asked }, stream);
  const all = new Set(Array.from({ length: datagrams }, (_, sequence) => sequence));
  const missed = [...all.difference(new Set(arrivals.map(({ sequence }) => sequence)))];
  return { kind: 'loss', direction, asked, sent: datagrams, link, missed };
}

/** Sends faster than the rate, so that a queue builds up. */
async function measureRate(network: LinkedNetwork, direction: Direction, askedMbps: number): Promise<Line> {
  const packetBits = (RATE_PAYLOAD_BYTES + IPV4_UDP_BYTES) * 8;
  const perSecond = Math.ceil((RATE_EXCESS * askedMbps * 1e6) / packetBits);
  const datagrams = Math.ceil(perSecond / RATE_EXCESS);
  const stream = { datagrams, bytes: RATE_PAYLOAD_BYTES, perSecond };
  const { arrivals } = await sendOver(network, direction, { rateMbps: askedMbps }, stream, 1000);
  const at = arrivals.map(({ atUs }) => atUs);
  const tookUs = Math.max(...at) - Math.min(...at);
  return { kind: 'rate', direction, askedMbps, packets: arrivals.length, packetBits, tookUs };
}

/** Round trips as programs see them, with a delay in each direction. */
async function measureRoundTrips(
  network: LinkedNetwork,
  echo: Awaited<ReturnType<typeof startEcho>>,
  delayMs: number,
  times: number,
): Promise<Line[]> {
  const { client } = network;
  const { server } = network.peers;
  const cable = server.linkPid === null;
  if (!cable) await server.shape({ up: { delayMs }, down: { delayMs } });
  const probe = { address: server.ipv4, datagrams: times, bytes: PAYLOAD_BYTES, gapMs: 4 };
  const { roundTripsMs } = await echo.probe(client, probe);
  const connectsUs = await timeConnects(client, server, { address: server.ipv4, times });
  if (!cable) await server.shape({ up: BARE, down: BARE });
  const common = { kind: 'round-trip', cable, askedMs: 2 * delayMs } as const;
  return [
    { ...common, by: 'UDP echo', tookMs: roundTripsMs.map(thousandths) },
    { ...common, by: 'TCP connect', tookMs: connectsUs.map((us) => thousandths(us / 1000)) },
  ];
}

/** The forwarder's processor use at a given packet rate and 25 ms; nothing if the kernel forwards. */
async function measureCpu(network: LinkedNetwork, packetsPerSecond: number): Promise<Line[]> {
  const { client } = network;
  const { server } = network.peers;
  const { linkPid } = server;
  if (linkPid === null) return [];
  const usedSoFarMs = () => {
    const { userMs, systemMs } = processorTimeOf(linkPid);
    return userMs + systemMs;
  };
  await server.shape({ up: { delayMs: 25 } });
  const usedBefore = usedSoFarMs();
  const datagrams = Math.round((packetsPerSecond * CPU_SPAN_MS) / 1000);
  const stream = { address: server.ipv4, datagrams, bytes: PAYLOAD_BYTES, perSecond: packetsPerSecond };
  if (datagrams > 0) await sendStream(client, server, stream, 25);
  else await sleep(CPU_SPAN_MS);
  const usedMs = usedSoFarMs() - usedBefore;
  await server.shape({ up: BARE });
  return [{ kind: 'cpu', packetsPerSecond, usedMs, spanMs: CPU_SPAN_MS }];
}

const BRIEF_DELAYS_MS = [0, 25, 100];
const BRIEF_SHARES = [0.1, 0.5];
const BRIEF_DELAYED_DATAGRAMS = 60;
const BRIEF_LOST_DATAGRAMS = 2000;

const ms = (us: number) => (us / 1000).toFixed(2);

function delayText({ askedMs, link: { lateUs } }: DelayLine): string {
  const late =
    lateUs === null ? 'nothing passed' : `median ${ms(lateUs.median)}, latest ${ms(lateUs.max)} ms late`;
  return `delay ${askedMs} ms: ${late}`;
}

function lossText(share: number, { link: { lost, delivered } }: LossLine): string {
  return `loss ${100 * share} %: ${lost} of ${lost + delivered} packets lost`;
}

/**
 * Measures a separate link, delays from client to server and losses from server to client, in under five seconds on an
 * idle machine, and returns a line for each. Rejects if no network can be opened; check `networkUnavailable('tun')`
 * first.
 */
export async function briefAccuracy(): Promise<string[]> {
  await using closing = new AsyncDisposableStack();
  const network = await openNetwork({ link: { kind: 'tun', shape: {}, seed: 1 } });
  closing.defer(network.close);
  const lines: string[] = [];
  for (const delayMs of BRIEF_DELAYS_MS)
    lines.push(delayText(await measureDelay(network, 'up', delayMs, BRIEF_DELAYED_DATAGRAMS)));
  for (const share of BRIEF_SHARES) {
    const asked = { kind: 'independent', share } as const;
    lines.push(lossText(share, await measureLoss(network, 'down', asked, BRIEF_LOST_DATAGRAMS)));
  }
  return lines;
}

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

const USAGE = `usage: npm run lab -- link [--seed N] [--fresh]
  --seed N    decides losses; default: 1
  --fresh     start a new record instead of resuming the last one`;

if (import.meta.main)
  await runExperiment(USAGE, (args) => {
    const { fresh, seed } = readOptions(args, {
      fresh: { type: 'boolean', default: false },
      seed: { type: 'string' },
    });
    return {
      schema: LINK,
      seed: readSeed(seed),
      fresh,
      expectedMs: EXPECTED_MS,
      open,
      plan: () => ({}),
      find: async () => ({ netem: await netemUnavailable() }),
      measure,
    };
  });
