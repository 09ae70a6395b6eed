// Malicious servers, over QUIC and TCP, three at a time in addition to a working one: each race stays within its
// limits, while forecasts and the other race continue. Neither transport offers certificate compression, so
// decompression bombs are impossible.
import { writeFileSync } from 'node:fs';
import type { OriginRace } from '@photofinish/shared/race/outcome';
import { raceBesideForecasts } from '../helper/beside.ts';
import { greet, type HostPort, openHelper } from '../helper/port.ts';
import { startAioquic } from '../origins/aioquic.ts';
import { HOSTILE_PEERS, startHostile } from '../origins/hostile.ts';
import { startHttp2 } from '../origins/raw.ts';
import { residentMiB } from '../proc.ts';
import { expect } from './fixtures.ts';
import { HOST, type Testbed, test } from './peers.ts';

const QUIC_PEERS = [
  'flood-wide',
  'flood-narrow',
  'flood-retries',
  'crypto-beyond',
  'crypto-again',
  'large-chain',
  'connection-ids',
  'endless-interim',
  'endless-header',
  'unknown-frames',
  'qpack-bomb',
] as const;
/** Three plus a working one: the maximum number of concurrent races. */
const AT_ONCE = 3;
/** A trial has 3 s; the rest is for a busy machine. */
const MOST_RACE_MS = 9000;
/** Four races, each of which may use 20 MiB. */
const MOST_MIB = 80;
/** Without the time for which others had the processor. */
const MOST_FORECAST_MS = 2000;
/** Datagrams sent in response to a flood: at most acknowledgements of what is read. */
const MOST_DATAGRAMS_SENT = 4100;
/** What is read from a connection, plus the kernel buffers of both ends. */
const MOST_SENT_BYTES = 24 * 2 ** 20;

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
  await greet(helper);
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
    expect(beside.tookMs, `${names}: time`).toBeLessThan(MOST_RACE_MS);
    expect(Math.max(...beside.onCoreMs), `${names}: forecasts`).toBeLessThan(MOST_FORECAST_MS);
    expect(beside.mostMiB - beforeMiB, `${names}: memory`).toBeLessThan(MOST_MIB);
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
  const hostile = QUIC_PEERS.map((name) => ({ name, port: running.ports[name] ?? 0 }));
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
  for (const [name, { trials }] of records) {
    const attempts = trials.flatMap((trial) => trial.attempts);
    for (const { outcome, packets, error } of attempts) {
      expect(outcome, name).not.toBe('adopted');
      expect(packets?.sent ?? 0, name).toBeLessThan(MOST_DATAGRAMS_SENT);
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
  const hostile = HOSTILE_PEERS.map((name, i) => ({ name, port: running[i]?.port ?? 0 }));
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
    expect(attempts.length, name).toBe(1);
    expect(attempts[0]?.outcome, name).not.toBe('adopted');
    expect(running[i]?.sentBytes(), name).toBeLessThan(MOST_SENT_BYTES);
  }
  for (const { stop } of [good, ...running]) stop();
});
