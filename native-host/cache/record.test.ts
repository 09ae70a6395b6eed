// Ids of records; and rows damaged on disk: whatever they contain, forecasts and races match the wire's schema, and the
// rows are dropped.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { forecastSchema } from '@photofinish/shared/port/wire';
import type { Origin } from '@photofinish/shared/web/origin';
import fc from 'fast-check';
import * as v from 'valibot';
import { observation, race, trial, up } from '../testing/cache-samples.ts';
import { idsOf, isSoundAddress, isSoundHost, isSoundUse, recordId } from './record.ts';
import { type HostCache, openHostCache } from './store.ts';

test('all records of an origin lie between its ids, which fit a signed row id', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), fc.string(), (origin, network, site) => {
      const { first, last } = idsOf(origin as Origin);
      for (const id of [
        recordId(origin as Origin, network),
        recordId(origin as Origin, network, 'firefox', site),
      ])
        assert.ok(first <= id && id <= last);
      assert.ok(first >= 0n && last < 2n ** 63n);
    }),
  );
});

test('ids stay those in the files that earlier versions wrote', () => {
  const origin = 'https://a.test' as Origin;
  assert.deepEqual(
    [idsOf(origin).first, recordId(origin, 'home'), recordId(origin, 'home', 'firefox', 'b.test')],
    [6924568066722365440n, 6924568067388090826n, 6924568067262441041n],
  );
});

test('very similar origins, their networks and sites have different ids', () => {
  const ids = new Set<bigint>();
  for (let n = 0; n < 50_000; n += 1) {
    const origin = `https://www.site-${n}.example` as Origin;
    ids.add(recordId(origin, 'home')).add(recordId(origin, 'work'));
    ids.add(recordId('https://shared.example' as Origin, 'home', 'chromium', `site-${n}.example`));
  }
  assert.equal(ids.size, 150_000);
});

const A = 'https://a.test' as Origin;
const B = 'https://b.test' as Origin;
const NOW = 1_700_000_000_000;
const clock = { nowMs: () => NOW, epochMs: () => NOW, after: () => () => {} };

interface Testbed {
  readonly path: string;
  open(said?: string[]): HostCache;
}

/** A closed cache that knows two hosts, their addresses, and a browser's use of them. */
async function testbed(t: TestContext): Promise<Testbed> {
  const directory = await mkdtemp(join(tmpdir(), 'photofinish-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const path = join(directory, 'cache.db');
  const open = (said: string[] = []): HostCache => {
    const cache = openHostCache({ path, clock, log: (message) => said.push(message) });
    t.after(() => cache.close());
    return cache;
  };
  const cache = open();
  const altSvc = 'h3=":443"; persist=1';
  for (const origin of [A, B]) {
    cache.recordRace(
      race([trial(up('h3', { rttMs: 20 }))], { origin, discovered: { altSvc, knownRoot: true } }),
    );
    cache.observe('home', 'chromium', [observation({ origin, atMs: NOW, altSvc })]);
  }
  cache.close();
  return { path, open };
}

const ask = (cache: HostCache, ...origins: Origin[]) =>
  cache.forecast({ network: 'home', browser: 'chromium', site: 'a.test', origins });

/** Uses everything that reads rows; all results must be sound. */
function useAll(cache: HostCache): void {
  for (const forecast of ask(cache, A, B)) v.parse(forecastSchema, forecast);
  cache.recall('home', A);
  assert.ok(cache.list().every((host) => isSoundHost(host)));
  const { hosts, uses, addresses } = cache.show(A);
  assert.ok(hosts.every(isSoundHost) && uses.every(isSoundUse) && addresses.every(isSoundAddress));
  cache.observe('home', 'chromium', [observation({ atMs: NOW })]);
  cache.recordRace(race([trial(up('h3'))]));
  cache.stats();
}

for (const [browser, column, value] of [
  ['', 'tcpProtocol', "'i2'"],
  ['', 'h3AtMs', '-1.5'],
  ['', 'h3UntilMs', '9e99'],
  ['', 'h3Basis', "'ra\u0003ed'"],
  ['', 'altSvcAtMs', '9e999'],
  ['', 'h3LossRate', '7.0'],
  ['', 'h3Failures', '-3'],
  ['', 'races', '4611686018427387904'],
  ['chromium', 'protocol', "'h9'"],
  ['chromium', 'stays', '-1'],
  ['chromium', 'advertisedUntilMs', '9e999'],
] as const)
  test(`a row with ${column} ${value} is dropped and reported; the other rows stay`, async (t) => {
    const { path, open } = await testbed(t);
    const db = new DatabaseSync(path);
    db.exec(`UPDATE known SET ${column} = ${value} WHERE origin = '${A}' AND browser = '${browser}'`);
    db.close();
    const said: string[] = [];
    const cache = open(said);
    for (const forecast of ask(cache, A, B)) v.parse(forecastSchema, forecast);
    cache.recall('home', A);
    const { hosts, uses } = cache.show(A);
    assert.ok([...cache.list(), ...hosts].every(isSoundHost) && uses.every(isSoundUse));
    cache.observe('home', 'chromium', [observation({ origin: B, atMs: NOW })]);
    assert.match(said.join(), /^(?:1 damaged record|2 damaged records) of the host cache dropped$/);
    assert.ok(cache.stats().unsound > 0);
    assert.equal(cache.show(A).hosts.length, browser === '' ? 0 : 2);
    assert.equal(cache.show(A).uses.length, browser === '' ? 1 : 0);
    assert.equal(cache.show(B).hosts.length, 2);
    assert.equal(cache.stats().origins, browser === '' ? 1 : 2);
    useAll(cache);
    assert.equal(said.length, 1);
  });

test('whatever bits flip on disk, all results are sound, and nothing throws', async (t) => {
  const { path, open } = await testbed(t);
  const whole = readFileSync(path);
  // After the file's header, whose marks identify it as ours.
  const flips = fc.array(fc.nat({ max: (whole.length - 100) * 8 - 1 }), { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(flips, (bits) => {
      const bytes = Buffer.from(whole);
      for (const bit of bits) bytes[100 + (bit >> 3)] = (bytes[100 + (bit >> 3)] ?? 0) ^ (1 << (bit & 7));
      for (const suffix of ['-wal', '-shm']) writeFileSync(path + suffix, '');
      writeFileSync(path, bytes);
      const cache = open();
      try {
        useAll(cache);
      } finally {
        cache.close();
      }
    }),
    { numRuns: 60 },
  );
});
