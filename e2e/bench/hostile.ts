// What hostile zones and servers cost the helper: a forecast beside any race answers within 10 ms at the 99th percentile,
// and no race takes more than 20 MiB.
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Mode } from '@photofinish/shared/outcome';
import { type Beside, raceBesideForecasts } from '../helper/beside.ts';
import { greet, openHelper } from '../helper/open.ts';
import type { HostPort } from '../helper/port.ts';
import { ZONE_HOST } from '../origins/hostile-zones.ts';
import { startOrigins } from '../origins/start.ts';
import { beginStep } from '../run/display.ts';
import { scratchDirectory } from '../scratch.ts';
import type { HostileWorld } from './hostile-world.ts';
import { residentMiB } from './race-memory.ts';
import { type Fact, publish } from './result.ts';

const MOST_FORECAST_MS = 10;
const MOST_MIB = 20;
const PEER_HOST = 'peer.test';
/** Enough for a 99th percentile, and within a minute's budget of races. */
const WARM_RACES = 5;
const ZONE_RACES = 12;
const SILENT_RACES = 2;
/** As many as there may be at once. */
const AT_ONCE = 4;

function p99(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.ceil(0.99 * sorted.length) - 1] ?? Number.NaN;
}

const dir = await scratchDirectory('bench-hostile');
const local = await startOrigins({ origins: {}, certificateHosts: [PEER_HOST] });
const certificate = local.certificates[PEER_HOST];
if (certificate === undefined) throw new Error(`no certificate for ${PEER_HOST}`);
const identity = {
  cert: readFileSync(certificate.certPath, 'utf8'),
  key: readFileSync(certificate.keyPath, 'utf8'),
};
const world = new Worker(new URL('hostile-world.ts', import.meta.url), { workerData: identity });
const [{ resolver, refusedPort, silentPort, peerPorts }] = (await once(world, 'message')) as [HostileWorld];
const config = join(dir, 'config.json');
const settings = {
  cache: join(dir, 'cache.db'),
  ca: [local.caPath],
  allowPrivate: ['127.0.0.0/8'],
  resolver,
  resolve: Object.fromEntries(peerPorts.map((port) => [`${PEER_HOST}:${port}`, '127.0.0.1'])),
};
writeFileSync(config, JSON.stringify(settings), { mode: 0o600 });

let lastId = 1;
const raced = (helper: HostPort, mode: Mode, origins: readonly string[]): Promise<Beside> =>
  raceBesideForecasts(
    helper,
    origins.map((origin) => {
      lastId += 1;
      return { id: lastId, origin, mode };
    }),
  );

/** One helper that has raced before goes through these races, so many at once. */
async function row(name: string, mode: Mode, batches: readonly (readonly string[])[]): Promise<Fact[]> {
  const step = beginStep(name);
  const helper = openHelper(config);
  await greet(helper);
  for (let n = 0; n < WARM_RACES; n += 1)
    await raced(helper, 'compare', [`https://warm.test:${refusedPort}`]);
  const forecastsMs: number[] = [];
  let perRaceMiB = 0;
  for (const origins of batches) {
    const beforeMiB = residentMiB(helper.pid);
    const beside = await raced(helper, mode, origins);
    forecastsMs.push(...beside.forecastsMs);
    perRaceMiB = Math.max(perRaceMiB, (beside.mostMiB - beforeMiB) / origins.length);
  }
  await helper.close();
  step.end(true);
  return [
    {
      name: `${name}: 99th percentile of ${forecastsMs.length} forecasts beside it`,
      value: p99(forecastsMs),
      unit: 'ms',
      atMost: MOST_FORECAST_MS,
    },
    { name: `${name}: memory of a race`, value: Math.max(0, perRaceMiB), unit: 'MiB', atMost: MOST_MIB },
  ];
}

const times = (count: number, origin: string): string[][] => Array.from({ length: count }, () => [origin]);
const at = (port: number): string => `https://${PEER_HOST}:${port}`;
const floods = Array.from({ length: Math.ceil(peerPorts.length / AT_ONCE) }, (_, i) =>
  peerPorts.slice(i * AT_ONCE, (i + 1) * AT_ONCE).map(at),
);

try {
  const facts = [
    ...(await row(
      'no race but of one address',
      'compare',
      times(ZONE_RACES, `https://warm.test:${refusedPort}`),
    )),
    ...(await row(
      '32 services of 4,000 addresses, all refused',
      'compare',
      times(ZONE_RACES, `https://${ZONE_HOST}:${refusedPort}`),
    )),
    ...(await row(
      '32 services of 4,000 addresses, UDP silent',
      'compare',
      times(SILENT_RACES, `https://${ZONE_HOST}:${silentPort}`),
    )),
    ...(await row('four TCP floods at once', 'h2', floods)),
  ];
  publish('hostile', { measurements: [], facts });
} finally {
  await world.terminate();
  await local.stop();
  rmSync(dir, { recursive: true, force: true });
}
