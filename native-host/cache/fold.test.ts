import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OriginRace, Trial } from '@photofinish/shared/race/outcome';
import { ATTEMPT_ERROR_CODES } from '@photofinish/shared/race/terms';
import { parseAltSvc } from '@photofinish/shared/web/alt-svc';
import { type Observation, observationSchema } from '@photofinish/shared/web/observation';
import type { Origin } from '@photofinish/shared/web/origin';
import fc from 'fast-check';
import * as v from 'valibot';
import { down, observation, race, trial, up } from '../testing/cache-samples.ts';
import { MAX_BACK_OFF_MS } from './back-off.ts';
import {
  foldAddresses,
  foldObservation,
  foldRace,
  foldUse,
  handshakeSampleMs,
  lossSample,
  parseObservation,
  rttSampleMs,
  smoothedRtt,
  undisturbed,
} from './fold.ts';
import { forecastOf, reachable, SUCCESS_FRESH_MS } from './policy.ts';
import { type AddressRecord, type HostRecord, newHost, newUse } from './record.ts';

const NOW = 5_000_000;
const HOST = newHost('https://a.test' as Origin, 'home', 0);

/** A race whose Alt-Svc header, if any, was received in it. */
function fold(host: HostRecord, trials: Trial[], nowMs: number, facts: Partial<OriginRace> = {}): HostRecord {
  const finished = race(trials, facts);
  const { altSvc } = finished.discovered;
  const received = altSvc === null ? null : { altSvc: parseAltSvc(altSvc), ageMs: 0 };
  return foldRace(host, { race: finished, received }, nowMs);
}

test('P2 rule 4: late HTTP/3 is learnt', () => {
  const late = up('h3', { outcome: 'established-late', startedMs: 0, establishedMs: 90 });
  const host = fold(HOST, [trial(late, up('h2'))], NOW);
  assert.equal(host.h3AtMs, NOW);
  assert.equal(host.h3UntilMs, NOW + SUCCESS_FRESH_MS);
  assert.equal(host.h3HandshakeMs, 90);
  assert.equal(host.adopted, 'h2');
});

test('of the trials of a race, the last one that adopted a protocol counts', () => {
  const host = fold(HOST, [trial(up('h2')), trial(up('http/1.1')), trial(CANCELLED)], NOW);
  assert.deepEqual([host.adopted, host.tcpProtocol], ['http/1.1', 'http/1.1']);
});

test('the smoothed RTT starts with its first sample and then moves by an eighth', () => {
  const first = fold(HOST, [trial(up('h3'))], NOW);
  assert.equal(first.h3RttMs, 20);
  const second = fold(first, [trial(up('h3', { transportMs: 110 }))], NOW + 1);
  assert.equal(second.h3RttMs, 30);
  assert.equal(second.races, 2);
});

test('a failure of HTTP/3 backs off only when TCP worked in the same race', () => {
  const bothDead = fold(HOST, [trial(down('h3', 'udp-timeout'), down('h2', 'tcp-timeout'))], NOW);
  assert.equal(bothDead.h3BackOffUntilMs, null);
  assert.equal(bothDead.tcpFailure, 'tcp-timeout');
  const beaten = up('h2', { establishedMs: null, outcome: 'cancelled' });
  const mixed = fold(
    HOST,
    [trial(down('h2', 'tls-alert'), down('h2', 'tcp-timeout'), down('h2', 'blocked'), beaten)],
    NOW,
  );
  assert.deepEqual([mixed.tcpFailure, mixed.tcpFailedAtMs], ['tcp-timeout', NOW]);
  const broken = fold(HOST, [trial(down('h3', 'udp-refused'), up('h2'))], NOW);
  assert.equal(broken.h3Failure, 'udp-refused');
  assert.equal(broken.h3BackOffUntilMs, NOW + 300_000);
  const again = fold(broken, [trial(down('h3', 'udp-refused'), up('h2'))], NOW + 1);
  assert.equal(again.h3BackOffUntilMs, NOW + 1 + 600_000);
  const mended = fold(again, [trial(up('h3'))], NOW + 2);
  const { h3Failure, h3Failures, h3BackOffUntilMs, h3FailedAtMs } = mended;
  assert.deepEqual([h3Failure, h3Failures, h3BackOffUntilMs, h3FailedAtMs], [null, 1, null, null]);
});

