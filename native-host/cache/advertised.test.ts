import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DnsResults, ServiceRecord } from '@photofinish/shared/race/discovered';
import { serviceRecord } from '@photofinish/shared/testing/race-samples';
import { parseAltSvc } from '@photofinish/shared/web/alt-svc';
import type { Origin } from '@photofinish/shared/web/origin';
import { printable } from '@photofinish/shared/web/untrusted';
import fc from 'fast-check';
import { down } from '../testing/cache-samples.ts';
import {
  alternativesOf,
  altSvcOf,
  foldAltSvc,
  foldMisdirected,
  foldServices,
  MISDIRECTED_MS,
  persistentPart,
  receivedAltSvc,
} from './advertised.ts';
import { type HostRecord, newHost } from './record.ts';

const NOW = 5_000_000;
const HOST = newHost('https://a.test' as Origin, 'home', 0);
const advertised = (host: HostRecord, altSvc: string, atMs = NOW) =>
  foldAltSvc(host, parseAltSvc(altSvc), { atMs, by: 'race' });

test('RFC 7838: a header replaces the list, clear empties it, an unreadable or older one changes nothing', () => {
  const known = advertised(HOST, 'h3=":443"; ma=10');
  assert.equal(advertised(known, 'h2=":444"', NOW + 1).altSvcUntilMs, null);
  for (const clear of ['clear', 'clear, h3=":443"', 'h3=":443", clear'])
    assert.equal(advertised(known, clear, NOW + 1).altSvc, null);
  assert.equal(advertised(known, '!!', NOW + 1), known);
  assert.equal(advertised(known, 'clear', NOW - 1), known);
});

test('RFC 7838 section 3.1: the Age of an answer is subtracted from the lifetimes that it advertises', () => {
  const host = foldAltSvc(HOST, parseAltSvc('h3=":443"; ma=60'), { atMs: NOW, by: 'browser', ageMs: 20_000 });
  assert.deepEqual(
    [host.altSvcAtMs, host.altSvcUntilMs, host.altSvcBy],
    [NOW - 20_000, NOW + 40_000, 'browser'],
  );
});

test('only persistent alternatives survive a change of network', () => {
  const lasting = (altSvc: string): string => persistentPart(parseAltSvc(altSvc)).text;
  assert.equal(lasting('h3=":443"; ma=5'), 'clear');
  assert.equal(lasting('h3=":1"; ma=5, h3="b.test:2"; ma=6; persist=1'), 'h3="b.test:2"; ma=6; persist=1');
});

test('whatever is written is read back unchanged', () => {
  const alternative = fc.record(
    {
      // What the parser returns: other characters it escapes.
      alpn: fc.string({ minLength: 1, unit: 'grapheme' }).filter((text) => printable(text) === text),
      host: fc.constantFrom('', 'b.test', '[2001:db8::1]'),
      port: fc.integer({ min: 1, max: 65_535 }),
      maxAgeSeconds: fc.integer({ min: 0, max: 2 ** 31 }),
      persist: fc.boolean(),
    },
    { noNullPrototype: true },
  );
  fc.assert(
    fc.property(fc.array(alternative, { minLength: 1, maxLength: 5 }), (alternatives) => {
      const written = altSvcOf(alternatives);
      assert.deepEqual(parseAltSvc(written.text), written);
    }),
  );
});

const wrong = (port: number, host?: string) =>
  ({ ...down('h3', 'misdirected'), source: 'alt-svc', port, ...(host !== undefined && { host }) }) as const;

