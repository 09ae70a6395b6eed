import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { forecastSchema } from '@photofinish/shared/port/wire';
import type { CacheUse } from '@photofinish/shared/race/outcome';
import { UDP_ANSWERED_CODES } from '@photofinish/shared/race/terms';
import { blocksUdp } from '@photofinish/shared/verdict/verdict';
import type { Origin } from '@photofinish/shared/web/origin';
import fc from 'fast-check';
import * as v from 'valibot';
import { down, observation, race, trial, up } from '../testing/cache-samples.ts';
import { RETENTION_MS, SHARED_FRESH_MS } from './policy.ts';
import { UDP_ANSWERED, UDP_FAILED, UDP_REACHED } from './schema.ts';
import { type HostCache, openHostCache } from './store.ts';

const A = 'https://a.test' as Origin;
const B = 'https://b.test' as Origin;
const START = 1_700_000_000_000;

interface Fixture {
  readonly cache: HostCache;
  readonly path: string;
  readonly reopen: () => HostCache;
  readonly clock: { now: number };
}

async function fixture(t: TestContext): Promise<Fixture> {
  const directory = await mkdtemp(join(tmpdir(), 'photofinish-'));
  const clock = { now: START };
  const path = join(directory, 'state', 'cache.db');
  const opened: HostCache[] = [];
  const open = (): HostCache => {
    const cache = openHostCache({
      path,
      clock: { nowMs: () => clock.now, epochMs: () => clock.now, after: () => () => {} },
    });
    opened.push(cache);
    return cache;
  };
  t.after(async () => {
    // In this order, because closing a cache writes its counters.
    for (const cache of opened) cache.close();
    await rm(directory, { recursive: true });
  });
  return { cache: open(), path, reopen: open, clock };
}

const ask = (cache: HostCache, origins: Origin[], network = 'home', site = 'a.test') =>
  cache.forecast({ network, browser: 'chromium', site, origins });

test('a race is remembered on its network, and across processes', async (t) => {
  const { cache, reopen } = await fixture(t);
  cache.recordRace(race([trial(up('h3'))]));
  assert.deepEqual(
    ask(cache, [B, A]).map((f) => [f.origin, f.reachable.protocol, f.hit]),
    [
      [B, 'unknown', false],
      [A, 'h3', true],
    ],
  );
  assert.equal(ask(cache, [A], 'work')[0]?.hit, false);
  const { lookups, hits } = cache.stats();
  assert.deepEqual([lookups, hits], [3, 1]);
  cache.close();
  assert.equal(ask(reopen(), [A])[0]?.reachable.basis, 'raced');
});

test("a browser's history belongs to the site, browser and network in which it was made", async (t) => {
  const { cache } = await fixture(t);
  cache.observe('home', 'chromium', [observation({ atMs: START, altSvc: 'h3=":443"' })]);
  assert.deepEqual(ask(cache, [A])[0]?.expected, { protocol: 'h3', basis: 'advertised' });
  const elsewhere = [
    ask(cache, [A], 'work')[0],
    ask(cache, [A], 'home', 'b.test')[0],
    cache.forecast({ network: 'home', browser: 'firefox', site: 'a.test', origins: [A] })[0],
  ];
  for (const forecast of elsewhere) assert.equal(forecast?.expected.protocol, 'unknown');
});

test('a batch sent twice counts once', async (t) => {
  const { cache } = await fixture(t);
  const advert = observation({ atMs: START - 5, altSvc: 'h3=":443"' });
  const visit = observation({ atMs: START - 4 });
  assert.equal(cache.observe('home', 'chromium', [visit, advert]), 2);
  const before = cache.show(A);
  assert.equal(before.uses[0]?.stays, 1);
  assert.equal(cache.observe('home', 'chromium', [visit, advert]), 0);
  assert.deepEqual(cache.show(A), before);
});

test('only network answers count, each at its time or, from a clock that ran ahead, now', async (t) => {
  const { cache } = await fixture(t);
  for (const delivery of ['http-cache', 'service-worker', 'prefetch'] as const)
    cache.observe('home', 'chromium', [
      observation({ delivery, atMs: START, protocol: 'h3', altSvc: 'h3=":443"; persist=1' }),
    ]);
  assert.deepEqual(cache.show(A), { hosts: [], uses: [], addresses: [] });
  for (const [atMs, seenAtMs] of [
    [START - 5000, START - 5000],
    [START + 5000, START],
  ] as const) {
    cache.observe('home', 'chromium', [observation({ atMs })]);
    assert.equal(cache.show(A).uses[0]?.seenAtMs, seenAtMs);
  }
});