test('a handshake without an answer is no success: HTTP/3 that breaks after it is backed off', () => {
  const error = { code: 'h3-error', message: 'no SETTINGS' } as const;
  const broken = up('h3', { outcome: 'failed', error });
  const host = fold(HOST, [trial(broken, up('h2'))], NOW);
  assert.deepEqual([host.h3AtMs, host.h3Failure, host.h3BackOffUntilMs], [null, 'h3-error', NOW + 300_000]);
  const misdirected = up('h2', { outcome: 'failed', error: { code: 'misdirected', message: '421' } });
  const silent = fold(HOST, [trial(misdirected)], NOW);
  assert.deepEqual([silent.tcpProtocol, silent.tcpFailure], [null, 'misdirected']);
});

test('a cancelled HTTP/3 attempt proves nothing', () => {
  const cancelled = up('h3', { establishedMs: null, outcome: 'cancelled' });
  const host = fold(HOST, [trial(cancelled, up('h2'))], NOW);
  assert.deepEqual([host.h3AtMs, host.h3Failures, host.tcpProtocol], [null, 0, 'h2']);
});

test('our own fault is not recorded against the host', () => {
  const host = fold(HOST, [trial(down('h3', 'internal'), up('h2'))], NOW);
  assert.deepEqual([host.h3FailedAtMs, host.h3Failures, host.h3BackOffUntilMs], [null, 0, null]);
  assert.equal(fold(HOST, [trial(down('h2', 'internal'))], NOW).tcpFailure, null);
});

test('HTTP/3 that failed at one address and was not tried at the others is not backed off', () => {
  const left = { ...trial(down('h3', 'udp-refused'), up('h2')), h3Undecided: true };
  assert.equal(fold(HOST, [left], NOW).h3BackOffUntilMs, null);
});

test('times disturbed by a busy machine are not learnt, reachability is', () => {
  const late = { ...trial(up('h3')), disturbed: 'times' as const };
  const host = fold(HOST, [late], NOW);
  assert.deepEqual([host.h3AtMs, host.h3RttMs, host.h3HandshakeMs], [NOW, null, null]);
  assert.deepEqual(foldAddresses(new Map(), race([late]), NOW), []);
});

test('HTTP/3 is fresh for the ma that the same race received', () => {
  const discovered = { altSvc: 'h3=":443"; ma=60', knownRoot: false };
  const host = fold(HOST, [trial(up('h3'))], NOW, { discovered });
  assert.equal(host.h3UntilMs, NOW + 60_000);
  assert.equal(host.altSvcUntilMs, NOW + 60_000);
  assert.equal(host.knownRoot, 0);
});

test('an advertisement refreshed over TCP does not end a back-off', () => {
  const discovered = { altSvc: 'h3=":443"', knownRoot: true };
  const host = fold(HOST, [trial(down('h3', 'udp-timeout'), up('h2'))], NOW, { discovered });
  const seen = foldObservation(
    host,
    parseObservation(observation({ altSvc: 'h3=":443"', protocol: 'h2' })),
    NOW + 1,
  );
  assert.equal(seen.h3BackOffUntilMs, NOW + 300_000);
  assert.equal(fold(seen, [trial(up('h2'))], NOW + 2).knownRoot, 1, 'nothing new was learnt');
  assert.equal(seen.altSvcAtMs, NOW + 1);
});

