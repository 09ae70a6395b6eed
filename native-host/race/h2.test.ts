// The old-HTTP contender against real peers on loopback: what works, and every way in which it can fail.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createSecureServer, type Http2SecureServer, type SecureServerOptions } from 'node:http2';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, connect as connectTcp, createServer, type Server, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { createServer as createTlsServer } from 'node:tls';
import { readTrust, type Trust } from '../trust.ts';
import type { AttemptFailure, AttemptTarget, Contender, RunningAttempt } from './contender.ts';
import { h2Contender } from './h2.ts';
import { type ThrowawayOrigins, throwawayOrigins } from './throwaway-origins.ts';

const HOST = 'peer.test';
const LOOPBACK = '127.0.0.1';
/** Long enough never to be reached by a test that does not wait for it. */
const PLENTY_MS = 60_000;

let ca: ThrowawayOrigins;
let pair: { readonly cert: string; readonly key: string };
let contender: Contender;

async function trusted(files: readonly string[]): Promise<Trust> {
  const trust = await readTrust(files);
  assert.ok(trust.ok);
  return trust.value;
}

before(async () => {
  ca = await throwawayOrigins([HOST, LOOPBACK]);
  pair = await ca.certificateOf(HOST);
  contender = h2Contender(await trusted([ca.caPath]));
  await contender.prepare();
});
after(() => ca.stop());

function target(port: number, overrides: Partial<AttemptTarget> = {}): AttemptTarget {
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

/** Serves while `use` runs; connections that are still open then are cut. */
async function serving<T>(server: Server, use: (port: number) => Promise<T>): Promise<T> {
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

function http2(options: SecureServerOptions = {}): Http2SecureServer {
  const server = createSecureServer({ ...pair, ...options });
  server.on('session', (session) => session.on('error', () => {}));
  server.on('stream', (stream) => stream.on('error', () => {}));
  return server;
}

async function failureOf(attempt: RunningAttempt): Promise<AttemptFailure> {
  const result = await attempt.established;
  attempt.cancel();
  assert.ok(!result.ok, 'the handshake was to fail');
  return result;
}

/** Established, then one GET; gives what came of the request. */
async function get(port: number, timeoutMs = PLENTY_MS) {
  const attempt = contender.start(target(port));
  const established = await attempt.established;
  assert.ok(established.ok, JSON.stringify(established));
  const answer = await attempt.request('GET', timeoutMs);
  attempt.cancel();
  return { established, answer };
}

test('HTTP/2: stamps in order, private root told, request and answer as agreed', async () => {
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
      [answer.status, answer.altSvc, answer.ageSeconds, answer.bodyBytes],
      [200, 'h3=":443"; ma=60', 7, 5],
    );
    assert.equal(seen.length, 1);
    assert.equal(seen[0]?.[':authority'], `${HOST}:${port}`);
    assert.equal(seen[0]?.[':path'], '/');
    assert.match(String(seen[0]?.['user-agent']), /^photofinish\/\d/);
    assert.ok(!('cookie' in (seen[0] ?? {})));
  });
});

test('HTTP/1.1 when ALPN gives that, and when the server has no ALPN at all', async () => {
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
    assert.deepEqual([answer.status, answer.altSvc], [204, 'clear']);
  });
});

test('an IP address as host: no server name is sent, the certificate is checked for the address', async () => {
  const names: (string | false | null)[] = [];
  const server = createTlsServer({ ...(await ca.certificateOf(LOOPBACK)) }, (socket) => {
    socket.on('error', () => {});
    names.push(socket.servername);
  });
  await serving(server, async (port) => {
    const attempt = contender.start(target(port, { host: LOOPBACK, authority: `${LOOPBACK}:${port}` }));
    const result = await attempt.established;
    assert.ok(result.ok, JSON.stringify(result));
    attempt.cancel();
    const wrong = await failureOf(contender.start(target(port)));
    assert.equal(wrong.error.code, 'certificate-invalid');
    assert.match(wrong.error.message, /^wrong-name: /);
  });
  assert.ok(!names[0]);
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
    const attempt = contender.start(target(port));
    assert.ok((await attempt.established).ok);
    attempt.cancel();
    attempt.cancel();
    await closed;
    const late = await attempt.request('GET', PLENTY_MS);
    assert.ok(!late.ok && late.error.code === 'cancelled');
  });
  assert.equal(requests, 0);
});

