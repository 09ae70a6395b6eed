// Loopback ports for tests: one that refuses, for races that must fail at once, and one that never answers.
import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { LOOPBACK } from './peers.ts';

/** A loopback port on which nothing listens, over TCP or UDP. */
export async function closedPort(): Promise<number> {
  const { port, tcp, udp } = await silentPort();
  await new Promise((resolve) => tcp.close(resolve));
  // Connected to itself the socket takes nobody else's datagrams, which the kernel refuses, and as long as it exists the
  // number is given to no other: every attempt over QUIC takes one.
  udp.connect(port, LOOPBACK);
  await once(udp, 'connect');
  udp.unref();
  return port;
}

interface SilentPort {
  readonly port: number;
  readonly tcp: Server;
  readonly udp: UdpSocket;
  /** TCP connections accepted, open or closed. */
  readonly sockets: readonly Socket[];
  close(): void;
}

/** Accepts every connection and every datagram and never sends anything. */
export async function silentPort(): Promise<SilentPort> {
  // Numbers are allocated to TCP and UDP independently, so one may be in use on the other.
  for (;;) {
    const sockets: Socket[] = [];
    const tcp = createServer((socket) => {
      // Without reading, the end of the connection would not be noticed.
      socket.on('error', () => {}).resume();
      sockets.push(socket);
    }).listen(0, LOOPBACK);
    await once(tcp, 'listening');
    const { port } = tcp.address() as AddressInfo;
    const udp = createSocket('udp4').bind(port, LOOPBACK);
    const close = (): void => {
      for (const socket of sockets) socket.destroy();
      tcp.close();
      udp.close();
    };
    const isBound = await once(udp, 'listening').then(
      () => true,
      () => false,
    );
    if (isBound) return { port, tcp, udp, sockets, close };
    close();
  }
}
