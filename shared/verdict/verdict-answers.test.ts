// Verdicts on hosts that connect and do not answer as they should: a completed handshake is never called missing.

import { allTexts, base, dead, h2, h3, own, quiet, refused, unheard } from '../testing/race-samples.ts';
import { verdictAsText, verdictText } from './verdict-text.ts';
import '@photofinish/shared/language/english';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Attempt, AttemptError } from '../race/outcome.ts';
import { type Evidence, verdictOf } from './verdict.ts';

const late: AttemptError = { code: 'response-timeout', message: 'no complete response' };
const connected: Partial<Attempt> = { establishedMs: 2 };

function verdict(over: Partial<Evidence>) {
  return verdictOf({ ...base, discovered: quiet, ...over });
}

test('no answer over HTTP/3 but a good one over HTTP/2 does not mean that the host is down', () => {
  const { code, text } = verdictAsText(verdict({ attempts: [h3(late, connected), h2()] }));
  assert.equal(code, 'unknown');
  assert.match(
    text,
    /^Offers HTTP\/3 on port 443, but the handshake succeeds, but no complete response follows/,
  );
  assert.doesNotMatch(text, /down|TCP|[Uu]sually|Does not offer/);
});

test('a server that completes a handshake over HTTP/3 offers it, unless it does not serve the host', () => {
  const codeOf = (code: AttemptError['code']) =>
    verdict({ attempts: [h3({ code, message: 'm' }, connected), h2()] }).code;
  for (const code of ['goaway', 'h3-error', 'stateless-reset', 'connection-closed'] as const)
    assert.equal(codeOf(code), 'unknown', code);
  assert.equal(codeOf('misdirected'), 'h3-not-offered');
});

test('no answer in time over either: slow, not down', () => {
  const { code, text } = verdictAsText(verdict({ attempts: [h3(late, connected), h2(late, connected)] }));
  assert.equal(code, 'unknown');
  assert.match(
    text,
    /^Connects over HTTP\/3 and over HTTP\/2, but no complete response comes over either in time/,
  );
  assert.match(text, /slow or not responding/);
  assert.match(text, /or packets are lost on the path\. Check the application first/);
  assert.doesNotMatch(text, /is down/);
});

test('one connects and does not answer, the other does not connect', () => {
  const { text } = verdictAsText(verdict({ attempts: [h3(refused), h2(late, connected)] }));
  assert.match(
    text,
    /^No response comes over HTTP\/3 \(UDP refused\) or HTTP\/2 \(response timed out\): the handshake succeeds/,
  );
  assert.doesNotMatch(text, /MTU/, 'TLS fills packets too');
  assert.match(verdictText(verdict({ attempts: [h3(refused), h2(dead)] })), /^Neither HTTP\/3 .* connects/);
});

const begun: Partial<Attempt> = { ...connected, firstByteMs: 3 };

test('a response that begins and does not end is neither a missing one nor a missing connection', () => {
  const cut: AttemptError = { code: 'connection-closed', message: 'gone' };
  const lateOrCut = [
    [late, /a response begins and does not end in time\./],
    [cut, /a response begins and is then cut off \(gone\)\./],
  ] as const;
  for (const [error, says] of lateOrCut) {
    const overBoth = verdictAsText(verdict({ attempts: [h3(error, connected), h2(error, begun)] }));
    if (error === cut) {
      assert.match(overBoth.text, /^No complete response comes over HTTP\/3 .*\(response cut off\): a/);
      assert.match(overBoth.text, says);
    }
    const tcp = verdictAsText(verdict({ discovered: own, attempts: [h3(), h2(error, begun)] }));
    assert.equal(tcp.code, 'h3-available');
    assert.match(tcp.text, /^Supports HTTP\/3 on this network\. Over HTTP\/2, however, a response/);
    assert.match(tcp.text, says);
    assert.doesNotMatch(tcp.text, /only clients/);
    const lastNot = [h3(), h2(error, begun), h2(late, connected)];
    assert.equal(verdictText(verdict({ discovered: own, attempts: lastNot })), tcp.text);
    const advertised = verdictAsText(verdict({ discovered: own, attempts: [h3(error, begun), h2()] }));
    assert.equal(advertised.code, 'h3-advertised-unreachable');
    assert.match(advertised.text, says);
  }
});

