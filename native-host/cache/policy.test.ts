import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Origin } from '@photofinish/shared/origin';
import fc from 'fast-check';
import {
  backOffMs,
  expected,
  forecastOf,
  isRemembered,
  MAX_BACK_OFF_MS,
  MAX_SUCCESS_FRESH_MS,
  reachable,
  recallOf,
  SUCCESS_FRESH_MS,
  successFreshMs,
} from './policy.ts';
import { ANY_NETWORK, type HostRecord, newHost, newUse, type UseRecord } from './record.ts';

const NOW = 1_000_000;
const ORIGIN = 'https://a.test' as Origin;
const host = (facts: Partial<HostRecord>): HostRecord => ({ ...newHost(ORIGIN, 'home', NOW), ...facts });
const use = (facts: Partial<UseRecord>): UseRecord => ({
  ...newUse('chromium', ORIGIN, 'a.test', 'home'),
  ...facts,
});
const NOTHING = { protocol: 'unknown', basis: 'none', ageMs: null, fresh: false } as const;

const WORKED = { h3AtMs: NOW - 10, h3UntilMs: NOW + 10, h3Basis: 'raced' } as const;
const BROKEN = {
  h3FailedAtMs: NOW - 5,
  h3BackOffUntilMs: NOW + 10,
  h3Failures: 1,
  tcpProtocol: 'h2',
} as const;
const ADVERT = { altSvc: 'h3=":443"', altSvcAtMs: NOW - 20, altSvcUntilMs: NOW + 20 } as const;

test('reachable: races first, then an unexpired advertisement, then what is stale', () => {
  const table: [string, Partial<HostRecord> | null, ReturnType<typeof reachable>][] = [
    ['nothing known', null, NOTHING],
    ['an empty record', {}, NOTHING],
    ['only TCP seen says nothing of h3', { tcpProtocol: 'h2', tcpAtMs: NOW }, NOTHING],
    ['raced', WORKED, { protocol: 'h3', basis: 'raced', ageMs: 10, fresh: true }],
    [
      'used by a browser',
      { ...WORKED, h3Basis: 'observed' },
      { protocol: 'h3', basis: 'advertised', ageMs: 10, fresh: true },
    ],
    ['broken', BROKEN, { protocol: 'h2', basis: 'raced', ageMs: 5, fresh: true }],
    [
      'broken, though advertised',
      { ...BROKEN, ...ADVERT },
      { protocol: 'h2', basis: 'raced', ageMs: 5, fresh: true },
    ],
    [
      'worked, then broke',
      { ...WORKED, ...BROKEN },
      { protocol: 'h2', basis: 'raced', ageMs: 5, fresh: true },
    ],
    [
      'back-off over, advertised',
      { ...BROKEN, h3BackOffUntilMs: NOW, ...ADVERT },
      { protocol: 'h3', basis: 'advertised', ageMs: 20, fresh: true },
    ],
    [
      'back-off over, nothing else',
      { ...BROKEN, h3BackOffUntilMs: NOW },
      { protocol: 'h2', basis: 'raced', ageMs: 5, fresh: false },
    ],
    [
      'stale success',
      { ...WORKED, h3UntilMs: NOW },
      { protocol: 'h3', basis: 'raced', ageMs: 10, fresh: false },
    ],
    ['advertised', ADVERT, { protocol: 'h3', basis: 'advertised', ageMs: 20, fresh: true }],
    [
      'advertised once',
      { ...ADVERT, altSvcUntilMs: NOW },
      { protocol: 'h3', basis: 'advertised', ageMs: 20, fresh: false },
    ],
  ];
  for (const [name, facts, want] of table)
    assert.deepEqual(reachable(facts && host(facts), null, NOW), want, name);
});

test('an advertisement that outlives networks counts where this network has none', () => {
  const anywhere = host({ ...ADVERT, network: ANY_NETWORK });
  assert.equal(reachable(null, anywhere, NOW).basis, 'advertised');
  assert.equal(reachable(host(BROKEN), anywhere, NOW).protocol, 'h2');
});

