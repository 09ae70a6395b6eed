// Peers on Node's sockets, TLS and HTTP/2, low-level enough to fail in one specific way each, at every layer; over UDP
// without a QUIC stack.
import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import {
  createSecureServer,
  constants as h2,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';

export interface TcpPeer {
  readonly port: number;
  stop(): void;
}

/** A server's certificate chain and key, PEM; material that OpenSSL considers too weak needs `ciphers` to be served. */
export type Identity = Pick<TlsOptions, 'cert' | 'key' | 'ciphers'>;

const LOOPBACK = '127.0.0.1';
const DRIP_INTERVAL_MS = 50;
const LARGE_BYTES = 1024 * 1024;
/** Large, but within the client's limit of 256 KiB. */
const LARGE_HEADER = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`x-${i}`, 'x'.repeat(10_000)]));
const HUGE_HEADER = 'x'.repeat(300_000);
/** Without this setting, Node's HTTP/2 server sends no header section beyond 64 KB. */
const MAX_SENT_HEADER_BYTES = 1024 * 1024;

/** Listens, by default on a free port; connections still open at the end are destroyed. */
export async function listen(server: Server, port = 0): Promise<TcpPeer> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('tlsClientError', () => {});
  server.on('secureConnection', (socket: Socket) => socket.on('error', () => {}));
  server.listen(port, LOOPBACK);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/**
 * A port on which nothing listens, over TCP or UDP, and to which browsers do connect. A free one that was drawn and
 * released could be drawn again by another program, and this one is below all that are drawn.
 */
export const CLOSED_PORT = 2;

/** Calls `act` with each connection once its first bytes have arrived; TLS is never spoken. */
export function startPlain(act: (socket: Socket) => void): Promise<TcpPeer> {
  return listen(createServer((socket) => socket.once('data', () => act(socket))));
}

/** HTTP/2 frames: SETTINGS, and GOAWAY with last stream 0, so that nothing was processed (RFC 9113 section 6.8). */
const SETTINGS_AND_GOAWAY = Buffer.from('000000040000000000' + '0000080700000000000000000000000000', 'hex');

/** HTTP/2 that rejects every request unprocessed; Node's own server cannot do that. */
export function startGoAway(identity: Identity): Promise<TcpPeer> {
  const server = createTlsServer({ ...identity, ALPNProtocols: ['h2'] }, (socket) =>
    socket.once('data', () => socket.write(SETTINGS_AND_GOAWAY)),
  );
  return listen(server);
}

/** TLS without HTTP; ALPN h2 by default. Listens on a free port, or on the port of a given UDP listener. */
export function startTls(options: TlsOptions, port?: number): Promise<TcpPeer> {
  return listen(createTlsServer({ ALPNProtocols: ['h2'], ...options }), port);
}

interface Http2Options {
  /** The port of a UDP listener to share; default: a free one. */
  readonly port?: number;
  /** The response over HTTP/1.1; default: HTTP/1.1 is not offered. */
  readonly overHttp1?: string;
}

/** HTTP/2; calls `act` with each request. */
export function startHttp2(
  identity: Identity,
  act: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void,
  { port, overHttp1 }: Http2Options = {},
): Promise<TcpPeer> {
  const server = createSecureServer({
    ...identity,
    allowHTTP1: overHttp1 !== undefined,
    maxSendHeaderBlockLength: MAX_SENT_HEADER_BYTES,
  });
  server.on('request', ({ httpVersionMajor }, response) => {
    if (httpVersionMajor === 1) response.end(overHttp1 ?? '');
  });
  server.on('session', (session) => session.on('error', () => {}));
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {});
    act(stream, headers);
  });
  return listen(server, port);
}

/** HTTP/1.1 only, with responses written byte by byte. */
export function startHttp1(identity: Identity, act: (socket: Socket) => void): Promise<TcpPeer> {
  const server = createHttpsServer({ ...identity, ALPNProtocols: ['http/1.1'] });
  server.on('request', (request) => act(request.socket));
  return listen(server);
}

/** Writes a character at a time until the end. */
export function writeSlowly(
  write: (bytes: string) => void,
  until: { once(event: 'close', end: () => void): unknown },
): void {
  const timer = setInterval(() => write('.'), DRIP_INTERVAL_MS);
  until.once('close', () => clearInterval(timer));
}

