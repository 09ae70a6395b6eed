// Forecasts from host caches of 1,000 and of 1,000,000 origins compared with a host that only echoes. Each is queried
// in turn over its own pipes; also the cost of an observation and of a count, and the memory of each helper.
import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fillCache, type HostPort, openHelper, openHost, scatteredOrigin } from '../helper/port.ts';
import { residentMiB } from '../proc.ts';
import { beginStep } from '../run/display.ts';
import { scratchIn, TOP } from '../scratch.ts';
import { measureInStep, medianOf, publish } from './measure.ts';

const FEW = 1000;
const MANY = 1_000_000;
const TRIPS_PER_SAMPLE = 50;
const ROUNDS = 200;
const BYTES_PER_MIB = 2 ** 20;
const US_PER_MS = 1000;
/** The goals: what a forecast costs beyond an echo, and the larger cache compared with the smaller. */
const BEYOND_ECHO_US_AT_MOST = 150;
const GROWTH_AT_MOST = 1.1;

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
async function trips(helper: HostPort, message: (trip: number) => object): Promise<number> {
  const tookMs: number[] = [];
  for (let trip = 0; trip < TRIPS_PER_SAMPLE; trip += 1) {
    const request = message(trip);
    const startedMs = performance.now();
    await ask(helper, request);
    tookMs.push(performance.now() - startedMs);
  }
  return medianOf(tookMs) * US_PER_MS;
}

async function forecasts(helper: HostPort, count: number, round: number): Promise<number> {
  return trips(helper, (trip) => {
    const { origin, site } = scatteredOrigin(round, trip, count);
    return { type: 'forecast', browser: 'chromium', site, origins: [origin] };
  });
}

async function observations(side: Side, round: number): Promise<number> {
  return trips(side.helper, (trip) => {
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

const PLAN = { unit: 'us', rounds: ROUNDS, warmUpRounds: 20 } as const;

/** Each helper's forecasts, and the echo of the same messages. */
async function compareWithEcho(echo: HostPort, sides: readonly Side[]) {
  const title = 'a forecast over the port';
  const each = sides.map((side) => ({
    name: side.name,
    run: (round: number) => forecasts(side.helper, side.count, round),
    beyondAtMost: BEYOND_ECHO_US_AT_MOST,
  }));
  const bare = { name: 'echo host', run: (round: number) => forecasts(echo, MANY, round) };
  return measureInStep(title, { ...PLAN, title, sides: [bare, ...each] });
}

async function grown(title: string, few: Side, many: Side, run: typeof observations, atMost?: number) {
  const goal = atMost !== undefined && { ratioAtMost: atMost };
  return measureInStep(title, {
    ...PLAN,
    title,
    sides: [
      { name: few.name, run: (round) => run(few, round) },
      { name: many.name, run: (round) => run(many, round), ...goal },
    ],
  });
}

await using closing = new AsyncDisposableStack();
const dir = await scratchIn(closing, 'bench-million');
const few = await openSide(dir, FEW);
const many = await openSide(dir, MANY);
const echo = openHost(process.execPath, [join(TOP, 'e2e/bench/echo-host.mjs')]);
const echoed = await compareWithEcho(echo, [few, many]);
await echo.close();
const forecast = await grown(
  'a forecast as the cache grows',
  few,
  many,
  (side, round) => forecasts(side.helper, side.count, round),
  GROWTH_AT_MOST,
);
const observed = await grown('an observation stored over the port', few, many, observations);
publish('million', {
  measurements: [echoed, forecast, observed],
  facts: [
    { name: `stats with ${many.name}`, value: await countingMs(many), unit: 'ms' },
    { name: `resident, ${few.name}`, value: residentMiB(few.helper.pid), unit: 'MiB' },
    { name: `resident, ${many.name}`, value: residentMiB(many.helper.pid), unit: 'MiB' },
    { name: `file, ${many.name}`, value: (await stat(many.cache)).size / BYTES_PER_MIB, unit: 'MiB' },
  ],
});
await few.helper.close();
await many.helper.close();
