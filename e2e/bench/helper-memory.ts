// Resident memory of the helper: idle, with 100,000 origins cached, after its first race, which loads undici and the
// QUIC addon, and whether it stays constant over 10,000 races.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Mode } from '@photofinish/shared/race/terms';
import { fillCache, type HostPort, helperArguments, openHelper, openHost, sayHello } from '../helper/port.ts';
import { ORIGIN_KINDS, startOrigins } from '../origins/start.ts';
import { residentMiB } from '../proc.ts';
import { beginStep } from '../run/display.ts';
import { scratchIn } from '../scratch.ts';
import { type Fact, medianOf, publish } from './measure.ts';

const RACES = 10_000;
/** The helper's own limits: races started per minute, and concurrent ones. */
const PER_MINUTE = 30;
const AT_ONCE = 4;
const TELL_EVERY = 1000;
/** The last quarter relative to the second; the first is start-up and warm-up. */
const FLAT_AT_MOST = 1.05;
/** A minute that was asked for has passed on the helper's clock within this time; see `minutes-pass.mjs`. */
const MINUTE_COMES_MS = 1;
const MINUTES_PASS = new URL('minutes-pass.mjs', import.meta.url);

interface Series {
  readonly name: string;
  readonly origin: string;
  readonly mode: Mode;
}

/** Runs as many races as a minute allows, four at a time; each must adopt a protocol. */
async function raceForAMinute(helper: HostPort, { origin, mode }: Series, firstId: number): Promise<void> {
  const ids = Array.from({ length: PER_MINUTE }, (_, n) => firstId + n);
  const start = (id: number) => helper.send({ type: 'race', id, origin, mode, reason: 'click' });
  for (const id of ids.splice(0, AT_ONCE)) start(id);
  for (let over = 0; over < PER_MINUTE; ) {
    const reply = await helper.next();
    if (reply.type === 'progress') continue;
    if (reply.type === 'error' && reply.code === 'too-many-races') {
      await pause(MINUTE_COMES_MS);
      start(Number(reply.id));
      continue;
    }
    const adopted = (reply.summary as { failed?: number } | undefined)?.failed === 0;
    if (!adopted) throw new Error(`no race but ${JSON.stringify(reply)}`);
    over += 1;
    const next = ids.shift();
    if (next !== undefined) start(next);
  }
}

/**
 * Runs one series of races in a helper with these settings and returns its memory after every thousand races, and how
 * flat that is. `onRaces` is called with the number of races.
 */
async function residentOverRaces(
  config: string,
  series: Series,
  onRaces: (races: number) => void,
): Promise<Fact[]> {
  const helper = openHost(process.execPath, ['--import', MINUTES_PASS.href, ...helperArguments(config)]);
  await sayHello(helper);
  const samples: number[] = [];
  const facts: Fact[] = [];
  for (let races = 0; races < RACES; ) {
    await raceForAMinute(helper, series, races + 2);
    const value = residentMiB(helper.pid);
    samples.push(value);
    if (Math.floor((races + PER_MINUTE) / TELL_EVERY) > Math.floor(races / TELL_EVERY))
      facts.push({ name: `${series.name}, after ${races + PER_MINUTE} races`, value, unit: 'MiB' });
    races += PER_MINUTE;
    onRaces(races);
    helper.child.kill('SIGUSR2');
  }
  await helper.close();
  const quarter = samples.length / 4;
  const value = medianOf(samples.slice(3 * quarter)) / medianOf(samples.slice(quarter, 2 * quarter));
  const name = `${series.name}, last quarter of the races over the second`;
  return [...facts, { name, value, unit: 'times', atMost: FLAT_AT_MOST }];
}

const CACHED_ORIGINS = 100_000;
/** Long enough for garbage from start-up to be collected. */
const SETTLE_MS = 1000;

async function settledMiB(helper: HostPort): Promise<number> {
  await pause(SETTLE_MS);
  return residentMiB(helper.pid);
}

async function race(helper: HostPort, origin: string): Promise<void> {
  helper.send({ type: 'race', id: 1_000_000, origin, mode: 'compare', reason: 'click' });
  for (;;) {
    const reply = await helper.next();
    if (reply.type === 'progress') continue;
    if (reply.type !== 'race') throw new Error(`no race but ${JSON.stringify(reply)}`);
    return;
  }
}

await using local = await startOrigins({ origins: { both: ORIGIN_KINDS.both, h1only: ORIGIN_KINDS.h1only } });
await using closing = new AsyncDisposableStack();
const dir = await scratchIn(closing, 'bench-memory');
const { both, h1only } = local.origins;
const config = join(dir, 'config.json');
const settings = {
  cache: join(dir, 'cache.db'),
  ca: [local.caPath],
  allowPrivate: ['127.0.0.0/8'],
  resolve: { [`${both.host}:${both.port}`]: '127.0.0.1', [`${h1only.host}:${h1only.port}`]: '127.0.0.1' },
};
/** Each transport alone, both with the slower one cancelled, and a host known from the cache. */
const SERIES: readonly Series[] = [
  { name: 'HTTP/3', origin: both.origin, mode: 'h3' },
  { name: 'HTTP/2', origin: both.origin, mode: 'h2' },
  { name: 'HTTP/1.1', origin: h1only.origin, mode: 'h2' },
  { name: 'both at once', origin: both.origin, mode: 'naive' },
  { name: 'a known host', origin: both.origin, mode: 'race' },
];
writeFileSync(config, JSON.stringify(settings), { mode: 0o600 });

const step = beginStep('One helper fresh, one with a full cache');
const facts: Fact[] = [];
const note = async (name: string, helper: HostPort) =>
  facts.push({ name, value: await settledMiB(helper), unit: 'MiB' });
const fresh = openHelper(config);
await sayHello(fresh);
await note('idle', fresh);
await race(fresh, both.origin);
await note('after the first race', fresh);
await fresh.close();

const full = openHelper(config);
await fillCache(full, CACHED_ORIGINS);
await note(`having stored ${CACHED_ORIGINS} origins itself`, full);
await full.close();
const reader = openHelper(config);
await sayHello(reader);
await note(`idle with ${CACHED_ORIGINS} origins cached`, reader);
await race(reader, both.origin);
await note(`after the first race with ${CACHED_ORIGINS} origins cached`, reader);
await reader.close();
step.end(true);
for (const series of SERIES) {
  const racing = beginStep(`Racing: ${series.name}`);
  facts.push(...(await residentOverRaces(config, series, (races) => racing.detail(`${races} races`))));
  racing.end(true);
}
publish('helper-memory', { measurements: [], facts });
