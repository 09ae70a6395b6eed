// What is learnt from trials, and what is not.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Attempt, Trial } from '@photofinish/shared/race/outcome';
import { decisionOf } from './remembered.ts';

type Outcome = readonly [Attempt['protocol'], Attempt['outcome'], NonNullable<Attempt['error']>['code']?];

function trial(cacheHit: boolean, ...outcomes: Outcome[]): Trial {
  const attempts = outcomes.map(([protocol, outcome, code]): Attempt => {
    const error = code && { code, message: code };
    return {
      protocol,
      address: '::1',
      port: 443,
      startedMs: 0,
      establishedMs: null,
      outcome,
      ...(error && { error }),
    };
  });
  const adopted = attempts.find((a) => a.outcome === 'adopted')?.protocol ?? null;
  const lateH3 = attempts.some((a) => a.outcome === 'established-late');
  return { adopted, establishedMs: null, firstByteMs: null, lateH3, cacheHit, attempts };
}

const H3_FAILED = ['h3', 'failed', 'udp-timeout'] as const;
const H2_ADOPTED = ['h2', 'adopted'] as const;

test('an adopted or a late HTTP/3 gives a decision for HTTP/3', () => {
  assert.equal(decisionOf([trial(false, ['h3', 'adopted'], ['h2', 'cancelled'])]), 'h3');
  assert.equal(decisionOf([trial(false, ['h3', 'established-late'], H2_ADOPTED)]), 'h3');
});

test('old HTTP is learnt when HTTP/3 was tried and failed', () => {
  assert.equal(decisionOf([trial(false, H3_FAILED, H2_ADOPTED)]), 'h2');
  assert.equal(decisionOf([trial(false, H3_FAILED, ['http/1.1', 'adopted'])]), 'http/1.1');
});

test('old HTTP alone proves nothing about HTTP/3, unless it was itself remembered', () => {
  assert.equal(decisionOf([trial(false, H2_ADOPTED)]), null);
  assert.equal(decisionOf([trial(false, ['h3', 'cancelled'], H2_ADOPTED)]), null);
  assert.equal(decisionOf([trial(true, H2_ADOPTED)]), 'h2');
  assert.equal(decisionOf([trial(true, ['h3', 'cancelled'], H2_ADOPTED)]), null, 'HTTP/3 was remembered');
});

test('nothing adopted, or the user cancelled: nothing learnt', () => {
  assert.equal(decisionOf([trial(false, H3_FAILED, ['h2', 'failed', 'tcp-refused'])]), null);
  assert.equal(decisionOf([trial(false, ['h3', 'cancelled', 'cancelled'])]), null);
  assert.equal(decisionOf([]), null);
});

test('our own fault teaches nothing about HTTP/3', () => {
  for (const remembered of [false, true])
    assert.equal(decisionOf([trial(remembered, ['h3', 'failed', 'internal'], H2_ADOPTED)]), null);
});

test('a compare series is evaluated as a whole; the last proof counts', () => {
  assert.equal(decisionOf([trial(false, ['h3', 'adopted']), trial(false, H2_ADOPTED)]), 'h3');
  assert.equal(decisionOf([trial(false, H3_FAILED), trial(false, H2_ADOPTED)]), 'h2');
  assert.equal(
    decisionOf([
      trial(false, ['h3', 'adopted']),
      trial(false, H2_ADOPTED),
      trial(false, H2_ADOPTED),
      trial(false, H3_FAILED),
    ]),
    'h2',
  );
});

test('HTTP/3 that failed at one address and was not tried at the others is not lost', () => {
  const undecided = { ...trial(false, H3_FAILED, H2_ADOPTED), h3Undecided: true };
  assert.equal(decisionOf([undecided]), null);
  assert.equal(decisionOf([trial(false, ['h3', 'adopted']), undecided]), 'h3');
});