test('HTTP/3 over which a response begins is offered, though not advertised', () => {
  const attempts = [h3(late, begun), h2()];
  const { code, text } = verdictAsText(verdict({ attempts }));
  assert.equal(code, 'unknown');
  assert.match(text, /^Offers HTTP\/3 on port 443, but a response begins and does not end in time\./);
  assert.match(text, /It is not advertised, .* send: Alt-Svc: h3=":443"/);
  const clear = verdictText(verdict({ attempts, discovered: { altSvc: 'clear', knownRoot: true } }));
  assert.match(clear, /Alt-Svc withdraws it/);
  const unknown = verdictText(verdict({ attempts, discovered: { ...quiet, names: unheard } }));
  assert.match(unknown, /Whether an HTTPS record advertises it is unknown/);
  const many = Array.from({ length: 40 }, (_, n) => `h2=":${n + 1}"`).join(', ');
  const unread = verdictText(verdict({ attempts, discovered: { altSvc: many, knownRoot: true } }));
  assert.match(unread, /Whether its Alt-Svc header advertises HTTP\/3 is unknown/);
  assert.doesNotMatch(unknown, /not advertised/);
});

test('responses that begin over both and do not end are slow, and that they begin is said', () => {
  const { text } = verdictAsText(verdict({ attempts: [h3(late, begun), h2(late, begun)] }));
  assert.match(text, /^Over HTTP\/3 and over HTTP\/2 a response begins, but over neither is it complete/);
  const told = (...attempts: Attempt[]) => verdictText(verdict({ attempts }));
  assert.match(told(h3(late, begun), h2(late, connected)), /^Connects over HTTP\/3 and over HTTP\/2/);
  assert.match(told(h3(late, connected), h2(late, begun)), /^Connects over HTTP\/3 and over HTTP\/2/);
  assert.match(told(h3(late, begun), h2(dead)), /^No complete response comes over HTTP\/3/);
  assert.match(told(h3(late, connected), h2(dead)), /^No response comes over HTTP\/3/);
});

test('the beginning of a response over TCP shows what it advertises', () => {
  const { code, text } = verdictAsText(verdict({ attempts: [h3(), h2(late, begun)] }));
  assert.equal(code, 'h3-not-advertised');
  assert.match(text, /does not advertise it/);
  assert.equal(verdict({ attempts: [h3(), h2(late, connected)] }).code, 'h3-available');
});

test('a status that differs by protocol in every response is said, and one that both had is not', () => {
  const answered = (status: number) => ({ firstByteMs: 3, status });
  const told = (...attempts: Attempt[]): string => verdictText(verdict({ discovered: own, attempts }));
  assert.match(
    told(h3(null, answered(503)), h2(null, answered(301)), h2(null, answered(200))),
    /^Supports HTTP\/3 on this network\. Its responses differ: status 503 over HTTP\/3, but 200, 301 over HTTP\/2\./,
  );
  for (const attempts of [
    [h3(null, answered(200)), h2(null, answered(200))],
    [h3(null, answered(200)), h3(null, answered(503)), h2(null, answered(200))],
    [h3(null, answered(503)), h2()],
    [h3(null, answered(200)), h2(null, answered(429))],
    [h3(null, answered(429)), h2(null, answered(200))],
    [h3(), h2(null, answered(200))],
  ])
    assert.doesNotMatch(told(...attempts), /differ/);
});

test('a status that differs is said with whichever verdict leads, and not of HTTP/3 that failed', () => {
  const answered = (status: number) => ({ firstByteMs: 3, status });
  const over = (...attempts: Attempt[]) => verdictAsText(verdict({ attempts }));
  const leads = over(h3(null, answered(503)), h2(null, answered(200)));
  assert.equal(leads.code, 'h3-not-advertised');
  assert.match(leads.text, /status 503 over HTTP\/3, but 200 over HTTP\/2/);
  assert.doesNotMatch(over(h3(late, { ...begun, status: 503 }), h2(null, answered(200))).text, /differ/);
});

