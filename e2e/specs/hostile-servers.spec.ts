// Malicious servers and DNS zones: each race stays within its limits, while forecasts and other races continue, and the
// cost to others and to this machine is bounded. (Neither transport offers certificate compression, so decompression
// bombs are impossible.)
import { writeFileSync } from 'node:fs';
import type { OriginRace } from '@photofinish/shared/race/outcome';
import type { AttemptErrorCode } from '@photofinish/shared/race/terms';
import { verdictText } from '@photofinish/shared/verdict/verdict-text';
import { type HostPort, openHelper, raceBesideForecasts, sayHello } from '../helper/port.ts';
import { startAioquic } from '../origins/aioquic.ts';
import { startDns } from '../origins/dns.ts';
import {
  addresses,
  HOSTILE_PEERS,
  HOSTILE_ZONES,
  manyTargets,
  startHostile,
  ZONE_HOST,
} from '../origins/hostile.ts';
import { refusingUdpPort, startHttp2 } from '../origins/raw.ts';
import { residentMiB } from '../proc.ts';
import { expect, runPhotofinish } from './fixtures.ts';
import { HOST, type Testbed, test } from './peers.ts';

/** Of a peer that writes as much as flow control allows; which comes first depends on the machine. */
const ENDLESS = /^response-(too-large|timeout)$/;
/** Datagrams sent at least in response to it: acknowledgements, of which silence gets none. */
const MIN_ACKNOWLEDGED = 50;
/** The failure that each provokes, which shows that the attack took place, and what ended it. */
const QUIC_FAILURES = {
  'flood-wide': 'response-too-large',
  'flood-narrow': 'response-too-large',
  'flood-retries': 'response-too-large',
  'crypto-beyond': 'connection-closed',
  'crypto-again': 'response-too-large',
  'large-chain': 'connection-closed',
  'connection-ids': 'connection-closed',
  'endless-interim': ENDLESS,
  'endless-header': ENDLESS,
  'unknown-frames': ENDLESS,
  'qpack-bomb': 'response-too-large',
} as const satisfies Record<string, AttemptErrorCode | RegExp>;
const QUIC_PEERS = Object.keys(QUIC_FAILURES) as (keyof typeof QUIC_FAILURES)[];
const TCP_FAILURES: Readonly<Record<(typeof HOSTILE_PEERS)[number], AttemptErrorCode>> = {
  'handshake messages to be skipped': 'response-too-large',
  'a handshake that drips': 'handshake-timeout',
  'a chain of megabytes': 'tls-alert',
  'HTTP/2 frames of unknown types': 'response-too-large',
  'HTTP/2 pings': 'connection-closed',
  'HTTP/2 settings': 'connection-closed',
  'HTTP/2 priorities': 'response-too-large',
  'HTTP/2 CONTINUATION': 'response-too-large',
  'HTTP/2 interim responses': 'response-too-large',
  'HTTP/1.1 interim responses': 'response-too-large',
  'an HTTP/1.1 header': 'response-too-large',
};
/** Three plus a working one: the maximum number of concurrent races. */
const AT_ONCE = 3;
/** A trial has 3 s; the rest is for a busy machine. */
const MAX_PEERS_RACE_MS = 9000;
/** Four races, each of which may use 20 MiB. */
const MAX_PEERS_MIB = 80;
/**
 * Of the slowest forecast, on a machine busy with the peers or the zone, without the time for which others had the
 * processor; `npm run bench -- hostile` has the target.
 */
const MAX_FORECAST_MS = 2000;
/** Datagrams sent in response to a flood: at most acknowledgements of what is read. */
const MAX_DATAGRAMS_SENT = 4100;
/** What is read from a connection, plus the kernel buffers of both ends. */
const MAX_SENT_BYTES = 24 * 2 ** 20;

interface Hostile {
  readonly name: string;
  readonly port: number;
}

interface ReadyHelper {
  readonly helper: HostPort;
  readonly good: number;
}

