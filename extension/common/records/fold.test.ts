import assert from 'node:assert/strict';
import '../../testing/catalogs.ts';
import { test } from 'node:test';
import type { Observation } from '@photofinish/shared/web/observation';
import type { Origin } from '@photofinish/shared/web/origin';
import { observation } from '../../testing/samples.ts';
import { advertisesH3, emptyRecord, foldRecord, notAhead, type PageContext } from './fold.ts';

const A = 'https://a.test' as Origin;
const H3 = 'h3=":443"; ma=60';

function seen(atMs: number, more: Partial<Observation> = {}): Observation {
  return observation({ atMs, protocol: 'h2', ...more });
}

const at = (begunMs: number | null, network = 'home'): PageContext => ({ begunMs, network, proxied: false });

/** Folds observations, each with the start of its page, and its network if that is another than home. */
function folded(...steps: (readonly [Observation, number, string?])[]) {
  return steps.reduce(
    (record, [o, pageMs, network]) => foldRecord(record, o, at(pageMs, network)),
    emptyRecord(A, 'a.test', 0),
  );
}

test('the page that first sees the advertisement is no visit after it', () => {
  const record = folded([seen(110, { altSvc: H3 }), 100], [seen(120), 100]);
  assert.deepEqual([record.advertisedSinceMs, record.visitsSinceAdvertised], [110, 0]);
});

test('a page of which the beginning was not seen is no visit', () => {
  const record = folded([seen(110, { altSvc: H3 }), 100], [seen(210), 200]);
  const again = foldRecord(record, seen(310), at(null));
  assert.deepEqual([again.visitsSinceAdvertised, again.counts.h2], [1, 3]);
  assert.equal(foldRecord(again, seen(410, { protocol: 'h3' }), at(null)).visitsSinceAdvertised, 0);
});

test('a record knows when HTTP/3 was first used, and when its newest page began', () => {
  const record = folded([seen(110), 100], [seen(130, { protocol: 'h3' }), 100], [seen(220), 200]);
  assert.deepEqual([record.h3SinceMs, record.newestPageMs], [130, 200]);
  const late = folded([seen(130, { protocol: 'h3' }), 100], [seen(120, { protocol: 'h3' }), 90]);
  assert.deepEqual([late.h3SinceMs, late.newestPageMs], [120, 100], 'frames report out of order');
  const cached = seen(110, { protocol: 'h3', delivery: 'http-cache' });
  assert.equal(folded([cached, 100]).h3SinceMs, undefined);
  const { h3SinceMs: _, ...older } = record;
  assert.equal(foldRecord(older, seen(310), at(300)).h3SinceMs, 220, 'at the latest when it was last seen');
  const wrong = { ...record, h3SinceMs: 9_000_000, newestPageMs: 9_000_000 };
  const corrected = notAhead(wrong, 310, 310);
  assert.deepEqual([corrected.h3SinceMs, corrected.newestPageMs], [0, 0]);
});

test('a page of many requests is one visit', () => {
  const record = folded(
    [seen(110, { altSvc: H3 }), 100],
    [seen(210), 200],
    [seen(220), 200],
    [seen(310), 300],
  );
  assert.equal(record.visitsSinceAdvertised, 2);
});

test('two pages that are open at the same time are two visits, however often each requests something', () => {
  const polls = [300, 200, 300, 200, 300].map((page, i) => [seen(310 + i), page] as const);
  const record = folded([seen(110, { altSvc: H3 }), 100], [seen(210), 200], ...polls);
  assert.equal(record.visitsSinceAdvertised, 2);
});

test('visits are counted in a row on one network: elsewhere HTTP/3 may be blocked', () => {
  const away = folded(
    [seen(110, { altSvc: H3 }), 100],
    [seen(210), 200],
    [seen(310), 300],
    [seen(410), 400, 'work'],
  );
  assert.deepEqual([away.visitsSinceAdvertised, away.visitsNetwork], [1, 'work']);
  const stays = foldRecord(away, seen(510), at(500, 'work'));
  assert.deepEqual([stays.visitsSinceAdvertised, stays.visitsNetwork], [2, 'work']);
  const back = foldRecord(stays, seen(610), at(600));
  assert.deepEqual([back.visitsSinceAdvertised, back.visitsNetwork], [1, 'home']);
  const older = { ...stays, visitsNetwork: undefined };
  assert.equal(
    foldRecord(older as never, seen(710), at(700, 'work')).visitsSinceAdvertised,
    1,
    'who knows where',
  );
});

test('visits through a proxy and without one are not counted together', () => {
  const told = folded([seen(110, { altSvc: H3 }), 100], [seen(210), 200], [seen(310), 300]);
  const through = (proxied: boolean | null) => ({ ...at(400), proxied });
  assert.deepEqual([told.visitsSinceAdvertised, told.visitsProxied, told.proxied], [2, false, false]);
  for (const proxied of [true, null]) {
    const record = foldRecord(told, seen(410), through(proxied));
    const { visitsSinceAdvertised, visitsProxied } = record;
    assert.deepEqual([visitsSinceAdvertised, visitsProxied, record.proxied], [1, proxied, proxied]);
  }
  const cached = foldRecord(told, seen(410, { delivery: 'http-cache' }), through(true));
  assert.equal(cached.proxied, false, 'no answer came through it');
});

