// Malicious servers: zones of thousands of addresses, services with thousands more and endless aliases, all in the
// loopback range, and TCP peers that send unlimited data at one protocol layer, as fast as it is read.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { type HostScript, type HttpsRecord, startDns } from './dns.ts';
import { type Identity, listen, refusingUdpPort, type TcpPeer, writeSlowly } from './raw.ts';

type Zone = Readonly<Record<string, HostScript>>;

export const ZONE_HOST = 'zone.test';

/** `count` distinct addresses of 127.NET.0.0/16. */
export function addresses(count: number, net: number): string[] {
  return Array.from({ length: count }, (_, i) => `127.${net}.${i >> 8}.${i & 0xff}`);
}

/** The owner name of the host's HTTPS records for a port other than 443 (RFC 9460 section 9.1). */
const serviceName = (port: number): string => `_${port}._https.${ZONE_HOST}`;

/** 4,000 addresses for the host, and 32 services with as many each. */
export function manyTargets(port: number): Zone {
  const targets = Array.from({ length: 32 }, (_, i) => `t${i}.test`);
  const HTTPS = targets.map((target, i): HttpsRecord => ({ priority: i + 1, target, alpn: ['h3', 'h2'] }));
  return {
    [ZONE_HOST]: { A: addresses(4000, 40) },
    [serviceName(port)]: { HTTPS },
    ...Object.fromEntries(targets.map((target, i) => [target, { A: addresses(4000, 50 + i) }])),
  };
}

/** A chain of aliases; the last one points to `end`. */
function chain(count: number, end: string): Zone {
  const names = Array.from({ length: count }, (_, i) => `c${i}.test`);
  return Object.fromEntries(names.map((name, i) => [name, { CNAME: names[i + 1] ?? end }]));
}

/** By name, for an origin of the host on this port. */
export const HOSTILE_ZONES: Readonly<Record<string, (port: number) => Zone>> = {
  'one name of 4,000 addresses': () => ({ [ZONE_HOST]: { A: addresses(4000, 40) } }),
  '32 services of 4,000 addresses each': manyTargets,
  'hints by the thousand': (port) => ({
    [ZONE_HOST]: { A: addresses(1, 40) },
    [serviceName(port)]: {
      HTTPS: [{ priority: 1, target: '.', alpn: ['h3'], hints: addresses(4000, 41) }],
    },
  }),
  'a loop of AliasMode records': (port) => ({
    [ZONE_HOST]: { A: addresses(2, 40) },
    [serviceName(port)]: { HTTPS: [{ priority: 0, target: 'one.test' }] },
    'one.test': { A: addresses(2000, 42), HTTPS: [{ priority: 0, target: 'two.test' }] },
    'two.test': { A: addresses(2000, 43), HTTPS: [{ priority: 0, target: 'one.test' }] },
  }),
  'a chain of 200 CNAMEs': () => ({ [ZONE_HOST]: { CNAME: 'c0.test' }, ...chain(200, 'end.test') }),
  'a loop of CNAMEs': () => ({ [ZONE_HOST]: { CNAME: 'c0.test' }, ...chain(3, 'c0.test') }),
};

const TYPES = { HEADERS: 1, PRIORITY: 2, SETTINGS: 4, PING: 6, CONTINUATION: 9, UNKNOWN: 0xfa } as const;
const END_HEADERS = 4;
/** A literal field without indexing, with the name of entry 8 of the static table (RFC 7541 section 6.2.2). */
const STATUS_103 = Buffer.from('0803313033', 'hex');
const LARGE = Buffer.alloc(16_000);
/** A record filled with HelloRequests, which clients must ignore (RFC 5246 section 7.4.1.1). */
const HELLO_REQUESTS = Buffer.concat([Buffer.from('1603034000', 'hex'), Buffer.alloc(16_384)]);
const RECORD_HEAD_BYTES = 5;
const CHAIN_CERTIFICATES = 3000;
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
      writeSlowly(() => socket.write(Buffer.of(0)), socket);
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

type HostilePeer = keyof typeof PEERS;
export const HOSTILE_PEERS = Object.keys(PEERS) as HostilePeer[];

interface RunningHostile extends TcpPeer {
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

/** The targets that the benchmark `hostile` races. */
export interface HostileTargets {
  /** `address:port` of its DNS server. */
  readonly resolver: string;
  /** Nothing listens there. */
  readonly refusedPort: number;
  /** UDP is dropped there on every loopback address. */
  readonly silentPort: number;
  readonly peerPorts: readonly number[];
}

async function silentEverywhere(): Promise<number> {
  const socket = createSocket('udp4');
  socket.bind(0);
  await once(socket, 'listening');
  return socket.address().port;
}

async function openTargets(identity: Identity): Promise<HostileTargets> {
  const [refusedPort, silentPort] = [await refusingUdpPort(), await silentEverywhere()];
  const zones = { ...manyTargets(refusedPort), ...manyTargets(silentPort) };
  const dns = await startDns({ ...zones, 'warm.test': { A: addresses(1, 39) } });
  const peers = await Promise.all(HOSTILE_PEERS.map((name) => startHostile(name, identity)));
  return { resolver: dns.resolver, refusedPort, silentPort, peerPorts: peers.map(({ port }) => port) };
}

/** Opens it on a separate thread: its load must not count as the helper's time. The thread is to be terminated. */
export async function openHostileTargets(identity: Identity): Promise<[Worker, HostileTargets]> {
  const thread = new Worker(new URL(import.meta.url), { workerData: identity });
  const [targets] = (await once(thread, 'message')) as [HostileTargets];
  return [thread, targets];
}

if (!isMainThread) parentPort?.postMessage(await openTargets(workerData));
