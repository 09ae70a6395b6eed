// Both ends of the traffic that a link is measured with, each a process inside a namespace: `far` takes datagrams and
// connections in and tells at the end of its standard input what arrived; `near JSON` sends, or connects.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Arrival, Connects, Stream } from './traffic.ts';

/** The discard service's, RFC 863. */
const PORT = 9;
const STAMP_BYTES = 12;
const CONNECT_GAP_MS = 5;
/** After a stall it is not all made up for at once: a socket's buffer holds some 250 small datagrams. */
const AT_ONCE = 60;

/** Of CLOCK_MONOTONIC, which all processes of a machine share. */
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

async function connects({ address, times }: Connects): Promise<number[]> {
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

const [role, argument = '{}'] = process.argv.slice(2);
if (role === 'far') await far();
else {
  const order = JSON.parse(argument) as Stream | Connects;
  process.stdout.write(JSON.stringify('times' in order ? await connects(order) : await stream(order)) ?? '');
}
