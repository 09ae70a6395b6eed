// A page that names an unlimited number of hosts: the cache stays within its bounds, and records of other sites stay.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import type { Origin } from '@photofinish/shared/web/origin';
import { observation, race, trial, up } from '../testing/cache-samples.ts';
import { type CacheLimits, LIMITS } from './limits.ts';
import { type HostCache, openHostCache } from './store.ts';

const START = 1_700_000_000_000;
const DAY_MS = 24 * 3_600_000;
const BATCH = 500;

interface Testbed {
  readonly cache: HostCache;
  readonly clock: { now: number };
  /** Reports this many origins below a site, in batches as sent over the port. */
  visit(site: string, count: number, name?: string): void;
  /** The values of the counters, by counting rows. */
  rows(): { rows: number; folded: number; origins: number };
  counters(): { rows: number; folded: number; origins: number };
  bytes(): number;
}

async function testbed(t: TestContext, limits: Partial<CacheLimits>): Promise<Testbed> {
  const directory = await mkdtemp(join(tmpdir(), 'photofinish-'));
  const path = join(directory, 'cache.db');
  const clock = { now: START };
  const cache = openHostCache({
    path,
    clock: { nowMs: () => clock.now, epochMs: () => clock.now, after: () => () => {} },
    limits: { ...LIMITS, ...limits },
  });
  const db = new DatabaseSync(path, { readOnly: true });
  t.after(async () => {
    db.close();
    cache.close();
    await rm(directory, { recursive: true });
  });
  const count = (sql: string): number => Number(Object.values(db.prepare(sql).get() ?? {})[0]);
  const counter = (name: string): number => count(`SELECT value FROM counter WHERE name = '${name}'`);
  return {
    cache,
    clock,
    visit(site, number, name = 'h') {
      const all = Array.from({ length: number }, (_, n) =>
        observation({ origin: `https://${name}${n}.${site}` as Origin, site, atMs: clock.now }),
      );
      for (let at = 0; at < all.length; at += BATCH)
        cache.observe('home', 'chromium', all.slice(at, at + BATCH));
    },
    rows: () => ({
      rows: count('SELECT count(*) FROM known'),
      folded: count('SELECT count(*) FROM folded'),
      origins: count("SELECT count(DISTINCT origin) FROM known WHERE browser = ''"),
    }),
    counters: () => ({ rows: counter('rows'), folded: counter('folded'), origins: counter('origins') }),
    bytes: () =>
      count(
        'SELECT (page_count - freelist_count) * page_size FROM pragma_page_count(), pragma_freelist_count(), pragma_page_size()',
      ),
  };
}

/** Number of known origins of a site. */
const knownOf = (cache: HostCache, site: string): number =>
  cache.list().filter(({ origin }) => origin.endsWith(`.${site}`)).length;

test('a site can add a limited number of origins a day; other sites, and the next day, are not affected', async (t) => {
  const { cache, clock, visit, rows, counters } = await testbed(t, { newOrigins: 100 });
  visit('news.test', 90);
  visit('hostile.test', 5000);
  assert.deepEqual([knownOf(cache, 'news.test'), knownOf(cache, 'hostile.test')], [90, 100]);
  assert.equal(cache.stats().refused, 4900);
  visit('hostile.test', 100);
  assert.equal(cache.stats().refused, 4900, 'what is known already is no news');
  visit('news.test', 10, 'more');
  clock.now += DAY_MS;
  visit('hostile.test', 5000, 'tomorrow');
  assert.deepEqual([knownOf(cache, 'news.test'), knownOf(cache, 'hostile.test')], [100, 200]);
  assert.deepEqual(counters(), rows());
});

test('beyond the total row limit, the site that added the most loses its oldest records, and the history stays', async (t) => {
  const { cache, clock, visit, rows, counters } = await testbed(t, { newOrigins: 2000, rows: 4000 });
  for (let n = 0; n < 20; n += 1) visit(`site${n}.test`, 40);
  cache.recordRace(race([trial(up('h3'))], { origin: 'https://raced.site1.test' as Origin }));
  for (let day = 0; day < 8; day += 1) {
    clock.now += DAY_MS;
    visit('hostile.test', 2000, `day${day}x`);
  }
  for (let n = 0; n < 20; n += 1) assert.ok(knownOf(cache, `site${n}.test`) >= 40, `site${n}.test`);
  assert.ok(rows().rows <= 4000 + 2 * BATCH, `${rows().rows} rows`);
  assert.ok(
    cache.list().some(({ origin }) => origin.startsWith('https://day7x')),
    'its newest are the last to go',
  );
  assert.ok(!cache.list().some(({ origin }) => origin.startsWith('https://day0x')));
  assert.deepEqual(counters(), rows());
});

test('if no site has flooded the cache, the oldest records are deleted', async (t) => {
  const { clock, visit, cache, rows, counters } = await testbed(t, { rows: 1000 });
  for (let n = 0; n < 60; n += 1) {
    clock.now += 60_000;
    visit(`site${n}.test`, 20);
  }
  assert.ok(rows().rows <= 1000 + 2 * BATCH);
  assert.equal(knownOf(cache, 'site0.test'), 0);
  assert.equal(knownOf(cache, 'site59.test'), 20);
  assert.deepEqual(counters(), rows());
});

test('the file size is bounded, and so is the number of observation ids', async (t) => {
  const { clock, visit, bytes, rows } = await testbed(t, { bytes: 1024 * 1024, folded: 1500 });
  for (let day = 0; day < 10; day += 1) {
    clock.now += DAY_MS;
    visit('hostile.test', 2000, `day${day}x`);
    visit('hostile.test', 2000, `day${day}x`);
  }
  assert.ok(bytes() < 1.5 * 1024 * 1024, `${bytes()} bytes`);
  assert.ok(rows().folded <= 1500);
});

test('a wipe deletes the counts of sites as well', async (t) => {
  const { cache, visit, rows, counters } = await testbed(t, { newOrigins: 10 });
  visit('a.test', 20);
  cache.wipe();
  visit('a.test', 20);
  assert.equal(knownOf(cache, 'a.test'), 10);
  assert.deepEqual(counters(), rows());
});