test('an origin still advertises if what it last sent had not expired when it was last seen', () => {
  const told = [seen(110, { altSvc: H3 }), 100] as const;
  assert.equal(advertisesH3(emptyRecord(A, 'a.test', 0)), false);
  assert.equal(advertisesH3(folded(told, [seen(60_109), 60_000])), true);
  assert.equal(advertisesH3(folded(told, [seen(60_110), 60_000])), false);
});

test('using HTTP/3 resets the count, an answer without a protocol leaves it', () => {
  const advertised = [seen(110, { altSvc: H3 }), 100] as const;
  assert.equal(
    folded(advertised, [seen(210), 200], [seen(310, { protocol: 'h3' }), 300]).visitsSinceAdvertised,
    0,
  );
  const hidden = seen(310, { protocol: 'unknown', reason: 'no-timing-allow-origin' });
  const record = folded(advertised, [seen(210), 200], [hidden, 300]);
  assert.deepEqual(
    [record.visitsSinceAdvertised, record.protocol, record.reason],
    [1, 'h2', 'no-timing-allow-origin'],
  );
});

test('a response read without an Alt-Svc header withdraws no earlier advertisement', () => {
  const read = seen(210, { altSvcRead: true });
  const record = folded([seen(110, { altSvc: H3 }), 100], [read, 200], [seen(310), 300]);
  assert.deepEqual([record.altSvc, record.advertisedSinceMs, record.altSvcRead], [H3, 110, true]);
  assert.deepEqual([folded([read, 200]).altSvc, folded([seen(110), 100]).altSvcRead], [null, undefined]);
});

for (const altSvc of ['clear', `clear, ${H3}`, `${H3}, clear`])
  test(`an advertisement withdrawn by ${altSvc} is forgotten with its visits`, () => {
    const record = folded([seen(110, { altSvc: H3 }), 100], [seen(210), 200], [seen(310, { altSvc }), 300]);
    assert.deepEqual(
      [record.advertisedSinceMs, record.visitsSinceAdvertised, record.altSvc],
      [null, 0, altSvc],
    );
  });

test('visits count only while the advertisement lasts, and begin anew with one after it', () => {
  const first = [seen(110, { altSvc: H3 }), 100] as const;
  const lasting = folded(first, [seen(60_109), 60_108]);
  assert.deepEqual([lasting.altSvcAtMs, lasting.visitsSinceAdvertised], [110, 1]);
  const expired = folded(first, [seen(210), 200], [seen(60_111), 60_110]);
  assert.deepEqual([expired.altSvc, expired.altSvcAtMs, expired.visitsSinceAdvertised], [H3, 110, 1]);
  const again = folded(
    first,
    [seen(210), 200],
    [seen(90_000, { altSvc: H3 }), 89_000],
    [seen(90_001), 89_000],
  );
  assert.deepEqual(
    [again.altSvcAtMs, again.advertisedSinceMs, again.visitsSinceAdvertised],
    [90_000, 90_000, 0],
  );
});

test('an advertisement from before its time was recorded was seen at the latest at the newest answer then', () => {
  const { altSvcAtMs: _, ...older } = folded([seen(110, { altSvc: H3 }), 100], [seen(210), 200]);
  const next = foldRecord(older, seen(310), at(300));
  assert.deepEqual([next.altSvc, next.altSvcAtMs, next.visitsSinceAdvertised], [H3, 210, 2]);
  assert.equal(foldRecord(next, seen(410), at(400)).altSvcAtMs, 210);
});

test('an older answer that reports late does not replace a newer protocol', () => {
  const record = folded([seen(200, { protocol: 'h3' }), 0], [seen(100), 0]);
  assert.deepEqual([record.protocol, record.protocolAtMs, record.counts.h2], ['h3', 200, 1]);
});

test('what did not come over the network counts only as delivered', () => {
  const record = folded([seen(100, { delivery: 'http-cache', protocol: 'h3', kind: 'navigation' }), 0]);
  assert.deepEqual(
    [record.protocol, record.counts.h3, record.navigations.h3, record.delivered],
    [null, 0, 0, { 'http-cache': 1, 'service-worker': 0, prefetch: 0 }],
  );
});

test('what was recorded while the clock was ahead does not outlive the correction', () => {
  const hour = 3_600_000;
  const noon = 12 * hour;
  const ten = 10 * hour;
  const ahead = folded([seen(noon + 110, { altSvc: H3 }), noon + 100]);
  const corrected = notAhead(ahead, ten, ten + 5);
  assert.deepEqual(
    [corrected.lastSeenMs, corrected.protocolAtMs, corrected.altSvcAtMs, corrected.advertisedSinceMs],
    [ten, ten, ten, ten],
  );
  const visited = foldRecord(corrected, seen(ten + 210, { altSvc: H3 }), at(ten + 200));
  assert.equal(visited.visitsSinceAdvertised, 1);
  assert.ok(advertisesH3(visited));
  assert.equal(foldRecord(visited, seen(ten + 310, { protocol: 'h3' }), at(ten + 300)).protocol, 'h3');
  assert.equal(notAhead(visited, ten, ten + 400), visited, 'nothing is ahead any more');
});
