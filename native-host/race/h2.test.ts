// The TCP transport against real peers on loopback: successful requests and cancellation; and peers that send
// endless data that no layer above TCP notices: each connection is closed after a bounded number of bytes.
import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { createServer as createHttpsServer } from 'node:https';
import { createServer, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import type { AttemptErrorCode } from '@photofinish/shared/race/terms';
import {
  failureOf,
  type Http2FrameKind,
  h2Testbed,
  http2Frame,
  requestOn,
  serving,
} from '../testing/h2-server.ts';
import { HOST, PLENTY_MS, target } from '../testing/peers.ts';
import type { RunningAttempt } from './transport.ts';

const { ca, pair, transport, http2, get } = await h2Testbed();
after(() => ca.stop());

/** An attempt and its socket, because received bytes can otherwise only be observed through a request. */
function startWatched(port: number): { readonly attempt: RunningAttempt; readonly socket: Socket } {
  const opened: Socket[] = [];
  const onSocket = (message: unknown): void => void opened.push((message as { socket: Socket }).socket);
  subscribe('net.client.socket', onSocket);
  const attempt = transport.start(target(port));
  unsubscribe('net.client.socket', onSocket);
  const [socket, ...others] = opened;
  assert.ok(socket !== undefined && others.length === 0);
  return { attempt, socket };
}

const EMPTY_SETTINGS = Buffer.from('000000040000000000', 'hex');
/** HEADERS on stream 1 with END_STREAM and static entry 9, `:status: 204` (RFC 7541 appendix A). */
const NO_CONTENT = Buffer.from('00000101050000000189', 'hex');

test('HTTP/2: timestamps in order, private root detected, request and answer as specified', async () => {
  const seen: Record<string, unknown>[] = [];
  const server = http2();
  server.on('stream', (stream, headers) => {
    seen.push({ ...headers });
    stream.respond({ ':status': 200, 'alt-svc': 'h3=":443"; ma=60', age: '7' });
    stream.end('hello');
  });
  await serving(server, async (port) => {
    const { established, answer } = await get(port);
    assert.equal(established.protocol, 'h2');
    assert.equal(established.knownRoot, false);
    assert.ok(established.transportMs !== null && established.transportMs <= established.establishedMs);
    assert.ok(answer.ok);
    assert.ok(established.establishedMs <= answer.firstByteMs && answer.firstByteMs <= answer.doneMs);
    assert.deepEqual(
      [answer.status, answer.altSvc?.text, answer.altSvc?.alternatives[0]?.maxAgeSeconds, answer.bodyBytes],
      [200, 'h3=":443"; ma=60', 53, 5],
    );
    assert.ok((answer.traffic?.bytes ?? 0) > (established.traffic?.bytes ?? Number.NaN));
    assert.equal(seen.length, 1);
    assert.equal(seen[0]?.[':authority'], `${HOST}:${port}`);
    assert.equal(seen[0]?.[':path'], '/');
    assert.match(String(seen[0]?.['user-agent']), /^photofinish\/\d/);
    assert.ok(!('cookie' in (seen[0] ?? {})));
  });
});

test('several lines of Alt-Svc are one list (RFC 9110 section 5.3), over both versions', async () => {
  const lines = ['h3=":443"', 'clear'];
  const server = http2();
  server.on('stream', (stream) => stream.respond({ ':status': 204, 'alt-svc': lines }, { endStream: true }));
  const old = createHttpsServer({ ...pair }, (_request, response) =>
    response.writeHead(204, { 'alt-svc': lines }).end(),
  );
  for (const one of [server, old])
    await serving(one, async (port) => {
      const { answer } = await get(port);
      assert.ok(answer.ok);
      assert.equal(answer.altSvc?.text, 'h3=":443", clear');
    });
});

test('HTTP/1.1 when ALPN selects it, and when the server has no ALPN at all', async () => {
  const server = createHttpsServer({ ...pair }, (_request, response) => response.end('hello'));
  await serving(server, async (port) => {
    const { established, answer } = await get(port);
    assert.equal(established.protocol, 'http/1.1');
    assert.ok(answer.ok && answer.bodyBytes === 5);
  });
  const bare = createTlsServer({ ...pair }, (socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end('HTTP/1.1 204 No Content\r\nalt-svc: clear\r\n\r\n'));
  });
  await serving(bare, async (port) => {
    const { established, answer } = await get(port);
    assert.equal(established.protocol, 'http/1.1');
    assert.ok(answer.ok);
    assert.deepEqual([answer.status, answer.altSvc?.text], [204, 'clear']);
  });
});