test('whatever is resent, in any batches, the record is the same as if sent once', async (t) => {
  const { cache } = await fixture(t);
  let round = 0;
  const step = fc.record({ protocol: fc.constantFrom('h3', 'h2'), again: fc.nat(3), advert: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 12 }), (steps) => {
      round += 1;
      const observations = steps.map((s, n) =>
        observation({
          atMs: START - 1000 + n,
          protocol: s.protocol,
          ...(s.advert && { altSvc: 'h3=":443"' }),
        }),
      );
      const send = (site: string, again: boolean): void =>
        steps.forEach((s, n) => {
          const sent = observations.slice(again ? Math.max(0, n - s.again) : n, n + 1);
          const batch = sent.map((o) => ({ ...o, id: `${site}${o.id}`, site }));
          cache.observe('home', 'chromium', batch);
        });
      send(`once${round}.test`, false);
      send(`again${round}.test`, true);
      const [again, once] = ['again', 'once'].map((name) => {
        const use = cache.show(A).uses.find((u) => u.site === `${name}${round}.test`);
        return { ...use, site: '' };
      });
      assert.deepEqual(again, once);
    }),
    { numRuns: 30 },
  );
});

test('a clock that ran ahead does not freeze a record', async (t) => {
  const { cache, clock } = await fixture(t);
  cache.observe('home', 'chromium', [observation({ atMs: START + 1e9, protocol: 'h2' })]);
  clock.now += 1000;
  cache.observe('home', 'chromium', [observation({ atMs: clock.now, protocol: 'h3' })]);
  assert.equal(ask(cache, [A])[0]?.expected.protocol, 'h3');
});

test('a clock set back by two hours neither extends a back-off nor hides what came since', async (t) => {
  const { cache, clock, reopen } = await fixture(t);
  const persistent = { altSvc: 'h3=":443"; persist=1', knownRoot: true };
  const broken = race([trial(down('h3', 'udp-timeout'), up('h2'))], { discovered: persistent });
  const cleared = (origin: Origin) =>
    cache.observe('home', 'chromium', [observation({ origin, atMs: clock.now, altSvc: 'clear' })]);
  clock.now = START + 2 * 3_600_000;
  cache.recordRace(broken);
  cache.recordRace({ ...broken, origin: B });
  cache.observe('home', 'chromium', [observation({ atMs: clock.now, protocol: 'h2' })]);
  assert.deepEqual(
    [cache.recall('home', A)?.decision, cache.recall('work', B)?.altSvc?.clear],
    ['h2', false],
  );

  clock.now = START;
  assert.equal(
    cache.recall('home', A),
    null,
    'nothing that is ahead counts, and the back-off was of five minutes',
  );
  cache.observe('home', 'chromium', [observation({ atMs: clock.now, protocol: 'h3' })]);
  assert.deepEqual(
    ask(cache, [A]).map(({ reachable, expected }) => [
      reachable.protocol,
      reachable.fresh,
      expected.protocol,
    ]),
    [['h3', true, 'h3']],
  );
  cleared(B);
  assert.equal(cache.recall('home', B), null, 'clear counts');
  assert.equal(cache.recall('work', B), null, 'on every network');
  cache.recordRace(race([trial(up('h2'))], { discovered: { altSvc: 'clear', knownRoot: true } }));
  assert.equal(cache.recall('work', A), null);
  assert.equal(reopen().stats().origins, 2);
  clock.now = START + 2 * 3_600_000;
  assert.deepEqual([cache.recall('work', A), cache.recall('work', B)], [null, null], 'and for good');
});

test('a correction of a few seconds forgets nothing', async (t) => {
  const { cache, clock } = await fixture(t);
  cache.recordRace(race([trial(down('h3', 'udp-timeout'), up('h2'))]));
  clock.now -= 5_000;
  assert.equal(cache.recall('home', A)?.decision, 'h2');
  cache.observe('home', 'chromium', [observation({ atMs: clock.now, protocol: 'h2' })]);
  assert.equal(cache.show(A).hosts[0]?.races, 1);
  cache.recordRace(race([trial(up('h2'))]));
  assert.equal(cache.show(A).hosts[0]?.races, 2);
});

test('an alternative with persist=1 is known on the next network, one without is not, and a new header withdraws it', async (t) => {
  const { cache, clock } = await fixture(t);
  const sent = (origin: Origin, altSvc: string) =>
    cache.observe('home', 'chromium', [observation({ origin, atMs: clock.now, altSvc })]);
  sent(A, 'h3=":443"; persist=1');
  sent(B, 'h3=":443"');
  assert.deepEqual(
    ask(cache, [A, B], 'work').map((f) => f.reachable.basis),
    ['advertised', 'none'],
  );
  assert.equal(cache.recall('work', A)?.altSvc?.text, 'h3=":443"; ma=86400; persist=1');
  clock.now += 1;
  sent(A, 'h2=":443"');
  assert.equal(ask(cache, [A], 'work')[0]?.reachable.basis, 'none');
});

