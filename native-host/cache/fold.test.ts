import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Observation } from '@photofinish/shared/observation';
import type { Origin } from '@photofinish/shared/origin';
import fc from 'fast-check';
import { foldAltSvc, foldRace, foldSighting, foldUse, persistentPart } from './fold.ts';
import { SUCCESS_FRESH_MS } from './policy.ts';
import { newHost, newUse } from './record.ts';
import { down, observation, race, trial, up } from './samples.ts';

const NOW = 5_000_000;
const HOST = newHost('https://a.test' as Origin, 'home', 0);
const USE = newUse('chromium', HOST.origin, 'a.test', 'home');

test('P2 rule 4: late HTTP/3 is learnt', () => {
  const late = up('h3', { outcome: 'established-late', startedMs: 0, establishedMs: 90 });
  const host = foldRace(HOST, race([trial(late, up('h2'))]), NOW);
  assert.equal(host.h3AtMs, NOW);
  assert.equal(host.h3UntilMs, NOW + SUCCESS_FRESH_MS);
  assert.equal(host.h3HandshakeMs, 90);
  assert.equal(host.adopted, 'h2');
});

test('the smoothed RTT starts with its first sample and then moves by an eighth', () => {
  const first = foldRace(HOST, race([trial(up('h3'))]), NOW);
  assert.equal(first.h3RttMs, 20);
  const second = foldRace(first, race([trial(up('h3', { transportMs: 110 }))]), NOW + 1);
  assert.equal(second.h3RttMs, 30);
  assert.equal(second.races, 2);
});

test('a failure of HTTP/3 backs off only when TCP worked in the same race', () => {
  const bothDead = foldRace(HOST, race([trial(down('h3', 'udp-timeout'), down('h2', 'tcp-timeout'))]), NOW);
  assert.equal(bothDead.h3BackOffUntilMs, null);
  assert.equal(bothDead.tcpFailure, 'tcp-timeout');
  const broken = foldRace(HOST, race([trial(down('h3', 'udp-refused'), up('h2'))]), NOW);
  assert.equal(broken.h3Failure, 'udp-refused');
  assert.equal(broken.h3BackOffUntilMs, NOW + 300_000);
  const again = foldRace(broken, race([trial(down('h3', 'udp-refused'), up('h2'))]), NOW + 1);
  assert.equal(again.h3BackOffUntilMs, NOW + 1 + 600_000);
  const mended = foldRace(again, race([trial(up('h3'))]), NOW + 2);
  assert.deepEqual([mended.h3Failures, mended.h3BackOffUntilMs, mended.h3FailedAtMs], [0, null, null]);
});

test('a handshake without an answer is no success: HTTP/3 that breaks after it is backed off from', () => {
  const error = { code: 'h3-error', message: 'no SETTINGS' } as const;
  const broken = up('h3', { outcome: 'failed', error });
  const host = foldRace(HOST, race([trial(broken, up('h2'))]), NOW);
  assert.deepEqual([host.h3AtMs, host.h3Failure, host.h3BackOffUntilMs], [null, 'h3-error', NOW + 300_000]);
  const misdirected = up('h2', { outcome: 'failed', error: { code: 'misdirected', message: '421' } });
  const silent = foldRace(HOST, race([trial(misdirected)]), NOW);
  assert.deepEqual([silent.tcpProtocol, silent.tcpFailure], [null, 'misdirected']);
});

test('a cancelled HTTP/3 attempt proves nothing', () => {
  const cancelled = up('h3', { establishedMs: null, outcome: 'cancelled' });
  const host = foldRace(HOST, race([trial(cancelled, up('h2'))]), NOW);
  assert.deepEqual([host.h3AtMs, host.h3Failures, host.tcpProtocol], [null, 0, 'h2']);
});

test('HTTP/3 is fresh for the ma that the same race heard', () => {
  const discovered = { altSvc: 'h3=":443"; ma=60', knownRoot: false };
  const host = foldRace(HOST, race([trial(up('h3'))], { discovered }), NOW);
  assert.equal(host.h3UntilMs, NOW + 60_000);
  assert.equal(host.altSvcUntilMs, NOW + 60_000);
  assert.equal(host.knownRoot, 0);
});

test('an advertisement refreshed over TCP does not end a back-off', () => {
  const discovered = { altSvc: 'h3=":443"', knownRoot: true };
  const host = foldRace(HOST, race([trial(down('h3', 'udp-timeout'), up('h2'))], { discovered }), NOW);
  const seen = foldSighting(host, observation({ altSvc: 'h3=":443"', protocol: 'h2' }), NOW + 1);
  assert.equal(seen.h3BackOffUntilMs, NOW + 300_000);
  assert.equal(seen.altSvcAtMs, NOW + 1);
});

