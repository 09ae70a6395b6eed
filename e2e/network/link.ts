// A link between two namespaces, with two implementations: a process of ours that carries the packets, and the kernel's
// emulator. Also a UDP echo, which measures it from outside: how many datagrams return, and their round-trip times.
// Nothing under network/ imports a package: an unprivileged user runs a copy of it without any.
import { spawn } from 'node:child_process';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { isIP } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openLineChannel, runCommand, runOrThrow, whenReady } from '../child-process.ts';
import { rustProgram } from '../test-programs.ts';
import { type Namespace, namespaceName, thisProcess } from './namespace.ts';

/** Independent losses, or bursts by the Gilbert-Elliott model: two states, each with its own loss rate. */
export type Loss =
  | { readonly kind: 'independent'; readonly share: number }
  | {
      readonly kind: 'bursts';
      /** Probability, per packet, that a burst begins. */
      readonly enter: number;
      /** Probability, per packet of a burst, that it ends: its mean length is 1 / leave. */
      readonly leave: number;
      /** Loss rate within a burst; default: 1. */
      readonly shareInside?: number;
      /** Loss rate outside bursts; default: 0. */
      readonly shareOutside?: number;
    };

/**
 * Packets of one transport, with additional delay in a separate queue. A change of this setting may reorder packets in
 * flight.
 */
interface TrafficClassShape {
  readonly transport: 'udp' | 'tcp';
  /** Default: both. */
  readonly family?: 4 | 6;
  /** In addition to the shape's delay. */
  readonly delayMs: number;
}

/** One direction; omitted settings have no effect. Packets are never reordered, except relative to those set apart. */
export interface Shape {
  /** From arrival at the link, or from the end of transmission if a rate is set; a minimum. */
  readonly delayMs?: number;
  /** Additional delay, uniform from 0 to this. */
  readonly jitterMs?: number;
  readonly loss?: Loss;
  /** Transmitting a packet takes its IP length at this rate. */
  readonly rateMbps?: number;
  /**
   * With a rate: how many packets may be queued or in transmission; packets that find it full are lost. Default: 1000.
   */
  readonly queuePackets?: number;
  /** Longer IP packets are dropped silently: a path MTU black hole for all transports. */
  readonly maxPacketBytes?: number;
  /** Neither queue waits for the other; loss and rate apply to both together. */
  readonly apart?: TrafficClassShape;
}

export type Direction = 'up' | 'down';
/** `up`: from the client. */
export type Shapes = Readonly<Partial<Record<Direction, Shape>>>;

/** One direction's packets since the last report. */
interface DirectionReport {
  readonly delivered: number;
  /** By the shape's loss model. */
  readonly lost: number;
  /** To a full queue. */
  readonly overflowed: number;
  /** By their length. */
  readonly oversized: number;
  /** How much later than requested packets were delivered, microseconds, in steps of ten; null without packets. */
  readonly lateUs: { readonly median: number; readonly p99: number; readonly max: number } | null;
  /** The shortest time between arrival and delivery, microseconds; null without packets. */
  readonly shortestUs: number | null;
}
export type LinkReport = Readonly<Record<Direction, DirectionReport>>;

export const FORWARDER = rustProgram('photofinish-link');
/** Real-time, so that a packet that is due does not wait for a busy test. */
const REALTIME_PRIORITY = '10';

type Reply =
  | { readonly ok: true }
  | { readonly report: LinkReport }
  | { readonly waiting: number }
  | { readonly error: string };

/**
 * A process that owns a TUN device in each of two namespaces and carries packets between them. It exits when its
 * standard input closes, so it cannot outlive its parent.
 */
export interface Forwarder {
  /** The process, so that its own processor use can be told apart from that of the programs under test. */
  readonly pid: number;
  /** Changes the given directions, for packets that arrive from now on. */
  shape(shapes: Shapes): Promise<void>;
  /** Statistics since the last report. */
  report(): Promise<LinkReport>;
  /** How many packets are on the link in both directions. */
  waiting(): Promise<number>;
  close(): Promise<void>;
}

/** One end: a namespace, and the name of the device to create in it. */
export interface End {
  readonly namespace: string;
  readonly device: string;
}