const RACED = fold(HOST, [trial(up('h3'))], NOW);
const STALE = { ...RACED, h3UntilMs: NOW };
const BROKEN = fold(HOST, [trial(down('h3', 'udp-refused'), up('h2'))], NOW);
const BROKE = fold(RACED, [trial(down('h3', 'udp-refused'), up('h2'))], NOW + 1);
const TWICE = fold(BROKEN, [trial(down('h3', 'udp-refused'), up('h2'))], NOW);
const WRONG_PLACE = { ...down('h3', 'misdirected'), source: 'alt-svc', port: 8443 } as const;
const CUT_SHORT = up('h3', { outcome: 'cancelled', error: { code: 'cancelled', message: '' } });
const CANCELLED = up('h3', { establishedMs: null, outcome: 'cancelled' });

type Step = (host: HostRecord, atMs: number) => HostRecord;
const raced =
  (...attempts: Trial['attempts']): Step =>
  (host, atMs) =>
    fold(host, [trial(...attempts)], atMs);
const seen =
  (facts: Parameters<typeof observation>[0]): Step =>
  (host, atMs) =>
    foldObservation(host, parseObservation(observation(facts)), atMs);

test('races and browsers are reconciled: every row of the table', () => {
  const word = (h: HostRecord) => [h.h3AtMs, h.h3Basis, h.h3FailedAtMs, h.h3Failures, h.h3BackOffUntilMs];
  const at = NOW + 1000;
  const browserH3 = seen({ protocol: 'h3' });
  const table: [string, HostRecord, Step, unknown[]][] = [
    ['race: adopted', HOST, raced(up('h3')), [at, 'raced', null, 0, null]],
    [
      'race: late',
      TWICE,
      raced(up('h3', { outcome: 'established-late' }), up('h2')),
      [at, 'raced', null, 1, null],
    ],
    [
      'race: failed, TCP worked',
      HOST,
      raced(down('h3', 'udp-refused'), up('h2')),
      [null, null, at, 1, at + 300_000],
    ],
    [
      'race: failed again',
      BROKEN,
      raced(down('h3', 'udp-refused'), up('h2')),
      [null, null, at, 2, at + 600_000],
    ],
    [
      'race: failed, TCP too',
      RACED,
      raced(down('h3', 'udp-timeout'), down('h2', 'tcp-timeout')),
      word(RACED),
    ],
    ['race: failed, TCP not tried', RACED, raced(down('h3', 'udp-timeout')), word(RACED)],
    ['race: cancelled', BROKEN, raced(CANCELLED, up('h2')), word(BROKEN)],
    ['race: blocked', RACED, raced(down('h3', 'blocked'), up('h2')), word(RACED)],
    ['race: established and cut short', BROKEN, raced(CUT_SHORT, up('h2')), word(BROKEN)],
    ['race: failed over TCP alone', RACED, raced(down('h2', 'tls-alert'), up('h2')), word(RACED)],
    ['race: a wrong alternative', RACED, raced(WRONG_PLACE, up('h2')), word(RACED)],
    ['browser: h3, nothing known', HOST, browserH3, [at, 'observed', null, 0, null]],
    ['browser: h3 after a failure', TWICE, browserH3, [at, 'observed', null, 1, null]],
    [
      'browser: h3 after a stale success',
      { ...RACED, h3UntilMs: at },
      browserH3,
      [at, 'observed', null, 0, null],
    ],
    ['browser: h3 during a fresh race', RACED, browserH3, [at, 'raced', null, 0, null]],
    ['browser: h3 before a fresh race', RACED, (host) => browserH3(host, NOW - 1), word(RACED)],
    ['browser: h3 after a fresh success and a failure', BROKE, browserH3, [at, 'observed', null, 0, null]],
    ['browser: h3 before a failure', BROKEN, (host) => browserH3(host, NOW - 1), word(BROKEN)],
    ['browser: h3 with a failure', BROKEN, (host) => browserH3(host, NOW), word(BROKEN)],
    ['browser: h2, h3 raced', RACED, seen({ protocol: 'h2' }), word(RACED)],
    ['browser: h2, h3 broken', BROKEN, seen({ protocol: 'h2' }), word(BROKEN)],
    ['advertised while broken', BROKEN, seen({ protocol: 'h2', altSvc: 'h3=":443"' }), word(BROKEN)],
    ['taken back while it works', RACED, seen({ protocol: 'h2', altSvc: 'clear' }), word(RACED)],
  ];
  for (const [name, host, step, want] of table) assert.deepEqual(word(step(host, at)), want, name);
  assert.equal(browserH3(RACED, at).h3UntilMs, RACED.h3UntilMs);
  assert.equal(browserH3(browserH3(HOST, NOW), at).h3UntilMs, at + SUCCESS_FRESH_MS);
  assert.equal(RACED.tcpProtocol, null);
  const browserH1 = seen({ protocol: 'http/1.1' });
  assert.deepEqual([browserH1(RACED, NOW - 1).updatedAtMs, browserH1(RACED, at).updatedAtMs], [NOW, at]);
  assert.deepEqual(
    [browserH1(BROKEN, NOW - 1).tcpProtocol, browserH1(BROKEN, NOW).tcpProtocol],
    ['h2', 'http/1.1'],
  );
  const silent = raced(down('h3', 'udp-timeout'))(RACED, at);
  assert.deepEqual([silent.adopted, silent.h3RttMs, silent.h3HandshakeMs], ['h3', 20, 40]);
  assert.equal(browserH1(RACED, at).tcpProtocol, 'http/1.1');
  assert.equal(seen({ protocol: 'unknown', reason: 'no-timing-allow-origin' })(BROKEN, at), BROKEN);
});