test('HTTP/3 whose incomplete responses alone advertise it is not called unadvertised', () => {
  const discovered = { ...quiet, altSvcOver: { tcp: null, h3: 'h3=":443"' } };
  const { code, text } = verdictAsText(verdict({ discovered, attempts: [h3(late, begun), h2()] }));
  assert.equal(code, 'unknown');
  assert.match(text, /Only its responses over HTTP\/3 advertise it/);
  assert.doesNotMatch(text, /not advertised/);
});

test('a response that begins and is refused names the refusal', () => {
  const cut = (wireCode: string): AttemptError => ({ code: 'h3-error', message: 'm', wireCode });
  const said = (wireCode: string): string =>
    verdictText(verdict({ discovered: own, attempts: [h3(cut(wireCode), begun), h2()] }));
  assert.notEqual(said('H3_EXCESSIVE_LOAD'), said('H3_INTERNAL_ERROR'));
  assert.doesNotMatch(said('H3_EXCESSIVE_LOAD'), /cut off/);
  assert.match(said('H3_INTERNAL_ERROR'), /cut off/);
  // It answers a request that was processed.
  assert.match(said('H3_REQUEST_REJECTED'), /cut off/);
});

test('what was cut short is no evidence: it is unknown what an answer would have advertised', () => {
  const cut: Attempt = { ...h2(null, { outcome: 'cancelled' }), establishedMs: 2500 };
  const { code, text } = verdictAsText(verdict({ attempts: [h3(late, connected), cut] }));
  assert.equal(code, 'unknown');
  assert.doesNotMatch(text, /not advertised/);
});

test('a handshake of an attempt without a request does not refute a request that failed', () => {
  const unasked = h3(null, { outcome: 'established-late' });
  assert.equal(verdict({ attempts: [unasked, h3(late, connected), h2()] }).code, 'unknown');
  assert.equal(verdict({ attempts: [h3(), h3(late, connected), h2()] }).code, 'h3-not-advertised');
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
    'a TLS handshake that this side ended',
    { code: 'tls-alert', message: 'no shared group', endedBy: 'client' },
    /this client ended the TLS handshake \(no shared group\)/,
    /rejected/,
  ],
  [
    'a certificate with a known fault',
    { code: 'certificate-invalid', message: 'm', reason: 'expired' },
    /: the certificate has expired/,
    /was rejected/,
  ],
  [
    'GOAWAY with PROTOCOL_ERROR',
    { code: 'goaway', message: 'GOAWAY', wireCode: 'PROTOCOL_ERROR' },
    /sends GOAWAY with PROTOCOL_ERROR/,
    /either by/,
  ],
  [
    'a name that the server does not know',
    { code: 'tls-alert', message: 'the TLS alert unrecognized_name', wireCode: 'unrecognized_name' },
    /does not know the name of this host .* Configure the host there/,
    /TLS settings/,
  ],
  [
    'a connection that ends without a code, be it by the server or on the path',
    closed({ message: 'read ECONNRESET' }),
    /ends without a complete response \(read ECONNRESET\).*444.* firewall on the path resets/,
    /violat/,
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
    /\(protocol violation\): this side closed the connection because the other side violates/,
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

test('an Alt-Svc header that came with a 421 is said to be ignored, over whichever protocol', () => {
  const plain: AttemptError = { code: 'misdirected', message: '421' };
  const named: AttemptError = { ...plain, ignoredAltSvc: 'h3=":443"' };
  for (const [overH3, overH2, ignored] of [
    [plain, plain, false],
    [named, plain, true],
    [plain, named, true],
  ] as const) {
    const text = verdictText(verdict({ attempts: [h3(overH3, connected), h2(overH2, connected)] }));
    assert.equal(text.includes('which clients ignore'), ignored);
  }
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
    verdict({
      attempts: [h3(), old(null, connected), h2(null, { outcome: 'cancelled', establishedMs: null })],
    }),
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