/** How an HTTP/2 server can treat a request. */
export const HTTP2_ACTS = {
  answer: (stream) => {
    stream.respond({ ':status': 200 });
    stream.end('hello');
  },
  silence: () => {},
  drip: (stream) => {
    stream.respond({ ':status': 200 });
    writeSlowly((bytes) => stream.write(bytes), stream);
  },
  refuse: (stream) => stream.close(h2.NGHTTP2_REFUSED_STREAM),
  reset: (stream) => stream.close(h2.NGHTTP2_INTERNAL_ERROR),
  calm: (stream) => stream.session?.goaway(h2.NGHTTP2_ENHANCE_YOUR_CALM),
  close: (stream) => stream.session?.destroy(),
  misdirected: (stream) => stream.respond({ ':status': 421, 'alt-svc': 'h3=":443"' }, { endStream: true }),
  largeHeader: (stream) => stream.respond({ ':status': 200, ...LARGE_HEADER }, { endStream: true }),
  endlessBody: (stream) => {
    stream.respond({ ':status': 200 });
    stream.write(Buffer.alloc(LARGE_BYTES));
  },
} as const satisfies Record<string, (stream: ServerHttp2Stream) => void>;

/** How an HTTP/1.1 server can treat a request. */
export const HTTP1_ACTS = {
  drip: (socket) => {
    socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
    writeSlowly((bytes) => socket.write(`1\r\n${bytes}\r\n`), socket);
  },
  hugeHeader: (socket) => void socket.end(`HTTP/1.1 200 OK\r\nx-huge: ${HUGE_HEADER}\r\n\r\n`),
  truncate: (socket) => void socket.end('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf'),
  noHttp: (socket) => void socket.end('SSH-2.0-OpenSSH_9.2\r\n'),
  misdirected: (socket) => void socket.end('HTTP/1.1 421 Misdirected Request\r\ncontent-length: 0\r\n\r\n'),
} as const satisfies Record<string, (socket: Socket) => void>;

interface UdpPeer {
  readonly port: number;
  readonly firstDatagram: Promise<void>;
  stop(): void;
}

/** One reserved to exercise version negotiation (RFC 9000 section 15), and one that is unregistered. */
const UNSUPPORTED_VERSIONS = [0x0a0a0a0a, 0xfeedf00d];
/** Header form and fixed bit of a long header (RFC 9000 section 17.2). */
const LONG_HEADER = 0xc0;
/** In a long header, flags and version precede the length of the destination connection ID. */
const DESTINATION_LENGTH_AT = 5;

async function listenUdp(
  answer: (socket: UdpSocket, datagram: Buffer, port: number) => void,
): Promise<UdpPeer> {
  const socket = createSocket('udp4');
  const firstDatagram = once(socket, 'message').then(() => {});
  // Stopped before a datagram arrived: nothing awaits it any more.
  firstDatagram.catch(() => {});
  socket.on('message', (datagram, sender) => answer(socket, datagram, sender.port));
  socket.bind(0, LOOPBACK);
  await once(socket, 'listening');
  return { port: socket.address().port, firstDatagram, stop: () => socket.close() };
}

/** Accepts every datagram and never responds. */
export function startSilence(): Promise<UdpPeer> {
  return listenUdp(() => {});
}

/** Answers each first flight with noise that is not a packet of any version. */
export function startNoise(): Promise<UdpPeer> {
  return listenUdp((socket, datagram, port) =>
    socket.send(Buffer.alloc(datagram.length, 0x55), port, LOOPBACK),
  );
}

/**
 * A Version Negotiation packet (RFC 9000 section 17.2.1): connection IDs swapped, and versions that nobody supports.
 */
function versionNegotiation(initial: Buffer): Buffer {
  const destinationEnd = DESTINATION_LENGTH_AT + 1 + (initial[DESTINATION_LENGTH_AT] ?? 0);
  const sourceEnd = destinationEnd + 1 + (initial[destinationEnd] ?? 0);
  const versions = Buffer.alloc(4 * UNSUPPORTED_VERSIONS.length);
  for (const [index, version] of UNSUPPORTED_VERSIONS.entries()) versions.writeUInt32BE(version, 4 * index);
  return Buffer.concat([
    Buffer.from([LONG_HEADER, 0, 0, 0, 0]),
    initial.subarray(destinationEnd, sourceEnd),
    initial.subarray(DESTINATION_LENGTH_AT, destinationEnd),
    versions,
  ]);
}

/** Supports no version that any client speaks. */
export function startVersionNegotiation(): Promise<UdpPeer> {
  return listenUdp((socket, datagram, port) => socket.send(versionNegotiation(datagram), port, LOOPBACK));
}

/**
 * A UDP port of loopback on which nothing listens, so that the kernel refuses with ICMP. Until this process ends it is
 * given to no other, and browsers take one for each connection over QUIC: a socket connected to itself has the number
 * and takes nobody else's datagrams.
 */
export async function refusingUdpPort(): Promise<number> {
  const socket = createSocket('udp4').bind(0, LOOPBACK).unref();
  await once(socket, 'listening');
  const { port } = socket.address();
  socket.connect(port, LOOPBACK);
  await once(socket, 'connect');
  return port;
}