test('every attempt is cold: no session is resumed', async () => {
  const reused: boolean[] = [];
  const server = createTlsServer({ ...pair }, (socket) => {
    socket.on('error', () => {});
    reused.push(socket.isSessionReused());
    socket.once('data', () => socket.end('HTTP/1.1 204 No Content\r\n\r\n'));
  });
  await serving(server, async (port) => {
    for (let i = 0; i < 3; i += 1) assert.ok((await get(port)).answer.ok);
  });
  assert.deepEqual(reused, [false, false, false]);
});

test('a beaten attempt sends no request, and cancel closes its connection at once', async () => {
  let requests = 0;
  const server = http2();
  server.on('stream', () => {
    requests += 1;
  });
  await serving(server, async (port) => {
    const closed = new Promise<void>((resolve) =>
      server.once('connection', (socket) => socket.once('close', () => resolve())),
    );
    const attempt = transport.start(target(port));
    assert.ok((await attempt.established).ok);
    attempt.cancel();
    attempt.cancel();
    await closed;
    const late = await attempt.request(PLENTY_MS);
    assert.ok(!late.ok && late.error.code === 'cancelled');
  });
  assert.equal(requests, 0);
});

test('cancel while connecting, shaking hands or waiting for the answer resolves as cancelled', async () => {
  await serving(createServer(), async (port) => {
    const connecting = transport.start(target(port));
    connecting.cancel();
    assert.equal((await failureOf(connecting)).error.code, 'cancelled');
    const connected = Promise.withResolvers<void>();
    const shaking = transport.start(target(port, { onTransport: connected.resolve }));
    await connected.promise;
    shaking.cancel();
    const failure = await failureOf(shaking);
    assert.equal(failure.error.code, 'cancelled');
    assert.notEqual(failure.transportMs, null);
  });
  await serving(http2(), async (port) => {
    const attempt = transport.start(target(port));
    await attempt.established;
    const answer = attempt.request(PLENTY_MS);
    attempt.cancel();
    const result = await answer;
    assert.ok(!result.ok && result.error.code === 'cancelled');
  });
});

test('data that a server sends before the request is not lost', async () => {
  const said = Promise.withResolvers<Socket>();
  // Written by hand: when a Node server has sent its SETTINGS is unknown without asking the client.
  const server = createTlsServer({ ...pair, ALPNProtocols: ['h2'] }, async (socket) => {
    socket.on('error', () => {});
    socket.write(EMPTY_SETTINGS, () => said.resolve(accepted));
    await requestOn(socket);
    socket.write(NO_CONTENT);
  });
  let accepted: Socket;
  server.once('connection', (socket: Socket) => {
    accepted = socket;
  });
  await serving(server, async (port) => {
    const { attempt, socket } = startWatched(port);
    assert.ok((await attempt.established).ok);
    const { bytesWritten } = await said.promise;
    while (socket.bytesRead < bytesWritten) await setImmediate();
    const answer = await attempt.request(PLENTY_MS);
    attempt.cancel();
    assert.ok(answer.ok && answer.status === 204);
  });
});

test('a connection that ends between handshake and request reports the reason: an alert, a close', async () => {
  // TLS 1.3: the client has finished before the server can reject what it sent.
  const objecting = createTlsServer({ ...pair, ALPNProtocols: ['h2'], requestCert: true });
  const closing = createTlsServer({ ...pair, ALPNProtocols: ['h2'] }, (socket) => socket.end());
  for (const [server, code] of [
    [objecting, 'tls-alert'],
    [closing, 'connection-closed'],
  ] as const)
    await serving(server, async (port) => {
      const { attempt, socket } = startWatched(port);
      const closed = once(socket, 'close');
      assert.ok((await attempt.established).ok);
      await closed;
      const answer = await attempt.request(PLENTY_MS);
      attempt.cancel();
      assert.ok(!answer.ok);
      assert.equal(answer.error.code, code, answer.error.message);
    });
});

/** What the kernel buffers of server and client hold besides what is read, in a process that runs both. */
const MAX_SENT_BYTES = 32 * 1024 * 1024;