test('RFC 7838 section 6: an alternative that answers 421 is removed', () => {
  const known = advertised(HOST, 'h3="b.test:8443"; ma=60, h3=":443"; ma=10');
  const other = foldMisdirected(known, [wrong(8443, 'b.test')], NOW + 1);
  assert.deepEqual([other.altSvc, other.altSvcUntilMs], ['h3=":443"; ma=10', NOW + 10_000]);
  const none = foldMisdirected(other, [wrong(443)], NOW + 2);
  assert.deepEqual([none.altSvc, none.altSvcUntilMs], [null, null]);
  const elsewhere = foldMisdirected(known, [wrong(8443)], NOW + 1);
  assert.equal(elsewhere.altSvc, known.altSvc);
  assert.equal(foldMisdirected(known, [{ ...wrong(443), source: 'https-record' }], NOW), known);
});

test('an alternative that responded with 421 is not learnt again from the next header until a day has passed', () => {
  const dropped = foldMisdirected(advertised(HOST, 'h3=":8443"'), [wrong(8443)], NOW);
  assert.equal(advertised(dropped, 'h3=":8443"', NOW + 1).altSvc, null);
  assert.equal(advertised(dropped, 'h3=":8443", h3=":443"; ma=5', NOW + 1).altSvc, 'h3=":443"; ma=5');
  assert.equal(advertised(dropped, 'h3=":8443"', NOW + MISDIRECTED_MS).altSvc, 'h3=":8443"');
});

const service = (facts: Partial<ServiceRecord>): ServiceRecord =>
  serviceRecord('a.test', { alpn: ['h3', 'h2'], ...facts });
const names = (services: ServiceRecord[], outcome: DnsResults['lookups'][number]['outcome']): DnsResults => ({
  addresses: [],
  services,
  lookups: [{ name: 'a.test', kind: 'HTTPS', tookMs: 1, outcome, records: services.length }],
});

test('RFC 9460: an HTTPS record that names h3 advertises it for its TTL', () => {
  const host = foldServices(HOST, names([service({})], 'answered'), NOW);
  assert.deepEqual([host.service, host.serviceUntilMs], ['h3=":443"; ma=300', NOW + 300_000]);
  const more = [
    service({ priority: 2, target: 'Pool.test.', port: 8443, ttlSeconds: 60 }),
    service({ priority: 1, ttlSeconds: 30.5 }),
  ];
  const both = foldServices(HOST, names(more, 'answered'), NOW);
  assert.equal(both.service, 'h3=":443"; ma=30, h3="pool.test:8443"; ma=60');
});

test('records that offer no HTTP/3 withdraw the offer; a failed look-up does not', () => {
  const known = foldServices(HOST, names([service({})], 'answered'), NOW);
  const silent = [service({ priority: 0 }), service({ alpn: ['h2'] }), service({ incompatible: true })];
  for (const record of silent)
    assert.equal(foldServices(known, names([record], 'answered'), NOW).service, null);
  assert.equal(foldServices(known, names([], 'empty'), NOW).serviceUntilMs, null);
  assert.equal(foldServices(known, names([], 'failed'), NOW), known);
  assert.equal(foldServices(known, { addresses: [], services: [], lookups: [] }, NOW), known);
  assert.equal(foldServices(known, undefined, NOW), known);
});

test('the records of an Alt-Svc host are not the origin’s, unless its alias leads there', () => {
  const known = foldServices(HOST, names([service({})], 'answered'), NOW);
  const lookup = (name: string, outcome: DnsResults['lookups'][number]['outcome'], records: number) =>
    ({ name, kind: 'HTTPS', tookMs: 1, outcome, records }) as const;
  for (const name of ['alt.test', '_8443._https.alt.test', '_8443._https.a.test']) {
    const other = serviceRecord(name, { alpn: ['h3'] });
    const beside = (outcome: DnsResults['lookups'][number]['outcome']): DnsResults => ({
      addresses: [],
      services: [other],
      lookups: [lookup('a.test', outcome, 0), lookup(name, 'answered', 1)],
    });
    assert.equal(foldServices(HOST, beside('empty'), NOW).service, null);
    assert.equal(foldServices(known, beside('failed'), NOW), known);
    const none = { ...beside('failed'), services: [] };
    assert.equal(foldServices(known, none, NOW), known);
  }
  const alias = service({ priority: 0, alpn: [], target: 'alt.test' });
  const aliased: DnsResults = {
    addresses: [],
    services: [alias, serviceRecord('alt.test', { alpn: ['h3'] })],
    lookups: [lookup('a.test', 'answered', 1), lookup('alt.test', 'answered', 1)],
  };
  assert.equal(foldServices(HOST, aliased, NOW).service, 'h3="alt.test:443"; ma=300');
});

