// Verdicts on hosts that connect and do not answer as they should: a completed handshake is never called missing.

import { allTexts } from '../testing/race-samples.ts';
import { verdictAsText, verdictText } from './verdict-text.ts';
import '@photofinish/shared/language/english';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Attempt, AttemptError } from '../race/outcome.ts';
import { base, dead, h2, h3, quiet, refused } from '../testing/evidence.ts';
import { type Evidence, verdictOf } from './verdict.ts';

const late: AttemptError = { code: 'response-timeout', message: 'no complete response' };
const connected: Partial<Attempt> = { establishedMs: 2 };

function verdict(over: Partial<Evidence>) {
  return verdictOf({ ...base, discovered: quiet, ...over });
}

test('no answer over HTTP/3 but a good one over HTTP/2 does not mean that the host is down', () => {
  const { code, text } = verdictAsText(verdict({ attempts: [h3(late, connected), h2()] }));
  assert.equal(code, 'h3-not-offered');
  assert.match(text, /the handshake succeeds, but no complete response follows in time/);
  assert.doesNotMatch(text, /down|TCP/);
});

test('no answer in time over either: slow, not down', () => {
  const { code, text } = verdictAsText(verdict({ attempts: [h3(late, connected), h2(late, connected)] }));
  assert.equal(code, 'unknown');
  assert.match(
    text,
    /^Connects over HTTP\/3 and over HTTP\/2, but no complete response comes over either in time/,
  );
  assert.match(text, /slow or not responding/);
  assert.doesNotMatch(text, /is down|packets/);
});

test('one connects and does not answer, the other does not connect', () => {
  const { text } = verdictAsText(verdict({ attempts: [h3(refused), h2(late, connected)] }));
  assert.match(
    text,
    /^No response comes over HTTP\/3 \(UDP refused\) or HTTP\/2 \(response timed out\): the handshake succeeds/,
  );
  assert.match(verdictText(verdict({ attempts: [h3(refused), h2(dead)] })), /^Neither HTTP\/3 .* connects/);
});

test('what was cut short is no evidence: it is unknown what an answer would have advertised', () => {
  const cut: Attempt = { ...h2(null, { outcome: 'cancelled' }), establishedMs: 2500 };
  const { code, text } = verdictAsText(verdict({ attempts: [h3(late, connected), cut] }));
  assert.equal(code, 'unknown');
  assert.doesNotMatch(text, /not advertised/);
});

test('a handshake of an attempt without a request does not refute a request that failed', () => {
  const unasked = h3(null, { outcome: 'established-late' });
  assert.equal(verdict({ attempts: [unasked, h3(late, connected), h2()] }).code, 'h3-not-offered');
  assert.notEqual(verdict({ attempts: [h3(), h3(late, connected), h2()] }).code, 'h3-not-offered');
});

const closed = (more: Partial<AttemptError>): AttemptError => ({
  code: 'connection-closed',
  message: 'said so',
  ...more,
});