test('an unreadable header withdraws no alternative with persist=1 from other networks, whoever received it', async (t) => {
  const { cache, clock } = await fixture(t);
  const persistent = 'h3=":443"; ma=86400; persist=1';
  const unreadable = 'h3=:443';
  cache.observe('home', 'chromium', [observation({ atMs: clock.now, altSvc: persistent })]);
  clock.now += 1;
  cache.observe('home', 'chromium', [observation({ atMs: clock.now, altSvc: unreadable })]);
  cache.recordRace(race([trial(up('h2'))], { discovered: { altSvc: unreadable, knownRoot: true } }));
  cache.observe('home', 'chromium', [observation({ origin: B, atMs: clock.now, altSvc: unreadable })]);
  assert.deepEqual(
    ask(cache, [A, B], 'work').map((f) => f.reachable.basis),
    ['advertised', 'none'],
  );
  assert.equal(cache.recall('work', A)?.altSvc?.text, persistent);
});

test("a race that received no header itself does not extend the advertisement's lifetime", async (t) => {
  const { cache, clock } = await fixture(t);
  const discovered = { altSvc: 'h3=":443"; ma=100', knownRoot: true };
  cache.recordRace(race([trial(up('h2'))], { discovered }));
  clock.now += 60_000;
  cache.recordRace(race([trial(up('h2'))], { discovered }));
  clock.now += 60_000;
  assert.equal(cache.recall('home', A)?.altSvc?.text ?? null, null);
  cache.recordRace(race([trial(up('h2'))], { discovered }));
  assert.equal(cache.recall('home', A)?.altSvc?.text, discovered.altSvc);
});

test('a broken HTTP/3 is recalled until its back-off ends', async (t) => {
  const { cache, clock } = await fixture(t);
  cache.recordRace(race([trial(down('h3', 'udp-refused'), up('h2'))]));
  assert.equal(cache.recall('home', A)?.decision, 'h2');
  clock.now += 300_000;
  const recalled = cache.recall('home', A);
  assert.deepEqual([recalled?.decision, recalled?.hints.h3Broken], [null, null]);
});

test('races that found a remembered protocol are counted, and those for which it was right', async (t) => {
  const { cache } = await fixture(t);
  const summary = (cache: CacheUse) => ({ summary: { ...race([]).summary, cache } });
  cache.recordRace(race([trial(up('h3'))], summary({ lookups: 4, hits: 3, scored: 2, right: 1 })));
  cache.recordRace(race([trial(up('h3'))], summary({ lookups: 1, hits: 0, scored: 0, right: 0 })));
  cache.recordRace(race([trial(up('h3')), trial(up('h2'))], { mode: 'compare' }));
  const { races, raceLookups, raceHits, raceScored, raceRight } = cache.stats();
  assert.deepEqual([races, raceLookups, raceHits, raceScored, raceRight], [3, 5, 3, 2, 1]);
});

test('RFC 7838 section 6: an alternative that answers 421 is removed on every network, and stays removed', async (t) => {
  const { cache, clock } = await fixture(t);
  const altSvc = 'h3=":8443"; ma=86400; persist=1';
  cache.observe('home', 'chromium', [observation({ atMs: clock.now, altSvc })]);
  assert.equal(cache.recall('work', A)?.altSvc?.text, altSvc);
  const wrong = { ...down('h3', 'misdirected'), source: 'alt-svc', port: 8443 } as const;
  cache.recordRace(race([trial(wrong, up('h2'))], { discovered: { altSvc, knownRoot: true } }));
  clock.now += 1;
  cache.observe('home', 'chromium', [observation({ atMs: clock.now, altSvc })]);
  for (const network of ['home', 'work'])
    assert.equal(cache.recall(network, A)?.altSvc?.text ?? null, null, network);
  assert.equal(cache.recall('home', A)?.hints.h3Broken, null);
});

test('addresses are stored by origin and network, only the newest of too many, and only for a day', async (t) => {
  const { cache, clock } = await fixture(t);
  const used = (address: string, network = 'home') =>
    cache.recordRace(race([trial(up('h3', { address }))], { network }));
  used('192.0.2.1');
  used('2001:db8::1', 'work');
  const known = (network: string, origin = A) => [
    ...(cache.recall(network, origin)?.hints.addresses.keys() ?? []),
  ];
  assert.deepEqual([known('home'), known('work'), known('home', B)], [['192.0.2.1'], ['2001:db8::1'], []]);
  for (let n = 1; n <= 40; n += 1) {
    clock.now += 1;
    used(`198.51.100.${n}`);
  }
  const newest = Array.from({ length: 32 }, (_, n) => `198.51.100.${n + 9}`);
  assert.deepEqual(known('home').toSorted(), newest.toSorted());
  assert.equal(cache.show(A).addresses.length, 33);
  clock.now += 24 * 3_600_000 + 1;
  assert.deepEqual(known('home'), []);
  cache.observe('home', 'chromium', [observation({ atMs: clock.now })]);
  assert.deepEqual(cache.show(A).addresses, []);
});