test('a dead path whose advertisement is refreshed with every answer is tried a bounded number of times', () => {
  let host = HOST;
  let tries = 0;
  const month = NOW + 30 * 24 * 3_600_000;
  for (let atMs = NOW; atMs < month; atMs += 60_000) {
    host = foldObservation(
      host,
      parseObservation(observation({ altSvc: 'h3=":443"', protocol: 'h2' })),
      atMs,
    );
    assert.equal(host.altSvcUntilMs, atMs + 86_400_000);
    if (reachable(host, null, atMs).protocol !== 'h3') continue;
    tries += 1;
    host = fold(host, [trial(down('h3', 'udp-timeout'), up('h2'))], atMs);
  }
  // 300 s doubled ten times exceed two days; fifteen times two days are the month.
  assert.ok(tries >= 10 && tries <= 10 + 15, `${tries} tries`);
});

test('a lossy path is tried again sooner at first', () => {
  const failing = [trial(down('h3', 'udp-timeout'), up('h2'))];
  assert.equal(fold(RACED, failing, NOW + 1).h3BackOffUntilMs, NOW + 1 + 60_000);
  assert.equal(fold(STALE, failing, NOW).h3BackOffUntilMs, NOW + 300_000);
  assert.equal(fold(BROKE, failing, NOW + 2).h3BackOffUntilMs, NOW + 2 + 600_000, 'no longer fresh');
  assert.equal(fold({ ...HOST, h3LossRate: 0.05 }, failing, NOW).h3BackOffUntilMs, NOW + 60_000);
  const refused = fold(RACED, [trial(down('h3', 'udp-refused'), up('h2'))], NOW + 1);
  assert.equal(refused.h3BackOffUntilMs, NOW + 1 + 300_000);
});

test('a cause with a shorter delay never shortens a back-off in effect', () => {
  const host = fold(TWICE, [trial(down('h3', 'goaway'), up('h2'))], NOW + 1);
  assert.deepEqual([host.h3Failure, host.h3BackOffUntilMs], ['goaway', TWICE.h3BackOffUntilMs]);
});

