// Both ends of the echo, each a process inside a namespace: without arguments it sends datagrams back until its
// standard input ends; with a JSON probe it sends them, and prints what came home.
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { isIP } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Probe, Probed } from './echo.ts';

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

async function probe({ address, datagrams, bytes, gapMs }: Probe): Promise<Probed> {
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

const [argument] = process.argv.slice(2);
if (argument === undefined) await echo();
else process.stdout.write(JSON.stringify(await probe(JSON.parse(argument) as Probe)));