const WORDS: readonly (readonly [what: string, error: AttemptError, says: RegExp, never: RegExp])[] = [
  [
    'a client certificate that is demanded',
    { code: 'tls-alert', message: 'the peer refused', wireCode: 'certificate_required' },
    /HTTP\/2 \(client certificate required\): the server demands a client certificate/,
    /TLS 1\.3|TLS settings/,
  ],
  [
    'a TLS version in common',
    { code: 'tls-alert', message: 'unsupported protocol', wireCode: 'protocol_version', endedBy: 'client' },
    /no TLS version that is still in use .* Enable TLS 1\.3/,
    /TLS settings/,
  ],
  [
    'any other alert',
    { code: 'tls-alert', message: 'the TLS alert access_denied', wireCode: 'access_denied' },
    /rejected \(the TLS alert access_denied\)/,
    /1\.3/,
  ],
  ['GOAWAY without a code', { code: 'goaway', message: 'GOAWAY' }, /draining/, /refuses/],
  [
    'GOAWAY in good order',
    { code: 'goaway', message: 'GOAWAY', wireCode: 'NO_ERROR' },
    /draining/,
    /refuses/,
  ],
  [
    'GOAWAY with ENHANCE_YOUR_CALM',
    { code: 'goaway', message: 'GOAWAY', wireCode: 'ENHANCE_YOUR_CALM' },
    /refuses with ENHANCE_YOUR_CALM: it considers the load from this client excessive/,
    /draining/,
  ],
  [
    'a stream reset with the same',
    closed({ wireCode: 'ENHANCE_YOUR_CALM' }),
    /refuses with ENHANCE_YOUR_CALM/,
    /closes/,
  ],
  [
    'GOAWAY with INADEQUATE_SECURITY',
    { code: 'goaway', message: 'GOAWAY', wireCode: 'INADEQUATE_SECURITY' },
    /too weak for HTTP\/2 .* Enable TLS 1\.3/,
    /draining/,
  ],
  [
    'GOAWAY with another code',
    { code: 'goaway', message: 'GOAWAY', wireCode: 'INTERNAL_ERROR' },
    /sends GOAWAY with INTERNAL_ERROR/,
    /draining/,
  ],
  [
    'a breach that this side found',
    closed({ wireCode: 'PROTOCOL_ERROR', endedBy: 'client' }),
    /\(protocol violation\): this side closed the connection with PROTOCOL_ERROR because the other side violates/,
    /server (closes|ends)/,
  ],
  [
    'a stream reset with PROTOCOL_ERROR, by whichever side',
    closed({ wireCode: 'PROTOCOL_ERROR', message: "the request's stream was reset (PROTOCOL_ERROR)" }),
    /reset with PROTOCOL_ERROR: either by the server, or by this side .* which of the two is not known here/,
    /violat|444/,
  ],
  [
    'nginx that is told to return 444',
    closed({ wireCode: 'INTERNAL_ERROR', message: "the request's stream was reset (INTERNAL_ERROR)" }),
    /the exchange ends without a complete response \(the request's stream was reset \(INTERNAL_ERROR\)\).*444/,
    /connects:|offering HTTP\/3/,
  ],
  [
    '421',
    { code: 'misdirected', message: '421', ignoredAltSvc: 'h3=":443"' },
    /does not serve a\.test on this port\. .* ignore, as required/,
    /offering HTTP\/3|Neither/,
  ],
];
for (const [what, error, says, never] of WORDS)
  test(`over both protocols: ${what}`, () => {
    const { code, text } = verdictAsText(verdict({ attempts: [h3(error, connected), h2(error, connected)] }));
    assert.equal(code, 'unknown');
    assert.match(text, says);
    assert.doesNotMatch(text, never);
  });

test('a draft version advertised where nothing listens: QUIC first, then its advertisement', () => {
  const drafts = { altSvc: 'h3-29=":443"', knownRoot: true };
  const silent = verdict({ discovered: drafts, attempts: [h3(refused), h2()] });
  assert.equal(silent.code, 'h3-advertisement-wrong');
  assert.match(verdictText(silent), /Make QUIC version 1 listen on UDP 443 first, then advertise h3/);
  assert.doesNotMatch(verdictText(silent), /send: Alt-Svc/);
  const speaking = verdict({ discovered: drafts });
  assert.match(verdictText(speaking), /For example, send: Alt-Svc: h3=":443"/);
});

test('a server with HTTP/1.1 is not said to speak HTTP/2', () => {
  const old = (error: AttemptError | null, over: Partial<Attempt>): Attempt => ({
    ...h2(error, over),
    protocol: 'http/1.1',
  });
  const browser = { lastProtocol: 'http/1.1', visitsSinceAdvertised: 9 } as const;
  const refusing: AttemptError = { code: 'misdirected', message: '421' };
  const texts = [
    verdict({ attempts: [h3(), old(null, connected)] }),
    verdict({ attempts: [h3(), old(null, connected)], discovered: { altSvc: 'clear', knownRoot: true } }),
    verdict({ attempts: [h3(late, connected), old(late, connected)] }),
    verdict({ attempts: [h3(refusing, connected), old(refusing, connected)] }),
    verdict({ attempts: [old(refusing, connected)] }),
    verdict({ attempts: [old(null, connected)] }),
    verdict({ attempts: [old(null, connected)], leftOut: true }),
    verdict({ attempts: [h3(), old(refusing, connected)] }),
    verdictOf({ ...base, attempts: [h3(), old(null, connected)], browser }),
  ].flatMap(allTexts);
  assert.match(texts[0] ?? '', /browsers stay on HTTP\/1\.1/);
  for (const text of texts) assert.doesNotMatch(text, /HTTP\/2/);
});
