// The delays that a known path gives, against the formulas they come from and the bounds they may not leave.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Hints, NO_HINTS, type PathHint } from '../cache/hints.ts';
import {
  attemptDelayMs,
  establishingMs,
  freshRule,
  h3IsBroken,
  initialRttMs,
  startDelayMs,
} from './known-path.ts';

const path = (srttMs: number, rttvarMs: number, handshakeMs: number | null = null): PathHint => ({
  srttMs,
  rttvarMs,
  handshakeMs,
  lossRate: null,
});
const h3 = (...measured: Parameters<typeof path>): Hints => ({ ...NO_HINTS, h3: path(...measured) });

test('an unknown host has the values of P2 and of the draft', () => {
  assert.equal(initialRttMs(NO_HINTS), 67);
  assert.equal(startDelayMs(NO_HINTS, null, null), 10);
  assert.equal(attemptDelayMs(NO_HINTS, 'h3', null), 250);
});

test('initial RTT: (srtt + max(4 x rttvar, 1 ms)) / 3, so that the first PTO is when QUIC would retransmit', () => {
  assert.equal(initialRttMs(h3(50, 4)), 22);
  assert.equal(initialRttMs(h3(2, 0.1)), 1);
});

test('the path known from the other protocol is the same path', () => {
  assert.equal(initialRttMs({ ...NO_HINTS, h2: path(50, 4) }), 22);
  assert.equal(attemptDelayMs(h3(150, 10), 'h2', null), 190);
  assert.equal(attemptDelayMs({ ...h3(150, 10), h2: path(200, 10) }, 'h2', null), 240);
});

test('start delay: until a handshake is overdue, from 10 ms to 2 s, unless asked for', () => {
  assert.equal(startDelayMs(h3(50, 4), null, null), 66);
  assert.equal(startDelayMs(h3(50, 4, 60), null, null), 76);
  assert.equal(startDelayMs(h3(1, 0), null, null), 10);
  assert.equal(startDelayMs(h3(1500, 500), null, null), 2000);
  assert.equal(startDelayMs(h3(50, 4), 0, null), 0);
  assert.equal(startDelayMs({ ...NO_HINTS, h2: path(50, 4) }, null, null), 66);
});

test('start delay: 10 ms behind a fresh QUIC attempt (section 6 of the draft)', () => {
  const fresh = { afterMs: 10, heedsLife: false };
  assert.equal(startDelayMs(h3(1, 0), null, fresh), 20);
  assert.equal(startDelayMs(h3(50, 4), null, fresh), 76);
  assert.equal(startDelayMs(h3(1500, 500), null, fresh), 2000);
  assert.equal(startDelayMs(h3(50, 4), 30, fresh), 30);
  assert.equal(startDelayMs(NO_HINTS, null, fresh), 10);
});

test('a fresh QUIC attempt: on a path that HTTP/3 is known to take when a handshake is overdue, unless forbidden', () => {
  const unasked = { wanted: null, initialRttMs: 67 };
  assert.deepEqual(freshRule(h3(50, 4, 60), unasked), { afterMs: 76, heedsLife: false });
  assert.deepEqual(freshRule(h3(1, 0), unasked), { afterMs: 10, heedsLife: false });
  assert.equal(freshRule(h3(50, 4), { ...unasked, wanted: false }), null);
});

test('a fresh QUIC attempt on an unknown path: by the first sign of life, and after silence only where asked for', () => {
  for (const hints of [NO_HINTS, { ...NO_HINTS, h2: path(50, 4) }]) {
    const rule = (wanted: boolean | null) => freshRule(hints, { wanted, initialRttMs: 25 });
    assert.deepEqual(rule(null), { afterMs: null, heedsLife: true });
    assert.deepEqual(rule(true), { afterMs: 75, heedsLife: true });
    assert.equal(rule(false), null);
  }
});

test('RFC 6298 section 2.2: nothing is waited for longer than three times its time, however lossy the past', () => {
  assert.equal(startDelayMs(h3(4, 40, 5), null, null), 15);
  assert.equal(initialRttMs(h3(30, 40, 20)), 20);
  assert.equal(startDelayMs(h3(300, 2, 50), null, null), 58);
});

test('RFC 9002 section 6.1.2: nothing is overdue sooner than an eighth after its time', () => {
  assert.equal(initialRttMs(h3(48, 0)), 18);
  assert.equal(startDelayMs(h3(200, 0), null, null), 225);
});

test('no history and no configuration takes the Connection Attempt Delay out of its bounds', () => {
  const ms = fc.double({ min: 0, max: 1e6, noNaN: true });
  fc.assert(
    fc.property(ms, ms, fc.option(ms), (srttMs, rttvarMs, configuredMs) => {
      const delayMs = attemptDelayMs(h3(srttMs, rttvarMs), 'h3', configuredMs);
      assert.ok(delayMs >= (configuredMs === null ? 100 : 10) && delayMs <= 2000);
      const extensionMs = establishingMs(srttMs);
      assert.ok(extensionMs >= 10 && extensionMs <= 2000);
    }),
  );
});

test('broken means until its time', () => {
  const hints = { ...NO_HINTS, h3Broken: { code: 'udp-refused', untilMs: 100 } as const };
  assert.deepEqual(
    [h3IsBroken(hints, 99), h3IsBroken(hints, 100), h3IsBroken(NO_HINTS, 0)],
    [true, false, false],
  );
});
