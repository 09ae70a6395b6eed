import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAltSvc } from '@photofinish/shared/web/alt-svc';
import type { Origin } from '@photofinish/shared/web/origin';
import {
  advertisedUntilMs,
  expected,
  type ForecastBasis,
  forecastOf,
  MEASURED_FRESH_MS,
  NO_HINTS,
  reachable,
  recallOf,
  SHARED_FRESH_MS,
  successFreshMs,
} from './policy.ts';
import {
  ANY_NETWORK,
  type HostRecord,
  newHost,
  newUse,
  type SharedRecord,
  type UseRecord,
} from './record.ts';

const NOW = 1_700_000_000_000;
const ORIGIN = 'https://a.test' as Origin;
const host = (facts: Partial<HostRecord>): HostRecord => ({ ...newHost(ORIGIN, 'home', NOW), ...facts });
const use = (facts: Partial<UseRecord>): UseRecord => ({
  ...newUse('chromium', ORIGIN, 'a.test', 'home'),
  ...facts,
});
const HERE = { origin: ORIGIN, network: 'home' };
const NOTHING = { protocol: 'unknown', basis: 'none', ageMs: null, fresh: false } as const;

const WORKED = { h3AtMs: NOW - 10, h3UntilMs: NOW + 10, h3Basis: 'raced' } as const;
const BROKEN = {
  h3FailedAtMs: NOW - 5,
  h3BackOffUntilMs: NOW + 10,
  h3Failures: 1,
  tcpProtocol: 'h2',
} as const;
const SHARED: SharedRecord = { key: 'k', atMs: NOW - 1000, h3Failure: 'udp-timeout', tcpProtocol: 'h2' };
const ADVERT = { altSvc: 'h3=":443"', altSvcAtMs: NOW - 20, altSvcUntilMs: NOW + 20 } as const;

