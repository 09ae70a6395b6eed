// Datagrams sent back by the far end, to measure a link from outside: how many come home, and after what time.
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { isIP } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Namespace } from './namespace.ts';

/** Both ends are processes inside a namespace, which run this file. */
const PROCESS = fileURLToPath(import.meta.url);

interface Probe {
  readonly address: string;
  readonly datagrams: number;
  /** Payload. */
  readonly bytes: number;
  /** Between sendings; 0 waits for each to come home, or to be given up, before the next. */
  readonly gapMs: number;
}

interface ProbeResult {
  /** Of those that came home. */
  readonly roundTripsMs: readonly number[];
}

/** Starts an echo at every address of the namespace; it ends with the network. */
export async function startEcho(inside: Namespace) {
  const echo = inside.spawn(process.execPath, [PROCESS]);
  await once(echo.stdout, 'data');
  return {
    /** Sends datagrams from a namespace and waits for those that come home. Rejects if they cannot be sent. */
    async probe(from: Namespace, probe: Probe): Promise<ProbeResult> {
      const { code, stdout, stderr } = await from.run(process.execPath, [PROCESS, JSON.stringify(probe)]);
      if (code !== 0) throw new Error(stderr);
      return JSON.parse(stdout) as ProbeResult;
    },
  };
}

/** The echo service's, RFC 862. */
const PORT = 7;
/** A datagram that has not come home by then was lost: longer than any delay that is tried. */
const PATIENCE_MS = 500;
const SEQUENCE_BYTES = 4;

async function echo(): Promise<void> {
  const socket = createSocket('udp6');
  socket.on('message', (datagram, { port, address }) => socket.send(datagram, port, address));
  socket.bind(PORT, '::');
  await once(socket, 'listening');
  process.stdout.write('listening\n');
  process.stdin.on('end', () => process.exit(0)).resume();
}

/** Sends one datagram and keeps when it came home, by its number. */
function send(socket: Socket, bytes: number, sequence: number, sentMs: number[]): void {
  const datagram = Buffer.alloc(bytes);
  datagram.writeUInt32BE(sequence);
  sentMs[sequence] = performance.now();
  // What the path refuses is lost like anything else.
  socket.send(datagram, () => {});
}

async function probe({ address, datagrams, bytes, gapMs }: Probe): Promise<ProbeResult> {
  if (bytes < SEQUENCE_BYTES) throw new RangeError('a datagram must hold its number');
  const socket = createSocket(isIP(address) === 6 ? 'udp6' : 'udp4');
  socket.connect(PORT, address);
  await once(socket, 'connect');
  const sentMs: number[] = [];
  const roundTripsMs: number[] = [];
  socket.on('message', (datagram) => {
    roundTripsMs.push(performance.now() - (sentMs[datagram.readUInt32BE()] ?? Number.NaN));
  });
  for (let sequence = 0; sequence < datagrams; sequence += 1) {
    send(socket, bytes, sequence, sentMs);
    if (gapMs > 0) await sleep(gapMs);
    else await Promise.race([once(socket, 'message'), sleep(PATIENCE_MS)]);
  }
  await sleep(PATIENCE_MS);
  socket.close();
  return { roundTripsMs };
}

// Without arguments it sends datagrams back until its standard input ends; with a probe it sends them, and prints what
// came home.
if (import.meta.main) {
  const [argument] = process.argv.slice(2);
  if (argument === undefined) await echo();
  else process.stdout.write(JSON.stringify(await probe(JSON.parse(argument) as Probe)));
}