test('an Alt-Svc that a race took from memory is distinguished from one that it received', () => {
  const live = advertised(HOST, 'h3=":443"; ma=60');
  const said = (altSvc: string, facts: object = {}) => ({ altSvc, knownRoot: null, ...facts });
  const none = { altSvc: null, knownRoot: null };
  const alternative = { alpn: 'h3', host: '', port: 443, persist: false } as const;
  const answer = { ...alternative, source: 'answer', expiresInSeconds: 40 } as const;
  const memory = { ...alternative, source: 'memory', expiresInSeconds: 40 } as const;
  assert.equal(receivedAltSvc(none, [live], NOW), null);
  assert.equal(receivedAltSvc(said('h3=":443"; ma=60'), [null, live], NOW), null);
  assert.equal(receivedAltSvc(said('h3=":443"; ma=60', { alternatives: [memory] }), [live], NOW), null);
  assert.deepEqual(receivedAltSvc(said('h3=":444"'), [live], NOW), {
    altSvc: parseAltSvc('h3=":444"'),
    ageMs: 0,
  });
  assert.notEqual(receivedAltSvc(said('h3=":443"; ma=60'), [live], NOW + 60_000), null);
  assert.deepEqual(
    receivedAltSvc(said('h3=":443"; ma=60', { alternatives: [memory, answer] }), [live], NOW),
    {
      altSvc: parseAltSvc('h3=":443"; ma=60'),
      ageMs: 20_000,
    },
  );
});

test('the age is that of the newest response, if another protocol’s had named the same endpoint', () => {
  const named = { alpn: 'h3', host: '', port: 443, persist: false, source: 'answer' } as const;
  const discovered = {
    ...{ altSvc: 'h3=":443"; ma=600', altSvcOver: { tcp: 'h3=":443"; ma=60', h3: 'h3=":443"; ma=600' } },
    knownRoot: null,
    alternatives: [
      { ...named, expiresInSeconds: 60 },
      { ...named, expiresInSeconds: 590 },
    ],
  };
  assert.equal(receivedAltSvc(discovered, [], NOW)?.ageMs, 10_000);
});

test('a frame that repeats what is known was received like a header', () => {
  const live = advertised(HOST, 'h3=":443"; ma=60');
  const alternative = { alpn: 'h3', host: '', port: 443, persist: false, expiresInSeconds: 60 };
  const frame = { ...alternative, source: 'frame' } as const;
  const discovered = { altSvc: 'h3=":443"; ma=60', knownRoot: null, alternatives: [frame] };
  const received = receivedAltSvc(discovered, [live], NOW + 1);
  assert.deepEqual(received, { altSvc: parseAltSvc('h3=":443"; ma=60'), ageMs: 0 });
});

test('alternatives are listed with their source, when they were received, and when they expire', () => {
  const host = foldServices(
    advertised(HOST, 'h3=":443"; ma=60'),
    names([service({ port: 8443 })], 'answered'),
    NOW + 1,
  );
  assert.deepEqual(alternativesOf(host), [
    { alpn: 'h3', host: '', port: 443, persist: false, said: 'race', saidAtMs: NOW, untilMs: NOW + 60_000 },
    {
      alpn: 'h3',
      host: '',
      port: 8443,
      persist: false,
      said: 'https-record',
      saidAtMs: NOW + 1,
      untilMs: NOW + 300_001,
    },
  ]);
});