test('expected: every row of the table', () => {
  const live = { advertisedAtMs: NOW - 50, advertisedUntilMs: NOW + 50 };
  const gone = { advertisedAtMs: NOW - 50, advertisedUntilMs: NOW };
  const fails = reachable(host(BROKEN), null, NOW);
  const unknown = { protocol: 'unknown', basis: 'none' };
  const table: [string, Partial<UseRecord> | null, typeof NOTHING | typeof fails, object][] = [
    ['no history', null, NOTHING, unknown],
    ['no history, though raced', null, reachable(host(WORKED), null, NOW), unknown],
    ['live, last h3', { ...live, protocol: 'h3' }, NOTHING, { protocol: 'h3', basis: 'observed' }],
    [
      'live, last h3, race says it fails',
      { ...live, protocol: 'h3', tcpProtocol: 'h2' },
      fails,
      { protocol: 'h2', basis: 'observed' },
    ],
    [
      'live, last h2, race says it fails',
      { ...live, protocol: 'h2', tcpProtocol: 'h2' },
      fails,
      { protocol: 'h2', basis: 'observed' },
    ],
    ['live, never known, race says it fails', live, fails, unknown],
    [
      'live, stayed 2',
      { ...live, protocol: 'h2', tcpProtocol: 'h2', stays: 2 },
      NOTHING,
      { protocol: 'h3', basis: 'advertised' },
    ],
    [
      'live, stayed 3',
      { ...live, protocol: 'h2', tcpProtocol: 'h2', stays: 3 },
      NOTHING,
      { protocol: 'h2', basis: 'observed' },
    ],
    ['live, protocol hidden', live, NOTHING, { protocol: 'h3', basis: 'advertised' }],
    [
      'expired, last h3',
      { ...gone, protocol: 'h3', tcpProtocol: 'h2' },
      NOTHING,
      { protocol: 'h2', basis: 'observed' },
    ],
    ['expired, last h3, TCP never seen', { ...gone, protocol: 'h3' }, NOTHING, unknown],
    [
      'expired, last http/1.1',
      { ...gone, protocol: 'http/1.1', tcpProtocol: 'http/1.1' },
      NOTHING,
      { protocol: 'http/1.1', basis: 'observed' },
    ],
    [
      'never advertised, last h2',
      { protocol: 'h2', tcpProtocol: 'h2' },
      NOTHING,
      { protocol: 'h2', basis: 'observed' },
    ],
    ['never advertised, last h3', { protocol: 'h3' }, NOTHING, { protocol: 'h3', basis: 'observed' }],
    ['never advertised, hidden', {}, NOTHING, unknown],
  ];
  for (const [name, facts, reach, want] of table)
    assert.deepEqual(expected(facts && use(facts), reach, NOW), want, name);
});

test("a browser's h2 never overrides a raced h3 in reachable", () => {
  const forecast = forecastOf(
    ORIGIN,
    host({ ...WORKED, tcpProtocol: 'h2', tcpAtMs: NOW }),
    null,
    use({ protocol: 'h2' }),
    NOW,
  );
  assert.equal(forecast.reachable.protocol, 'h3');
  assert.equal(forecast.expected.protocol, 'h2');
});

test('a hit is a lookup that found something fresh', () => {
  assert.equal(forecastOf(ORIGIN, null, null, null, NOW).hit, false);
  assert.equal(forecastOf(ORIGIN, host({ ...WORKED, h3UntilMs: NOW }), null, null, NOW).hit, false);
  assert.equal(forecastOf(ORIGIN, host(WORKED), null, null, NOW).hit, true);
  assert.equal(forecastOf(ORIGIN, null, null, use({ protocol: 'h2' }), NOW).hit, true);
});

test('back-off: 300 s, doubling, never over two days, never shrinking', () => {
  assert.deepEqual([1, 2, 3].map(backOffMs), [300_000, 600_000, 1_200_000]);
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 10_000 }), (failures) => {
      assert.ok(backOffMs(failures) <= MAX_BACK_OFF_MS);
      assert.ok(backOffMs(failures) <= backOffMs(failures + 1));
    }),
  );
});

test('a success is fresh for its ma, for 24 hours without one, and never for years', () => {
  assert.equal(successFreshMs(null), SUCCESS_FRESH_MS);
  assert.equal(successFreshMs(5000), 5000);
  assert.equal(successFreshMs(2 ** 31 * 1000), MAX_SUCCESS_FRESH_MS);
});

test('recall gives only what is fresh', () => {
  assert.equal(recallOf(null, null, NOW), null);
  assert.equal(recallOf(host({ ...WORKED, h3UntilMs: NOW }), null, NOW), null);
  assert.equal(recallOf(host({ ...ADVERT, altSvcUntilMs: NOW }), null, NOW), null);
  assert.deepEqual(recallOf(host({ ...WORKED, ...ADVERT, altSvcAtMs: NOW - 2500, h3RttMs: 7 }), null, NOW), {
    decision: 'h3',
    altSvc: 'h3=":443"',
    altSvcAgeSeconds: 2,
    rttMs: { h3: 7, h2: null },
  });
  assert.equal(recallOf(host({ ...BROKEN, tcpProtocol: 'http/1.0' }), null, NOW)?.decision, 'http/1.1');
  assert.equal(recallOf(host(ADVERT), null, NOW)?.decision, null);
});

test('an Alt-Svc that a race was given from memory is told from one that it received', () => {
  assert.equal(isRemembered('h3=":443"', [null, host(ADVERT)], NOW), true);
  assert.equal(isRemembered('h3=":444"', [null, host(ADVERT)], NOW), false);
  assert.equal(isRemembered('h3=":443"', [host({ ...ADVERT, altSvcUntilMs: NOW })], NOW), false);
});
