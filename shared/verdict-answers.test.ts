// Verdicts on hosts that connect and do not answer as they should: a handshake that was is never called none.
import '@photofinish/shared/english';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { base, dead, h2, h3, quiet, refused } from './evidence.fixture.ts';
import type { Attempt, AttemptError } from './outcome.ts';
import { type Evidence, verdictOf } from './verdict.ts';

const late: AttemptError = { code: 'response-timeout', message: 'no complete answer' };
const connected: Partial<Attempt> = { establishedMs: 2 };

function verdict(over: Partial<Evidence>) {
  return verdictOf({ ...base, discovered: quiet, ...over });
}

test('no answer over HTTP/3 beside a good one over HTTP/2 is no host that is down', () => {
  const { code, text } = verdict({ attempts: [h3(late, connected), h2()] });
  assert.equal(code, 'h3-not-offered');
  assert.match(text, /the handshake succeeds and no response follows in time/);
  assert.doesNotMatch(text, /down|TCP/);
});

test('no answer in time over either: slow, not down', () => {
  const { code, text } = verdict({ attempts: [h3(late, connected), h2(late, connected)] });
  assert.equal(code, 'unknown');
  assert.match(text, /^Connects over HTTP\/3 and over HTTP\/2, but no response comes over either in time/);
  assert.match(text, /slow or not responding/);
  assert.doesNotMatch(text, /is down|packets/);
});

test('one that connects and does not answer, one that does not connect', () => {
  const { text } = verdict({ attempts: [h3(refused), h2(late, connected)] });
  assert.match(
    text,
    /^No response comes over HTTP\/3 \(UDP port closed\) or HTTP\/2 \(response timed out\): the handshake succeeds/,
  );
  assert.match(verdict({ attempts: [h3(refused), h2(dead)] }).text, /^Neither HTTP\/3 .* connects/);
});

test('what was cut short is no evidence: nobody knows what an answer would have advertised', () => {
  const cut: Attempt = { ...h2(null, { outcome: 'cancelled' }), establishedMs: 2500 };
  const { code, text } = verdict({ attempts: [h3(late, connected), cut] });
  assert.equal(code, 'unknown');
  assert.doesNotMatch(text, /not advertised/);
});

test('a handshake of an attempt that was asked for nothing does not refute a request that failed', () => {
  const unasked = h3(null, { outcome: 'established-late' });
  assert.equal(verdict({ attempts: [unasked, h3(late, connected), h2()] }).code, 'h3-not-offered');
  assert.notEqual(verdict({ attempts: [h3(), h3(late, connected), h2()] }).code, 'h3-not-offered');
});
