// Malicious TCP peers: each sends unlimited data at one protocol layer, as fast as it is read.
import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { type Identity, listen, type TcpPeer } from './tcp.ts';

const TYPES = { HEADERS: 1, PRIORITY: 2, SETTINGS: 4, PING: 6, CONTINUATION: 9, UNKNOWN: 0xfa } as const;
const END_HEADERS = 4;
/** A literal field without indexing, with the name of entry 8 of the static table (RFC 7541 section 6.2.2). */
const STATUS_103 = Buffer.from('0803313033', 'hex');
const LARGE = Buffer.alloc(16_000);
/** A record filled with HelloRequests, which clients must ignore (RFC 5246 section 7.4.1.1). */
const HELLO_REQUESTS = Buffer.concat([Buffer.from('1603034000', 'hex'), Buffer.alloc(16_384)]);
const RECORD_HEAD_BYTES = 5;
const CHAIN_CERTIFICATES = 3000;
const DRIP_INTERVAL_MS = 20;
const EARLY_HINTS = `HTTP/1.1 103 Early Hints\r\nlink: </${'x'.repeat(1000)}>\r\n\r\n`;

/** An HTTP/2 frame (RFC 9113 section 4.1). */
function frame(type: keyof typeof TYPES, stream: number, payload: Buffer, flags = 0): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(TYPES[type], 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** Writes the same buffer repeatedly as long as the peer reads. */
function flood(socket: Socket, again: Buffer): void {
  const bytes = Buffer.concat(Array<Buffer>(Math.ceil(65_536 / again.length)).fill(again));
  const more = (): void => {
    while (socket.writable && socket.write(bytes));
  };
  socket.on('drain', more);
  more();
}

function overTls(identity: Identity, alpn: string, act: (socket: Socket) => void): Server {
  return createTlsServer({ ...identity, ALPNProtocols: [alpn] }, (socket) => {
    socket.on('error', () => {});
    socket.once('data', () => act(socket));
  });
}

function overHttp2(first: Buffer, again: Buffer): (identity: Identity) => Server {
  return (identity) =>
    overTls(identity, 'h2', (socket) => {
      socket.write(Buffer.concat([frame('SETTINGS', 0, Buffer.alloc(0)), first]));
      flood(socket, again);
    });
}

const overHttp1 = (first: string, again: string) => (identity: Identity) =>
  overTls(identity, 'http/1.1', (socket) => {
    socket.write(first);
    flood(socket, Buffer.from(again));
  });

const NOTHING = Buffer.alloc(0);
const PEERS = {
  'handshake messages to be skipped': () => createServer((socket) => flood(socket, HELLO_REQUESTS)),
  'a handshake that drips': () =>
    createServer((socket) => {
      socket.write(HELLO_REQUESTS.subarray(0, RECORD_HEAD_BYTES));
      const timer = setInterval(() => socket.write(Buffer.of(0)), DRIP_INTERVAL_MS);
      socket.on('close', () => clearInterval(timer));
    }),
  'a chain of megabytes': ({ cert, ...identity }: Identity) =>
    createTlsServer({ ...identity, cert: String(cert).repeat(CHAIN_CERTIFICATES), ALPNProtocols: ['h2'] }),
  'HTTP/2 frames of unknown types': overHttp2(NOTHING, frame('UNKNOWN', 0, LARGE)),
  'HTTP/2 pings': overHttp2(NOTHING, frame('PING', 0, Buffer.alloc(8))),
  'HTTP/2 settings': overHttp2(NOTHING, frame('SETTINGS', 0, Buffer.alloc(0))),
  'HTTP/2 priorities': overHttp2(NOTHING, frame('PRIORITY', 3, Buffer.alloc(5))),
  'HTTP/2 CONTINUATION': overHttp2(frame('HEADERS', 1, STATUS_103), frame('CONTINUATION', 1, LARGE)),
  'HTTP/2 interim responses': overHttp2(NOTHING, frame('HEADERS', 1, STATUS_103, END_HEADERS)),
  'HTTP/1.1 interim responses': overHttp1('', EARLY_HINTS),
  'an HTTP/1.1 header': overHttp1('HTTP/1.1 200 OK\r\n', `x-more: ${'x'.repeat(1000)}\r\n`),
} as const satisfies Record<string, (identity: Identity) => Server>;

export type HostilePeer = keyof typeof PEERS;
export const HOSTILE_PEERS = Object.keys(PEERS) as HostilePeer[];

export interface RunningHostile extends TcpPeer {
  /** Bytes sent so far, including those in the buffers of both kernels. */
  sentBytes(): number;
}

/** Starts one of these peers on a free port. */
export async function startHostile(name: HostilePeer, identity: Identity): Promise<RunningHostile> {
  const server = PEERS[name](identity);
  const sockets: Socket[] = [];
  server.on('connection', (socket: Socket) => void sockets.push(socket));
  const peer = await listen(server);
  return { ...peer, sentBytes: () => sockets.reduce((sum, { bytesWritten }) => sum + bytesWritten, 0) };
}