const origin = (name: string) => `https://${name}.test` as Origin;
/** Over UDP silent, over TCP reached, each time at an address that no other host has. */
const mute = (code: Parameters<typeof down>[1] = 'udp-timeout') => {
  lastAddress += 1;
  return trial(down('h3', code), up('h2', { address: `198.51.100.${lastAddress}` }));
};
let lastAddress = 0;
const ADVERT = { altSvc: 'h3=":443"', knownRoot: true };

test('other hosts provide evidence about UDP on a network: those that advertise HTTP/3 and fail, and those reached', async (t) => {
  const { cache, clock } = await fixture(t);
  const raced = (name: string, what: Parameters<typeof race>[0], facts = {}) =>
    cache.recordRace(race(what, { origin: origin(name), discovered: ADVERT, ...facts }));
  raced('silent', [mute()]);
  raced('prohibited', [mute('udp-unreachable')]);
  raced('refused', [mute('udp-refused')]);
  raced('unrouted', [mute('no-route')]);
  raced('expired', [mute('certificate-invalid')]);
  raced('unadvertised', [mute()], { discovered: { altSvc: null, knownRoot: true } });
  raced('dead', [trial(down('h3', 'udp-timeout'), down('h2', 'tcp-timeout'))]);
  raced('elsewhere', [mute()], { network: 'work' });
  raced('works', [trial(up('h3', { address: '192.0.2.2' }))]);
  raced('worked', [trial(up('h3'))]);
  raced('worked', [mute()]);
  cache.observe('home', 'chromium', [
    observation({ origin: origin('seen'), atMs: clock.now, protocol: 'h3' }),
  ]);
  const counts = (...asked: Parameters<HostCache['udpEvidence']>) => {
    const { failedHosts, reachedHosts } = cache.udpEvidence(...asked);
    return [failedHosts, reachedHosts];
  };
  assert.deepEqual(counts('home', A), [3, 2]);
  assert.deepEqual(counts('home', origin('silent')), [2, 2]);
  assert.deepEqual(counts('home', origin('works')), [3, 1]);
  assert.deepEqual(counts('work', A), [1, 0]);
  clock.now -= 1_000;
  assert.deepEqual(counts('home', A), [0, 0], 'set back');
  clock.now += 24 * 3_600_000 + 1_000;
  assert.deepEqual(counts('home', A), [0, 0]);
});

test('evidence about UDP says whether the newest success of another host is later than the newest failure', async (t) => {
  const { cache, clock } = await fixture(t);
  const reachedLater = (except: Origin) => cache.udpEvidence('home', except).reachedLater;
  const raced = (name: string, ...attempts: Parameters<typeof trial>) => {
    clock.now += 1_000;
    cache.recordRace(race([trial(...attempts)], { origin: origin(name), discovered: ADVERT }));
  };
  assert.equal(reachedLater(A), false);
  raced('works', up('h3'));
  assert.equal(reachedLater(A), true);
  // More than are counted.
  for (let i = 0; i < 120; i += 1)
    raced(`silent-${i}`, down('h3', 'udp-timeout'), up('h2', { address: `198.51.100.${i}` }));
  assert.equal(cache.udpEvidence('home', A).failedHosts, 100);
  assert.equal(reachedLater(A), false);
  raced('again', up('h3'));
  assert.equal(reachedLater(A), true);
  assert.equal(reachedLater(origin('again')), false, 'its own success is not another host’s');
});

test('a host that a browser reached over HTTP/3 today is evidence, although a race of another day is still fresh', async (t) => {
  const { cache, clock } = await fixture(t);
  const raced = (name: string, altSvc: string, ...attempts: Parameters<typeof trial>) =>
    cache.recordRace(
      race([trial(...attempts)], { origin: origin(name), discovered: { altSvc, knownRoot: true } }),
    );
  raced('good', 'h3=":443"; ma=2592000', up('h3'));
  clock.now += 26 * 3_600_000;
  for (const name of ['a', 'b']) raced(name, ADVERT.altSvc, ...mute().attempts);
  const fresh = cache.show(origin('good')).hosts[0]?.h3UntilMs;
  clock.now += 60_000;
  cache.observe('home', 'chromium', [
    observation({ origin: origin('good'), atMs: clock.now - 1_000, protocol: 'h3' }),
  ]);
  assert.deepEqual(cache.udpEvidence('home', origin('c')), {
    failedHosts: 2,
    reachedHosts: 1,
    answeredHosts: 0,
    reachedLater: true,
  });
  const [host] = cache.show(origin('good')).hosts;
  assert.deepEqual([host?.h3Basis, host?.h3UntilMs], ['raced', fresh]);
});