test('reachable: races first, then an unexpired advertisement, then stale evidence', () => {
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

test('what a browser did before HTTP/3 was withdrawn is not fresh; a race, or an HTTPS record, still is', () => {
  const cleared = { ...WORKED, h3Basis: 'observed', altSvcAtMs: NOW - 5, altSvcUntilMs: null } as const;
  const record = { service: 'h3=":443"', serviceAtMs: NOW - 5, serviceUntilMs: NOW + 5 } as const;
  const fresh = (facts: Partial<HostRecord>, nowMs = NOW) => reachable(host(facts), null, nowMs).fresh;
  assert.equal(fresh(cleared), false);
  assert.equal(recallOf(host(cleared), null, [], NOW), null);
  assert.equal(fresh({ ...cleared, altSvcUntilMs: NOW - 5 }), false, 'ma=0');
  assert.equal(fresh({ ...cleared, altSvcUntilMs: NOW - 1 }), true, 'expired, and used after that');
  assert.equal(fresh({ ...cleared, h3Basis: 'raced' }), true);
  assert.equal(recallOf(host({ ...cleared, ...record }), null, [], NOW)?.decision, 'h3');
  assert.equal(fresh({ ...cleared, ...record }, NOW + 5), false, 'the record has expired too');
});

test('what a clock that was ahead wrote is not fresh, and a correction of seconds changes nothing', () => {
  const fresh = (facts: Partial<HostRecord>, aheadMs: number) => {
    const at = Object.entries(facts).map(([name, of]) => [name, typeof of === 'number' ? of + aheadMs : of]);
    return reachable(host(Object.fromEntries(at)), null, NOW).fresh;
  };
  for (const facts of [WORKED, { ...WORKED, h3Basis: 'observed' }, BROKEN, ADVERT] as const)
    assert.deepEqual([fresh(facts, 60_000), fresh(facts, 60_021)], [true, false]);
});

test('nor does a race recall it, or a browser count as having used it', () => {
  const at = NOW + 60_001;
  const ahead = host({ altSvc: 'h3=":443"; ma=99', altSvcAtMs: at, altSvcUntilMs: at + 99_000 });
  assert.equal(recallOf(ahead, null, [], NOW), null);
  const measured = { h3RttMs: 5, h3RttVarMs: 1, h3RttAtMs: at };
  const address = { origin: ahead.origin, network: 'n', address: '192.0.2.1', srttMs: 5, usedAtMs: at };
  assert.equal(recallOf(host(measured), null, [address], NOW), null);
  const used = use({ protocol: 'h3', advertisedUntilMs: at + 99_000, seenAtMs: at });
  assert.equal(expected(used, NOTHING, NOW).protocol, 'unknown');
});

test('a persistent advertisement counts on a network without one of its own', () => {
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
    [
      'live, last h3, a race said long ago that it fails',
      { ...live, protocol: 'h3', tcpProtocol: 'h2' },
      reachable(host({ ...BROKEN, h3BackOffUntilMs: NOW }), null, NOW),
      { protocol: 'h3', basis: 'observed' },
    ],
    [
      'live, last h2, race says it works',
      { ...live, protocol: 'h2', tcpProtocol: 'h2' },
      reachable(host(WORKED), null, NOW),
      { protocol: 'h3', basis: 'advertised' },
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
    [
      'live, last h3, other machines say it fails',
      { ...live, protocol: 'h3', tcpProtocol: 'h2' },
      reachable(null, null, NOW, () => SHARED),
      { protocol: 'h3', basis: 'observed' },
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

test("a browser's h2 never overrides h3 from a race in reachable", () => {
  const forecast = forecastOf(
    ORIGIN,
    {
      here: host({ ...WORKED, tcpProtocol: 'h2', tcpAtMs: NOW }),
      anywhere: null,
      use: use({ protocol: 'h2' }),
    },
    NOW,
  );
  assert.equal(forecast.reachable.protocol, 'h3');
  assert.equal(forecast.expected.protocol, 'h2');
});

test('a hit is a lookup that found something fresh', () => {
  const hit = (known: Partial<ForecastBasis>) =>
    forecastOf(ORIGIN, { here: null, anywhere: null, use: null, ...known }, NOW).hit;
  assert.equal(hit({}), false);
  assert.equal(hit({ here: host({ ...WORKED, h3UntilMs: NOW }) }), false);
  assert.equal(hit({ here: host(WORKED) }), true);
  assert.equal(hit({ use: use({ protocol: 'h2' }) }), true);
  assert.equal(hit({ shared: () => SHARED }), false, 'what others shared is no memory of this machine');
});

test('what other machines shared is reported where this one has measured nothing, and says so', () => {
  const reach = (here: Partial<HostRecord> | null, shared: SharedRecord, nowMs = NOW) =>
    reachable(here && host(here), null, nowMs, () => shared);
  const others = { protocol: 'h2', basis: 'shared', ageMs: 1000, fresh: true };
  assert.deepEqual(reach(null, SHARED), others);
  assert.deepEqual(reach(null, { ...SHARED, h3Failure: null }), { ...others, protocol: 'h3' });
  assert.equal(reach({ ...ADVERT, altSvcUntilMs: NOW }, SHARED).basis, 'shared', 'an expired advertisement');
  assert.equal(reach(ADVERT, SHARED).basis, 'advertised');
  assert.equal(reach(WORKED, SHARED).basis, 'raced');
  assert.equal(reach({ ...WORKED, h3UntilMs: NOW }, SHARED).basis, 'raced', 'stale, but measured here');
  assert.equal(reach({ ...BROKEN, h3BackOffUntilMs: NOW }, { ...SHARED, h3Failure: null }).basis, 'raced');
  assert.equal(reach(null, { ...SHARED, tcpProtocol: null }).basis, 'none', 'TCP was not reached');
  assert.equal(reach(null, SHARED, SHARED.atMs + SHARED_FRESH_MS).basis, 'none', 'too old');
  assert.equal(reach(null, SHARED, SHARED.atMs - 1).basis, 'none', 'the clock was set back');
});

test('what other machines shared takes a head start at most, and decides nothing', () => {
  const recall = (here: Partial<HostRecord> | null, shared: SharedRecord) =>
    recallOf(here && host(here), null, [], NOW, shared);
  const slower = recall(null, SHARED);
  const { key: _, ...told } = SHARED;
  assert.deepEqual(slower?.hints.shared, told);
  assert.deepEqual([slower?.decision, slower?.hints.h3Broken], [null, null]);
  const works = recall(null, { ...SHARED, h3Failure: null });
  assert.deepEqual([works?.decision, works?.altSvc], [null, null]);
  assert.deepEqual({ ...works?.hints, shared: null }, NO_HINTS);
  assert.equal(recall(WORKED, SHARED)?.hints.shared, null, 'measured here');
  assert.equal(recall({ ...WORKED, h3UntilMs: NOW }, SHARED), null, 'stale, but measured here');
  assert.equal(recall(ADVERT, SHARED)?.hints.shared?.atMs, SHARED.atMs, 'advertised is not measured');
});

test('a success is fresh for its ma, for 24 hours without one, and never for years', () => {
  assert.equal(successFreshMs(null), 86_400_000);
  assert.equal(successFreshMs(5000), 5000);
  assert.equal(successFreshMs(2 ** 31 * 1000), 30 * 86_400_000);
});

test('an HTTPS record advertises like a header, and the unexpired one of several counts', () => {
  const record = { service: 'h3=":443"; ma=60', serviceAtMs: NOW - 5, serviceUntilMs: NOW + 60 } as const;
  const advertised = { protocol: 'h3', basis: 'advertised', ageMs: 5, fresh: true };
  assert.deepEqual(reachable(host(record), null, NOW), advertised);
  assert.deepEqual(reachable(host({ ...ADVERT, altSvcUntilMs: NOW, ...record }), null, NOW), advertised);
  assert.equal(reachable(host({ ...BROKEN, ...record }), null, NOW).protocol, 'h2');
  assert.equal(advertisedUntilMs(host({ ...ADVERT, ...record }), NOW), NOW + 60);
  assert.equal(advertisedUntilMs(host({ ...record, serviceUntilMs: NOW }), NOW), null);
});

const RTT = { h3RttMs: 7, h3RttVarMs: 2, h3RttAtMs: NOW - 1, h3HandshakeMs: 15, h3LossRate: 0.1 } as const;

test('recall returns only fresh data, and null if there is none', () => {
  const recall = (facts: Partial<HostRecord>) => recallOf(host(facts), null, [], NOW);
  assert.equal(recallOf(null, null, [], NOW), null);
  assert.equal(recall({ ...WORKED, h3UntilMs: NOW }), null);
  assert.equal(recall({ ...ADVERT, altSvcUntilMs: NOW }), null);
  assert.equal(recall({ ...RTT, h3RttAtMs: NOW - MEASURED_FRESH_MS }), null);
  assert.equal(recall({ ...RTT, h3RttVarMs: null }), null);
  assert.equal(recall(RTT)?.decision, null);
  assert.deepEqual(recall({ ...WORKED, ...ADVERT, ...RTT, altSvcAtMs: NOW - 2500 }), {
    decision: 'h3',
    altSvc: parseAltSvc('h3=":443"', 2),
    misdirected: null,
    hints: {
      h3: { srttMs: 7, rttvarMs: 2, handshakeMs: 15, lossRate: 0.1 },
      h2: null,
      h3Broken: null,
      shared: null,
      addresses: new Map(),
    },
  });
  const refused = { misdirected: 'b.test:444', misdirectedUntilMs: NOW + 1 };
  assert.equal(recall(refused)?.misdirected, 'b.test:444');
  assert.equal(recall({ ...refused, misdirectedUntilMs: NOW }), null);
  assert.equal(recall({ ...BROKEN, tcpProtocol: 'http/1.0' })?.decision, 'http/1.1');
  assert.equal(recall(ADVERT)?.decision, null);
});

test('hints are available without a decision: round trips, a back-off in effect, recently used addresses', () => {
  const tcp = { tcpRttMs: 9, tcpRttVarMs: 3, tcpRttAtMs: NOW, tcpHandshakeMs: 30 } as const;
  const hints = recallOf(host(tcp), null, [], NOW)?.hints;
  assert.deepEqual(hints?.h2, { srttMs: 9, rttvarMs: 3, handshakeMs: 30, lossRate: null });
  const broken = { ...BROKEN, h3Failure: 'udp-timeout' } as const;
  assert.deepEqual(recallOf(host(broken), null, [], NOW)?.hints.h3Broken, {
    code: 'udp-timeout',
    untilMs: NOW + 10,
  });
  assert.equal(recallOf(host(broken), null, [], NOW + 10), null);
  const at = (address: string, usedAtMs: number) => ({ ...HERE, address, srttMs: 4, usedAtMs });
  const used = [at('192.0.2.1', NOW - 1), at('192.0.2.2', NOW - MEASURED_FRESH_MS)];
  assert.deepEqual(recallOf(null, null, used, NOW)?.hints.addresses, new Map([['192.0.2.1', 4]]));
});