test('handshake time, variance and loss are stored per transport', () => {
  const packets = { sent: 10, lost: 2 };
  const host = fold(HOST, [trial(up('h3', { packets, rttMs: 8 })), trial(up('h2', { rttMs: 16 }))], NOW);
  assert.deepEqual([host.h3RttMs, host.h3RttVarMs, host.h3RttAtMs, host.h3HandshakeMs], [8, 4, NOW, 40]);
  assert.deepEqual([host.tcpRttMs, host.tcpRttVarMs, host.tcpRttAtMs, host.tcpHandshakeMs], [16, 8, NOW, 40]);
  assert.equal(host.h3LossRate, 0.2);
  const whole = fold(host, [trial(up('h3', { packets: { sent: 10, lost: 0 } }))], NOW + 1);
  assert.equal(whole.h3LossRate, 0.2 - 0.2 / 8);
  const old = fold({ ...HOST, h3RttMs: 8 }, [trial(up('h3', { rttMs: 8 }))], NOW);
  assert.deepEqual([old.h3RttMs, old.h3RttVarMs], [8, 3]);
  assert.equal(
    fold({ ...HOST, h3RttMs: 8, h3RttVarMs: 8 }, [trial(up('h3', { rttMs: 8 }))], NOW).h3RttVarMs,
    6,
  );
});

test('each address that answered has its own round-trip time', () => {
  const known: AddressRecord = {
    origin: HOST.origin,
    network: 'home',
    address: '::1',
    srttMs: 12,
    usedAtMs: 1,
  };
  const attempts = [
    up('h3', { address: '192.0.2.1', rttMs: 8 }),
    up('h2', { address: '::1', rttMs: 20 }),
    up('h2', { address: '::1', rttMs: 21 }),
    { ...down('h3', 'udp-timeout'), address: '192.0.2.9' },
  ];
  const folded = foldAddresses(new Map([['::1', known]]), race([trial(...attempts)]), NOW);
  assert.deepEqual(
    folded.map((a) => [a.origin, a.network, a.address, a.srttMs, a.usedAtMs]),
    [
      [HOST.origin, 'home', '192.0.2.1', 8, NOW],
      [HOST.origin, 'home', '::1', 14, NOW],
    ],
  );
});

const HEADERS = ['h3=":443"; ma=60', 'h3=":8443"; persist=1', 'h2=":443"', 'clear', '!!'];
const anyObservation = fc.record({
  protocol: fc.constantFrom('h3', 'h2', 'http/1.1', 'http/1.0'),
  altSvc: fc.option(fc.oneof(fc.constantFrom(...HEADERS), fc.string({ maxLength: 100 })), { nil: undefined }),
});

test('observations in any order leave the same advertisement and the newest answers', () => {
  const timed = fc.tuple(fc.integer({ min: 1, max: 1_000_000 }), anyObservation);
  const answers = fc.uniqueArray(timed, { selector: ([at]) => at, maxLength: 12 });
  const shuffled = answers.chain((list) =>
    fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })),
  );
  const after = (list: [number, Parameters<typeof observation>[0]][]) => {
    let host = HOST;
    for (const [at, { altSvc, ...facts }] of list)
      host = foldObservation(
        host,
        parseObservation(observation({ ...facts, ...(altSvc !== undefined && { altSvc }) })),
        at,
      );
    return [host.altSvc, host.altSvcAtMs, host.altSvcUntilMs, host.tcpProtocol, host.tcpAtMs, host.h3AtMs];
  };
  fc.assert(fc.property(shuffled, ([one, other]) => assert.deepEqual(after(one), after(other))));
});

