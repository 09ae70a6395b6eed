// The command line's contract against real servers: documents, exit codes, modes, memory; and the rules of P2 as
// observable on the wire and in server logs, across processes that share only the host cache.

import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { raceDocumentSchema } from '@photofinish/shared/race/outcome';
import * as v from 'valibot';
import { CLOSED_PORT } from '../origins/raw.ts';
import { type SeenRequest, startOrigins } from '../origins/start.ts';
import { GO_MISSING } from '../test-programs.ts';
import { expect, reachLocal, runPhotofinish, test } from './fixtures.ts';

const documentOf = (stdout: string) => v.parse(raceDocumentSchema, JSON.parse(stdout));
const COLD = ['--memory', 'none', '--json'];
/** Without this, another attempt would start on a machine so slow that HTTP/3 seems overdue. */
const ONE_QUIC = '--no-fresh-quic';

test('race: HTTP/3 is adopted if the origin speaks it, and the loser is cancelled', async ({
  local,
  photofinish,
}) => {
  const { origin } = local.origins.both;
  const { code, stdout } = await photofinish('race', origin, '--start-delay', '0', ONE_QUIC, ...COLD);
  expect(code).toBe(0);
  const document = documentOf(stdout);
  expect(document).toMatchObject({
    schema: 'photofinish.race/1',
    mode: 'race',
    memory: 'none',
    startDelayMs: 0,
  });
  const [trial] = document.races[0]?.trials ?? [];
  expect(trial?.attempts).toHaveLength(2);
  expect(['h3', 'h2']).toContain(trial?.adopted);
});

test('race: adoption over 50 cold trials adds up, and HTTP/3 wins all with a long start delay', async ({
  local,
  photofinish,
}) => {
  const race = async (...options: string[]) => {
    const args = ['--trials', '50', '--json', ...options];
    const { stdout } = await photofinish('race', local.origins.both.origin, ...args);
    return documentOf(stdout).races[0]?.summary;
  };
  const close = await race();
  expect(close?.trials).toBe(50);
  const { h3 = 0, h2 = 0 } = close?.adoption ?? {};
  expect(h3 + h2).toBe(50);
  expect(close?.gainMs).toBeNull();
  const patient = await race('--start-delay', '5000');
  expect(patient?.adoption).toEqual({ h3: 50, h2: 0, 'http/1.1': 0 });
});

const OLD_HTTP = [
  // The address is given, so that DNS is not asked whether a record advertises HTTP/3.
  ['h2only', 'h2', 'unknown'],
  ['h1only', 'http/1.1', 'unknown'],
  ['advertiseOnly', 'h2', 'h3-advertised-unreachable'],
] as const;
for (const [kind, protocol, verdict] of OLD_HTTP)
  test(`race: ${kind} gives ${protocol}, UDP refused at once, verdict ${verdict}`, async ({
    local,
    photofinish,
  }) => {
    const { code, stdout } = await photofinish(
      'race',
      local.origins[kind].origin,
      '--start-delay',
      '5000',
      ...COLD,
    );
    expect(code).toBe(0);
    const race = documentOf(stdout).races[0];
    expect(race?.verdict.code).toBe(verdict);
    const [trial] = race?.trials ?? [];
    expect(trial?.adopted).toBe(protocol);
    const quic = trial?.attempts.find((a) => a.protocol === 'h3');
    expect(quic?.error?.code).toBe('udp-refused');
    // The refusal starts TCP at once instead of after the start delay of five seconds.
    expect(trial?.attempts.find((a) => a.protocol !== 'h3')?.startedMs).toBeLessThan(5000);
  });

test('alt-svc: learns over h2, then connects over h3; silent origins stay on h2', async ({
  local,
  photofinish,
}) => {
  const { both, silent } = local.origins;
  const { code, stdout } = await photofinish(
    'race',
    both.origin,
    silent.origin,
    '--mode',
    'alt-svc',
    ...COLD,
  );
  expect(code).toBe(0);
  const [learnt, stayed] = documentOf(stdout).races;
  expect(learnt?.trials[0]?.adopted).toBe('h3');
  expect(learnt?.trials[0]?.attempts.map((a) => a.protocol)).toEqual(['h2', 'h3']);
  expect(stayed?.trials[0]?.adopted).toBe('h2');
});