test('a host that answered over UDP clears the network, although HTTP/3 failed there', async (t) => {
  const { cache, clock } = await fixture(t);
  const raced = (name: string, ...attempts: Parameters<typeof trial>) =>
    cache.recordRace(race([trial(...attempts)], { origin: origin(name), discovered: ADVERT }));
  for (const name of ['a1', 'a2']) raced(name, ...mute().attempts);
  assert.equal(blocksUdp(cache.udpEvidence('home', A)), true);
  for (const code of UDP_ANSWERED_CODES) raced(code, down('h3', code), up('h2'));
  assert.equal(cache.udpEvidence('home', A).answeredHosts, UDP_ANSWERED_CODES.length);
  assert.equal(blocksUdp(cache.udpEvidence('home', A)), false);
  assert.equal(cache.udpEvidence('home', origin('goaway')).answeredHosts, UDP_ANSWERED_CODES.length - 1);
  clock.now += 24 * 3_600_000 + 1;
  assert.equal(cache.udpEvidence('home', A).answeredHosts, 0);
});

test('ports of one host are no evidence about the network: its own firewall may close them', async (t) => {
  const { cache } = await fixture(t);
  const at = (origin: string) =>
    cache.recordRace(race([mute()], { origin: origin as Origin, discovered: ADVERT }));
  for (const port of ['', ':8443', ':9443']) at(`https://one.test${port}`);
  assert.equal(cache.udpEvidence('home', 'https://one.test:7443' as Origin).failedHosts, 0);
  assert.equal(cache.udpEvidence('home', A).failedHosts, 1);
  for (const address of ['192.0.2.1', '192.0.2.2:8443', '192.0.2.2', '[2001:db8::1]:8443', '[2001:db8::1]'])
    at(`https://${address}`);
  assert.equal(cache.udpEvidence('home', A).failedHosts, 4);
});

test('nor are names of one address', async (t) => {
  const { cache } = await fixture(t);
  const at = (name: string, address: string) => {
    const silent = trial(down('h3', 'udp-timeout'), up('h2', { address }));
    cache.recordRace(race([silent], { origin: origin(name), discovered: ADVERT }));
  };
  for (const name of ['www', 'api', 'static']) at(name, '192.0.2.1');
  assert.equal(cache.udpEvidence('home', A).failedHosts, 1);
  assert.equal(cache.udpEvidence('home', origin('www')).failedHosts, 0);
  at('elsewhere', '192.0.2.2');
  assert.equal(cache.udpEvidence('home', origin('www')).failedHosts, 1);
  const unmeasured = trial(down('h3', 'udp-timeout'), up('h2', { transportMs: null }));
  cache.recordRace(race([unmeasured], { origin: origin('somewhere'), discovered: ADVERT }));
  assert.equal(cache.udpEvidence('home', origin('www')).failedHosts, 1);
});

test('hosts on the local network are no evidence about paths beyond it, nor the other way round', async (t) => {
  const { cache, clock } = await fixture(t);
  const at = (name: string, address: string, isUp = true) => {
    clock.now += 1_000;
    const h3 = isUp ? up('h3', { address }) : down('h3', 'udp-timeout');
    const raced = trial(h3, up('h2', { address, outcome: 'established-late' }));
    cache.recordRace(race([raced], { origin: origin(name), discovered: ADVERT }));
  };
  const counts = (name: string) => {
    const { failedHosts, reachedHosts, reachedLater } = cache.udpEvidence('home', origin(name));
    return [failedHosts, reachedHosts, reachedLater];
  };
  at('far', '1.1.1.1', false);
  at('far2', '2606:4700::1111', false);
  at('nas', '192.168.1.2');
  at('dev', '127.0.0.1');
  assert.deepEqual(counts('far'), [1, 0, false]);
  assert.deepEqual(counts('nas'), [0, 1, true]);
  assert.deepEqual(counts('never-raced'), [2, 2, true]);
  at('far3', '8.8.8.8');
  assert.deepEqual(counts('far'), [1, 1, true]);
  at('both', '192.168.1.3');
  at('both', '1.0.0.1');
  assert.deepEqual(counts('both'), [2, 1, true], 'one public address is enough');
});

test('evidence queries use indexes', async (t) => {
  const { path } = await fixture(t);
  const db = new DatabaseSync(path);
  t.after(() => db.close());
  for (const [condition, age, index] of [
    [UDP_FAILED, 'h3FailedAtMs', 'hostUdpFailed'],
    [UDP_REACHED, 'h3AtMs', 'hostUdpReached'],
    [UDP_ANSWERED, 'h3FailedAtMs', 'hostUdpAnswered'],
  ] as const) {
    const plan = db.prepare(
      `EXPLAIN QUERY PLAN SELECT 1 FROM known WHERE network = ? AND ${age} > ? AND ${condition}`,
    );
    assert.match(JSON.stringify(plan.all('home', 1)), new RegExp(index));
  }
});

