// Every way in which the handshake of the TCP transport can fail, with real peers on loopback; and the first
// flight of both transports with and without ML-KEM key shares, as received by a peer that never answers.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, connect as connectTcp, createServer, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { createServer as createTlsServer } from 'node:tls';
import type { ChainVerdict } from '../quic/addon.ts';
import { failureOf, h2Testbed, serving } from '../testing/h2-server.ts';
import { HOST, LOOPBACK, target } from '../testing/peers.ts';
import { readTrust } from '../trust.ts';
import { h2Transport } from './h2.ts';
import { h3Transport } from './h3.ts';
import type { Transport } from './transport.ts';

const { ca, pair, transport, http2 } = await h2Testbed();
after(() => ca.stop());

const BACKLOG = 1;
/** Kernels queue one connection more than the backlog, and drop the SYNs of all further ones. */
const QUEUE_LENGTH = BACKLOG + 1;

/** A process that listens, accepts nothing and has a full queue, so that further SYNs are dropped. */
async function deafPeer(): Promise<{ readonly port: number; stop(): void }> {
  const listen = `const s = require('node:net').createServer();
    s.listen({ port: 0, host: '${LOOPBACK}', backlog: ${BACKLOG} }, () => console.log(s.address().port));`;
  const child: ChildProcess = spawn(process.execPath, ['-e', listen], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  assert.ok(child.stdout);
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  child.kill('SIGSTOP');
  const port = Number(line.toString());
  const queued: Socket[] = [];
  while (queued.length < QUEUE_LENGTH) {
    const socket = connectTcp(port, LOOPBACK);
    await once(socket, 'connect');
    socket.on('error', () => {});
    queued.push(socket);
  }
  return {
    port,
    stop() {
      for (const socket of queued) socket.destroy();
      child.kill('SIGKILL');
    },
  };
}

test('an IP address as host: no server name is sent, the certificate is checked for the address', async () => {
  const names: (string | false | null)[] = [];
  const server = createTlsServer({ ...(await ca.certificateOf(LOOPBACK)) }, (socket) => {
    socket.on('error', () => {});
    names.push(socket.servername);
  });
  await serving(server, async (port) => {
    const attempt = transport.start(target(port, { host: LOOPBACK, authority: `${LOOPBACK}:${port}` }));
    const result = await attempt.established;
    assert.ok(result.ok, JSON.stringify(result));
    attempt.cancel();
    const wrong = await failureOf(transport.start(target(port)));
    assert.equal(wrong.error.code, 'certificate-invalid');
    assert.match(wrong.error.message, /^wrong-name: /);
  });
  assert.ok(!names[0]);
});

test('a closed port is tcp-refused', async () => {
  const port = await serving(createServer(), async (free) => free);
  const failure = await failureOf(transport.start(target(port)));
  assert.equal(failure.error.code, 'tcp-refused');
  assert.equal(failure.transportMs, null);
});

test('a peer that swallows SYNs is tcp-timeout', async () => {
  const peer = await deafPeer();
  const failure = await failureOf(transport.start(target(peer.port, { handshakeTimeoutMs: 50 })));
  peer.stop();
  assert.equal(failure.error.code, 'tcp-timeout');
});

test('TCP connected without an answer is handshake-timeout, and the sign of life is reported once', async () => {
  let life = 0;
  const onTransport = () => {
    life += 1;
  };
  await serving(createServer(), async (port) => {
    // Time to connect even on a machine that pauses this process.
    const failure = await failureOf(transport.start(target(port, { handshakeTimeoutMs: 2000, onTransport })));
    assert.equal(life, 1);
    assert.equal(failure.error.code, 'handshake-timeout');
    assert.notEqual(failure.transportMs, null);
  });
});

test('a peer that closes or resets during the handshake is connection-closed', async () => {
  const closing = createServer((socket) => socket.once('data', () => socket.end()));
  await serving(closing, async (port) => {
    assert.equal((await failureOf(transport.start(target(port)))).error.code, 'connection-closed');
  });
  const resetting = createServer((socket) => socket.once('data', () => socket.resetAndDestroy()));
  await serving(resetting, async (port) => {
    assert.equal((await failureOf(transport.start(target(port)))).error.code, 'connection-closed');
  });
});

test('a peer that does not speak TLS, or refuses with an alert, is tls-alert', async () => {
  const plain = createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  await serving(plain, async (port) => {
    const { error } = await failureOf(transport.start(target(port)));
    assert.equal(error.code, 'tls-alert');
    assert.equal(error.message, 'what answers does not speak TLS: wrong version number');
  });
  await serving(createTlsServer({}), async (port) => {
    const { error } = await failureOf(transport.start(target(port)));
    assert.equal(error.code, 'tls-alert');
    assert.match(error.message, /the TLS alert handshake_failure$/);
  });
});

test('a server that supports neither h2 nor http/1.1 is alpn-mismatch', async () => {
  await serving(createTlsServer({ ...pair, ALPNProtocols: ['acme-tls/1'] }), async (port) => {
    assert.equal((await failureOf(transport.start(target(port)))).error.code, 'alpn-mismatch');
  });
});

test('a certificate under an untrusted root is certificate-invalid, unknown-issuer', async () => {
  const stranger = h2Transport(await readTrust([]));
  await stranger.prepare();
  await serving(http2(), async (port) => {
    const failure = await failureOf(stranger.start(target(port)));
    assert.equal(failure.error.code, 'certificate-invalid');
    assert.match(failure.error.message, /^unknown-issuer: /);
    assert.equal(failure.error.reason, 'unknown-issuer');
  });
});

test("the chain as sent is also verified for the host by the other transport's verifier", async () => {
  const base = await readTrust([ca.caPath]);
  const judged: [string, string[]][] = [];
  const judging = (verdict: ChainVerdict) =>
    h2Transport({
      ...base,
      store: () =>
        Object.assign(Object.create(base.store()), {
          judge(host: string, chain: Uint8Array[]): ChainVerdict {
            judged.push([host, chain.map((der) => new X509Certificate(der).fingerprint256)]);
            return verdict;
          },
        }),
    });
  const knowing = judging({ outcome: 'accepted', knownRoot: true });
  const strict = judging({ outcome: 'refused', certificateReason: 'other', message: 'a rule of its own' });
  await Promise.all([knowing.prepare(), strict.prepare()]);
  await serving(http2(), async (port) => {
    const attempt = knowing.start(target(port));
    const result = await attempt.established;
    attempt.cancel();
    assert.ok(result.ok && result.knownRoot);
    const { error } = await failureOf(strict.start(target(port)));
    assert.deepEqual(error, {
      code: 'certificate-invalid',
      reason: 'other',
      message: 'other: a rule of its own',
    });
  });
  const sent = [HOST, [new X509Certificate(pair.cert).fingerprint256]];
  assert.deepEqual(judged, [sent, sent]);
});

/** X25519MLKEM768's key share (draft-ietf-tls-ecdhe-mlkem): an encapsulation key of 1184 bytes and a point of 32. */
const ML_KEM_SHARE_BYTES = 1216;
/** Long enough that no retransmission happens during the attempt. */
const SLOW_RTT_MS = 10_000;

async function prepared(transport: typeof h2Transport, postQuantum: boolean): Promise<Transport> {
  const made = transport(await readTrust([], postQuantum));
  await made.prepare();
  return made;
}

/** Length of the ClientHello over TCP. */
async function helloBytes(transport: Transport): Promise<number> {
  const server = createServer().listen(0, LOOPBACK);
  await once(server, 'listening');
  const attempt = transport.start(target((server.address() as AddressInfo).port));
  const [socket] = (await once(server, 'connection')) as [Socket];
  const [hello] = (await once(socket, 'data')) as [Buffer];
  attempt.cancel();
  socket.destroy();
  server.close();
  // The length field of the TLS record (RFC 8446 section 5.1).
  return hello.readUInt16BE(3);
}

/** Number of datagrams in the first flight over QUIC. */
async function flightDatagrams(transport: Transport): Promise<number | undefined> {
  const peer = createSocket('udp4').bind(0, LOOPBACK);
  await once(peer, 'listening');
  const endpoint = { ...target(peer.address().port), initialRttMs: SLOW_RTT_MS, handshakeTimeoutMs: 1000 };
  const result = await transport.start(endpoint).established;
  peer.close();
  assert.ok(!result.ok);
  return result.packets?.sent;
}

test('with ML-KEM by default, and without it when configured: the ClientHello over TCP', async () => {
  assert.ok((await helloBytes(await prepared(h2Transport, true))) > ML_KEM_SHARE_BYTES);
  assert.ok((await helloBytes(await prepared(h2Transport, false))) < ML_KEM_SHARE_BYTES);
});

test('with ML-KEM the first flight over QUIC is two datagrams, as in browsers, and without it one', async () => {
  assert.equal(await flightDatagrams(await prepared(h3Transport, true)), 2);
  assert.equal(await flightDatagrams(await prepared(h3Transport, false)), 1);
});
