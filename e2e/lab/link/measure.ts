// What a link was asked and what packets met, measured from its ends and by its own report.
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { percentile } from '@photofinish/shared/statistics';
import type { startEcho } from '../../network/echo.ts';
import type { Network } from '../../network/open.ts';
import type { Direction, DirectionReport, Loss } from '../../network/shape.ts';
import { parseProcessStat } from '../proc.ts';
import { type Arrival, sendStream, timeConnects } from './traffic.ts';

export type Joined = Network<'server'>;

/** A measured value with its 95 % interval. */
interface Estimate {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/** The normal distribution's quantile for 95 % between both tails. */
const Z_95 = 1.959964;

/** Wilson's score interval of a share, 0 to 1 (Wilson 1927; Newcombe 1998, method 3). */
function wilson({ hits, of }: { readonly hits: number; readonly of: number }): Estimate {
  const share = hits / of;
  const centre = share + Z_95 ** 2 / (2 * of);
  const half = Z_95 * Math.sqrt((share * (1 - share)) / of + Z_95 ** 2 / (4 * of ** 2));
  const scale = 1 + Z_95 ** 2 / of;
  return { value: share, low: (centre - half) / scale, high: (centre + half) / scale };
}

export interface Spread {
  readonly median: number;
  readonly p99: number;
  readonly max: number;
}

export interface DelayRow {
  readonly direction: Direction;
  readonly askedMs: number;
  readonly packets: number;
  /** The link's own report: how much later than asked it let packets go, and the least time that one stayed. */
  readonly lateUs: DirectionReport['lateUs'];
  readonly shortestUs: number | null;
  /** From the sender's call to the receiver's callback, above what was asked: sockets and processes included. */
  readonly outsideUs: Spread;
}

export interface LossRow {
  readonly direction: Direction;
  readonly asked: Loss;
  /** The share that was asked in the long run. */
  readonly askedShare: number;
  readonly sent: number;
  /** By the link; the share is that of all that came to it. */
  readonly lost: number;
  /** For bursts the interval is as wide as their correlation makes it. */
  readonly got: Estimate;
  /** Sent, not lost by the link, and not arrived either: above none, a busy machine's sockets lost them. */
  readonly missing: number;
  /** Mean lengths; null for independent losses, and `got` is null where the machine lost some as well. */
  readonly burst: { readonly asked: number; readonly got: number | null } | null;
}

export interface RateRow {
  readonly direction: Direction;
  readonly askedMbps: number;
  readonly gotMbps: number;
}

export interface RoundTripRow {
  readonly by: 'UDP echo' | 'TCP connect';
  /** Both ways together. */
  readonly askedMs: number;
  readonly tookMs: Spread;
}

export interface CpuRow {
  readonly packetsPerSecond: number;
  /** Of one core. */
  readonly share: number;
}

const IPV4_UDP_BYTES = 28;
const PAYLOAD_BYTES = 100;
/** How often per second a datagram is sent where delay is measured: seldom enough that the machine goes idle between. */
const CALM_PER_SECOND = 250;
/** A receiver may then stall for 0.1 s before its buffer is full. */
const LOSS_PER_SECOND = 2500;
const RATE_PAYLOAD_BYTES = 1200;
const RATE_EXCESS = 4;
const CPU_SPAN_MS = 2000;

export const BARE = { delayMs: 0 };

function spread(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  return {
    median: percentile(sorted, 0.5),
    p99: percentile(sorted, 0.99),
    max: percentile(sorted, 1),
  };
}

function ends({ client, peers: { server } }: Joined, direction: Direction) {
  return direction === 'up'
    ? { from: client, to: server, address: server.ipv4 }
    : { from: server, to: client, address: server.clientIpv4 };
}

/** Sends that many datagrams over a link with that delay. */
export async function measureDelay(
  network: Joined,
  direction: Direction,
  askedMs: number,
  datagrams: number,
): Promise<DelayRow> {
  const { server } = network.peers;
  const { from, to, address } = ends(network, direction);
  await server.shape({ [direction]: { delayMs: askedMs } });
  await server.report();
  const stream = { address, datagrams, bytes: PAYLOAD_BYTES, perSecond: CALM_PER_SECOND };
  const arrivals = await sendStream(from, to, stream, askedMs);
  const { delivered, lateUs, shortestUs } = (await server.report())[direction];
  await server.shape({ [direction]: BARE });
  const outsideUs = spread(arrivals.map(({ stayUs }) => stayUs - askedMs * 1000));
  return { direction, askedMs, packets: delivered, lateUs, shortestUs, outsideUs };
}

/** The share that a loss takes in the long run; of bursts by their stationary share. */
export function shareOf(loss: Loss): number {
  if (loss.kind === 'independent') return loss.share;
  const { enter, leave, shareInside = 1, shareOutside = 0 } = loss;
  const inside = enter + leave === 0 ? 0 : enter / (enter + leave);
  return inside * shareInside + (1 - inside) * shareOutside;
}

/** The mean length of the gaps between the numbers that arrived, of so many that were sent. */
export function meanBurst(arrivals: readonly Pick<Arrival, 'sequence'>[], sent: number): number {
  const arrived = new Set(arrivals.map(({ sequence }) => sequence));
  let bursts = 0;
  for (let sequence = 0; sequence < sent; sequence += 1)
    if (!arrived.has(sequence) && (sequence === 0 || arrived.has(sequence - 1))) bursts += 1;
  return bursts === 0 ? 0 : (sent - arrived.size) / bursts;
}

/**
 * Of so many packets of a two-state chain, how many independent ones would tell as much of its share: their correlation
 * from one to the next is 1 - enter - leave.
 */
function independentOnes(loss: Loss, packets: number): number {
  if (loss.kind === 'independent') return packets;
  const correlation = 1 - loss.enter - loss.leave;
  return (packets * (1 - correlation)) / (1 + correlation);
}

/** Sends that many datagrams over a link with that loss. */
export async function measureLoss(
  network: Joined,
  direction: Direction,
  asked: Loss,
  datagrams: number,
): Promise<LossRow> {
  const { server } = network.peers;
  const { from, to, address } = ends(network, direction);
  await server.shape({ [direction]: { loss: asked } });
  await server.report();
  const stream = { address, datagrams, bytes: PAYLOAD_BYTES, perSecond: LOSS_PER_SECOND };
  const arrivals = await sendStream(from, to, stream);
  const { lost, delivered } = (await server.report())[direction];
  await server.shape({ [direction]: BARE });
  const missing = datagrams - lost - arrivals.length;
  const reached = lost + delivered;
  const of = independentOnes(asked, reached);
  return {
    direction,
    asked,
    askedShare: shareOf(asked),
    sent: datagrams,
    lost,
    got: wilson({ hits: (lost / reached) * of, of }),
    missing,
    burst:
      asked.kind === 'independent'
        ? null
        : { asked: 1 / asked.leave, got: missing > 0 ? null : meanBurst(arrivals, datagrams) },
  };
}

/** Sends faster than the rate, so that a queue builds up, and takes the rate between the first and the last arrival. */
export async function measureRate(
  network: Joined,
  direction: Direction,
  askedMbps: number,
): Promise<RateRow> {
  const { server } = network.peers;
  const { from, to, address } = ends(network, direction);
  const bits = (RATE_PAYLOAD_BYTES + IPV4_UDP_BYTES) * 8;
  const perSecond = Math.ceil((RATE_EXCESS * askedMbps * 1e6) / bits);
  await server.shape({ [direction]: { rateMbps: askedMbps } });
  const stream = {
    address,
    datagrams: Math.ceil(perSecond / RATE_EXCESS),
    bytes: RATE_PAYLOAD_BYTES,
    perSecond,
  };
  const arrivals = await sendStream(from, to, stream, 1000);
  await server.shape({ [direction]: BARE });
  const at = arrivals.map(({ atUs }) => atUs);
  const tookUs = Math.max(...at) - Math.min(...at);
  return { direction, askedMbps, gotMbps: ((arrivals.length - 1) * bits) / tookUs };
}

/** Round trips as programs see them, at a delay each way. */
export async function measureRoundTrips(
  network: Joined,
  echo: Awaited<ReturnType<typeof startEcho>>,
  delayMs: number,
  times: number,
): Promise<RoundTripRow[]> {
  const { client } = network;
  const { server } = network.peers;
  if (server.linkPid !== null) await server.shape({ up: { delayMs }, down: { delayMs } });
  const probe = { address: server.ipv4, datagrams: times, bytes: PAYLOAD_BYTES, gapMs: 4 };
  const { roundTripsMs } = await echo.probe(client, probe);
  const connectsUs = await timeConnects(client, server, { address: server.ipv4, times });
  if (server.linkPid !== null) await server.shape({ up: BARE, down: BARE });
  const askedMs = 2 * delayMs;
  return [
    { by: 'UDP echo', askedMs, tookMs: spread(roundTripsMs) },
    { by: 'TCP connect', askedMs, tookMs: spread(connectsUs.map((us) => us / 1000)) },
  ];
}

/** What the forwarder takes of a core while so many packets a second pass at 25 ms; null where the kernel forwards. */
export async function measureCpu(network: Joined, packetsPerSecond: number): Promise<CpuRow | null> {
  const { client } = network;
  const { server } = network.peers;
  const { linkPid } = server;
  if (linkPid === null) return null;
  const usedMs = () => {
    const { userMs, systemMs } = parseProcessStat(readFileSync(`/proc/${linkPid}/stat`, 'utf8'));
    return userMs + systemMs;
  };
  await server.shape({ up: { delayMs: 25 } });
  const usedBefore = usedMs();
  const datagrams = Math.round((packetsPerSecond * CPU_SPAN_MS) / 1000);
  const stream = { address: server.ipv4, datagrams, bytes: PAYLOAD_BYTES, perSecond: packetsPerSecond };
  if (datagrams > 0) await sendStream(client, server, stream, 25);
  else await sleep(CPU_SPAN_MS);
  const used = usedMs() - usedBefore;
  await server.shape({ up: BARE });
  return { packetsPerSecond, share: used / CPU_SPAN_MS };
}