async function begin(
  { chains, aioquic }: Testbed,
  dir: string,
  good: number,
  ports: number[],
): Promise<ReadyHelper> {
  const config = `${dir}/config.json`;
  const resolve = Object.fromEntries([good, ...ports].map((port) => [`${HOST}:${port}`, '127.0.0.1']));
  const settings = { allowPrivate: ['127.0.0.0/8'], ca: [chains.caPath], resolve, cache: `${dir}/cache.db` };
  writeFileSync(config, JSON.stringify(settings), { mode: 0o600 });
  const helper = openHelper(config);
  await sayHello(helper);
  // Loads both transports and uses each once.
  for (const [id, port, mode] of [
    [2, aioquic.ports['settings-twice'], 'h3'],
    [3, good, 'h2'],
  ] as const)
    await raceBesideForecasts(helper, [{ id, origin: `https://${HOST}:${port}`, mode }]);
  return { helper, good };
}

/** Races them three at a time together with a working one; returns the record of each. */
async function raceAll({ helper, good }: ReadyHelper, hostile: readonly Hostile[], mode: 'h3' | 'h2') {
  const records = new Map<string, OriginRace>();
  const beforeMiB = residentMiB(helper.pid);
  for (let at = 0; at < hostile.length; at += AT_ONCE) {
    const batch = hostile.slice(at, at + AT_ONCE);
    const orders = [...batch.map(({ port }) => ({ port, mode })), { port: good, mode: 'h2' as const }];
    const beside = await raceBesideForecasts(
      helper,
      orders.map((order, i) => ({
        id: 10 + at * 10 + i,
        origin: `https://${HOST}:${order.port}`,
        mode: order.mode,
      })),
    );
    const names = batch.map(({ name }) => name).join(', ');
    expect(beside.tookMs, `${names}: time`).toBeLessThan(MAX_PEERS_RACE_MS);
    expect(Math.max(...beside.onCoreMs), `${names}: forecasts`).toBeLessThan(MAX_FORECAST_MS);
    expect(beside.mostMiB - beforeMiB, `${names}: memory`).toBeLessThan(MAX_PEERS_MIB);
    expect(beside.races.at(-1)?.trials[0]?.adopted, `beside ${names}`).toBe('h2');
    for (const [i, { name }] of batch.entries()) {
      const race = beside.races[i];
      if (race !== undefined) records.set(name, race);
    }
  }
  return records;
}

test('over QUIC', async ({ testbed, dir }) => {
  const { chains, identity } = testbed;
  const files = chains.files('p256');
  const peers = Object.fromEntries(QUIC_PEERS.map((behaviour) => [behaviour, { behaviour, ...files }]));
  const running = await startAioquic({ peers });
  const tcp = await startHttp2(identity, (stream) => stream.respond({ ':status': 204 }, { endStream: true }));
  const hostile = QUIC_PEERS.map((name) => {
    const port = running.ports[name];
    if (port === undefined) throw new Error(`${name} does not listen`);
    return { name, port };
  });
  const ready = await begin(
    testbed,
    dir,
    tcp.port,
    hostile.map(({ port }) => port),
  );
  const records = await raceAll(ready, hostile, 'h3');
  await ready.helper.close();
  tcp.stop();
  await running.stop();
  for (const name of QUIC_PEERS) {
    const attempts = records.get(name)?.trials.flatMap((trial) => trial.attempts) ?? [];
    const failed = attempts.filter(({ outcome }) => outcome === 'failed');
    expect(failed.length, name).toBeGreaterThanOrEqual(1);
    for (const { packets, error } of failed) {
      expect(error?.code, name).toMatch(QUIC_FAILURES[name]);
      if (QUIC_FAILURES[name] === ENDLESS) expect(packets?.sent, name).toBeGreaterThan(MIN_ACKNOWLEDGED);
    }
    for (const { outcome, packets, error } of attempts) {
      // A fresh QUIC attempt may have been added, and is cancelled once the other is established.
      expect(['failed', 'cancelled'], name).toContain(outcome);
      expect(packets?.sent ?? 0, name).toBeLessThan(MAX_DATAGRAMS_SENT);
      expect(error?.message ?? '', name).not.toContain('Retry');
    }
  }
});

