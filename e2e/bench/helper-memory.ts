// Resident memory of the helper: idle, with 100,000 origins cached, after its first race, which loads undici and the
// QUIC addon, and whether it stays what it is over 10,000 races.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { greet, openHelper } from '../helper/open.ts';
import type { HostPort } from '../helper/port.ts';
import { ORIGIN_KINDS, startOrigins } from '../origins/start.ts';
import { beginStep } from '../run/display.ts';
import { scratchDirectory } from '../scratch.ts';
import { fillCache } from './many-origins.ts';
import { residentMiB, residentOverRaces, type Series } from './race-memory.ts';
import { type Fact, publish } from './result.ts';

const CACHED_ORIGINS = 100_000;
/** Long enough for start-up's garbage to be counted as what it is. */
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

const dir = await scratchDirectory('bench-memory');
const local = await startOrigins({ origins: { both: ORIGIN_KINDS.both, h1only: ORIGIN_KINDS.h1only } });
const { both, h1only } = local.origins;
const config = join(dir, 'config.json');
const settings = {
  cache: join(dir, 'cache.db'),
  ca: [local.caPath],
  allowPrivate: ['127.0.0.0/8'],
  resolve: { [`${both.host}:${both.port}`]: '127.0.0.1', [`${h1only.host}:${h1only.port}`]: '127.0.0.1' },
};
/** Each transport alone, both at once with the slower one cancelled, and a host that memory knows. */
const SERIES: readonly Series[] = [
  { name: 'HTTP/3', origin: both.origin, mode: 'h3' },
  { name: 'HTTP/2', origin: both.origin, mode: 'h2' },
  { name: 'HTTP/1.1', origin: h1only.origin, mode: 'h2' },
  { name: 'both at once', origin: both.origin, mode: 'naive' },
  { name: 'a known host', origin: both.origin, mode: 'race' },
];
writeFileSync(config, JSON.stringify(settings), { mode: 0o600 });

try {
  const step = beginStep('One helper fresh, one with a full cache');
  const facts: Fact[] = [];
  const note = async (name: string, helper: HostPort) =>
    facts.push({ name, value: await settledMiB(helper), unit: 'MiB' });
  const fresh = openHelper(config);
  await greet(fresh);
  await note('idle', fresh);
  await race(fresh, both.origin);
  await note('after the first race', fresh);
  await fresh.close();

  const full = openHelper(config);
  await fillCache(full, CACHED_ORIGINS);
  await note(`having stored ${CACHED_ORIGINS} origins itself`, full);
  await full.close();
  const reader = openHelper(config);
  await greet(reader);
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
} finally {
  await local.stop();
  rmSync(dir, { recursive: true, force: true });
}