/** Writes the same bytes repeatedly until nobody accepts them any more; returns the number of bytes written. */
function flood(socket: Socket, bytes: Buffer): () => number {
  const more = (): void => {
    while (socket.writable && socket.write(bytes));
  };
  socket.on('drain', more);
  more();
  return () => socket.bytesWritten;
}

function isTooLarge(error: { readonly code: string; readonly message: string } | null): void {
  assert.equal(error?.code, 'response-too-large', JSON.stringify(error));
  assert.match(error?.message ?? '', /more than the 1 MiB/);
}

test('endless TLS messages before the handshake, which the client has to skip', async () => {
  // HelloRequest (RFC 5246 section 7.4.1.1), as many as fit a record.
  const requests = Buffer.alloc(16_384);
  const record = Buffer.concat([Buffer.from('1603034000', 'hex'), requests]);
  let sent = (): number => 0;
  const server = createServer((socket) => {
    sent = flood(socket, record);
  });
  await serving(server, async (port) => {
    const { error, traffic } = await failureOf(transport.start(target(port)));
    isTooLarge(error);
    assert.ok((traffic?.bytes ?? 0) > 1024 * 1024, 'and it is told what was read');
    assert.ok(sent() < MAX_SENT_BYTES, `${sent()} bytes`);
  });
});

/** nghttp2 reports a violation of the protocol like a header field that is too large, if enough has been read. */
const VIOLATION = ['response-too-large', 'connection-closed'] as const;
const FLOODS: readonly (readonly [string, Http2FrameKind, number, readonly AttemptErrorCode[]])[] = [
  ['frames of unknown types', 0xfa, 0, ['response-too-large']],
  ['frames of a body without a header section', 'DATA', 1, VIOLATION],
  ['priorities', 'PRIORITY', 3, VIOLATION],
];
for (const [what, kind, stream, codes] of FLOODS)
  test(`HTTP/2: ${what}`, async () => {
    let sent = (): number => 0;
    const server = createTlsServer({ ...pair, ALPNProtocols: ['h2'] }, async (socket: TLSSocket) => {
      socket.on('error', () => {});
      socket.write(http2Frame('SETTINGS', 0, Buffer.alloc(0)));
      await requestOn(socket);
      const payload = kind === 'PRIORITY' ? Buffer.alloc(5) : Buffer.alloc(16_000);
      sent = flood(socket, Buffer.concat(Array(64).fill(http2Frame(kind, stream, payload))));
    });
    await serving(server, async (port) => {
      const { answer } = await get(port);
      assert.ok(!answer.ok);
      if (kind === 0xfa) isTooLarge(answer.error);
      assert.ok(codes.includes(answer.error.code), JSON.stringify(answer.error));
      assert.ok(sent() > 0);
      assert.ok(sent() < MAX_SENT_BYTES, `${sent()} bytes`);
    });
  });

test('HTTP/1.1: endless interim responses', async () => {
  let sent = (): number => 0;
  const server = createTlsServer({ ...pair, ALPNProtocols: ['http/1.1'] }, (socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      const early = `HTTP/1.1 103 Early Hints\r\nlink: </${'x'.repeat(1000)}>\r\n\r\n`;
      sent = flood(socket, Buffer.from(early.repeat(64)));
    });
  });
  await serving(server, async (port) => {
    const { answer } = await get(port);
    assert.ok(!answer.ok);
    assert.match(answer.error.message, /more than the 64 interim responses/);
    assert.ok(sent() < MAX_SENT_BYTES, `${sent()} bytes`);
  });
});

test('HTTP/2: interim responses of a few bytes each, 75,000 per MiB', async () => {
  let sent = (): number => 0;
  const early = http2Frame('HEADERS', 1, Buffer.from('0803313033', 'hex'));
  early.writeUInt8(4, 4);
  const server = createTlsServer({ ...pair, ALPNProtocols: ['h2'] }, async (socket: TLSSocket) => {
    socket.on('error', () => {});
    socket.write(http2Frame('SETTINGS', 0, Buffer.alloc(0)));
    await requestOn(socket);
    sent = flood(socket, Buffer.concat(Array(4096).fill(early)));
  });
  await serving(server, async (port) => {
    const { answer } = await get(port);
    assert.ok(!answer.ok);
    assert.match(answer.error.message, /more than the 64 interim responses/);
    assert.ok(sent() < MAX_SENT_BYTES, `${sent()} bytes`);
  });
});
