// The accuracy of the emulated link, from its ends and by its own report: configured and measured delay, loss and rate,
// round trips as programs see them, and its processor use. Each measurement is a line of the record, analysed
// elsewhere.
import { setTimeout as sleep } from 'node:timers/promises';
import { count } from '@photofinish/shared/web/untrusted';
import * as v from 'valibot';
import { type Direction, netemUnavailable, type Shape, startEcho } from '../network/link.ts';
import type { Namespace } from '../network/namespace.ts';
import { openNetwork, type Peer } from '../network/open.ts';
import { busyMsOf } from '../proc.ts';
import { beginStep } from '../run/display.ts';
import { readOptions, readSeed, runExperiment } from './experiment.ts';
import { directionReportSchema, figure, type Journal, type RecordSchema } from './journal.ts';
import { type Stream, sendStream, timeConnects } from './link/traffic.ts';
import { openLink } from './testbed.ts';

interface Ends {
  readonly client: Namespace;
  readonly server: Peer;
}

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
type RateLine = v.InferOutput<typeof rateSchema>;
type RoundTripLine = v.InferOutput<typeof roundTripSchema>;
type CpuLine = v.InferOutput<typeof cpuSchema>;
const lineSchema = v.variant('kind', [delaySchema, lossLineSchema, rateSchema, roundTripSchema, cpuSchema]);
type Line = v.InferOutput<typeof lineSchema>;

const foundSchema = v.object({
  /** Why the kernel has no netem here; null if it has. */
  netem: v.nullable(v.string()),
});
type LinkFindings = v.InferOutput<typeof foundSchema>;

/** The properties of a line that say what was measured, the parts of a loss among them. */
const IDENTIFYING = [
  ...['kind', 'direction', 'by', 'cable', 'askedMs', 'askedMbps', 'packetsPerSecond'],
  ...['asked', 'share', 'enter', 'leave'],
];
const keyOf = (line: object): string => JSON.stringify(line, IDENTIFYING);

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

const thousandths = (value: number) => Math.round(value * 1000) / 1000;

/** What arrives of a stream over a link with that shape, and the link's own report; `delayMs` as for `sendStream`. */
async function sendOver(
  { client, server }: Ends,
  direction: Direction,
  shape: Shape,
  stream: Omit<Stream, 'address'>,
  delayMs?: number,
) {
  await server.shape({ [direction]: shape });
  await server.report();
  const arrivals =
    direction === 'up'
      ? await sendStream(client, server, { address: server.ipv4, ...stream }, delayMs)
      : await sendStream(server, client, { address: server.clientIpv4, ...stream }, delayMs);
  const link = (await server.report())[direction];
  await server.shape({ [direction]: BARE });
  return { arrivals, link };
}

async function measureDelay(
  ends: Ends,
  asked: Pick<DelayLine, 'kind' | 'direction' | 'askedMs'>,
  datagrams: number,
): Promise<DelayLine> {
  const { direction, askedMs } = asked;
  const stream = { datagrams, bytes: PAYLOAD_BYTES, perSecond: CALM_PER_SECOND };
  const { arrivals, link } = await sendOver(ends, direction, { delayMs: askedMs }, stream, askedMs);
  return { ...asked, link, aboveUs: arrivals.map(({ stayUs }) => thousandths(stayUs - askedMs * 1000)) };
}

async function measureLoss(
  ends: Ends,
  line: Pick<LossLine, 'kind' | 'direction' | 'asked'>,
  datagrams: number,
): Promise<LossLine> {
  const stream = { datagrams, bytes: PAYLOAD_BYTES, perSecond: LOSS_PER_SECOND };
  const { arrivals, link } = await sendOver(ends, line.direction, { loss: line.asked }, stream);
  const all = new Set(Array.from({ length: datagrams }, (_, sequence) => sequence));
  const missed = [...all.difference(new Set(arrivals.map(({ sequence }) => sequence)))];
  return { ...line, sent: datagrams, link, missed };
}

/** Sends faster than the rate, so that a queue builds up. */
async function measureRate(
  ends: Ends,
  asked: Pick<RateLine, 'kind' | 'direction' | 'askedMbps'>,
): Promise<RateLine> {
  const { direction, askedMbps } = asked;
  const packetBits = (RATE_PAYLOAD_BYTES + IPV4_UDP_BYTES) * 8;
  const perSecond = Math.ceil((RATE_EXCESS * askedMbps * 1e6) / packetBits);
  const datagrams = Math.ceil(perSecond / RATE_EXCESS);
  const stream = { datagrams, bytes: RATE_PAYLOAD_BYTES, perSecond };
  const { arrivals } = await sendOver(ends, direction, { rateMbps: askedMbps }, stream, 1000);
  const at = arrivals.map(({ atUs }) => atUs);
  return { ...asked, packets: arrivals.length, packetBits, tookUs: Math.max(...at) - Math.min(...at) };
}