test('a record with the same id is not mistaken for that of another origin', async (t) => {
  const { cache, clock, path } = await fixture(t);
  cache.observe('home', 'chromium', [observation({ origin: A, atMs: clock.now, protocol: 'h3' })]);
  const asked = { network: 'home', browser: 'chromium', site: 'a.test', origins: [A] } as const;
  assert.equal(cache.forecast(asked)[0]?.hit, true);
  const db = new DatabaseSync(path);
  t.after(() => db.close());
  db.exec("UPDATE known SET origin = 'https://same-id.test'");
  assert.equal(cache.forecast(asked)[0]?.hit, false);
  assert.equal(cache.recall('home', A), null);
  assert.deepEqual(cache.show(A), { hosts: [], uses: [], addresses: [] });
});

test('nothing that happens on one network changes an answer on another', async (t) => {
  const { cache, clock } = await fixture(t);
  let round = 0;
  const step = fc.record({
    network: fc.constantFrom('home', 'work'),
    protocol: fc.constantFrom('h3', 'h2'),
    broken: fc.boolean(),
    browser: fc.boolean(),
    // Without persist=1, the only thing that crosses networks.
    altSvc: fc.constantFrom(null, 'h3=":443"; ma=60', 'clear'),
  });
  const play = (name: string, steps: readonly (typeof step extends fc.Arbitrary<infer S> ? S : never)[]) => {
    for (const { network, protocol, broken, browser, altSvc } of steps) {
      const received = altSvc === null ? {} : { altSvc };
      const at = { origin: origin(name), atMs: clock.now };
      if (browser) cache.observe(network, 'chromium', [observation({ ...at, protocol, ...received })]);
      else {
        const attempts = broken ? [down('h3', 'udp-timeout'), up('h2')] : [up(protocol)];
        const discovered = { altSvc, knownRoot: null };
        cache.recordRace(race([trial(...attempts)], { network, origin: origin(name), discovered }));
      }
    }
    return {
      forecast: { ...ask(cache, [origin(name)])[0], origin: '' },
      recall: cache.recall('home', origin(name)),
    };
  };
  fc.assert(
    fc.property(fc.array(step, { maxLength: 8 }), (steps) => {
      round += 1;
      clock.now += 1;
      const alone = play(
        `alone${round}`,
        steps.filter((s) => s.network === 'home'),
      );
      assert.deepEqual(play(`both${round}`, steps), alone);
    }),
  );
});

test('the number of origins is right after any additions and removals', async (t) => {
  const { cache, clock, path } = await fixture(t);
  const seen = (name: string, network: string) =>
    cache.observe(network, 'chromium', [observation({ origin: origin(name), atMs: clock.now })]);
  seen('a', 'home');
  seen('a', 'work');
  seen('a', 'home');
  clock.now += RETENTION_MS / 2;
  seen('a', 'work');
  seen('b', 'home');
  cache.recordRace(
    race([trial(up('h3'))], { discovered: { altSvc: 'h3=":443"; persist=1', knownRoot: true } }),
  );
  clock.now += RETENTION_MS / 2 + 1;
  seen('c', 'home');
  const db = new DatabaseSync(path);
  t.after(() => db.close());
  assert.deepEqual({ ...db.prepare('SELECT count(DISTINCT origin) AS n FROM known').get() }, { n: 3 });
  assert.equal(cache.stats().origins, 3);
  clock.now += RETENTION_MS + 1;
  seen('c', 'home');
  assert.equal(cache.stats().origins, 1);
  assert.equal(cache.wipe(), 1);
  assert.equal(cache.stats().origins, 0);
});

test('look-ups, hits and races are counted across processes and restarts', async (t) => {
  const { cache, reopen } = await fixture(t);
  cache.recordRace(race([trial(up('h3'))]));
  ask(cache, [A, B]);
  const other = reopen();
  ask(other, [A]);
  cache.close();
  other.close();
  const stats = reopen().stats();
  assert.deepEqual(stats, {
    store: 'sqlite',
    storeReason: null,
    origins: 1,
    unsound: 0,
    refused: 0,
    shared: 0,
    sharedRefused: 0,
    lookups: 3,
    hits: 2,
    races: 1,
    raceLookups: 0,
    raceHits: 0,
    raceScored: 0,
    raceRight: 0,
  });
});

test('expired records are deleted, some at each write', async (t) => {
  const { cache, clock } = await fixture(t);
  const many = Array.from({ length: 150 }, (_, n) =>
    observation({ origin: `https://h${n}.test` as Origin, atMs: START }),
  );
  cache.observe('home', 'chromium', many);
  clock.now += RETENTION_MS + 1;
  const left = [1, 2, 3].map(() => {
    cache.observe('home', 'chromium', [observation({ atMs: clock.now })]);
    return cache.stats().origins;
  });
  assert.deepEqual(left, [150 - 64 + 1, 150 - 128 + 1, 1]);
});

