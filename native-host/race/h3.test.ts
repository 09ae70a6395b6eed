// The HTTP/3 transport against real peers on loopback, as used by the race; the addon's own suite covers the rest.
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { HOST, PLENTY_MS, type ThrowawayOrigins, target, throwawayOrigins } from '../testing/peers.ts';
import { readTrust } from '../trust.ts';
import { h3Transport } from './h3.ts';
import type { Transport } from './transport.ts';

let origins: ThrowawayOrigins;
let transport: Transport;

before(async () => {
  origins = await throwawayOrigins(
    [],
    { host: HOST, h3: true, altSvc: 'auto' },
    { host: 'old.test', h3: false },
  );
  transport = h3Transport(await readTrust([origins.caPath]));
  await transport.prepare();
});
after(() => origins.stop());

test('established without a request, then one request with its answer', async () => {
  const [port] = origins.ports;
  const attempt = transport.start(target(port));
  const established = await attempt.established;
  assert.ok(established.ok, JSON.stringify(established));
  assert.equal(established.protocol, 'h3');
  assert.equal(established.knownRoot, false);
  const answer = await attempt.request(PLENTY_MS);
  attempt.cancel();
  assert.ok(answer.ok, JSON.stringify(answer));
  assert.equal(answer.status, 200);
  assert.equal(answer.altSvc?.text, `h3=":${port}"; ma=86400`);
  assert.ok(established.establishedMs <= answer.firstByteMs && answer.firstByteMs <= answer.doneMs);
});

test('the first datagram is reported once, before the handshake; packets are counted to the end', async () => {
  const told: string[] = [];
  const attempt = transport.start(
    target(origins.ports[0], { onTransport: () => void told.push('transport') }),
  );
  const established = await attempt.established;
  told.push('established');
  const answer = await attempt.request(PLENTY_MS);
  assert.deepEqual(told, ['transport', 'established']);
  assert.ok(established.ok && established.packets !== undefined && established.packets.sent >= 3);
  assert.ok(answer.ok && answer.packets !== undefined && answer.packets.sent > established.packets.sent);
  // Both directions: received datagrams count as well.
  assert.ok((established.traffic?.packets ?? 0) > established.packets.sent);
  assert.ok((answer.traffic?.packets ?? 0) > (established.traffic?.packets ?? 0));
});

test('a port without QUIC is udp-refused, with the packets sent and no sign of life', async () => {
  let life = 0;
  const attempt = transport.start(
    target(origins.ports[1], {
      host: 'old.test',
      onTransport: () => {
        life += 1;
      },
    }),
  );
  const result = await attempt.established;
  assert.equal(life, 0);
  assert.ok(!result.ok && result.packets !== undefined && result.packets.sent > 0);
  assert.ok(!result.ok);
  assert.equal(result.error.code, 'udp-refused');
});

test('a certificate for another name or under an unknown root is certificate-invalid with the reason', async () => {
  const wrong = await transport.start(target(origins.ports[0], { host: 'other.test' })).established;
  assert.ok(!wrong.ok);
  assert.equal(wrong.error.code, 'certificate-invalid');
  assert.equal(wrong.error.reason, 'wrong-name');
  assert.match(wrong.error.message, /^wrong-name: /);
  const stranger = h3Transport(await readTrust([]));
  await stranger.prepare();
  const unknown = await stranger.start(target(origins.ports[0])).established;
  assert.ok(!unknown.ok);
  assert.match(unknown.error.message, /^unknown-issuer: /);
});

test('cancel resolves pending results as cancelled; a request after it fails the same way', async () => {
  const silent = createSocket('udp4');
  silent.bind(0, '127.0.0.1');
  await once(silent, 'listening');
  const attempt = transport.start(target(silent.address().port));
  await once(silent, 'message');
  attempt.cancel();
  attempt.cancel();
  const result = await attempt.established;
  silent.close();
  assert.ok(!result.ok && result.error.code === 'cancelled');
  const answer = await attempt.request(PLENTY_MS);
  assert.ok(!answer.ok && answer.error.code === 'cancelled');
});

test('misuse of the addon is our fault, not the server’s', async () => {
  const silent = createSocket('udp4');
  silent.bind(0, '127.0.0.1');
  await once(silent, 'listening');
  const attempt = transport.start(target(silent.address().port));
  // A request is invalid before the handshake is done, and with this peer it never is.
  const early = await attempt.request(PLENTY_MS);
  attempt.cancel();
  silent.close();
  assert.ok(!early.ok);
  assert.deepEqual([early.error.code, early.error.message.includes('established')], ['internal', true]);
});

test('a host that no certificate can contain fails its attempt and throws nothing', async () => {
  const attempt = transport.start(target(origins.ports[0], { host: '-a*b.test' }));
  const result = await attempt.established;
  assert.ok(!result.ok);
  assert.deepEqual([result.error.code, result.error.reason], ['certificate-invalid', 'wrong-name']);
  assert.equal((await attempt.request(PLENTY_MS)).ok, false);
  attempt.cancel();
});