test('no valid observation or race throws, and a back-off is bounded by two days', () => {
  const anyAttempt = fc.record({
    protocol: fc.constantFrom('h3', 'h2', 'http/1.1'),
    outcome: fc.constantFrom('adopted', 'established-late', 'cancelled', 'failed'),
    transportMs: fc.option(fc.nat(5000)),
    establishedMs: fc.option(fc.nat(5000)),
    rttMs: fc.option(fc.nat(5000)),
    source: fc.constantFrom('https-record', 'alt-svc'),
    error: fc.constantFrom(...ATTEMPT_ERROR_CODES).map((code) => ({ code, message: code })),
    packets: fc.record({ sent: fc.nat(100), lost: fc.nat(100) }),
  });
  const step = fc.oneof(
    anyObservation.map(
      (facts): Step =>
        (host, atMs) => {
          const { altSvc, ...rest } = facts;
          const o = observation({ ...rest, atMs, ...(altSvc !== undefined && { altSvc }) });
          return foldObservation(host, parseObservation(v.parse(observationSchema, o)), atMs);
        },
    ),
    fc.array(anyAttempt, { maxLength: 4 }).map((list): Step => {
      const attempts = list.map(({ protocol, ...facts }) => up(protocol, facts));
      return (host, atMs) => fold(host, [trial(...attempts)], atMs);
    }),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(step, fc.nat(10_000_000)), { maxLength: 20 }), (steps) => {
      let host = HOST;
      let nowMs = NOW;
      for (const [run, pauseMs] of steps) {
        nowMs += pauseMs;
        const before = host;
        host = run(host, nowMs);
        assert.ok((host.h3BackOffUntilMs ?? 0) <= nowMs + MAX_BACK_OFF_MS);
        const goesOn = host.h3BackOffUntilMs === null || host.h3AtMs === nowMs;
        assert.ok(goesOn || (host.h3BackOffUntilMs ?? 0) >= (before.h3BackOffUntilMs ?? 0));
        assert.ok((host.h3RttVarMs ?? 0) >= 0 && (host.h3LossRate ?? 0) <= 1);
      }
    }),
  );
});

const USE = newUse('chromium', 'https://a.test' as Origin, 'a.test', 'home');

test('stays count visits, not requests: a page of fifty resources on one connection is one visit', () => {
  let use = foldUse(USE, parseObservation(observation({})), NOW - 1);
  assert.equal(use.stays, 0, 'nothing is advertised');
  use = foldUse(use, parseObservation(observation({ altSvc: 'h3=":443"' })), NOW);
  assert.equal(use.stays, 0);
  for (let i = 1; i <= 50; i += 1)
    use = foldUse(use, parseObservation(observation({ kind: 'resource' })), NOW + i * 100);
  assert.equal(use.stays, 0);
  use = foldUse(use, parseObservation(observation({})), NOW + 10_000);
  use = foldUse(use, parseObservation(observation({ kind: 'resource' })), NOW + 70_000);
  assert.equal(use.stays, 1);
  use = foldUse(use, parseObservation(observation({ kind: 'resource' })), NOW + 130_001);
  assert.equal(use.stays, 2);
  assert.equal(foldUse(use, parseObservation(observation({ protocol: 'h3' })), NOW + 130_001).stays, 0);
});

test('a repeated advertisement keeps the count, one that returns after a gap restarts it', () => {
  const advert = { altSvc: 'h3=":443"; ma=60' };
  let use = foldUse(USE, parseObservation(observation(advert)), NOW);
  use = foldUse(use, parseObservation(observation(advert)), NOW + 1000);
  assert.deepEqual([use.stays, use.advertisedAtMs, use.advertisedUntilMs], [1, NOW, NOW + 61_000]);
  assert.equal(foldUse(use, parseObservation(observation({})), NOW + 61_000).stays, 1, 'it has expired');
  use = foldUse(use, parseObservation(observation(advert)), NOW + 61_000);
  assert.deepEqual([use.stays, use.advertisedAtMs], [0, NOW + 61_000]);
});

const WITHDRAWALS = ['clear', 'h3=":443"; ma=0', 'h2=":443"'];