test('cancel while connecting, shaking hands, or waiting for the answer resolves as cancelled', async () => {
  await serving(createServer(), async (port) => {
    const connecting = contender.start(target(port));
    connecting.cancel();
    assert.equal((await failureOf(connecting)).error.code, 'cancelled');
    const shaking = contender.start(target(port));
    await new Promise((resolve) => setTimeout(resolve, 20));
    shaking.cancel();
    const failure = await failureOf(shaking);
    assert.equal(failure.error.code, 'cancelled');
    assert.notEqual(failure.transportMs, null);
  });
  await serving(http2(), async (port) => {
    const attempt = contender.start(target(port));
    await attempt.established;
    const answer = attempt.request('GET', PLENTY_MS);
    attempt.cancel();
    const result = await answer;
    assert.ok(!result.ok && result.error.code === 'cancelled');
  });
});

test('a closed port is tcp-refused', async () => {
  const port = await serving(createServer(), async (free) => free);
  const failure = await failureOf(contender.start(target(port)));
  assert.equal(failure.error.code, 'tcp-refused');
  assert.equal(failure.transportMs, null);
});

/** A process that listens, accepts nothing and whose queue is full, so that further SYNs are dropped. */
async function deafPeer(): Promise<{ readonly port: number; stop(): void }> {
  const listen = `const s = require('node:net').createServer();
    s.listen({ port: 0, host: '${LOOPBACK}', backlog: 1 }, () => console.log(s.address().port));`;
  const child: ChildProcess = spawn(process.execPath, ['-e', listen], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  assert.ok(child.stdout);
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  child.kill('SIGSTOP');
  const port = Number(line.toString());
  const queued: Socket[] = [];
  for (let full = false; !full; ) {
    const socket = connectTcp(port, LOOPBACK);
    socket.on('error', () => {});
    queued.push(socket);
    full = await Promise.race([
      once(socket, 'connect').then(() => false),
      new Promise<boolean>((resolve) => setTimeout(resolve, 200, true)),
    ]);
  }
  return {
    port,
    stop() {
      for (const socket of queued) socket.destroy();
      child.kill('SIGKILL');
    },
  };
}

test('a peer that swallows SYNs is tcp-timeout', async () => {
  const peer = await deafPeer();
  const failure = await failureOf(contender.start(target(peer.port, { handshakeTimeoutMs: 50 })));
  peer.stop();
  assert.equal(failure.error.code, 'tcp-timeout');
});

test('TCP up and silence is handshake-timeout', async () => {
  await serving(createServer(), async (port) => {
    const failure = await failureOf(contender.start(target(port, { handshakeTimeoutMs: 50 })));
    assert.equal(failure.error.code, 'handshake-timeout');
    assert.notEqual(failure.transportMs, null);
  });
});

test('a peer that closes or resets during the handshake is connection-closed', async () => {
  const closing = createServer((socket) => socket.once('data', () => socket.end()));
  await serving(closing, async (port) => {
    assert.equal((await failureOf(contender.start(target(port)))).error.code, 'connection-closed');
  });
  const resetting = createServer((socket) => socket.once('data', () => socket.resetAndDestroy()));
  await serving(resetting, async (port) => {
    assert.equal((await failureOf(contender.start(target(port)))).error.code, 'connection-closed');
  });
});

test('a peer that speaks no TLS, or refuses by an alert, is tls-alert', async () => {
  const plain = createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  await serving(plain, async (port) => {
    assert.equal((await failureOf(contender.start(target(port)))).error.code, 'tls-alert');
  });
  await serving(createTlsServer({}), async (port) => {
    assert.equal((await failureOf(contender.start(target(port)))).error.code, 'tls-alert');
  });
});

test('a server that knows neither h2 nor http/1.1 is alpn-mismatch', async () => {
  await serving(createTlsServer({ ...pair, ALPNProtocols: ['acme-tls/1'] }), async (port) => {
    assert.equal((await failureOf(contender.start(target(port)))).error.code, 'alpn-mismatch');
  });
});

test('a certificate under a root that is not trusted is certificate-invalid, unknown-issuer', async () => {
  const stranger = h2Contender(await trusted([]));
  await stranger.prepare();
  await serving(http2(), async (port) => {
    const failure = await failureOf(stranger.start(target(port)));
    assert.equal(failure.error.code, 'certificate-invalid');
    assert.match(failure.error.message, /^unknown-issuer: /);
  });
});

test('the chain that is judged leads to the root that verified it, though no server sends that', async () => {
  const root = new X509Certificate(await readFile(ca.caPath));
  const base = await trusted([ca.caPath]);
  const judged: string[] = [];
  const knowing = h2Contender({
    ...base,
    endsInKnownRoot(chain) {
      judged.push(...chain.map((der) => new X509Certificate(der).fingerprint256));
      return true;
    },
  });
  await knowing.prepare();
  await serving(http2(), async (port) => {
    const attempt = knowing.start(target(port));
    const result = await attempt.established;
    attempt.cancel();
    assert.ok(result.ok && result.knownRoot);
  });
  assert.deepEqual(judged, [new X509Certificate(pair.cert).fingerprint256, root.fingerprint256]);
});

test('421 is misdirected', async () => {
  const server = http2();
  server.on('stream', (stream) => {
    stream.respond({ ':status': 421 }, { endStream: true });
  });
  await serving(server, async (port) => {
    const { answer } = await get(port);
    assert.ok(!answer.ok && answer.error.code === 'misdirected');
  });
});

test('an answer that never comes, or never ends, is response-timeout', async () => {
  await serving(http2(), async (port) => {
    const { answer } = await get(port, 50);
    assert.ok(!answer.ok && answer.error.code === 'response-timeout');
  });
  const endless = http2();
  endless.on('stream', (stream) => {
    stream.respond({ ':status': 200 });
    stream.write('first');
  });
  await serving(endless, async (port) => {
    const { answer } = await get(port, 50);
    assert.ok(!answer.ok && answer.error.code === 'response-timeout');
  });
});

test('GOAWAY for our stream is goaway, and no second connection is opened', async () => {
  let connections = 0;
  // SETTINGS, then GOAWAY with last stream 0: nothing was processed (RFC 9113 section 6.8). node:http2 cannot say so.
  const frames = Buffer.from('000000040000000000' + '0000080700000000000000000000000000', 'hex');
  const server = createTlsServer({ ...pair, ALPNProtocols: ['h2'] }, (socket) => {
    connections += 1;
    socket.on('error', () => {});
    socket.once('data', () => socket.write(frames));
  });
  await serving(server, async (port) => {
    const { answer } = await get(port);
    assert.ok(!answer.ok);
    assert.equal(answer.error.code, 'goaway');
  });
  assert.equal(connections, 1);
});

test('a connection that dies before the answer is connection-closed, on h2 and on http/1.1', async () => {
  const server = http2();
  server.on('stream', (stream) => stream.session?.socket.destroy());
  await serving(server, async (port) => {
    const { answer } = await get(port);
    assert.ok(!answer.ok && answer.error.code === 'connection-closed');
  });
  const old = createHttpsServer({ ...pair }, (request) => request.socket.destroy());
  await serving(old, async (port) => {
    const { answer } = await get(port);
    assert.ok(!answer.ok && answer.error.code === 'connection-closed');
  });
});

test('of a body no more than 64 KiB is read, and an endless one ends the answer', async () => {
  const chunk = Buffer.alloc(16_384);
  const server = http2();
  server.on('stream', (stream) => {
    stream.respond({ ':status': 200 });
    const pour = (): void => {
      while (!stream.destroyed && stream.write(chunk));
      stream.once('drain', pour);
    };
    pour();
  });
  await serving(server, async (port) => {
    const { answer } = await get(port);
    assert.ok(answer.ok);
    assert.equal(answer.bodyBytes, 65_536);
  });
});

test('header sections over 16 KiB are refused, on h2 and on http/1.1', async () => {
  const headers = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`x-${i}`, 'y'.repeat(1000)]));
  const server = http2();
  server.on('stream', (stream) => {
    stream.respond({ ':status': 200, ...headers }, { endStream: true });
  });
  await serving(server, async (port) => {
    const { answer } = await get(port);
    assert.ok(!answer.ok);
    assert.match(answer.error.message, /too large/);
  });
  const old = createHttpsServer({ ...pair }, (_request, response) => response.writeHead(200, headers).end());
  await serving(old, async (port) => {
    const { answer } = await get(port);
    assert.ok(!answer.ok);
    assert.match(answer.error.message, /too large/);
  });
});

test('redirects are answers, not followed', async () => {
  let requests = 0;
  const server = http2();
  server.on('stream', (stream) => {
    requests += 1;
    stream.respond({ ':status': 302, location: '/elsewhere' }, { endStream: true });
  });
  await serving(server, async (port) => {
    const { answer } = await get(port);
    assert.ok(answer.ok && answer.status === 302);
  });
  assert.equal(requests, 1);
});

test('a server that speaks before the request is asked loses nothing of it', async () => {
  const server = http2();
  server.on('stream', (stream) => stream.respond({ ':status': 204 }, { endStream: true }));
  await serving(server, async (port) => {
    const attempt = contender.start(target(port));
    assert.ok((await attempt.established).ok);
    // The server's SETTINGS arrive meanwhile.
    await new Promise((resolve) => setTimeout(resolve, 50));
    const answer = await attempt.request('GET', PLENTY_MS);
    attempt.cancel();
    assert.ok(answer.ok && answer.status === 204);
  });
});
