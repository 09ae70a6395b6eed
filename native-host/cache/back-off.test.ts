import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ATTEMPT_ERROR_CODES, type AttemptErrorCode } from '@photofinish/shared/race/terms';
import fc from 'fast-check';
import { down, up } from '../testing/cache-samples.ts';
import {
  backOffMs,
  failuresAfterSuccess,
  h3FailureOf,
  isMisdirectedAlternative,
  MAX_BACK_OFF_MS,
} from './back-off.ts';

const code = fc.constantFrom(...ATTEMPT_ERROR_CODES);

test('every cause has its first delay, with and without loss', () => {
  const first = (cause: AttemptErrorCode) => [backOffMs(cause, 1, false), backOffMs(cause, 1, true)];
  const table: Record<AttemptErrorCode, [number, number]> = {
    'dns-failed': [0, 0],
    'no-address': [0, 0],
    'udp-refused': [300_000, 300_000],
    'udp-timeout': [300_000, 60_000],
    'handshake-timeout': [300_000, 60_000],
    'udp-unreachable': [300_000, 300_000],
    'no-route': [0, 0],
    'tcp-refused': [0, 0],
    'tcp-unreachable': [0, 0],
    'tcp-timeout': [0, 0],
    'version-mismatch': [300_000, 300_000],
    'alpn-mismatch': [300_000, 300_000],
    'certificate-invalid': [300_000, 300_000],
    'tls-alert': [300_000, 300_000],
    'connection-closed': [60_000, 60_000],
    'stateless-reset': [30_000, 30_000],
    'h3-error': [300_000, 300_000],
    goaway: [30_000, 30_000],
    misdirected: [300_000, 300_000],
    'response-timeout': [300_000, 60_000],
    'version-fallback': [300_000, 300_000],
    'response-too-large': [0, 0],
    blocked: [0, 0],
    'port-blocked': [0, 0],
    cancelled: [0, 0],
    internal: [0, 0],
  };
  for (const cause of ATTEMPT_ERROR_CODES) assert.deepEqual(first(cause), table[cause], cause);
});

test('a back-off doubles with each failure, never shrinks, and never exceeds two days', () => {
  assert.deepEqual(
    [1, 2, 3].map((n) => backOffMs('udp-refused', n, false)),
    [300_000, 600_000, 1_200_000],
  );
  assert.equal(backOffMs('goaway', 40, false), 172_800_000);
  fc.assert(
    fc.property(code, fc.integer({ min: 1, max: 10_000 }), fc.boolean(), (cause, failures, lossy) => {
      const delay = backOffMs(cause, failures, lossy);
      assert.ok(delay >= 0 && delay <= MAX_BACK_OFF_MS);
      assert.ok(delay <= backOffMs(cause, failures + 1, lossy));
      assert.ok(backOffMs(cause, failures, true) <= backOffMs(cause, failures, false));
    }),
  );
});

test('of several failures at once the attempt that got furthest decides', () => {
  assert.equal(h3FailureOf([down('h3', 'goaway'), down('h3', 'udp-timeout')]), 'goaway');
  assert.equal(
    h3FailureOf([down('h3', 'udp-timeout'), down('h3', 'certificate-invalid')]),
    'certificate-invalid',
  );
  assert.equal(h3FailureOf([down('h3', 'udp-refused'), down('h3', 'cancelled')]), 'udp-refused');
});

test('failures that say nothing about QUIC are not failures of HTTP/3', () => {
  for (const cause of ['cancelled', 'blocked', 'dns-failed', 'no-address', 'no-route'] as const)
    assert.equal(h3FailureOf([down('h3', cause)]), null, cause);
  assert.equal(h3FailureOf([up('h3', { establishedMs: null, outcome: 'cancelled' })]), null);
  const wrong = { ...down('h3', 'misdirected'), source: 'alt-svc' } as const;
  assert.equal(h3FailureOf([wrong]), null);
  assert.equal(h3FailureOf([down('h3', 'misdirected')]), 'misdirected');
  const silent = { ...down('h3', 'udp-timeout'), source: 'alt-svc' } as const;
  const attempts = [wrong, down('h3', 'misdirected'), silent];
  assert.deepEqual(attempts.map(isMisdirectedAlternative), [true, false, false]);
});

test('a success halves the failures: a single one is forgotten at once, many after a few successes, and flapping never grows', () => {
  assert.equal(failuresAfterSuccess(1), 0);
  assert.equal(failuresAfterSuccess(9), 4);
  fc.assert(
    fc.property(fc.nat(50), (failures) => {
      assert.ok(failuresAfterSuccess(failures) + 1 <= Math.max(1, failures));
    }),
  );
});