test('a withdrawal ends what was advertised, and makes nothing of what never was', () => {
  const received = foldUse(USE, parseObservation(observation({ altSvc: 'h3=":443"; ma=60' })), NOW);
  const unreadable = parseObservation(observation({ altSvc: '!!' }));
  assert.equal(foldUse(received, unreadable, NOW + 1).advertisedUntilMs, NOW + 60_000);
  for (const altSvc of WITHDRAWALS) {
    const withdrawn = parseObservation(observation({ altSvc }));
    const { advertisedAtMs, advertisedUntilMs, stays } = foldUse(received, withdrawn, NOW + 1000);
    assert.deepEqual([advertisedAtMs, advertisedUntilMs, stays], [null, NOW + 1000, 0], altSvc);
    assert.equal(foldUse(received, withdrawn, NOW + 90_000).advertisedUntilMs, NOW + 60_000, altSvc);
    assert.equal(foldUse(USE, withdrawn, NOW).advertisedUntilMs, null, altSvc);
  }
});

test('after a withdrawal the browser is expected over TCP, although it came over HTTP/3', () => {
  const answers: Partial<Observation>[] = [{ protocol: 'h2', altSvc: 'h3=":443"' }, { protocol: 'h3' }];
  const forecastAfter = (...more: Partial<Observation>[]) => {
    let [here, use] = [HOST, USE];
    for (const [i, facts] of [...answers, ...more].entries()) {
      const o = parseObservation(observation(facts));
      here = foldObservation(here, o, NOW + i);
      use = foldUse(use, o, NOW + i);
    }
    const { reachable, expected } = forecastOf(HOST.origin, { here, anywhere: null, use }, NOW + 60_000);
    return [reachable.fresh, expected.protocol];
  };
  assert.deepEqual(forecastAfter(), [true, 'h3']);
  for (const altSvc of WITHDRAWALS) {
    assert.deepEqual(forecastAfter({ protocol: 'h3', altSvc }), [false, 'h2'], altSvc);
    // The connection that carried it may still be open.
    assert.deepEqual(forecastAfter({ protocol: 'h3', altSvc }, { protocol: 'h3' }), [false, 'h2'], altSvc);
    assert.deepEqual(forecastAfter({ protocol: 'h2', altSvc }), [false, 'h2'], altSvc);
  }
});

test('a hidden protocol still contributes its advertisement, and keeps the last known protocol', () => {
  const known = foldUse(USE, parseObservation(observation({})), NOW);
  const hidden: Partial<Observation> = {
    protocol: 'unknown',
    reason: 'no-timing-allow-origin',
    altSvc: 'h3=":1"',
  };
  const use = foldUse(known, parseObservation(observation(hidden)), NOW + 1);
  assert.deepEqual([use.protocol, use.protocolAtMs], ['h2', NOW]);
  assert.ok((use.advertisedUntilMs ?? 0) > NOW);
});

test('the newest answer decides, in any order of arrival', () => {
  const answer = fc.record({
    at: fc.integer({ min: 1, max: 1_000_000 }),
    protocol: fc.constantFrom('h3', 'h2', 'http/1.1'),
  });
  fc.assert(
    fc.property(fc.uniqueArray(answer, { minLength: 1, selector: (a) => a.at }), (answers) => {
      const newest = answers.toSorted((a, b) => b.at - a.at)[0];
      let use = USE;
      for (const { at, protocol } of answers)
        use = foldUse(use, parseObservation(observation({ protocol })), at);
      assert.equal(use.protocol, newest?.protocol);
      assert.equal(use.protocolAtMs, newest?.at);
    }),
  );
});

test('RFC 6298 section 2.2: the first measurement is the mean, half of it the variance', () => {
  assert.deepEqual(smoothedRtt(null, 40), { srttMs: 40, rttvarMs: 20 });
});

test('RFC 6298 section 2.3: variance moves by a quarter from the old mean, the mean by an eighth', () => {
  assert.deepEqual(smoothedRtt({ srttMs: 40, rttvarMs: 20 }, 80), { srttMs: 45, rttvarMs: 25 });
  assert.deepEqual(smoothedRtt({ srttMs: 40, rttvarMs: 20 }, 40), { srttMs: 40, rttvarMs: 15 });
});

