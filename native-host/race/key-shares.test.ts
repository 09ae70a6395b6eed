// The first flight with and without ML-KEM key shares, on both transports, as received by a peer that never answers.
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { LOOPBACK, target } from '../testing/peers.ts';
import { readTrust } from '../trust.ts';
import { h2Transport } from './h2.ts';
import { h3Transport } from './h3.ts';
import type { Transport } from './transport.ts';

/** X25519MLKEM768's key share (draft-ietf-tls-ecdhe-mlkem): an encapsulation key of 1184 bytes and a point of 32. */
const ML_KEM_SHARE_BYTES = 1216;
/** Long enough that no retransmission happens during the attempt. */
const SLOW_RTT_MS = 10_000;

async function prepared(transport: typeof h2Transport, postQuantum: boolean): Promise<Transport> {
  const trust = await readTrust([], postQuantum);
  assert.ok(trust.ok);
  const made = transport(trust.value);
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