test('compare: pairs never overlap, and show which protocol is faster or that nothing is clear', async ({
  local,
  photofinish,
}) => {
  const { stdout } = await photofinish(
    // More than a gain needs: a pair disturbed by a busy machine does not count.
    ...['race', local.origins.both.origin, '--mode', 'compare', '--trials', '9', ...COLD],
  );
  const race = documentOf(stdout).races[0];
  expect(race?.trials.every((t) => t.attempts.length === 1)).toBe(true);
  const { h3 = 0, h2 = 0 } = race?.summary.adoption ?? {};
  expect(h3).toBeGreaterThanOrEqual(3);
  expect(h2).toBe(h3);
  expect(race?.summary.comparison?.most).toBe(9);
  expect(race?.summary.establishedMs).toBeNull();
});

test('memory full: the second race is a cache hit, attempts HTTP/3 alone, and the cache shows it', async ({
  local,
  photofinish,
  dir,
}) => {
  const { origin } = local.origins.both;
  const cache = ['--cache', `${dir}/cache.db`];
  const race = () => photofinish('race', origin, '--memory', 'full', ONE_QUIC, '--json', ...cache);
  expect(documentOf((await race()).stdout).races[0]?.trials[0]?.cacheHit).toBe(false);
  const [second] = documentOf((await race()).stdout).races[0]?.trials ?? [];
  expect(second?.cacheHit).toBe(true);
  // On a machine that pauses for a second, TCP joins.
  const early = second?.attempts.filter(({ startedMs }) => startedMs < 1000) ?? [];
  expect(early.map((a) => a.protocol)).toEqual(['h3']);
  const listed = await runPhotofinish(['cache', 'list', ...cache]);
  expect(listed.stdout).toContain(new URL(origin).host);
  expect((await runPhotofinish(['cache', 'clear', ...cache])).code).toBe(0);
  expect((await runPhotofinish(['cache', 'list', ...cache])).stdout).not.toContain(new URL(origin).host);
});

test('a dead origin is a result with its codes and exit 1; bad input is exit 2 with one line', async ({
  local,
  photofinish,
}) => {
  const dead = await photofinish('race', `https://127.0.0.1:${CLOSED_PORT}`, ...COLD);
  expect(dead.code).toBe(1);
  const race = documentOf(dead.stdout).races[0];
  expect(race?.summary).toMatchObject({ trials: 1, failed: 1, establishedMs: null });
  expect(race?.trials[0]?.attempts.map((a) => a.error?.code).toSorted()).toEqual([
    'tcp-refused',
    'udp-refused',
  ]);
  for (const args of [
    ['race', 'http://a.test'],
    ['race', local.origins.both.origin, '--mode', 'quick'],
    ['race', local.origins.both.origin, '--trials', '0'],
    ['race'],
    ['sprint'],
  ]) {
    const { code, stdout, stderr } = await runPhotofinish(args);
    expect([code, stdout], args.join(' ')).toEqual([2, '']);
    expect(stderr).toMatch(/^photofinish: [a-z-]+: [^\n]+\n/);
  }
});

test('an unknown root is certificate-invalid on both transports', async ({ local }) => {
  const { origin, host, port } = local.origins.both;
  const args = [
    'race',
    origin,
    '--mode',
    'race',
    ONE_QUIC,
    '--allow-private',
    '--resolve',
    `${host}:${port}:127.0.0.1`,
  ];
  const { code, stdout } = await runPhotofinish([...args, ...COLD]);
  expect(code).toBe(1);
  const [trial] = documentOf(stdout).races[0]?.trials ?? [];
  expect(trial?.attempts.map((a) => a.error?.code)).toEqual(['certificate-invalid', 'certificate-invalid']);
});

test('loopback is refused unless allowed', async ({ local }) => {
  const { origin, host, port } = local.origins.both;
  const { code, stdout } = await runPhotofinish([
    'race',
    origin,
    '--resolve',
    `${host}:${port}:127.0.0.1`,
    ...COLD,
  ]);
  expect(code).toBe(1);
  expect(documentOf(stdout).races[0]?.error?.code).toBe('blocked');
});

test('Caddy, the independent server, is raced like any other', async ({ local, caddy }) => {
  test.skip(caddy === null, GO_MISSING);
  if (caddy === null) return;
  const args = ['race', caddy.origin, '--mode', 'compare', '--trials', '3', ...COLD];
  const { code, stdout } = await runPhotofinish([...args, ...reachLocal(local.caPath, [caddy])]);
  expect(code).toBe(0);
  const race = documentOf(stdout).races[0];
  expect(race?.summary.adoption).toEqual({ h3: 3, h2: 3, 'http/1.1': 0 });
  expect(race?.verdict.code).toBe('h3-private-root');
});

const LOOPBACK = '127.0.0.1';
const HOST = 'behind.test';
/** Far more than a TCP and TLS handshake on loopback, so that TCP is always first. */
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
  // TCP is started in addition to an HTTP/3 that is known to work and takes a second.
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