test('over TCP', async ({ testbed, dir }) => {
  const { identity } = testbed;
  const good = await startHttp2(identity, (stream) =>
    stream.respond({ ':status': 204 }, { endStream: true }),
  );
  const running = await Promise.all(HOSTILE_PEERS.map((name) => startHostile(name, identity)));
  const hostile = running.map(({ port }, i) => ({ name: HOSTILE_PEERS[i] ?? '', port }));
  const ready = await begin(
    testbed,
    dir,
    good.port,
    hostile.map(({ port }) => port),
  );
  const records = await raceAll(ready, hostile, 'h2');
  await ready.helper.close();
  for (const [i, name] of HOSTILE_PEERS.entries()) {
    const attempts = records.get(name)?.trials.flatMap((trial) => trial.attempts) ?? [];
    const ends = attempts.map(({ outcome, error }) => [outcome, error?.code]);
    expect(ends, name).toEqual([['failed', TCP_FAILURES[name]]]);
    expect(running[i]?.sentBytes(), name).toBeLessThan(MAX_SENT_BYTES);
  }
  for (const { stop } of [good, ...running]) stop();
});

// Each zone is raced over the port while forecasts are requested.

const MAX_ATTEMPTS = 64;
const MAX_PLACES = 24;
/** In addition to a helper that has raced before; includes uncollected garbage. */
const MAX_ZONE_MIB = 20;
/** A trial has 3 s and its look-up too; the rest is for a busy machine. */
const MAX_ZONE_RACE_MS = 12_000;

for (const [name, zoneAt] of Object.entries(HOSTILE_ZONES))
  test(`${name}: attempts, time and memory are bounded, and forecasts continue`, async ({ dir }) => {
    const port = await refusingUdpPort();
    const dns = await startDns({ ...zoneAt(port), 'warm.test': { A: addresses(1, 39) } });
    const config = `${dir}/config.json`;
    const settings = { allowPrivate: ['127.0.0.0/8'], resolver: dns.resolver, cache: `${dir}/cache.db` };
    writeFileSync(config, JSON.stringify(settings), { mode: 0o600 });
    const helper = openHelper(config);
    await sayHello(helper);
    for (const id of [2, 3, 4])
      await raceBesideForecasts(helper, [{ id, origin: `https://warm.test:${port}`, mode: 'compare' }]);
    const beforeMiB = residentMiB(helper.pid);
    for (const [id, mode] of [
      [5, 'race'],
      [6, 'v3'],
      [7, 'compare'],
    ] as const) {
      const origin = `https://${ZONE_HOST}:${port}`;
      const { races, tookMs, onCoreMs, mostMiB } = await raceBesideForecasts(helper, [{ id, origin, mode }]);
      const attempts = races.flatMap(({ trials }) => trials).flatMap((trial) => trial.attempts);
      const places = new Set(attempts.map((a) => `${a.protocol} ${a.address} ${a.port}`));
      expect(attempts.length, `${mode}: attempts`).toBeLessThanOrEqual(MAX_ATTEMPTS);
      expect(places.size, `${mode}: places`).toBeLessThanOrEqual(MAX_PLACES);
      expect(tookMs, `${mode}: time`).toBeLessThan(MAX_ZONE_RACE_MS);
      expect(Math.max(...onCoreMs), `${mode}: forecasts`).toBeLessThan(MAX_FORECAST_MS);
      expect(mostMiB - beforeMiB, `${mode}: memory`).toBeLessThan(MAX_ZONE_MIB);
      const [race] = races;
      if (name.includes('4,000'))
        expect(race && verdictText(race.verdict)).toContain('more addresses or alternatives were not tried');
    }
    await helper.close();
    dns.stop();
  });

test('explain terminates and reports how many addresses it skipped', async ({ dir }) => {
  const port = await refusingUdpPort();
  const dns = await startDns(manyTargets(port));
  const reach = ['--resolver', dns.resolver, '--allow-private', '--cache', `${dir}/cache.db`];
  const { code, stdout, stderr } = await runPhotofinish([
    'explain',
    `https://${ZONE_HOST}:${port}`,
    ...reach,
  ]);
  dns.stop();
  expect([code, stderr]).toEqual([1, '']);
  expect(stdout).toMatch(/\d,\d{3}\s+more\s+addresses\s+or\s+alternatives\s+were\s+not\s+tried/);
});
