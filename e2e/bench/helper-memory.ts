// Resident memory of the helper: idle, with 100,000 origins cached, and after its first race, which loads undici and
// the QUIC addon.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { greet, openHelper } from '../helper/open.ts';
import type { HostPort } from '../helper/port.ts';
import { ORIGIN_KINDS, startOrigins } from '../origins/start.ts';
import { beginStep } from '../run/display.ts';
import { scratchDirectory } from '../scratch.ts';
import { fillCache } from './many-origins.ts';
import { type Fact, publish } from './result.ts';

const CACHED_ORIGINS = 100_000;
/** Long enough for start-up's garbage to be counted as what it is. */
const SETTLE_MS = 1000;
const KIB_PER_MIB = 1024;

async function residentMiB(helper: HostPort): Promise<number> {
  await pause(SETTLE_MS);
  const status = readFileSync(`/proc/${helper.pid}/status`, 'utf8');
  const kib = /^VmRSS:\s+([0-9]+) kB$/m.exec(status)?.[1];
  if (kib === undefined) throw new Error('the system does not tell resident memory');
  return Number(kib) / KIB_PER_MIB;
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
const local = await startOrigins({ origins: { both: ORIGIN_KINDS.both } });
const { origin, host, port } = local.origins.both;
const config = join(dir, 'config.json');
const settings = {
  cache: join(dir, 'cache.db'),
  ca: [local.caPath],
  allowPrivate: ['127.0.0.0/8'],
  resolve: { [`${host}:${port}`]: '127.0.0.1' },
};
writeFileSync(config, JSON.stringify(settings), { mode: 0o600 });

try {
  const step = beginStep('One helper fresh, one with a full cache');
  const facts: Fact[] = [];
  const note = async (name: string, helper: HostPort) =>
    facts.push({ name, value: await residentMiB(helper), unit: 'MiB' });
  const fresh = openHelper(config);
  await greet(fresh);
  await note('idle', fresh);
  await race(fresh, origin);
  await note('after the first race', fresh);
  await fresh.close();

  const full = openHelper(config);
  await fillCache(full, CACHED_ORIGINS);
  await note(`having stored ${CACHED_ORIGINS} origins itself`, full);
  await full.close();
  const reader = openHelper(config);
  await greet(reader);
  await note(`idle with ${CACHED_ORIGINS} origins cached`, reader);
  await race(reader, origin);
  await note(`after the first race with ${CACHED_ORIGINS} origins cached`, reader);
  await reader.close();
  step.end(true);
  publish('helper-memory', { measurements: [], facts });
} finally {
  await local.stop();
  rmSync(dir, { recursive: true, force: true });
}
