// Forecasts from a host cache of 1,000,000 origins compared with one of 1,000. Two helpers, queried alternately over
// their own pipes; also the cost of an observation and of a count, and the memory of each.
import { rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { median } from '@photofinish/shared/race/statistics';
import { type HostPort, openHelper } from '../helper/port.ts';
import { residentMiB } from '../proc.ts';
import { beginStep } from '../run/display.ts';
import { scratchDirectory } from '../scratch.ts';
import { fillCache, scatteredOrigin } from './many-origins.ts';
import { measureInStep } from './measure.ts';
import { publish } from './result.ts';

const FEW = 1000;
const MANY = 1_000_000;
const TRIPS_PER_SAMPLE = 50;
const ROUNDS = 200;
const BYTES_PER_MIB = 2 ** 20;
const US_PER_MS = 1000;

interface Side {
  readonly name: string;
  readonly count: number;
  readonly cache: string;
  readonly helper: HostPort;
}

async function openSide(dir: string, count: number): Promise<Side> {
  const name = `${count} origins`;
  const cache = join(dir, `${count}.db`);
  const config = join(dir, `${count}.json`);
  await writeFile(config, JSON.stringify({ cache }), { mode: 0o600 });
  const step = beginStep(`Filling a cache with ${name}${count === MANY ? ', which takes minutes' : ''}`);
  const filler = openHelper(config);
  await fillCache(filler, count, (stored) => step.detail(`${stored} of ${count}`));
  await filler.close();
  // Queried by a new helper: one that has just written this much is not representative.
  const helper = openHelper(config);
  await fillCache(helper, 0);
  step.end(true);
  return { name, count, cache, helper };
}

let nextId = 2;

/** One message and its reply. */
async function ask(helper: HostPort, message: object): Promise<Record<string, unknown>> {
  const id = nextId;
  nextId += 1;
  helper.send({ ...message, id });
  const reply = await helper.next();
  if (reply.id !== id || reply.type === 'error') throw new Error(`no answer but ${JSON.stringify(reply)}`);
  return reply;
}

/** Median microseconds of a round trip. */
async function trips(side: Side, message: (trip: number) => object): Promise<number> {
  const tookMs: number[] = [];
  for (let trip = 0; trip < TRIPS_PER_SAMPLE; trip += 1) {
    const asked = message(trip);
    const startedMs = performance.now();
    await ask(side.helper, asked);
    tookMs.push(performance.now() - startedMs);
  }
  return (median(tookMs) ?? Number.NaN) * US_PER_MS;
}

async function forecasts(side: Side, round: number): Promise<number> {
  return trips(side, (trip) => {
    const { origin, site } = scatteredOrigin(round, trip, side.count);
    return { type: 'forecast', browser: 'chromium', site, origins: [origin] };
  });
}

async function observations(side: Side, round: number): Promise<number> {
  return trips(side, (trip) => {
    const observation = {
      id: `seen-${round}-${trip}`,
      ...scatteredOrigin(round, trip, side.count),
      kind: 'navigation',
      delivery: 'network',
      protocol: 'h2',
      atMs: Date.now(),
      bytes: null,
    };
    return { type: 'observed', browser: 'chromium', observations: [observation] };
  });
}

async function countingMs({ helper, count }: Side): Promise<number> {
  const startedMs = performance.now();
  const stats = await ask(helper, { type: 'stats' });
  if (stats.origins !== count) throw new Error(`${stats.origins} origins instead of ${count}`);
  return performance.now() - startedMs;
}

async function compared(title: string, few: Side, many: Side, run: typeof forecasts, atMost?: number) {
  return measureInStep(title, {
    title,
    unit: 'us',
    sides: [
      { name: few.name, run: (round) => run(few, round) },
      {
        name: many.name,
        run: (round) => run(many, round),
        ...(atMost !== undefined && { ratioAtMost: atMost }),
      },
    ],
    rounds: ROUNDS,
    warmUpRounds: 20,
  });
}

const dir = await scratchDirectory('bench-million');
try {
  const few = await openSide(dir, FEW);
  const many = await openSide(dir, MANY);
  const forecast = await compared('a forecast over the port', few, many, forecasts, 1.1);
  const observed = await compared('an observation stored over the port', few, many, observations);
  publish('million', {
    measurements: [forecast, observed],
    facts: [
      { name: `stats with ${many.name}`, value: await countingMs(many), unit: 'ms' },
      { name: `resident, ${few.name}`, value: residentMiB(few.helper.pid), unit: 'MiB' },
      { name: `resident, ${many.name}`, value: residentMiB(many.helper.pid), unit: 'MiB' },
      { name: `file, ${many.name}`, value: (await stat(many.cache)).size / BYTES_PER_MIB, unit: 'MiB' },
    ],
  });
  await few.helper.close();
  await many.helper.close();
} finally {
  await rm(dir, { recursive: true, force: true, maxRetries: 5 });
}
