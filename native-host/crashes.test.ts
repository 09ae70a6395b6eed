// Helpers killed during writes, four at a time on one cache, repeatedly: everything acknowledged is there, and the file
// is intact. `PHOTOFINISH_KILLS` sets how many are killed, 1000 for a long run; the default takes some seconds.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import type { Origin } from '@photofinish/shared/web/origin';
import { openHostCache } from './cache/store.ts';
import { systemClock } from './clock.ts';
import { observation } from './testing/cache-samples.ts';
import { closedPort } from './testing/peers.ts';
import { type Helper, home } from './testing/spawned-helper.ts';

const KILLS = Number(process.env.PHOTOFINISH_KILLS ?? 16);
const AT_ONCE = 4;
const BATCH = 20;
/** How many batches each has acknowledged before it is killed, with more in flight. */
const ACKNOWLEDGED = 5;
const A = 'https://a.test' as Origin;

function integrityOf(path: string): unknown {
  const db = new DatabaseSync(path, { readOnly: true });
  const [found] = Object.values(db.prepare('PRAGMA integrity_check').get() ?? {});
  db.close();
  return found;
}

/** Floods a helper with batches, one site per observation, until it is killed; returns the acknowledged sites. */
async function flood(helper: Helper, name: string): Promise<string[]> {
  const sites: string[] = [];
  const batches = 4 * ACKNOWLEDGED;
  for (let n = 0; n < batches; n += 1) {
    const observations = Array.from({ length: BATCH }, (_, i) =>
      observation({ id: `${name}-${n}-${i}`, site: `${name}-${n}-${i}.test`, atMs: Date.now() }),
    );
    helper.send({ type: 'observed', id: 10 + n, browser: 'chromium', observations });
  }
  await helper.next('observed', 10 + ACKNOWLEDGED);
  helper.child.kill('SIGKILL');
  await helper.exited;
  for (const reply of helper.replies)
    if (reply.type === 'observed')
      for (let i = 0; i < BATCH; i += 1) sites.push(`${name}-${reply.id - 10}-${i}.test`);
  return sites;
}

test(`${KILLS} helpers killed under load, four on one cache: nothing acknowledged is lost`, async (t) => {
  const at = await home(t);
  const path = join(at.directory, 'state', 'cache.db');
  let killed = 0;
  let acknowledged = 0;
  while (killed < KILLS) {
    const helpers = await Promise.all(Array.from({ length: AT_ONCE }, () => at.greet()));
    const sites = (await Promise.all(helpers.map((helper, n) => flood(helper, `k${killed + n}`)))).flat();
    killed += helpers.length;
    acknowledged += sites.length;
    const cache = openHostCache({ path, clock: systemClock });
    const there = new Set(cache.show(A).uses.map(({ site }) => site));
    for (const site of sites) assert.ok(there.has(site), `${site} was acknowledged`);
    assert.equal(cache.stats().store, 'sqlite');
    assert.equal(integrityOf(path), 'ok');
    // Records of earlier rounds must not slow down the next.
    cache.forget(A);
    cache.close();
  }
  assert.ok(acknowledged >= killed * ACKNOWLEDGED * BATCH);
});

test('a race killed while running leaves the cache intact, and the next helper races', async (t) => {
  const at = await home(t);
  const origin = `https://127.0.0.1:${await closedPort()}`;
  const helper = await at.greet();
  helper.send({ type: 'race', id: 2, origin, mode: 'compare', reason: 'click' });
  await helper.next('progress', 2);
  helper.child.kill('SIGKILL');
  await once(helper.child, 'close');
  const next = await at.greet();
  next.send({ type: 'race', id: 2, origin, mode: 'race', reason: 'click' });
  assert.equal((await next.next('race', 2)).origin, origin);
  assert.equal(await next.leave(), 0);
});
