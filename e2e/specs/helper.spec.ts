// The rules of P2 as observable on the wire and in server logs, across processes that share only the host cache.
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { raceDocumentSchema } from '@photofinish/shared/race/outcome';
import * as v from 'valibot';
import { type SeenRequest, startOrigins } from '../origins/start.ts';
import { expect, runPhotofinish, test } from './fixtures.ts';

const LOOPBACK = '127.0.0.1';
const HOST = 'behind.test';
/** Far more than a TCP and TLS handshake on loopback, so that old HTTP is always first. */
const UDP_DELAY_MS = 2000;
/** So much longer that a late HTTP/3 is still heard of. */
const PATIENT = ['--timeout', '20000'];

/** One port number for TCP, forwarded at once, and UDP, forwarded with a delay or (null) never. */
interface Relay {
  readonly port: number;
  /** UDP datagrams received from the client. */
  readonly datagrams: () => number;
  /** From now on UDP is forwarded at once. */
  hasten(): void;
  stop(): void;
}

async function boundTo(port: number): Promise<Socket | null> {
  const udp = createSocket('udp4');
  const bound = once(udp, 'listening').then(
    () => udp,
    () => null,
  );
  udp.bind(port, LOOPBACK);
  return bound;
}

async function listening(server: Server): Promise<{ port: number; udp: Socket }> {
  for (;;) {
    server.listen(0, LOOPBACK);
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const udp = await boundTo(port);
    if (udp !== null) return { port, udp };
    server.close();
  }
}

async function relayTo(target: number, initialUdpDelayMs: number | null): Promise<Relay> {
  let udpDelayMs = initialUdpDelayMs;
  const server = createServer((near) => {
    const far = connect(target, LOOPBACK);
    near.on('error', () => far.destroy()).pipe(far);
    far.on('error', () => near.destroy()).pipe(near);
  });
  const { port, udp } = await listening(server);
  const peers = new Map<number, Socket>();
  let datagrams = 0;
  let stopped = false;
  const later = (send: () => void): void => {
    if (udpDelayMs !== null) setTimeout(() => stopped || send(), udpDelayMs / 2);
  };
  udp.on('message', (message, client) => {
    datagrams += 1;
    let peer = peers.get(client.port);
    if (peer === undefined) {
      peer = createSocket('udp4').on('message', (answer) =>
        later(() => udp.send(answer, client.port, LOOPBACK)),
      );
      peers.set(client.port, peer);
    }
    const to = peer;
    later(() => to.send(message, target, LOOPBACK));
  });
  return {
    port,
    datagrams: () => datagrams,
    hasten() {
      udpDelayMs = 0;
    },
    stop() {
      stopped = true;
      server.close();
      for (const socket of [udp, ...peers.values()]) socket.close();
    },
  };
}

/** An origin behind a relay, raced with memory `full` by a new process each time. */
async function behind(udpDelayMs: number | null, cache: string) {
  const seen: SeenRequest[] = [];
  const running = await startOrigins({
    origins: { behind: { host: HOST, h3: true } },
    onRequest: (request) => seen.push(request),
  });
  const relay = await relayTo(running.origins.behind.port, udpDelayMs);
  const memory = ['--memory', 'full', '--cache', cache, '--network', 'here'];
  // A fresh attempt would start only on a slow machine.
  const args = [...memory, '--no-fresh-quic', '--allow-private', '--json'];
  const reach = ['--ca', running.caPath, '--resolve', `${HOST}:${relay.port}:${LOOPBACK}`];
  return {
    relay,
    async race(...options: string[]) {
      seen.length = 0;
      const origin = `https://${HOST}:${relay.port}`;
      const { stdout } = await runPhotofinish(['race', origin, ...args, ...reach, ...options]);
      const race = v.parse(raceDocumentSchema, JSON.parse(stdout)).races[0];
      return { race, trial: race?.trials[0] };
    },
    /** The protocols of the requests of the last race, as reported by the server separately. */
    requests: () => seen.map(({ protocol }) => protocol),
    async stop() {
      relay.stop();
      await running.stop();
    },
  };
}

test('a comparison with a plain difference ends as soon as it is decided', async ({ dir }) => {
  const origin = await behind(60, `${dir}/cache.db`);
  try {
    const compare = async () => (await origin.race('--mode', 'compare', '--trials', '40')).race;
    let race = await compare();
    // Three pairs in a row that a busy machine disturbed end it undecided.
    for (let again = 0; again < 3 && race?.summary.comparison?.quicker == null; again += 1)
      race = await compare();
    const { comparison, gainMs, failed } = race?.summary ?? {};
    expect(failed).toBe(0);
    expect(comparison?.quicker).toBe('h2');
    expect(gainMs).toBeLessThan(0);
    // At least seven pairs, and a few more only if the machine was busier than the delay is long.
    expect(comparison?.pairs).toBeGreaterThanOrEqual(7);
    expect(comparison?.pairs).toBeLessThan(20);
  } finally {
    await origin.stop();
  }
});

test('late HTTP/3 is learnt, sends no second request, and is the only one adopted by the next process', async ({
  dir,
}) => {
  const origin = await behind(UDP_DELAY_MS, `${dir}/cache.db`);
  const first = await origin.race(...PATIENT);
  expect(first.trial).toMatchObject({ adopted: 'h2', lateH3: true, cacheHit: false });
  expect(first.trial?.attempts.map((a) => [a.protocol, a.outcome])).toEqual([
    ['h3', 'established-late'],
    ['h2', 'adopted'],
  ]);
  await expect.poll(origin.requests).toEqual(['HTTP/2']);
  // Old HTTP is started in addition to an HTTP/3 that is known to work and takes a second.
  origin.relay.hasten();
  const second = await origin.race();
  expect(second.trial).toMatchObject({ adopted: 'h3', lateH3: false, cacheHit: true });
  expect(second.trial?.attempts).toHaveLength(1);
  await expect.poll(origin.requests).toEqual(['HTTP/3']);
  await origin.stop();
});

test('if UDP is dropped, the next process sends no datagram', async ({ dir }) => {
  const origin = await behind(null, `${dir}/cache.db`);
  const first = await origin.race('--timeout', '3000');
  expect(first.trial?.adopted).toBe('h2');
  expect(first.trial?.attempts[0]?.error?.code).toBe('udp-timeout');
  await expect.poll(origin.requests).toEqual(['HTTP/2']);
  const before = origin.relay.datagrams();
  expect(before).toBeGreaterThan(0);
  const second = await origin.race();
  expect(second.trial).toMatchObject({ adopted: 'h2', cacheHit: true });
  expect(second.trial?.attempts.map((a) => a.protocol)).toEqual(['h2']);
  expect(origin.relay.datagrams()).toBe(before);
  await origin.stop();
});
