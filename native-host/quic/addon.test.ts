// The binding with the real network stack: refusals, cancellation and misuse as seen by JavaScript.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { getCACertificates } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { type AttemptOptions, loadQuicAddon } from './addon.ts';

const LOOPBACK = '127.0.0.1';
const { DnsQuestion, DnsResolver, QuicAttempt, TrustStore } = loadQuicAddon();
const BUNDLED = getCACertificates('bundled');
const trust = new TrustStore(BUNDLED, []);

function options(overrides: Partial<AttemptOptions> = {}): AttemptOptions {
  return {
    address: LOOPBACK,
    port: 443,
    serverName: 'h3.test',
    initialRttMs: 25,
    handshakeTimeoutMs: 60_000,
    ...overrides,
  };
}

/** A bound socket that answers nothing, and its port. */
async function silence(): Promise<{ socket: Socket; port: number }> {
  const socket = createSocket('udp4');
  socket.bind(0, LOOPBACK);
  await once(socket, 'listening');
  return { socket, port: socket.address().port };
}

/** A port that was just released, so nobody listens. */
async function refusedPort(): Promise<number> {
  const { socket, port } = await silence();
  socket.close();
  await once(socket, 'close');
  return port;
}

test('every bundled root of Node can be used as a root, unless it has expired', () => {
  const nowMs = Date.now();
  const expired = BUNDLED.filter((pem) => new X509Certificate(pem).validToDate.getTime() < nowMs);
  assert.equal(trust.ignored, expired.length);
});

test('a refused port fails long before the deadline, as udp-refused', async () => {
  const attempt = new QuicAttempt(trust, options({ port: await refusedPort() }));
  const result = await attempt.connect();
  assert.equal(result.outcome, 'failed');
  assert.equal(result.outcome === 'failed' && result.failure.code, 'udp-refused');
  assert.equal(result.outcome === 'failed' && result.failure.traffic.datagramsReceived, 0);
});

test('a silent port fails at the deadline, as udp-timeout', async () => {
  const { socket, port } = await silence();
  const result = await new QuicAttempt(trust, options({ port, handshakeTimeoutMs: 1000 })).connect();
  socket.close();
  assert.equal(result.outcome === 'failed' && result.failure.code, 'udp-timeout');
  assert.ok(result.outcome === 'failed' && result.failure.traffic.datagramsSent >= 2);
});

test('cancel resolves a pending connect, and a later request', async () => {
  const { socket, port } = await silence();
  const attempt = new QuicAttempt(trust, options({ port }));
  const pending = attempt.connect();
  await once(socket, 'message');
  attempt.cancel();
  attempt.cancel();
  const result = await pending;
  socket.close();
  assert.equal(result.outcome === 'failed' && result.failure.code, 'cancelled');
  const request = await attempt.request({
    authority: 'h3.test',
    path: '/',
    userAgent: 'test',
    maxBodyBytes: 0,
    maxHeaderBytes: 1024,
    deadlineMs: 1000,
  });
  assert.equal(request.outcome === 'failed' && request.failure.code, 'cancelled');
});

test('cancel before connect sends nothing', async () => {
  const attempt = new QuicAttempt(trust, options({ port: await refusedPort() }));
  attempt.cancel();
  const result = await attempt.connect();
  assert.equal(result.outcome === 'failed' && result.failure.code, 'cancelled');
  assert.equal(result.outcome === 'failed' && result.failure.traffic.datagramsSent, 0);
});