/** Starts a forwarder between two devices, which it creates. `seed` determines which packets are lost. */
export async function startForwarder(client: End, peer: End, seed: number): Promise<Forwarder> {
  const settings = { client, peer, seed };
  const child = spawn(FORWARDER, [JSON.stringify(settings)]);
  const { next, send, stop } = openLineChannel('the link', child);
  const nextReply = async () => {
    const reply = JSON.parse(await next()) as Reply;
    if ('error' in reply) throw new Error(`the link refuses: ${reply.error}`);
    return reply;
  };
  const ask = (command: unknown) => {
    const reply = nextReply();
    send(command);
    return reply;
  };

  await nextReply();
  const { pid } = child;
  if (pid === undefined) throw new Error('the link did not start');
  // Without the privilege the link works, but less accurately on a busy machine.
  await runCommand('chrt', ['--all-tasks', '--fifo', '--pid', REALTIME_PRIORITY, String(pid)]).catch(
    () => {},
  );
  return {
    pid,
    async shape(shapes) {
      await ask({ shape: shapes });
    },
    async report() {
      const reply = await ask('report');
      if (!('report' in reply)) throw new Error('the link gave no report');
      return reply.report;
    },
    async waiting() {
      const reply = await ask('waiting');
      if (!('waiting' in reply)) throw new Error('the link gave no count');
      return reply.waiting;
    },
    close: stop,
  };
}

/** Queue limit of a link, including delayed packets: none may be lost to a full queue unless the shape limits it. */
const LINK_QUEUE_PACKETS = 100_000;
/** The default of `Shape`. */
const DEFAULT_QUEUE_PACKETS = 1000;
/** netem includes the Ethernet header in the packet size. */
const ETHERNET_HEADER_BYTES = 14;

const percent = (share: number) => `${(share * 100).toFixed(6)}%`;

function lossText(loss: Loss): string[] {
  if (loss.kind === 'independent') return ['loss', 'random', percent(loss.share)];
  const { enter, leave, shareInside = 1, shareOutside = 0 } = loss;
  return ['loss', 'gemodel', ...[enter, leave, shareInside, shareOutside].map(percent)];
}

/** Why netem cannot reproduce the shape; null if it can. */
export function beyondNetem(shape: Shape): string | null {
  const { delayMs = 0, jitterMs = 0, rateMbps, maxPacketBytes, apart } = shape;
  if (jitterMs > 0) return 'packets overtake each other when netem varies the delay';
  if (rateMbps !== undefined && delayMs > 0)
    return 'netem counts delayed packets to the queue before the rate';
  if (maxPacketBytes !== undefined) return 'netem passes packets of any length';
  return apart === undefined ? null : 'netem sets nothing apart';
}

/**
 * The `netem` arguments for a shape. Every setting is given even if it has no effect, since changing a qdisc keeps
 * omitted ones. Throws a RangeError for what netem cannot reproduce.
 */
export function netemText(shape: Shape): string[] {
  const why = beyondNetem(shape);
  if (why !== null) throw new RangeError(why);
  const { delayMs = 0, loss, rateMbps, queuePackets = DEFAULT_QUEUE_PACKETS } = shape;
  const limit = rateMbps === undefined ? LINK_QUEUE_PACKETS : queuePackets;
  const rate = rateMbps === undefined ? ['0bit'] : [`${rateMbps}mbit`, String(-ETHERNET_HEADER_BYTES)];
  return [
    ...['limit', String(limit), 'delay', `${delayMs}ms`],
    ...lossText(loss ?? { kind: 'independent', share: 0 }),
    ...['rate', ...rate],
  ];
}

const onEgress = ({ namespace, device }: End, verb: 'add' | 'change', shape: Shape) =>
  runOrThrow('tc', ['-n', namespace, 'qdisc', verb, 'dev', device, 'root', 'netem', ...netemText(shape)]);

/**
 * Attaches netem to both ends of a cable; packets from the client go `up`. Returns a function that changes it at
 * runtime. It cannot report its own lateness, nor lose packets by a seed; shapes that it would treat differently are
 * left to the forwarder.
 */
export async function shapeEgress(client: End, peer: End): Promise<(shapes: Shapes) => Promise<void>> {
  for (const end of [client, peer]) await onEgress(end, 'add', {});
  return async ({ up, down }) => {
    if (up !== undefined) await onEgress(client, 'change', up);
    if (down !== undefined) await onEgress(peer, 'change', down);
  };
}

