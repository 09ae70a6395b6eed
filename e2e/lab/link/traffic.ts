// Traffic over a link, observed at its ends: what was sent, what arrived, and how long it took.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openLineChannel } from '../../child-process.ts';
import type { Namespace } from '../../network/namespace.ts';

/** Both ends are processes inside a namespace that run this file. */
const PROCESS = fileURLToPath(import.meta.url);
/** Within this time after the sender ends, beyond the link's delay, everything still on its way has arrived. */
const GRACE_MS = 150;

export interface Stream {
  /** IPv4. */
  readonly address: string;
  readonly datagrams: number;
  /** Payload; at least the 12 bytes of number and timestamp. */
  readonly bytes: number;
  readonly perSecond: number;
}

interface ConnectLoad {
  readonly address: string;
  /** One after the other. */
  readonly times: number;
}

interface Arrival {
  readonly sequence: number;
  /** From the sender's call to the receiver's callback. */
  readonly stayUs: number;
  /** On a clock with an arbitrary origin. */
  readonly atUs: number;
}

async function near<Answer>(from: Namespace, order: Stream | ConnectLoad): Promise<Answer> {
  const answer = await from.runOrThrow(process.execPath, [PROCESS, 'near', JSON.stringify(order)]);
  return (answer === '' ? undefined : JSON.parse(answer)) as Answer;
}

async function withFar<Answer>(
  at: Namespace,
  work: () => Promise<Answer>,
): Promise<{ answer: Answer; arrivals: Arrival[] }> {
  const { next, stop } = openLineChannel('the receiver', at.spawn(process.execPath, [PROCESS, 'far']));
  await next();
  const answer = await work().finally(stop);
  return { answer, arrivals: JSON.parse(await next()) as Arrival[] };
}

/**
 * Sends datagrams at an even pace and returns those that arrived; `delayMs` is the link's delay, which it waits for.
 */
export async function sendStream(
  from: Namespace,
  to: Namespace,
  stream: Stream,
  delayMs = 0,
): Promise<Arrival[]> {
  const { arrivals } = await withFar(to, async () => {
    await near<void>(from, stream);
    await sleep(delayMs + GRACE_MS);
  });
  return arrivals;
}

/** The duration of each of `times` TCP connects, microseconds. */
export async function timeConnects(from: Namespace, to: Namespace, order: ConnectLoad): Promise<number[]> {
  return (await withFar(to, () => near<number[]>(from, order))).answer;
}

/** The discard port (RFC 863). */
const PORT = 9;
const STAMP_BYTES = 12;
const CONNECT_GAP_MS = 5;
/** After a stall, at most this many are sent at once: a socket's buffer holds some 250 small datagrams. */
const AT_ONCE = 60;

/** CLOCK_MONOTONIC, which all processes of a machine share. */
const nowNs = () => process.hrtime.bigint();

async function far(): Promise<void> {
  const arrivals: Arrival[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (datagram) => {
    const now = nowNs();
    const stayUs = Number(now - datagram.readBigUInt64BE(4)) / 1000;
    arrivals.push({ sequence: datagram.readUInt32BE(0), stayUs, atUs: Number(now / 1000n) });
  });
  socket.bind(PORT, '0.0.0.0');
  await once(socket, 'listening');
  const server = createServer((connection) => connection.on('error', () => {}).resume());
  server.listen(PORT, '0.0.0.0');
  await once(server, 'listening');
  process.stdout.write('listening\n');
  process.stdin.resume();
  await once(process.stdin, 'end');
  process.stdout.write(JSON.stringify(arrivals), () => process.exit(0));
}

async function stream({ address, datagrams, bytes, perSecond }: Stream): Promise<void> {
  const socket = createSocket('udp4');
  socket.connect(PORT, address);
  await once(socket, 'connect');
  const startedMs = performance.now();
  const refused = new Set<Error>();
  for (let sent = 0; sent < datagrams; ) {
    const due = Math.ceil(((performance.now() - startedMs) / 1000) * perSecond);
    const until = Math.min(due, datagrams, sent + AT_ONCE);
    for (; sent < until; sent += 1) {
      const datagram = Buffer.alloc(Math.max(bytes, STAMP_BYTES));
      datagram.writeUInt32BE(sent, 0);
      datagram.writeBigUInt64BE(nowNs(), 4);
      socket.send(datagram, (error) => void (error && refused.add(error)));
    }
    await sleep(1);
  }
  socket.close();
  for (const error of refused) throw error;
}

async function connects({ address, times }: ConnectLoad): Promise<number[]> {
  const tookUs: number[] = [];
  for (let done = 0; done < times; done += 1) {
    const began = nowNs();
    const socket = connect(PORT, address);
    await once(socket, 'connect');
    tookUs.push(Number(nowNs() - began) / 1000);
    socket.destroy();
    await sleep(CONNECT_GAP_MS);
  }
  return tookUs;
}

// `far` receives, and prints what arrived when its standard input ends; `near JSON` sends datagrams, or connects.
if (import.meta.main) {
  const [role, argument = '{}'] = process.argv.slice(2);
  const order = JSON.parse(argument) as Stream | ConnectLoad;
  if (role === 'far') await far();
  else
    process.stdout.write(
      JSON.stringify('times' in order ? await connects(order) : await stream(order)) ?? '',
    );
}
