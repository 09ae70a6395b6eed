// The cost of malicious zones and servers for the helper: a forecast during any race is answered within 10 ms at the
// 99th percentile, and no race takes more than 20 MiB. Origins and zones share the processors, so a second helper
// without races is queried at the same moments: its times are the machine's share.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { percentile } from '@photofinish/shared/race/statistics';
import type { Mode } from '@photofinish/shared/race/terms';
import { type HostPort, openHelper, raceBesideForecasts, type SideBySide, sayHello } from '../helper/port.ts';
import { openHostileTargets, ZONE_HOST } from '../origins/hostile.ts';
import { certificateOf, startOrigins } from '../origins/start.ts';
import { residentMiB } from '../proc.ts';
import { beginStep } from '../run/display.ts';
import { scratchIn } from '../scratch.ts';
import { type Fact, publish } from './measure.ts';

const MAX_FORECAST_MS = 10;
const MAX_MIB = 20;
const PEER_HOST = 'peer.test';
/** Enough for a 99th percentile, and within the limit of races per minute. */
const WARM_RACES = 5;
const ZONE_RACES = 12;
const SILENT_RACES = 2;
/** The maximum number of concurrent races. */
const AT_ONCE = 4;

await using closing = new AsyncDisposableStack();
const dir = await scratchIn(closing, 'bench-hostile');
const local = await startOrigins({ origins: {}, certificateHosts: [PEER_HOST] });
closing.defer(local.stop);
const { certPath, keyPath } = certificateOf(local, PEER_HOST);
const identity = { cert: readFileSync(certPath, 'utf8'), key: readFileSync(keyPath, 'utf8') };
const [targetsWorker, { resolver, refusedPort, silentPort, peerPorts }] = await openHostileTargets(identity);
closing.defer(async () => void (await targetsWorker.terminate()));
const config = join(dir, 'config.json');
const idleConfig = join(dir, 'idle.json');
const settings = {
  cache: join(dir, 'cache.db'),
  ca: [local.caPath],
  allowPrivate: ['127.0.0.0/8'],
  resolver,
  resolve: Object.fromEntries(peerPorts.map((port) => [`${PEER_HOST}:${port}`, '127.0.0.1'])),
};
writeFileSync(config, JSON.stringify(settings), { mode: 0o600 });
writeFileSync(idleConfig, JSON.stringify({ ...settings, cache: join(dir, 'idle.db') }), { mode: 0o600 });

const WARM = `https://warm.test:${refusedPort}`;

interface Helpers {
  readonly racing: HostPort;
  readonly idle: HostPort;
}

let lastId = 1;
const raced = (helpers: Helpers, mode: Mode, origins: readonly string[]): Promise<SideBySide> =>
  raceBesideForecasts(
    helpers.racing,
    origins.map((origin) => {
      lastId += 1;
      return { id: lastId, origin, mode };
    }),
    helpers.idle,
  );

interface Row {
  readonly name: string;
  readonly mode: Mode;
  /** Origins that are raced concurrently. */
  readonly batches: readonly (readonly string[])[];
  /** After races of one address. A first race has no goal: the code it loads comes in chunks that cannot be split. */
  readonly warm: boolean;
}

async function openHelpers(): Promise<Helpers> {
  const helpers = { racing: openHelper(config), idle: openHelper(idleConfig) };
  await sayHello(helpers.racing);
  await sayHello(helpers.idle);
  return helpers;
}

/** Times of forecasts during these races, and the memory used by the races. */
async function row({ name, mode, batches, warm }: Row): Promise<Fact[]> {
  const step = beginStep(name);
  const helpers = await openHelpers();
  if (warm) for (let n = 0; n < WARM_RACES; n += 1) await raced(helpers, 'compare', [WARM]);
  const besides: SideBySide[] = [];
  let perRaceMiB = 0;
  for (const origins of batches) {
    const beforeMiB = residentMiB(helpers.racing.pid);
    const beside = await raced(helpers, mode, origins);
    besides.push(beside);
    perRaceMiB = Math.max(perRaceMiB, (beside.mostMiB - beforeMiB) / origins.length);
  }
  await helpers.racing.close();
  await helpers.idle.close();
  step.end(true);
  const forecastsMs = besides.flatMap((beside) => beside.forecastsMs);
  const p99Of = (what: string, values: readonly number[], atMost: number | null): Fact => ({
    name: `${name}: ${what}`,
    value: percentile(
      values.toSorted((a, b) => a - b),
      0.99,
    ),
    unit: 'ms',
    ...(atMost !== null && { atMost }),
  });
  const onCoreMs = besides.flatMap((beside) => beside.onCoreMs);
  const idleMs = besides.flatMap((beside) => beside.idleMs);
  const heading = `99th percentile of ${forecastsMs.length} forecasts beside it`;
  return [
    p99Of(heading, forecastsMs, warm ? MAX_FORECAST_MS : null),
    p99Of('the same without waiting for a core', onCoreMs, null),
    p99Of('the same of a helper that races nothing', idleMs, null),
    ...(warm
      ? [{ name: `${name}: memory of a race`, value: Math.max(0, perRaceMiB), unit: 'MiB', atMost: MAX_MIB }]
      : []),
  ];
}

const times = (count: number, origin: string): string[][] => Array.from({ length: count }, () => [origin]);
const at = (port: number): string => `https://${PEER_HOST}:${port}`;
const floods = Array.from({ length: Math.ceil(peerPorts.length / AT_ONCE) }, (_, i) =>
  peerPorts.slice(i * AT_ONCE, (i + 1) * AT_ONCE).map(at),
);

const ROWS: readonly Omit<Row, 'warm'>[] = [
  { name: 'no race but of one address', mode: 'compare', batches: times(ZONE_RACES, WARM) },
  {
    name: '32 services of 4,000 addresses, all refused',
    mode: 'compare',
    batches: times(ZONE_RACES, `https://${ZONE_HOST}:${refusedPort}`),
  },
  {
    name: '32 services of 4,000 addresses, UDP silent',
    mode: 'compare',
    batches: times(SILENT_RACES, `https://${ZONE_HOST}:${silentPort}`),
  },
  { name: 'four TCP floods at once', mode: 'h2', batches: floods },
];

const facts: Fact[] = [];
for (const each of ROWS) facts.push(...(await row({ ...each, warm: true })));
const first = { name: "a helper's first race", mode: 'compare', batches: [[WARM]], warm: false } as const;
facts.push(...(await row(first)));
publish('hostile', { measurements: [], facts });
