// Real peers on loopback for tests: a throw-away CA, a certificate per host, origins by the origin server's binary, and
// what an attempt at them needs; a port that refuses, for races that must fail at once, and one that never answers.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { AttemptTarget } from '../race/transport.ts';

const BINARY = fileURLToPath(new URL('../../.photofinish/bin/photofinish-origin', import.meta.url));

interface OriginRequest {
  readonly host: string;
  /** Serve HTTP/3; HTTP/2 and HTTP/1.1 are always served on TCP. */
  readonly h3: boolean;
  /** The Alt-Svc field; `auto` advertises its own port. */
  readonly altSvc?: string;
}

export interface ThrowawayOrigins {
  readonly caPath: string;
  /** Ports on 127.0.0.1, both UDP and TCP, in the order of the requests. */
  readonly ports: readonly number[];
  /** Certificate and key of a host, PEM. */
  certificateOf(host: string): Promise<{ readonly cert: string; readonly key: string }>;
  stop(): Promise<void>;
}

/** Certificates for `certificateHosts`, and a server per request. Throws when the binary is not built. */
export async function throwawayOrigins(
  certificateHosts: readonly string[],
  ...origins: OriginRequest[]
): Promise<ThrowawayOrigins> {
  if (!existsSync(BINARY)) throw new Error('the origin server is not built; run: npm run build');
  const dir = await mkdtemp(join(tmpdir(), 'photofinish-origins-'));
  const settings = JSON.stringify({ dir, origins, certificateHosts });
  const child = spawn(BINARY, [settings], { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const ready = JSON.parse(line) as { readonly origins: readonly { readonly port: number }[] };
  return {
    caPath: join(dir, 'ca.pem'),
    ports: ready.origins.map((origin) => origin.port),
    certificateOf: async (host) => ({
      cert: await readFile(join(dir, `${host}.pem`), 'utf8'),
      key: await readFile(join(dir, `${host}.key`), 'utf8'),
    }),
    async stop() {
      // It serves until its input ends.
      child.stdin.end();
      await exited;
      await rm(dir, { recursive: true, force: true });
    },
  };
}

export const HOST = 'peer.test';
export const LOOPBACK = '127.0.0.1';
/** Long enough never to be reached by a test that does not wait for it. */
export const PLENTY_MS = 60_000;

/** A target on loopback without a practical time-out. */
export function target(port: number | undefined, overrides: Partial<AttemptTarget> = {}): AttemptTarget {
  assert.ok(port !== undefined);
  return {
    address: LOOPBACK,
    port,
    host: HOST,
    authority: `${HOST}:${port}`,
    initialRttMs: 67,
    handshakeTimeoutMs: PLENTY_MS,
    ...overrides,
  };
}

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