/** Round trips as programs see them, with half of the delay in each direction; that of TCP is recorded last. */
async function measureRoundTrips(
  { client, server }: Ends,
  echo: Awaited<ReturnType<typeof startEcho>>,
  asked: Omit<RoundTripLine, 'tookMs'>,
): Promise<RoundTripLine[]> {
  const half = { delayMs: asked.askedMs / 2 };
  if (!asked.cable) await server.shape({ up: half, down: half });
  const probe = { address: server.ipv4, datagrams: ROUND_TRIPS, bytes: PAYLOAD_BYTES, gapMs: 4 };
  const { roundTripsMs } = await echo.probe(client, probe);
  const connectsUs = await timeConnects(client, server, { address: server.ipv4, times: ROUND_TRIPS });
  if (!asked.cable) await server.shape({ up: BARE, down: BARE });
  return [
    { ...asked, by: 'UDP echo', tookMs: roundTripsMs.map(thousandths) },
    { ...asked, tookMs: connectsUs.map((us) => thousandths(us / 1000)) },
  ];
}

/** The forwarder's processor use at a given packet rate and 25 ms. */
async function measureCpu(
  { client, server }: Ends,
  linkPid: number,
  asked: Pick<CpuLine, 'kind' | 'packetsPerSecond'>,
): Promise<CpuLine> {
  await server.shape({ up: { delayMs: 25 } });
  const usedBefore = busyMsOf(linkPid);
  const perSecond = asked.packetsPerSecond;
  const datagrams = Math.round((perSecond * CPU_SPAN_MS) / 1000);
  const stream = { address: server.ipv4, datagrams, bytes: PAYLOAD_BYTES, perSecond };
  if (datagrams > 0) await sendStream(client, server, stream, 25);
  else await sleep(CPU_SPAN_MS);
  const usedMs = busyMsOf(linkPid) - usedBefore;
  await server.shape({ up: BARE });
  return { ...asked, usedMs, spanMs: CPU_SPAN_MS };
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

/**
 * Measures a separate link, delays from client to server and losses from server to client, in under five seconds on an
 * idle machine, and returns a line for each. Rejects if no network can be opened; check `networkUnavailable('tun')`
 * first.
 */
export async function briefAccuracy(): Promise<string[]> {
  await using closing = new AsyncDisposableStack();
  const ends = await openLink(1);
  closing.defer(ends.close);
  const lines: string[] = [];
  for (const askedMs of BRIEF_DELAYS_MS) {
    const asked = { kind: 'delay', direction: 'up', askedMs } as const;
    lines.push(delayText(await measureDelay(ends, asked, BRIEF_DELAYED_DATAGRAMS)));
  }
  for (const share of BRIEF_SHARES) {
    const line = { kind: 'loss', direction: 'down', asked: { kind: 'independent', share } } as const;
    const { lost, delivered } = (await measureLoss(ends, line, BRIEF_LOST_DATAGRAMS)).link;
    lines.push(`loss ${100 * share} %: ${lost} of ${lost + delivered} packets lost`);
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

/** Measures what the journal lacks of `all`. */
async function measureStep<Asked extends object>(
  journal: LinkJournal,
  title: string,
  all: readonly Asked[],
  measure: (asked: Asked) => Promise<Line | Line[]>,
): Promise<void> {
  const step = beginStep(title);
  try {
    for (const asked of all) await journal.once(keyOf(asked), () => measure(asked));
    step.end(true);
  } catch (error) {
    step.end(false);
    throw error;
  }
}

async function open(seed: number) {
  await using opening = new AsyncDisposableStack();
  const link = await openLink(seed);
  opening.defer(link.close);
  const { client, peers, close } = await openNetwork();
  opening.defer(close);
  const closing = opening.move();
  return { link, cable: { client, server: peers.server }, close: () => closing.disposeAsync() };
}

async function measure(
  { link, cable }: Awaited<ReturnType<typeof open>>,
  journal: LinkJournal,
): Promise<boolean> {
  const overBoth = <Asked extends object>(all: readonly Asked[]) =>
    all.flatMap((asked) => DIRECTIONS.map((direction) => ({ direction, ...asked })));
  const delays = overBoth(DELAYS_MS.map((askedMs) => ({ kind: 'delay' as const, askedMs })));
  const losses = overBoth(LOSSES.map((asked) => ({ kind: 'loss' as const, asked })));
  const rates = overBoth(RATES_MBPS.map((askedMbps) => ({ kind: 'rate' as const, askedMbps })));
  await measureStep(journal, 'delay', delays, (asked) => measureDelay(link, asked, DELAYED_DATAGRAMS));
  await measureStep(journal, 'loss', losses, (asked) => measureLoss(link, asked, LOST_DATAGRAMS));
  await measureStep(journal, 'rate', rates, (asked) => measureRate(link, asked));
  for (const { title, ends, delaysMs } of [
    { title: 'round trips over a bare cable', ends: cable, delaysMs: [0] },
    { title: 'round trips', ends: link, delaysMs: DELAYS_MS },
  ]) {
    const echo = await startEcho(ends.server);
    const common = { kind: 'round-trip', by: 'TCP connect', cable: ends === cable } as const;
    const trips = delaysMs.map((delayMs) => ({ ...common, askedMs: 2 * delayMs }));
    await measureStep(journal, title, trips, (asked) => measureRoundTrips(ends, echo, asked));
  }
  const packets = PACKETS_PER_SECOND.map((each) => ({ kind: 'cpu' as const, packetsPerSecond: each }));
  await measureStep(journal, 'processor time', packets, (asked) => measureCpu(link, link.linkPid, asked));
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