test('a wipe leaves no host in any file', async (t) => {
  const { cache, path } = await fixture(t);
  const origin = 'https://secret-host.test' as Origin;
  cache.observe('home', 'chromium', [observation({ origin, atMs: START })]);
  const aside = `${path}.corrupt-2026-11-22T101112131Z`;
  const theirs = `${path}.corrupt-notes`;
  for (const file of [aside, `${aside}-wal`, theirs]) await writeFile(file, 'secret-host');
  assert.equal(cache.wipe(), 1);
  assert.deepEqual(cache.list(), []);
  for (const file of [path, `${path}-wal`])
    assert.equal(readFileSync(file).includes('secret-host'), false, file);
  assert.deepEqual([aside, `${aside}-wal`, theirs].map(existsSync), [false, false, true]);
});

test('one origin is deleted on every network and in every file, and the others stay', async (t) => {
  const { cache, path, clock } = await fixture(t);
  const [gone, stays] = ['https://secret-host.test', 'https://kept-host.test'] as Origin[];
  assert.ok(gone !== undefined && stays !== undefined);
  for (const network of ['home', 'work'])
    for (const origin of [gone, stays]) {
      cache.observe(network, 'chromium', [
        observation({
          id: `${network}-${origin.length}`,
          origin,
          atMs: START,
          altSvc: 'h3=":443"; persist=1',
        }),
      ]);
      cache.recordRace({ ...race([trial(up('h3'))], { network }), origin });
    }
  assert.equal(cache.stats().origins, 2);
  assert.equal(cache.forget(gone), true);
  assert.deepEqual(cache.show(gone), { hosts: [], uses: [], addresses: [] });
  assert.equal(cache.forget(gone), false);
  assert.equal(cache.stats().origins, 1);
  assert.ok(cache.show(stays).hosts.length > 0 && cache.show(stays).uses.length > 0);
  for (const file of [path, `${path}-wal`])
    assert.equal(readFileSync(file).includes('secret-host'), false, file);
  clock.now += 1;
  for (const network of ['home', 'work']) {
    clock.now += 1;
    cache.recordRace({ ...race([trial(up('h3'))], { network }), origin: stays });
  }
  assert.deepEqual(
    cache.networks().map(({ network, origins }) => [network, origins]),
    [
      ['work', 1],
      ['home', 1],
    ],
  );
});

test('with the last origin of a site its name is deleted, too', async (t) => {
  const { cache, path } = await fixture(t);
  const [first, last] = ['https://secret-host.test', 'https://cdn.test'] as [Origin, Origin];
  const seen = (origin: Origin, site: string) =>
    cache.observe('home', 'chromium', [observation({ origin, site, atMs: START })]);
  for (const origin of [first, last]) seen(origin, 'secret-host.test');
  for (const origin of [first, B]) seen(origin, 'other.test');
  const db = new DatabaseSync(path);
  t.after(() => db.close());
  const sites = () =>
    db
      .prepare('SELECT site, origins FROM newcomer ORDER BY site')
      .all()
      .map((row) => Object.values(row));
  const both = [
    ['other.test', 2],
    ['secret-host.test', 2],
  ];
  assert.deepEqual(sites(), both);
  cache.forget(first);
  assert.deepEqual(sites(), both, 'their other origins are left');
  cache.forget(last);
  assert.deepEqual(sites(), [['other.test', 2]]);
  for (const file of [path, `${path}-wal`])
    assert.equal(readFileSync(file).includes('secret-host'), false, file);
});

test('a network keeps its name across restarts, until it is removed or everything is wiped', async (t) => {
  const { cache, reopen } = await fixture(t);
  cache.nameNetwork('net-1', 'Home');
  cache.nameNetwork('net-2', 'Work');
  cache.nameNetwork('net-2', 'Office');
  cache.close();
  const again = reopen();
  assert.deepEqual(
    [...again.networkNames()],
    [
      ['net-1', 'Home'],
      ['net-2', 'Office'],
    ],
  );
  again.nameNetwork('net-1', null);
  assert.deepEqual([...again.networkNames().keys()], ['net-2']);
  again.wipe();
  assert.equal(again.networkNames().size, 0);
});

test('a wipe that leaves a file alone reports it', async (t) => {
  const { cache, path, reopen } = await fixture(t);
  cache.observe('home', 'chromium', [observation({ atMs: START })]);
  cache.close();
  const db = new DatabaseSync(path);
  db.exec('PRAGMA user_version = 99');
  db.close();
  const newer = reopen();
  newer.observe('home', 'chromium', [observation({ atMs: START })]);
  assert.throws(() => newer.wipe(), { name: 'CacheUnavailable', message: /is left alone: .*newer version/ });
  assert.deepEqual(newer.list(), []);
});

test('the directory is 0700 and every file 0600', async (t) => {
  const { cache, path } = await fixture(t);
  cache.recordRace(race([trial(up('h3'))]));
  assert.equal(statSync(join(path, '..')).mode & 0o777, 0o700);
  for (const file of [path, `${path}-wal`, `${path}-shm`])
    assert.equal(statSync(file).mode & 0o777, 0o600, file);
});

