// Zones that mean harm: thousands of addresses, services that lead to more of them, aliases without an end. Each is raced
// over the port while forecasts are asked for; what it may cost others and this machine is bounded, whatever it says.
import { writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { type OriginRace, originRaceSchema } from '@photofinish/shared/outcome';
import * as v from 'valibot';
import { residentMiB } from '../bench/race-memory.ts';
import { greet, openHelper } from '../helper/open.ts';
import type { HostPort } from '../helper/port.ts';
import { type HostScript, type HttpsRecord, startDns } from '../origins/dns.ts';
import { refusingUdpPort } from '../origins/raw/udp.ts';
import { expect, runPhotofinish, test } from './fixtures.ts';

const HOST = 'zone.test';
const MOST_ATTEMPTS = 64;
const MOST_PLACES = 24;
/** Over what a helper holds that has raced before. Garbage that waits to be collected counts. */
const MOST_MIB = 20;
/** Of a forecast beside a race, on a machine that is busy with other tests; `npm run bench -- hostile` has the goal. */
const MOST_FORECAST_MS = 500;
const FORECAST_EVERY_MS = 10;
/** A trial has 3 s and its look-up too; the rest is for a busy machine. */
const MOST_RACE_MS = 8000;

type Zone = Readonly<Record<string, HostScript>>;

/** So many addresses of the loopback, none of which is that of another number. */
function addresses(count: number, net: number): string[] {
  return Array.from({ length: count }, (_, i) => `127.${net}.${i >> 8}.${i & 0xff}`);
}

/** Where HTTPS records of an origin stand (RFC 9460 section 9.1). */
const serviceName = (port: number): string => `_${port}._https.${HOST}`;

function manyTargets(port: number): Zone {
  const targets = Array.from({ length: 32 }, (_, i) => `t${i}.test`);
  const HTTPS = targets.map((target, i): HttpsRecord => ({ priority: i + 1, target, alpn: ['h3', 'h2'] }));
  return {
    [HOST]: { A: addresses(4000, 40) },
    [serviceName(port)]: { HTTPS },
    ...Object.fromEntries(targets.map((target, i) => [target, { A: addresses(4000, 50 + i) }])),
  };
}

/** Each name is another one's alias, so many of them; the last one leads on to `end`. */
function chain(count: number, end: string): Zone {
  const names = Array.from({ length: count }, (_, i) => `c${i}.test`);
  return Object.fromEntries(names.map((name, i) => [name, { CNAME: names[i + 1] ?? end }]));
}

const ZONES: Readonly<Record<string, (port: number) => Zone>> = {
  'one name of 4,000 addresses': () => ({ [HOST]: { A: addresses(4000, 40) } }),
  '32 services of 4,000 addresses each': manyTargets,
  'hints by the thousand': (port) => ({
    [HOST]: { A: addresses(1, 40) },
    [serviceName(port)]: {
      HTTPS: [{ priority: 1, target: '.', alpn: ['h3'], hints: addresses(4000, 41) }],
    },
  }),
  'a loop of AliasMode records': (port) => ({
    [HOST]: { A: addresses(2, 40) },
    [serviceName(port)]: { HTTPS: [{ priority: 0, target: 'one.test' }] },
    'one.test': { A: addresses(2000, 42), HTTPS: [{ priority: 0, target: 'two.test' }] },
    'two.test': { A: addresses(2000, 43), HTTPS: [{ priority: 0, target: 'one.test' }] },
  }),
  'a chain of 200 CNAMEs': () => ({ [HOST]: { CNAME: 'c0.test' }, ...chain(200, 'end.test') }),
  'a loop of CNAMEs': () => ({ [HOST]: { CNAME: 'c0.test' }, ...chain(3, 'c0.test') }),
};

interface Beside {
  readonly race: OriginRace;
  readonly tookMs: number;
  readonly forecastsMs: readonly number[];
  readonly mostMiB: number;
}

/** Races an origin and asks for a forecast every few milliseconds until it is over. */
async function raceBesideForecasts(
  helper: HostPort,
  id: number,
  origin: string,
  mode: string,
): Promise<Beside> {
  const startedMs = performance.now();
  const asked = new Map<number, number>();
  const forecastsMs: number[] = [];
  let race: OriginRace | null = null;
  let mostMiB = 0;
  let nextId = id * 10_000;
  const chunks: string[] = [];
  helper.send({ type: 'race', id, origin, mode, reason: 'click' });
  const asking = (async () => {
    while (race === null) {
      nextId += 1;
      asked.set(nextId, performance.now());
      helper.send({ type: 'forecast', id: nextId, browser: 'chromium', site: HOST, origins: [origin] });
      mostMiB = Math.max(mostMiB, residentMiB(helper.pid));
      await pause(FORECAST_EVERY_MS);
    }
  })();
  while (race === null || asked.size > 0) {
    let reply = await helper.next();
    if (reply.type === 'chunk') {
      chunks.push(String(reply.data));
      if (reply.last !== true) continue;
      reply = JSON.parse(chunks.splice(0).join(''));
    }
    const sentMs = asked.get(Number(reply.id));
    if (sentMs !== undefined) forecastsMs.push(performance.now() - sentMs);
    asked.delete(Number(reply.id));
    if (Number(reply.id) !== id || reply.type === 'progress') continue;
    if (reply.type !== 'race') throw new Error(`no race but ${JSON.stringify(reply)}`);
    race = v.parse(originRaceSchema, reply);
  }
  await asking;
  return { race, tookMs: performance.now() - startedMs, forecastsMs, mostMiB };
}

for (const [name, zoneAt] of Object.entries(ZONES))
  test(`${name}: attempts, time and memory are bounded, and forecasts go on`, async ({ dir }) => {
    const port = await refusingUdpPort();
    const dns = await startDns({ ...zoneAt(port), 'warm.test': { A: addresses(1, 39) } });
    const config = `${dir}/config.json`;
    const settings = { allowPrivate: ['127.0.0.0/8'], resolver: dns.resolver, cache: `${dir}/cache.db` };
    writeFileSync(config, JSON.stringify(settings), { mode: 0o600 });
    const helper = openHelper(config);
    await greet(helper);
    for (const id of [2, 3, 4]) await raceBesideForecasts(helper, id, `https://warm.test:${port}`, 'compare');
    const beforeMiB = residentMiB(helper.pid);
    for (const [id, mode] of [
      [5, 'race'],
      [6, 'v3'],
      [7, 'compare'],
    ] as const) {
      const beside = await raceBesideForecasts(helper, id, `https://${HOST}:${port}`, mode);
      const { race, tookMs, forecastsMs, mostMiB } = beside;
      const attempts = race.trials.flatMap((trial) => trial.attempts);
      const places = new Set(attempts.map((a) => `${a.protocol} ${a.address} ${a.port}`));
      expect(attempts.length, `${mode}: attempts`).toBeLessThanOrEqual(MOST_ATTEMPTS);
      expect(places.size, `${mode}: places`).toBeLessThanOrEqual(MOST_PLACES);
      expect(tookMs, `${mode}: time`).toBeLessThan(MOST_RACE_MS);
      expect(Math.max(...forecastsMs), `${mode}: forecasts`).toBeLessThan(MOST_FORECAST_MS);
      expect(mostMiB - beforeMiB, `${mode}: memory`).toBeLessThan(MOST_MIB);
      if (name.includes('4,000')) expect(race.verdict.text).toContain('more addresses were not tried');
    }
    await helper.close();
    dns.stop();
  });

test('explain comes to its end and tells how many addresses it left', async ({ dir }) => {
  const port = await refusingUdpPort();
  const dns = await startDns(manyTargets(port));
  const reach = ['--resolver', dns.resolver, '--allow-private', '--cache', `${dir}/cache.db`];
  const { code, stdout, stderr } = await runPhotofinish(['explain', `https://${HOST}:${port}`, ...reach]);
  dns.stop();
  expect([code, stderr]).toEqual([1, '']);
  expect(stdout).toMatch(/\d,\d{3}\s+more\s+addresses\s+were\s+not\s+tried/);
});
