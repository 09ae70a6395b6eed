// UDP peers without a QUIC stack: one ignores everything, another supports none of our versions.
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';

export interface UdpPeer {
  readonly port: number;
  /** Resolves with the first datagram. */
  readonly asked: Promise<void>;
  stop(): void;
}

const LOOPBACK = '127.0.0.1';
/** One reserved to exercise version negotiation (RFC 9000 section 15), and one that is unregistered. */
const VERSIONS_OF_NOBODY = [0x0a0a0a0a, 0xfeedf00d];
/** Header form and fixed bit of a long header (RFC 9000 section 17.2). */
const LONG_HEADER = 0xc0;
/** In a long header, flags and version precede the length of the destination connection ID. */
const DESTINATION_LENGTH_AT = 5;

async function listen(answer: (socket: Socket, datagram: Buffer, port: number) => void): Promise<UdpPeer> {
  const socket = createSocket('udp4');
  const asked = once(socket, 'message').then(() => {});
  // Stopped before a datagram arrived: nothing awaits it any more.
  asked.catch(() => {});
  socket.on('message', (datagram, sender) => answer(socket, datagram, sender.port));
  socket.bind(0, LOOPBACK);
  await once(socket, 'listening');
  return { port: socket.address().port, asked, stop: () => socket.close() };
}

/** Accepts every datagram and never responds. */
export function startSilence(): Promise<UdpPeer> {
  return listen(() => {});
}

/** Answers each first flight with noise that is not a packet of any version. */
export function startNoise(): Promise<UdpPeer> {
  return listen((socket, datagram, port) => socket.send(Buffer.alloc(datagram.length, 0x55), port, LOOPBACK));
}

/**
 * A Version Negotiation packet (RFC 9000 section 17.2.1): connection IDs swapped, and versions that nobody supports.
 */
function versionNegotiation(initial: Buffer): Buffer {
  const destinationEnd = DESTINATION_LENGTH_AT + 1 + (initial[DESTINATION_LENGTH_AT] ?? 0);
  const sourceEnd = destinationEnd + 1 + (initial[destinationEnd] ?? 0);
  const versions = Buffer.alloc(4 * VERSIONS_OF_NOBODY.length);
  for (const [index, version] of VERSIONS_OF_NOBODY.entries()) versions.writeUInt32BE(version, 4 * index);
  return Buffer.concat([
    Buffer.from([LONG_HEADER, 0, 0, 0, 0]),
    initial.subarray(destinationEnd, sourceEnd),
    initial.subarray(DESTINATION_LENGTH_AT, destinationEnd),
    versions,
  ]);
}

/** Supports no version that any client speaks. */
export function startVersionNegotiation(): Promise<UdpPeer> {
  return listen((socket, datagram, port) => socket.send(versionNegotiation(datagram), port, LOOPBACK));
}

/**
 * A UDP port of loopback on which nothing listens, so that the kernel refuses with ICMP. Until this process ends it is
 * given to no other, and browsers take one for each connection over QUIC: a socket connected to itself has the number and
 * takes nobody else's datagrams.
 */
export async function refusingUdpPort(): Promise<number> {
  const socket = createSocket('udp4').bind(0, LOOPBACK).unref();
  await once(socket, 'listening');
  const { port } = socket.address();
  socket.connect(port, LOOPBACK);
  await once(socket, 'connect');
  return port;
}