test('a clock set back a year: data acknowledged from then on is there, and no forecast has a negative age', async (t) => {
  const { cache, clock, reopen } = await fixture(t);
  cache.recordRace(race([trial(up('h3'))]));
  cache.observe('home', 'chromium', [observation({ atMs: clock.now, protocol: 'h3', altSvc: 'h3=":443"' })]);
  clock.now -= 365 * 24 * 3_600_000;
  for (const forecast of ask(cache, [A])) v.parse(forecastSchema, forecast);
  assert.equal(cache.observe('home', 'chromium', [observation({ atMs: clock.now, protocol: 'h2' })]), 1);
  assert.deepEqual(ask(cache, [A])[0]?.expected, { protocol: 'h2', basis: 'observed' });
  cache.recordRace(race([trial(down('h3', 'udp-timeout'), up('h2'))]));
  assert.equal(ask(cache, [A])[0]?.reachable.protocol, 'h2');
  assert.equal(reopen().show(A).uses[0]?.protocol, 'h2');
  clock.now += 365 * 24 * 3_600_000;
  for (const forecast of ask(cache, [A])) v.parse(forecastSchema, forecast);
  assert.equal(cache.stats().origins, 1);
});

test('a year of suspension: nothing is fresh, nothing breaks, and new data is stored', async (t) => {
  const { cache, clock } = await fixture(t);
  cache.recordRace(race([trial(up('h3'))]));
  clock.now += 365 * 24 * 3_600_000;
  const [stale] = ask(cache, [A]);
  v.parse(forecastSchema, stale);
  assert.equal(stale?.reachable.fresh, false);
  cache.observe('home', 'chromium', [observation({ atMs: clock.now, protocol: 'h3' })]);
  assert.equal(ask(cache, [A])[0]?.expected.protocol, 'h3');
});

/** A cache that shares, by the origin itself as its key, and a clock to set. */
async function sharing(t: TestContext) {
  const directory = await mkdtemp(join(tmpdir(), 'photofinish-'));
  const path = join(directory, 'cache.db');
  const clock = { now: START };
  const cache = openHostCache({
    path,
    clock: { nowMs: () => clock.now, epochMs: () => clock.now, after: () => () => {} },
    sharedKey: (origin) => origin,
  });
  t.after(async () => {
    cache.close();
    await rm(directory, { recursive: true });
  });
  const file = (
    atMs: number,
    h3Failure: 'udp-timeout' | null = null,
    tcpProtocol: 'h2' | 'http/1.1' = 'h2',
  ) => cache.recordShared([{ key: A, outcome: { key: A, atMs, h3Failure, tcpProtocol } }], {});
  return { cache, path, clock, file };
}

test('shared outcomes are deleted after a day, whatever is written then', async (t) => {
  const { cache, clock, file } = await sharing(t);
  file(START);
  clock.now = START + SHARED_FRESH_MS;
  cache.recordRace(race([trial(up('h3'))], { origin: B }));
  assert.equal(cache.stats().shared, 1);
  clock.now += 1;
  cache.recordRace(race([trial(up('h3'))], { origin: B }));
  assert.equal(cache.stats().shared, 0);
});

test('a shared outcome from a clock that ran ahead is replaced by one of now', async (t) => {
  const { cache, clock, file } = await sharing(t);
  clock.now = START + 90_000_000;
  file(clock.now, 'udp-timeout');
  clock.now = START;
  assert.equal(ask(cache, [A])[0]?.reachable.basis, 'none');
  file(START);
  assert.deepEqual([cache.shared(A)?.atMs, ask(cache, [A])[0]?.reachable.protocol], [START, 'h3']);
});

test('of two shared outcomes of the same time the later to arrive counts; what is known is not written again', async (t) => {
  const { cache, path, file } = await sharing(t);
  file(START);
  const db = new DatabaseSync(path);
  t.after(() => db.close());
  const version = () => db.prepare('PRAGMA data_version').get()?.data_version;
  const before = version();
  file(START);
  file(START - 1, 'udp-timeout');
  assert.equal(version(), before);
  file(START, 'udp-timeout');
  assert.notEqual(version(), before);
  assert.equal(cache.shared(A)?.h3Failure, 'udp-timeout');
  file(START, 'udp-timeout', 'http/1.1');
  assert.equal(cache.shared(A)?.tcpProtocol, 'http/1.1');
});

test('a damaged row of what other machines shared is not used', async (t) => {
  const { cache, path, file } = await sharing(t);
  const outcome = { key: A, atMs: START, h3Failure: 'udp-timeout', tcpProtocol: 'h2' } as const;
  file(START, 'udp-timeout');
  assert.deepEqual({ ...cache.shared(A) }, outcome);
  const db = new DatabaseSync(path);
  db.exec("UPDATE shared SET h3Failure = 'udp-tineout'");
  db.close();
  assert.equal(cache.shared(A), null);
  assert.equal(ask(cache, [A])[0]?.reachable.basis, 'none');
});