test('bad arguments throw, naming the argument', () => {
  const resolver = new DnsResolver(`${LOOPBACK}:53`);
  const attempt = (overrides: Partial<AttemptOptions>) => () => new QuicAttempt(trust, options(overrides));
  assert.throws(attempt({ address: 'h3.test' }), /address must be an IP address/);
  assert.throws(attempt({ port: 0 }), /port must be between/);
  assert.throws(attempt({ port: 65_536 }), /port must be between/);
  assert.throws(attempt({ serverName: 'not a name' }), /serverName must be/);
  assert.throws(attempt({ initialRttMs: 0 }), /initialRttMs must be between/);
  assert.throws(attempt({ handshakeTimeoutMs: Number.NaN }), /handshakeTimeoutMs must be between/);
  assert.throws(attempt({ initialRttMs: -1 }), /initialRttMs must be between/);
  for (const timeoutMs of [0, -1, Number.NaN, 1e9])
    assert.throws(() => new DnsQuestion(resolver, 'a.test', 'A', timeoutMs), /timeoutMs must be between/);
  assert.throws(() => new TrustStore([], []), /no usable root/);
  assert.throws(() => new TrustStore(['nonsense'], []), /bundled\[0\] is not a certificate/);
});

test('misuse rejects: a second connect, a request without a connection, a bad request', async () => {
  const attempt = new QuicAttempt(trust, options({ port: await refusedPort() }));
  const request = {
    authority: 'h3.test',
    path: '/',
    userAgent: 'test',
    maxBodyBytes: 0,
    maxHeaderBytes: 1024,
    deadlineMs: 1000,
  };
  await assert.rejects(attempt.request(request), /established/);
  await assert.rejects(attempt.request({ ...request, path: 'no-slash' }), /path must start with a slash/);
  await assert.rejects(attempt.request({ ...request, authority: 'a@b' }), /authority must be/);
  await assert.rejects(attempt.request({ ...request, userAgent: 'a\r\nb: c' }), /userAgent holds/);
  await assert.rejects(attempt.request({ ...request, deadlineMs: 60_000_000 }), /deadlineMs must be between/);
  await attempt.connect();
  await assert.rejects(attempt.connect(), /called before/);
});

test('a cancelled attempt does not keep the process alive', async () => {
  const script = `
    const { loadQuicAddon } = await import(${JSON.stringify(new URL('./addon.ts', import.meta.url).href)});
    const { getCACertificates } = await import('node:tls');
    const { createSocket } = await import('node:dgram');
    const { once } = await import('node:events');
    const silence = createSocket('udp4').bind(0, '${LOOPBACK}');
    await once(silence, 'listening');
    const options = { ...${JSON.stringify(options({ handshakeTimeoutMs: 600_000 }))}, port: silence.address().port };
    const { QuicAttempt, TrustStore } = loadQuicAddon();
    const attempt = new QuicAttempt(new TrustStore(getCACertificates('bundled'), []), options);
    silence.once('message', () => attempt.cancel());
    console.log((await attempt.connect()).failure.code);
    silence.close();
  `;
  const cwd = fileURLToPath(new URL('.', import.meta.url));
  const child = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], { cwd });
  assert.equal(child.stdout.trim(), 'cancelled');
});

test('a thread that ends during a handshake frees its socket, and others shake hands', async () => {
  const { socket, port } = await silence();
  const script = `
    const { workerData } = require('node:worker_threads');
    import(workerData.addon).then(({ loadQuicAddon }) => {
      const { QuicAttempt, TrustStore } = loadQuicAddon();
      new QuicAttempt(new TrustStore(workerData.roots, []), workerData.options).connect(() => {});
    });
  `;
  const worker = new Worker(script, {
    eval: true,
    workerData: {
      addon: new URL('./addon.ts', import.meta.url).href,
      roots: BUNDLED.slice(0, 3),
      options: options({ port, handshakeTimeoutMs: 600_000 }),
    },
  });
  const [, { port: clientPort }] = await once(socket, 'message');
  await worker.terminate();
  // Until then the port is in use.
  for (let isFree = false; !isFree; await setTimeout(10)) {
    const client = createSocket('udp4').bind(clientPort, LOOPBACK);
    isFree = await once(client, 'listening').then(
      () => true,
      () => false,
    );
    client.close();
  }
  socket.close();
  const result = await new QuicAttempt(trust, options({ port: await refusedPort() })).connect();
  assert.equal(result.outcome === 'failed' && result.failure.code, 'udp-refused');
});