test('RFC 7838: a header replaces the list, clear forgets it, a broken or older one changes nothing', () => {
  const known = foldAltSvc(HOST, 'h3=":443"; ma=10', NOW);
  assert.equal(foldAltSvc(known, 'h2=":444"', NOW + 1).altSvcUntilMs, null);
  assert.equal(foldAltSvc(known, 'clear', NOW + 1).altSvc, null);
  assert.equal(foldAltSvc(known, '!!', NOW + 1), known);
  assert.equal(foldAltSvc(known, 'clear', NOW - 1), known);
});

test('only persistent alternatives outlive a network', () => {
  assert.equal(persistentPart('h3=":443"; ma=5'), 'clear');
  assert.equal(
    persistentPart('h3=":1"; ma=5, h3="b.test:2"; ma=6; persist=1'),
    'h3="b.test:2"; ma=6; persist=1',
  );
});

test("a browser's h3 proves the path, unless fresh raced evidence already does", () => {
  const seen = foldSighting(HOST, observation({ protocol: 'h3' }), NOW);
  assert.deepEqual([seen.h3Basis, seen.h3AtMs], ['observed', NOW]);
  const raced = foldRace(HOST, race([trial(up('h3'))]), NOW);
  assert.equal(foldSighting(raced, observation({ protocol: 'h3' }), NOW + 1).h3Basis, 'raced');
  const broken = foldRace(HOST, race([trial(down('h3', 'udp-refused'), up('h2'))]), NOW);
  assert.equal(
    foldSighting(broken, observation({ protocol: 'h3' }), NOW - 1).h3BackOffUntilMs,
    NOW + 300_000,
  );
  assert.equal(foldSighting(broken, observation({ protocol: 'h3' }), NOW + 1).h3BackOffUntilMs, null);
});

test('nothing but the network counts', () => {
  for (const delivery of ['http-cache', 'service-worker', 'prefetch'] as const) {
    const o = observation({ delivery, protocol: 'h3', altSvc: 'h3=":443"' });
    assert.equal(foldSighting(HOST, o, NOW), HOST);
    assert.equal(foldUse(USE, o, NOW), USE);
  }
});

test('stays count visits, not requests: a page of fifty resources on one connection is one', () => {
  let use = foldUse(USE, observation({ altSvc: 'h3=":443"' }), NOW);
  assert.equal(use.stays, 0);
  for (let i = 1; i <= 50; i += 1) use = foldUse(use, observation({ kind: 'resource' }), NOW + i * 100);
  assert.equal(use.stays, 0);
  use = foldUse(use, observation({}), NOW + 10_000);
  use = foldUse(use, observation({ kind: 'resource' }), NOW + 100_000);
  assert.equal(use.stays, 2);
  assert.equal(foldUse(use, observation({ protocol: 'h3' }), NOW + 100_001).stays, 0);
});

test('an advertisement that comes again keeps the count, one that returns after a gap begins it anew', () => {
  const advert = { altSvc: 'h3=":443"; ma=60' };
  let use = foldUse(USE, observation(advert), NOW);
  use = foldUse(use, observation(advert), NOW + 1000);
  assert.deepEqual([use.stays, use.advertisedAtMs, use.advertisedUntilMs], [1, NOW, NOW + 61_000]);
  use = foldUse(use, observation(advert), NOW + 500_000);
  assert.deepEqual([use.stays, use.advertisedAtMs], [0, NOW + 500_000]);
  assert.equal(foldUse(use, observation({ altSvc: 'clear' }), NOW + 500_001).advertisedUntilMs, null);
});

test('a hidden protocol still brings its advertisement, and leaves the last known protocol', () => {
  const known = foldUse(USE, observation({}), NOW);
  const hidden: Partial<Observation> = {
    protocol: 'unknown',
    reason: 'no-timing-allow-origin',
    altSvc: 'h3=":1"',
  };
  const use = foldUse(known, observation(hidden), NOW + 1);
  assert.deepEqual([use.protocol, use.protocolAtMs], ['h2', NOW]);
  assert.ok((use.advertisedUntilMs ?? 0) > NOW);
});

test('the newest answer decides, in whatever order they come', () => {
  const answer = fc.record({
    at: fc.integer({ min: 1, max: 1_000_000 }),
    protocol: fc.constantFrom('h3', 'h2', 'http/1.1'),
  });
  fc.assert(
    fc.property(fc.uniqueArray(answer, { minLength: 1, selector: (a) => a.at }), (answers) => {
      const newest = answers.toSorted((a, b) => b.at - a.at)[0];
      let use = USE;
      for (const { at, protocol } of answers) use = foldUse(use, observation({ protocol }), at);
      assert.equal(use.protocol, newest?.protocol);
      assert.equal(use.protocolAtMs, newest?.at);
    }),
  );
});
