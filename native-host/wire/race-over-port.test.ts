// Limits of a race requested over the port, with a real helper and real peers: whatever the message says, the helper's
// own limits apply.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { after, type TestContext, test } from 'node:test';
import { RACES_PER_MINUTE } from '@photofinish/shared/port/race-limits';
import { DEFAULT_TIMEOUT_MS } from '../race/pacing.ts';
import { dnsTestbed } from '../testing/dns-server.ts';
import { h2Testbed, serving } from '../testing/h2-server.ts';
import { closedPort, HOST, LOOPBACK, silentPort } from '../testing/peers.ts';
import { type Helper, home } from '../testing/spawned-helper.ts';

const { ca, http2 } = await h2Testbed();
after(() => ca.stop());

/** A helper that may connect to `HOST` on loopback and trusts its certificate. */
async function helperFor(t: TestContext, port: number, settings: object = {}): Promise<Helper> {
  const place = await home(t, {
    allowPrivate: ['127.0.0.0/8'],
    resolve: { [`${HOST}:${port}`]: LOOPBACK },
    ca: [ca.caPath],
    ...settings,
  });
  return place.greet();
}

async function raceOf(helper: Helper, port: number, mode: string, extras: object = {}) {
  helper.send({
    ...{ type: 'race', id: 2, origin: `https://${HOST}:${port}`, mode, reason: 'click' },
    ...extras,
  });
  const [trial] = (await helper.next('race', 2)).trials;
  assert.ok(trial !== undefined);
  return trial;
}

/** Forwards one connection to a loopback port; `left` resolves when the client has closed it. */
async function relayTo(port: number) {
  const { promise: left, resolve } = Promise.withResolvers<void>();
  const relay = createServer((near) => {
    const far = connect(port, LOOPBACK);
    for (const end of [near, far]) end.on('error', () => {});
    near.once('close', () => {
      far.destroy();
      resolve();
    });
    near.pipe(far).pipe(near);
  }).listen(0, LOOPBACK);
  await once(relay, 'listening');
  return { port: (relay.address() as AddressInfo).port, left, close: () => relay.close() };
}

test('64 KiB of an endless body are read, and then the peer is told to stop', async (t) => {
  let sentBytes = 0;
  const server = http2();
  server.on('stream', (stream) => {
    stream.respond({ ':status': 200 });
    const pour = (): void => {
      for (let more = true; more && !stream.destroyed; sentBytes += 16_384)
        more = stream.write(Buffer.alloc(16_384));
      stream.once('drain', pour);
    };
    pour();
  });
  await serving(server, async (port) => {
    // Node's server does not read while it waits for flow-control credit, and so may never notice the end.
    const relay = await relayTo(port);
    const trial = await raceOf(await helperFor(t, relay.port), relay.port, 'h2');
    assert.equal(trial.adopted, 'h2');
    assert.notEqual(trial.firstByteMs, null);
    await relay.left;
    relay.close();
  });
  // Bytes in flight when the client stopped: at most its flow-control window.
  assert.ok(sentBytes < 2 ** 20, `${sentBytes} bytes`);
});

test('a silent peer is given three seconds, and a message cannot extend that', async (t) => {
  const { port, close } = await silentPort();
  t.after(close);
  const helper = await helperFor(t, port);
  const trial = await raceOf(helper, port, 'race', { timeoutMs: 600_000, trials: 9 });
  assert.equal(trial.adopted, null);
  // TCP answers and then stalls like QUIC, which is when a hedged QUIC attempt is made.
  assert.deepEqual(trial.attempts.map(({ error, fresh = false }) => `${error?.code} ${fresh}`).toSorted(), [
    'handshake-timeout false',
    'udp-timeout false',
    'udp-timeout true',
  ]);
  assert.equal(DEFAULT_TIMEOUT_MS, 3000);
});

test('a message can neither loosen the guard nor choose memory and number of trials', async (t) => {
  const port = await closedPort();
  const helper = await helperFor(t, port, { allowPrivate: [] });
  const options = { allowPrivate: ['127.0.0.0/8'], resolve: {}, memory: 'none', trials: 3 };
  helper.send({
    ...{ type: 'race', id: 2, origin: `https://${HOST}:${port}`, mode: 'race', reason: 'click' },
    ...options,
  });
  assert.equal((await helper.next('error', 2)).code, 'blocked');
  const allowed = await helperFor(t, port);
  allowed.send({
    ...{ type: 'race', id: 2, origin: `https://${HOST}:${port}`, mode: 'race', reason: 'click' },
    ...options,
  });
  const race = await allowed.next('race', 2);
  assert.deepEqual([race.memory, race.trials.length], ['full', 1]);
});

test('the thirty-first race within a minute is refused', async (t) => {
  const port = await closedPort();
  const helper = await helperFor(t, port);
  const race = (id: number): void =>
    helper.send({ type: 'race', id, origin: `https://${HOST}:${port}`, mode: 'h2', reason: 'click' });
  for (let n = 0; n < RACES_PER_MINUTE; n += 1) {
    race(100 + n);
    await helper.next('race', 100 + n);
  }
  race(200);
  assert.equal((await helper.next('error', 200)).code, 'too-many-races');
});

test('a name rebound to loopback is blocked between two races of one helper', async (t) => {
  const port = await closedPort();
  const { server: resolver } = await dnsTestbed(t, (_, kind, nth) =>
    kind === 'A' ? { records: [nth === 1 ? '127.0.0.2' : '127.0.0.1'] } : { records: [] },
  );
  const helper = await helperFor(t, port, { resolver, resolve: {}, allowPrivate: ['127.0.0.2'] });
  const trial = await raceOf(helper, port, 'h2');
  assert.deepEqual(
    trial.attempts.map((attempt) => attempt.address),
    ['127.0.0.2'],
  );
  helper.send({ type: 'race', id: 3, origin: `https://${HOST}:${port}`, mode: 'h2', reason: 'click' });
  assert.equal((await helper.next('error', 3)).code, 'blocked');
});
