// The delays derived from a known path, compared with the formulas they come from and their bounds.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Hints, NO_HINTS, type PathHint } from '../cache/policy.ts';
import { establishingMs, PACED_BY_PATH, type PacingOptions, pacingOf } from './pacing.ts';
import { omitsH3 } from './plan.ts';

const path = (srttMs: number, rttvarMs: number, handshakeMs: number | null = null): PathHint => ({
  srttMs,
  rttvarMs,
  handshakeMs,
  lossRate: null,
});
const h3 = (...measured: Parameters<typeof path>): Hints => ({ ...NO_HINTS, h3: path(...measured) });

const pacing = (hints: Hints, asked: Partial<PacingOptions> = {}, hedges = false) =>
  pacingOf(hints, { ...PACED_BY_PATH, ...asked }, hedges);

test('an unknown host gets the values of P2 and of the draft', () => {
  assert.equal(pacing(NO_HINTS).initialRttMs, 67);
  assert.equal(pacing(NO_HINTS).groupDelayMs, 10);
  assert.equal(pacing(NO_HINTS).attemptDelayMs.h3, 250);
});

test('HTTP/3 that other machines found broken has no head start, unless one is configured', () => {
  const shared = { atMs: 0, h3Failure: 'udp-timeout', tcpProtocol: 'h2' } as const;
  const elsewhere = { ...NO_HINTS, shared };
  assert.equal(pacing(elsewhere).groupDelayMs, 0);
  assert.equal(pacing({ ...elsewhere, h2: path(50, 4) }).groupDelayMs, 0);
  assert.equal(pacing(elsewhere, { tcpAttemptDelayMs: 40 }).groupDelayMs, 40);
});

test('initial RTT: (srtt + max(4 x rttvar, 1 ms)) / 3, so that the first PTO is when QUIC would retransmit', () => {
  assert.equal(pacing(h3(50, 4)).initialRttMs, 22);
  assert.equal(pacing(h3(2, 0.1)).initialRttMs, 1);
});

test('the path known from the other protocol is the same path', () => {
  assert.equal(pacing({ ...NO_HINTS, h2: path(50, 4) }).initialRttMs, 22);
  assert.equal(pacing(h3(150, 10)).attemptDelayMs.h2, 190);
  assert.equal(pacing({ ...h3(150, 10), h2: path(200, 10) }).attemptDelayMs.h2, 240);
});

test('TCP’s connection attempt delay: until a handshake is overdue, from 10 ms to 2 s, unless configured', () => {
  assert.equal(pacing(h3(50, 4)).groupDelayMs, 66);
  assert.equal(pacing(h3(50, 4, 60)).groupDelayMs, 76);
  assert.equal(pacing(h3(1, 0)).groupDelayMs, 10);
  assert.equal(pacing(h3(1500, 500)).groupDelayMs, 2000);
  assert.equal(pacing(h3(50, 4), { tcpAttemptDelayMs: 0 }).groupDelayMs, 0);
  assert.equal(pacing({ ...NO_HINTS, h2: path(50, 4) }).groupDelayMs, 66);
});

test('TCP’s connection attempt delay: 10 ms behind a hedged QUIC attempt (section 6 of the draft)', () => {
  assert.equal(pacing(h3(1, 0), {}, true).groupDelayMs, 20);
  assert.equal(pacing(h3(50, 4), {}, true).groupDelayMs, 76);
  assert.equal(pacing(h3(1500, 500), {}, true).groupDelayMs, 2000);
  assert.equal(pacing(h3(50, 4), { tcpAttemptDelayMs: 30 }, true).groupDelayMs, 30);
  assert.equal(pacing(NO_HINTS, {}, true).groupDelayMs, 10);
});

test('a hedged QUIC attempt: once a handshake is overdue on a path known to support HTTP/3, unless disabled', () => {
  assert.deepEqual(pacing(h3(50, 4, 60), {}, true).hedge, { afterMs: 76, bySignOfLife: false });
  assert.deepEqual(pacing(h3(1, 0), {}, true).hedge, { afterMs: 10, bySignOfLife: false });
  assert.equal(pacing(h3(50, 4), { hedge: false }, true).hedge, null);
  assert.equal(pacing(h3(50, 4)).hedge, null);
});

test('a hedged QUIC attempt on an unknown path: by the first sign of life, and after silence only if requested', () => {
  for (const hints of [NO_HINTS, { ...NO_HINTS, h2: path(50, 4) }]) {
    const rule = (hedge: boolean | null) => pacing(hints, { hedge, initialRttMs: 25 }, true).hedge;
    assert.deepEqual(rule(null), { afterMs: null, bySignOfLife: true });
    assert.deepEqual(rule(true), { afterMs: 75, bySignOfLife: true });
    assert.equal(rule(false), null);
  }
});

test('RFC 6298 section 2.2: no wait exceeds three times the usual time, however lossy the past', () => {
  assert.equal(pacing(h3(4, 40, 5)).groupDelayMs, 15);
  assert.equal(pacing(h3(30, 40, 20)).initialRttMs, 20);
  assert.equal(pacing(h3(300, 2, 50)).groupDelayMs, 58);
});

test('RFC 9002 section 6.1.2: nothing is overdue earlier than 9/8 of its usual time', () => {
  assert.equal(pacing(h3(48, 0)).initialRttMs, 18);
  assert.equal(pacing(h3(200, 0)).groupDelayMs, 225);
});

test('the Connection Attempt Delay stays within its bounds for any history and configuration', () => {
  const ms = fc.double({ min: 0, max: 1e6, noNaN: true });
  fc.assert(
    fc.property(ms, ms, fc.option(ms), (srttMs, rttvarMs, configuredMs) => {
      const delayMs = pacing(h3(srttMs, rttvarMs), { attemptDelayMs: configuredMs }).attemptDelayMs.h3;
      assert.ok(delayMs >= (configuredMs === null ? 100 : 10) && delayMs <= 2000);
      const extensionMs = establishingMs(srttMs);
      assert.ok(extensionMs >= 10 && extensionMs <= 2000);
    }),
  );
});

test('broken applies until its expiry', () => {
  const hints = { ...NO_HINTS, h3Broken: { code: 'udp-refused', untilMs: 100 } as const };
  assert.deepEqual(
    [omitsH3('race', hints, 99), omitsH3('race', hints, 100), omitsH3('race', NO_HINTS, 0)],
    [true, false, false],
  );
});