test('the mean stays within the measured values, and the variance is never negative', () => {
  const sample = fc.double({ min: 0, max: 60_000, noNaN: true });
  fc.assert(
    fc.property(fc.array(sample, { minLength: 1 }), (samples) => {
      let estimate = smoothedRtt(null, samples[0] ?? 0);
      for (const each of samples.slice(1)) estimate = smoothedRtt(estimate, each);
      assert.ok(estimate.srttMs >= Math.min(...samples) - 1e-6);
      assert.ok(estimate.srttMs <= Math.max(...samples) + 1e-6);
      assert.ok(estimate.rttvarMs >= 0);
    }),
  );
});

test("a round trip is the transport's own estimate, else the time to the first sign of life", () => {
  assert.equal(rttSampleMs(up('h3')), 20);
  assert.equal(rttSampleMs(up('h3', { rttMs: 7 })), 7);
  assert.equal(rttSampleMs(up('h3', { transportMs: 9 })), 0, 'by another clock, before its start');
  assert.equal(rttSampleMs(up('h3', { outcome: 'cancelled', establishedMs: null })), 20);
  assert.equal(rttSampleMs(down('h3', 'udp-timeout')), null);
});

test('RFC 6298 section 3: an answer possibly caused by a retransmission is no measurement', () => {
  assert.equal(rttSampleMs(up('h3', { packets: { sent: 6, lost: 1 } })), null);
  assert.equal(rttSampleMs(up('h3', { packets: { sent: 6, lost: 1 }, rttMs: 9 })), 9);
  // Established without anything acknowledged: the first sign of life may have been a retransmission by the server.
  assert.equal(rttSampleMs(up('h3', { transportMs: 213, packets: { sent: 6, lost: 0 } })), null);
  const begun = { outcome: 'cancelled', establishedMs: null } as const;
  assert.equal(rttSampleMs(up('h3', { ...begun, packets: { sent: 6, lost: 0 } })), 20);
  assert.equal(rttSampleMs(up('h3', { ...begun, packets: { sent: 6, lost: 1 } })), null);
  assert.equal(rttSampleMs(up('h3', { transportMs: 1010 })), 1000);
  assert.equal(rttSampleMs(up('h2', { transportMs: 1010 })), null);
  assert.equal(rttSampleMs(up('h2', { transportMs: 1010, rttMs: 1000 })), null);
  assert.equal(rttSampleMs(up('h2', { transportMs: 1009 })), 999);
});

test('RFC 9002 section 5.2: handshake time is an ageing minimum, not a mean of retransmission timers', () => {
  assert.equal(undisturbed(null, 40), 40);
  assert.equal(undisturbed(40, 20), 20);
  assert.equal(undisturbed(40, 48), 41);
  assert.equal(undisturbed(40, 1000), 45);
  const often = Array.from({ length: 200 }, (_, index) => (index % 4 === 0 ? 1000 : 50));
  assert.ok(often.reduce<number>(undisturbed, 50) < 60);
  const longer = Array<number>(40).fill(150);
  assert.ok(Math.abs(longer.reduce<number>(undisturbed, 50) - 150) < 5);
});

test('a handshake is measured only if an answer followed', () => {
  assert.equal(handshakeSampleMs(up('h3')), 40);
  assert.equal(handshakeSampleMs(up('h3', { establishedMs: 9 })), 0, 'by another clock, before its start');
  assert.equal(handshakeSampleMs(up('h3', { outcome: 'failed' })), null);
  assert.equal(handshakeSampleMs(CANCELLED), null);
  assert.equal(handshakeSampleMs(down('h3', 'udp-timeout')), null);
});

test('loss is the share of packets sent, and undefined for a dead path', () => {
  assert.equal(lossSample(up('h3', { packets: { sent: 10, lost: 1 } })), 0.1);
  assert.equal(lossSample(up('h3', { packets: { sent: 0, lost: 0 } })), null);
  assert.equal(lossSample({ ...down('h3', 'udp-timeout'), packets: { sent: 5, lost: 5 } }), null);
  assert.equal(lossSample(up('h2')), null);
});
