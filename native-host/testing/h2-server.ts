// A testbed for tests of the HTTP/2 transport: certificates, a transport that trusts them, peers, and frames as octets.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createSecureServer, type Http2SecureServer } from 'node:http2';
import type { AddressInfo, Server, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { h2Transport } from '../race/h2.ts';
import type {
  AttemptAnswer,
  AttemptFailure,
  AttemptHandshake,
  RunningAttempt,
  Transport,
} from '../race/transport.ts';
import { readTrust } from '../trust.ts';
import { HOST, LOOPBACK, PLENTY_MS, type ThrowawayOrigins, target, throwawayOrigins } from './peers.ts';

/** Serves while `use` runs; then closes all remaining connections. */
export async function serving<T>(server: Server, use: (port: number) => Promise<T>): Promise<T> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('tlsClientError', () => {});
  server.listen(0, LOOPBACK);
  await once(server, 'listening');
  try {
    return await use((server.address() as AddressInfo).port);
  } finally {
    for (const socket of sockets) socket.destroy();
    server.close();
  }
}

const FRAME_HEAD_BYTES = 9;
const TYPE_HEADERS = 1;
const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';

/** Resolves when the client has sent the header of a request. */
export async function requestOn(socket: TLSSocket): Promise<void> {
  let seen = Buffer.alloc(0);
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    seen = Buffer.concat([seen, chunk]);
    for (let at = PREFACE.length; at + FRAME_HEAD_BYTES <= seen.length; ) {
      if (seen[at + 3] === TYPE_HEADERS) return;
      at += FRAME_HEAD_BYTES + seen.readUIntBE(at, 3);
    }
  }
  assert.fail('the client has ended without a request');
}

/** The failure of a handshake that is expected to fail. */
export async function failureOf(attempt: RunningAttempt): Promise<AttemptFailure> {
  const result = await attempt.established;
  attempt.cancel();
  assert.ok(!result.ok, 'the handshake was to fail');
  return result;
}

interface Testbed {
  readonly ca: ThrowawayOrigins;
  /** The certificate and key of `HOST`. */
  readonly pair: { readonly cert: string; readonly key: string };
  readonly transport: Transport;
  /** An HTTP/2 server as `HOST`; ALPN h2 alone. */
  http2(): Http2SecureServer;
  /** A handshake, then one GET; returns the result of the request. */
  get(
    port: number,
    timeoutMs?: number,
  ): Promise<{ readonly established: AttemptHandshake; readonly answer: AttemptAnswer | AttemptFailure }>;
}

/** Creates the testbed; `ca.stop` removes it. */
export async function h2Testbed(): Promise<Testbed> {
  const ca = await throwawayOrigins([HOST, LOOPBACK]);
  const pair = await ca.certificateOf(HOST);
  const transport = h2Transport(await readTrust([ca.caPath]));
  await transport.prepare();
  return {
    ca,
    pair,
    transport,
    http2() {
      const server = createSecureServer({ ...pair });
      server.on('session', (session) => session.on('error', () => {}));
      server.on('stream', (stream) => stream.on('error', () => {}));
      return server;
    },
    async get(port, timeoutMs = PLENTY_MS) {
      const attempt = transport.start(target(port));
      const established = await attempt.established;
      assert.ok(established.ok, JSON.stringify(established));
      const answer = await attempt.request(timeoutMs);
      attempt.cancel();
      return { established, answer };
    },
  };
}

// HTTP/2 frames (RFC 9113 section 4.1), for misbehaving peers.
const TYPES = { DATA: 0, HEADERS: 1, PRIORITY: 2, SETTINGS: 4, PING: 6, CONTINUATION: 9 } as const;

/** A type by its name, or an unregistered one. */
export type Http2FrameKind = keyof typeof TYPES | number;

/** One frame without flags. */
export function http2Frame(kind: Http2FrameKind, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(typeof kind === 'number' ? kind : TYPES[kind], 3);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}