async function tryNetem(): Promise<string | null> {
  const name = namespaceName(thisProcess(), 0, 'netem');
  await runOrThrow('ip', ['netns', 'add', name]);
  try {
    const words = ['-n', name, 'qdisc', 'add', 'dev', 'lo', 'root', 'netem', ...netemText({})];
    const { code, stderr } = await runCommand('tc', words);
    return code === 0 ? null : `this kernel has no netem (${stderr.trim()})`;
  } catch {
    return 'tc is not installed';
  } finally {
    await runOrThrow('ip', ['netns', 'delete', name]);
  }
}

let answer: Promise<string | null> | undefined;

/**
 * Why netem is unavailable here, determined by trying once; null if it is available. Rejects if there are no
 * namespaces.
 */
export function netemUnavailable(): Promise<string | null> {
  answer ??= tryNetem();
  return answer;
}

/** Both ends are processes inside a namespace that run this file. */
const PROCESS = fileURLToPath(import.meta.url);

interface Probe {
  readonly address: string;
  readonly datagrams: number;
  /** Payload. */
  readonly bytes: number;
  /** Between datagrams; 0 waits for each to return, or be given up as lost, before the next. */
  readonly gapMs: number;
}

interface ProbeResult {
  /** Of the datagrams that returned. */
  readonly roundTripsMs: readonly number[];
}

/** Starts an echo server on every address of the namespace; it ends with the network. */
export async function startEcho(inside: Namespace) {
  const echo = inside.spawn(process.execPath, [PROCESS]);
  await whenReady('the echo server', echo);
  return {
    /** Sends datagrams from a namespace and waits for their echoes. Rejects if they cannot be sent. */
    async probe(from: Namespace, probe: Probe): Promise<ProbeResult> {
      const result = await from.runOrThrow(process.execPath, [PROCESS, JSON.stringify(probe)]);
      return JSON.parse(result) as ProbeResult;
    },
  };
}

/** The echo port (RFC 862). */
const ECHO_PORT = 7;
/**
 * A datagram not returned within this time is lost: longer than any delay under test, and than either end, or the link,
 * may have to wait for a processor. Nothing waits that long unless a datagram is missing.
 */
const PATIENCE_MS = 5000;
const SEQUENCE_BYTES = 4;

async function echo(): Promise<void> {
  const socket = createSocket('udp6');
  socket.on('message', (datagram, { port, address }) => socket.send(datagram, port, address));
  socket.bind(ECHO_PORT, '::');
  await once(socket, 'listening');
  process.stdout.write('listening\n');
  process.stdin.on('end', () => process.exit(0)).resume();
}

/** Sends one datagram and records the time under its number. */
function send(socket: Socket, bytes: number, sequence: number, sentMs: number[]): void {
  const datagram = Buffer.alloc(bytes);
  datagram.writeUInt32BE(sequence);
  sentMs[sequence] = performance.now();
  // A datagram refused by the path counts as lost.
  socket.send(datagram, () => {});
}

/** Resolves with the event, or once no datagram can be expected any more. */
const orTimeout = (event: Promise<unknown>) =>
  Promise.race([event, sleep(PATIENCE_MS, undefined, { ref: false })]);

async function probe({ address, datagrams, bytes, gapMs }: Probe): Promise<ProbeResult> {
  if (bytes < SEQUENCE_BYTES) throw new RangeError('a datagram must hold its number');
  const socket = createSocket(isIP(address) === 6 ? 'udp6' : 'udp4');
  socket.connect(ECHO_PORT, address);
  await once(socket, 'connect');
  const sentMs: number[] = [];
  const roundTripsMs: number[] = [];
  const all = Promise.withResolvers<void>();
  socket.on('message', (datagram) => {
    roundTripsMs.push(performance.now() - (sentMs[datagram.readUInt32BE()] ?? Number.NaN));
    if (roundTripsMs.length === datagrams) all.resolve();
  });
  for (let sequence = 0; sequence < datagrams; sequence += 1) {
    send(socket, bytes, sequence, sentMs);
    if (gapMs > 0) await sleep(gapMs);
    else await orTimeout(once(socket, 'message'));
  }
  await orTimeout(all.promise);
  socket.close();
  return { roundTripsMs };
}

// Without arguments it echoes datagrams until standard input ends; with a probe it sends them and prints the result.
if (import.meta.main) {
  const [argument] = process.argv.slice(2);
  if (argument === undefined) await echo();
  else process.stdout.write(JSON.stringify(await probe(JSON.parse(argument) as Probe)));
}
