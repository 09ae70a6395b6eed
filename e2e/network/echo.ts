// UDP echo at the far end, to measure a link from outside: how many datagrams return, and their round-trip times.
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { isIP } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { whenReady } from '../child-process.ts';
import type { Namespace } from './namespace.ts';

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
const PORT = 7;
/**
 * A datagram not returned within this time is lost: longer than any delay under test, and than either end, or the link,
 * may have to wait for a processor. Nothing waits that long unless a datagram is missing.
 */
const PATIENCE_MS = 5000;
const SEQUENCE_BYTES = 4;

async function echo(): Promise<void> {
  const socket = createSocket('udp6');
  socket.on('message', (datagram, { port, address }) => socket.send(datagram, port, address));
  socket.bind(PORT, '::');
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
async function patiently(event: Promise<unknown>): Promise<void> {
  const over = new AbortController();
  const patience = sleep(PATIENCE_MS, undefined, { signal: over.signal }).catch(() => {});
  await Promise.race([event, patience]);
  over.abort();
}

async function probe({ address, datagrams, bytes, gapMs }: Probe): Promise<ProbeResult> {
  if (bytes < SEQUENCE_BYTES) throw new RangeError('a datagram must hold its number');
  const socket = createSocket(isIP(address) === 6 ? 'udp6' : 'udp4');
  socket.connect(PORT, address);
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
    else await patiently(once(socket, 'message'));
  }
  await patiently(all.promise);
  socket.close();
  return { roundTripsMs };
}

// Without arguments it echoes datagrams until standard input ends; with a probe it sends them and prints the result.
if (import.meta.main) {
  const [argument] = process.argv.slice(2);
  if (argument === undefined) await echo();
  else process.stdout.write(JSON.stringify(await probe(JSON.parse(argument) as Probe)));
}
