import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Names, ServiceRecord } from './discovered.ts';
import type { Origin } from './origin.ts';
import { originParts } from './origin.ts';
import {
  ATTEMPT_ERROR_CODES,
  type Attempt,
  type AttemptError,
  CERTIFICATE_REASONS,
  type Discovered,
} from './outcome.ts';
import { attempt, originRace, trial } from './race-samples.fixture.ts';
import { type Evidence, evidenceOfRace, verdictOf } from './verdict.ts';
import type { VerdictCode } from './verdict-schema.ts';

const origin = originParts('https://a.test' as Origin);
const refused: AttemptError = { code: 'udp-refused', message: 'refused' };
const silent: AttemptError = { code: 'udp-timeout', message: 'no answer' };
const dead: AttemptError = { code: 'tcp-refused', message: 'connection refused' };
const quiet = { altSvc: null, knownRoot: true };
const own: Discovered = { altSvc: 'h3=":443"', knownRoot: true };

/** An attempt over HTTP/3: established, or failed with the error. */
function h3(error: AttemptError | null = null, over: Partial<Attempt> = {}): Attempt {
  return error === null
    ? attempt({ protocol: 'h3', outcome: 'adopted', establishedMs: 2, ...over })
    : attempt({ protocol: 'h3', outcome: 'failed', error, ...over });
}

function h2(error: AttemptError | null = null, over: Partial<Attempt> = {}): Attempt {
  return { ...h3(error, over), protocol: 'h2' };
}

const base: Evidence = { origin, attempts: [h3(), h2()], discovered: own, gainMs: null };

const A_RECORD: ServiceRecord = {
  owner: 'a.test',
  priority: 1,
  target: 'a.test',
  alpn: ['h3', 'h2'],
  noDefaultAlpn: false,
  port: null,
  ipv4Hints: [],
  ipv6Hints: [],
  ech: false,
  incompatible: false,
  ttlSeconds: 300,
};

function names(services: Partial<ServiceRecord>[], over: Partial<Names> = {}): Names {
  return { addresses: [], lookups: [], services: services.map((s) => ({ ...A_RECORD, ...s })), ...over };
}

/** `b.test` was asked for both kinds of address and nothing came of it. */
const unresolved: Names['lookups'] = (['A', 'AAAA'] as const).map((kind) => ({
  ...{ name: 'b.test', kind, tookMs: 3, outcome: 'failed', records: 0, message: 'NXDOMAIN' },
}));

const misdirected: AttemptError = { code: 'misdirected', message: 'answered 421' };
const wrongName: AttemptError = { code: 'certificate-invalid', message: 'name', reason: 'wrong-name' };
const at444 = { altSvc: 'h3=":444"', knownRoot: true };
const atB = { altSvc: 'h3="b.test:444"', knownRoot: true };
const onB = { host: 'b.test', port: 444, source: 'alt-svc' } as const;

type Row = readonly [string, Partial<Evidence>, VerdictCode, VerdictCode[], RegExp?];

const REACHED: readonly Row[] = [
  ['advertised and reachable', {}, 'h3-available', []],
  ['reachable, unadvertised', { discovered: quiet }, 'h3-not-advertised', ['h3-available'], /Send: Alt-Svc/],
  [
    'reachable, advertised by its HTTPS record alone',
    { discovered: { ...quiet, names: names([{}]) } },
    'h3-available',
    [],
  ],
  [
    'reachable, advertised in memory alone',
    {
      discovered: {
        ...quiet,
        alternatives: [
          { alpn: 'h3', host: '', port: 443, persist: false, expiresInSeconds: 9, source: 'memory' },
        ],
      },
    },
    'h3-available',
    [],
  ],
  [
    'reachable, the remembered advertisement has expired',
    {
      discovered: {
        ...quiet,
        alternatives: [
          { alpn: 'h3', host: '', port: 443, persist: false, expiresInSeconds: 0, source: 'memory' },
        ],
      },
    },
    'h3-not-advertised',
    ['h3-available'],
  ],
  [
    'an HTTPS record in AliasMode advertises nothing',
    { discovered: { ...quiet, names: names([{ priority: 0, alpn: [] }]) } },
    'h3-not-advertised',
    ['h3-available'],
  ],
  [
    'reachable, withdrawn by clear',
    { discovered: { altSvc: 'clear', knownRoot: true } },
    'h3-not-advertised',
    ['h3-available'],
    /withdraws its advertisement \(Alt-Svc: clear\)/,
  ],
  ['private root', { discovered: { ...own, knownRoot: false } }, 'h3-private-root', ['h3-available']],
  [
    'private root and unadvertised',
    { discovered: { altSvc: null, knownRoot: false } },
    'h3-not-advertised',
    ['h3-private-root', 'h3-available'],
  ],
  ['HTTP/2 dead', { attempts: [h3(), h2(dead)] }, 'h3-available', [], /HTTP\/2 fails \(TCP refused\)/],
  [
    'advertised elsewhere, where it works',
    { discovered: atB, attempts: [h3(refused), h3(null, onB), h2()] },
    'h3-available',
    [],
  ],
  [
    'two places advertised, one of them dead',
    {
      discovered: { altSvc: 'h3=":444", h3=":443"', knownRoot: true },
      attempts: [h3(refused, { port: 444 }), h3(), h2()],
    },
    'h3-available',
    ['h3-advertisement-wrong'],
  ],
];

const UNREACHABLE: readonly Row[] = [
  [
    'advertised, UDP refused',
    { attempts: [h3(refused), h2()] },
    'h3-advertised-unreachable',
    [],
    /UDP there is refused/,
  ],
  [
    'advertised, UDP silent',
    { attempts: [h3(silent), h2()] },
    'h3-advertised-unreachable',
    [],
    /Open UDP 443 or withdraw the Alt-Svc header/,
  ],
  [
    'advertised by an HTTPS record, UDP silent',
    { discovered: { ...quiet, names: names([{}]) }, attempts: [h3(silent), h2()] },
    'h3-advertised-unreachable',
    [],
    /in its HTTPS record, but nothing comes back.* withdraw h3 from the HTTPS record/,
  ],
  [
    'the place of an HTTPS record: its port, its target',
    {
      discovered: { ...quiet, names: names([{ target: 'b.test', port: 444 }]) },
      attempts: [h3(silent, { ...onB, source: 'https-record' }), h2()],
    },
    'h3-advertised-unreachable',
    [],
    /at b\.test:444 in its HTTPS record/,
  ],
  [
    'advertised elsewhere first and here second, both dead',
    {
      discovered: { altSvc: 'h3="b.test:444", h3=":443"', knownRoot: true },
      attempts: [h3(refused), h3(silent, onB), h2()],
    },
    'h3-advertised-unreachable',
    [],
    /at b\.test:444, but .* It fails as well on port 443 \(UDP refused\)/,
  ],
  [
    'advertised on another host, which no attempt went to',
    { discovered: atB, attempts: [h3(refused), h2()] },
    'unknown',
    [],
    /at b\.test:444, which was not tried; on its own port 443 QUIC fails \(udp-refused\)/,
  ],
  ['no advertisement, no QUIC', { attempts: [h3(silent), h2()], discovered: quiet }, 'h3-not-offered', []],
  [
    'no advertisement, QUIC that answers and fails',
    { attempts: [h3(wrongName), h2()], discovered: quiet },
    'h3-not-offered',
    [],
    /nothing advertises it, and on port 443 the certificate there is for another name.* Then send/,
  ],
  [
    'withdrawn, no QUIC',
    { attempts: [h3(refused), h2()], discovered: { altSvc: 'clear', knownRoot: true } },
    'h3-not-offered',
    [],
    /withdraws it \(clear\)/,
  ],
  [
    'IPv6 alone broken',
    { attempts: [h3(silent, { address: '2001:db8::1' }), h3(), h2()] },
    'h3-available',
    ['h3-advertised-unreachable'],
  ],
  [
    'an HTTPS record and Alt-Svc name the same dead place',
    { discovered: { ...own, names: names([{}]) }, attempts: [h3(silent), h2()] },
    'h3-advertised-unreachable',
    [],
  ],
];

const WRONG: readonly Row[] = [
  [
    'a port where nothing listens',
    { discovered: at444, attempts: [h3(refused, { port: 444 }), h2()] },
    'h3-advertisement-wrong',
    ['h3-advertised-unreachable'],
    /on port 444, where nothing listens, while the site itself is on port 443/,
  ],
  [
    'a port that does not answer, while the own port speaks HTTP/3',
    { discovered: at444, attempts: [h3(), h3(silent, { port: 444 }), h2()] },
    'h3-advertisement-wrong',
    ['h3-advertised-unreachable', 'h3-available'],
    /nothing answers \(udp-timeout\), while it speaks HTTP\/3 on port 443\. Correct the port/,
  ],
  [
    'a port behind silence may be a firewall’s',
    { discovered: at444, attempts: [h3(silent, { port: 444 }), h2()] },
    'h3-advertised-unreachable',
    [],
  ],
  [
    'a host without an address',
    { discovered: { ...atB, names: names([], { lookups: unresolved }) }, attempts: [h3(refused), h2()] },
    'h3-advertisement-wrong',
    ['h3-advertised-unreachable'],
    /at b\.test:444, a name that leads to no address/,
  ],
  [
    'a host without the certificate',
    { discovered: atB, attempts: [h3(refused), h3(wrongName, onB), h2()] },
    'h3-advertisement-wrong',
    ['h3-advertised-unreachable'],
    /no valid certificate for a\.test \(wrong-name\)/,
  ],
  [
    'a host that answers 421',
    { discovered: atB, attempts: [h3(refused), h3(misdirected, onB), h2()] },
    'h3-advertisement-wrong',
    ['h3-advertised-unreachable'],
    /refuses to answer for a\.test \(421\)/,
  ],
  [
    'the target of an HTTPS record without an address',
    {
      discovered: { ...quiet, names: names([{ target: 'b.test' }], { lookups: unresolved }) },
      attempts: [h3(refused), h2()],
    },
    'h3-advertisement-wrong',
    ['h3-advertised-unreachable'],
    /Correct the host in the HTTPS record/,
  ],
  [
    'a header that cannot be parsed',
    { attempts: [h3(silent), h2()], discovered: { altSvc: 'h3=443', knownRoot: true } },
    'h3-advertisement-wrong',
    ['h3-not-offered'],
    /cannot be parsed/,
  ],
  [
    'a header of which a part cannot be parsed',
    { discovered: { altSvc: 'h3=":443", h3=444', knownRoot: true } },
    'h3-advertisement-wrong',
    ['h3-available'],
    /1 of the 2 entries/,
  ],
  [
    'a lifetime of nothing',
    { discovered: { altSvc: 'h3=":443"; ma=0', knownRoot: true } },
    'h3-advertisement-wrong',
    ['h3-not-advertised', 'h3-available'],
    /ma=0/,
  ],
  [
    'drafts only',
    { discovered: { altSvc: 'h3-29=":443", quic=":443"', knownRoot: true } },
    'h3-advertisement-wrong',
    ['h3-not-advertised', 'h3-available'],
    /drafts of HTTP\/3 only \(h3-29, quic\)/,
  ],
  [
    'an HTTPS record that clients must ignore, and nothing else',
    { discovered: { ...quiet, names: names([{ incompatible: true }]) } },
    'h3-advertisement-wrong',
    ['h3-not-advertised', 'h3-available'],
    /mandatory/,
  ],
  [
    'an HTTPS record that clients must ignore, beside Alt-Svc',
    { discovered: { ...own, names: names([{ incompatible: true }]) } },
    'h3-available',
    ['h3-advertisement-wrong'],
  ],
  [
    'an HTTPS record without h3 beside Alt-Svc with it',
    { discovered: { ...own, names: names([{ alpn: ['h2'] }]) } },
    'h3-available',
    ['h3-advertisement-wrong'],
  ],
  [
    'an HTTPS record and Alt-Svc that name different places',
    { discovered: { ...own, names: names([{ port: 8443 }]) } },
    'h3-available',
    ['h3-advertisement-wrong'],
  ],
  [
    'an HTTPS record with h3 beside clear',
    { discovered: { altSvc: 'clear', knownRoot: true, names: names([{}]) } },
    'h3-available',
    ['h3-advertisement-wrong'],
  ],
  [
    'an HTTPS record of the alternative’s host is no contradiction',
    {
      discovered: { ...atB, names: names([{ owner: '_444._https.b.test', alpn: ['h2'] }]) },
      attempts: [h3(refused), h3(null, onB), h2()],
    },
    'h3-available',
    [],
  ],
];

const UNKNOWN: readonly Row[] = [
  [
    'both dead',
    { attempts: [h3(silent), h2(dead)], discovered: { altSvc: null, knownRoot: null } },
    'unknown',
    [],
    /Neither HTTP\/3 \(udp-timeout\) nor HTTP\/2 \(tcp-refused\).* Start the server/,
  ],
  [
    'both dead although memory has an advertisement for another port',
    { attempts: [h3(refused, { port: 444 }), h2(dead)], discovered: at444 },
    'unknown',
    [],
  ],
  ['nothing tried', { attempts: [], discovered: { altSvc: null, knownRoot: null } }, 'unknown', []],
  [
    'only HTTP/3 tried, in vain',
    { attempts: [h3(silent)], discovered: { altSvc: null, knownRoot: null } },
    'unknown',
    [],
    /QUIC on port 443 fails \(udp-timeout\), and not enough was seen/,
  ],
  [
    'a name that cannot be resolved',
    {
      attempts: [],
      discovered: { altSvc: null, knownRoot: null },
      error: { code: 'dns-failed', message: 'NXDOMAIN' },
    },
    'unknown',
    [],
    /a\.test cannot be looked up \(NXDOMAIN\)/,
  ],
  [
    'HTTP/3 left out by memory',
    { attempts: [h2()], discovered: quiet, leftOut: true },
    'unknown',
    [],
    /host cache remembers/,
  ],
];

const BROWSER: readonly Row[] = [
  [
    'the browser used it',
    { browser: { lastProtocol: 'h3', visitsSinceAdvertised: 4 } },
    'h3-used',
    ['h3-available'],
  ],
  [
    'the browser could not know yet',
    { browser: { lastProtocol: 'h2', visitsSinceAdvertised: 1 } },
    'h3-first-visit',
    ['h3-available'],
  ],
  [
    'the browser could not know yet, and nothing was raced',
    { attempts: [], browser: { lastProtocol: 'h2', visitsSinceAdvertised: 1 } },
    'h3-first-visit',
    [],
  ],
  [
    'the browser stays away',
    { browser: { lastProtocol: 'h2', visitsSinceAdvertised: 3 } },
    'h3-browser-avoids',
    ['h3-available'],
  ],
  [
    'the browser stays away because of the root',
    {
      discovered: { ...own, knownRoot: false },
      browser: { lastProtocol: 'h2', visitsSinceAdvertised: 9 },
    },
    'h3-private-root',
    ['h3-available'],
  ],
  [
    'the browser on h2, HTTP/3 unreachable',
    { attempts: [h3(silent), h2()], browser: { lastProtocol: 'h2', visitsSinceAdvertised: 9 } },
    'h3-advertised-unreachable',
    [],
  ],
  [
    'the browser on h2, the advertised port wrong',
    {
      discovered: at444,
      attempts: [h3(), h3(refused, { port: 444 }), h2()],
      browser: { lastProtocol: 'h2', visitsSinceAdvertised: 1 },
    },
    'h3-advertisement-wrong',
    ['h3-advertised-unreachable', 'h3-available'],
  ],
  [
    'the browser on h2, nothing advertised',
    { discovered: quiet, browser: { lastProtocol: 'h2', visitsSinceAdvertised: 9 } },
    'h3-not-advertised',
    ['h3-available'],
  ],
];

for (const [name, change, code, findings, words] of [
  ...REACHED,
  ...UNREACHABLE,
  ...WRONG,
  ...UNKNOWN,
  ...BROWSER,
])
  test(`${name}: ${code}`, () => {
    const verdict = verdictOf({ ...base, ...change });
    assert.equal(verdict.code, code);
    assert.deepEqual(
      verdict.findings.map((f) => f.code),
      findings,
    );
    if (words !== undefined) assert.match(verdict.text, words);
    for (const { text } of [verdict, ...verdict.findings]) {
      assert.match(text, /^[A-Z0-9].*\.$/, 'a sentence');
      assert.doesNotMatch(text, /[!{}]|undefined|null/);
    }
  });

const FAILURES = ATTEMPT_ERROR_CODES.filter((code) => code !== 'cancelled');
/** What an operator can do, by the code that HTTP/3 fails with where it is advertised. */
const ACTIONS: Record<(typeof FAILURES)[number], RegExp> = {
  'dns-failed': /Correct the name or its DNS/,
  'no-address': /Add A and AAAA records/,
  'udp-refused': /Open UDP 443 on the server/,
  'udp-timeout': /Open UDP 443 or withdraw/,
  'handshake-timeout': /path that drops large UDP datagrams/,
  'tcp-refused': /open TCP 443/,
  'tcp-timeout': /firewall on the way drops TCP 443/,
  'version-mismatch': /Enable QUIC version 1/,
  'alpn-mismatch': /Enable it in its configuration/,
  'certificate-invalid': /Serve the same certificate as on TCP/,
  'tls-alert': /Compare the TLS settings/,
  'connection-closed': /Look at the server log/,
  'stateless-reset': /one connection to one backend/,
  'h3-error': /server log for HTTP\/3 errors/,
  goaway: /restarts and limits/,
  misdirected: /Configure this host there/,
  'response-timeout': /path MTU.*lower the MTU/,
  blocked: /Allow private addresses/,
};

for (const code of FAILURES)
  test(`HTTP/3 that is advertised and fails by ${code} says what to do`, () => {
    const verdict = verdictOf({ ...base, attempts: [h3({ code, message: 'words of the peer' }), h2()] });
    assert.equal(verdict.code, 'h3-advertised-unreachable');
    assert.match(verdict.text, /^Advertises HTTP\/3 on port 443, but /);
    assert.match(verdict.text, ACTIONS[code]);
    assert.doesNotMatch(verdict.text, /[{}]|undefined/);
  });

test('each reason for which a certificate is refused has words of its own', () => {
  const texts = CERTIFICATE_REASONS.map((reason) => {
    const error: AttemptError = { code: 'certificate-invalid', message: 'm', reason };
    return verdictOf({ ...base, attempts: [h3(error), h2()] }).text;
  });
  assert.equal(new Set(texts).size, CERTIFICATE_REASONS.length);
  for (const text of texts) assert.match(text, /certificate/);
});

test('an attempt that was told to stop proves nothing', () => {
  const cancelled: AttemptError = { code: 'cancelled', message: 'beaten' };
  const verdict = verdictOf({ ...base, attempts: [h3(cancelled, { outcome: 'cancelled' }), h2()] });
  assert.equal(verdict.code, 'unknown');
});

test('what the peer said fills the words and is never read as one of their places', () => {
  const error: AttemptError = { code: 'connection-closed', message: '{port} $& {host}' };
  assert.match(
    verdictOf({ ...base, attempts: [h3(error), h2()] }).text,
    /closes the connection \(\{port\} \$& \{host\}\)/,
  );
});

const blockedHere = { failedHosts: 2, reachedHosts: 0 };

test('your network blocks UDP: only with two other hosts that fail and none that is reached', () => {
  const unanswered = { ...base, attempts: [h3(silent), h2()] };
  const says = (network: Evidence['network'], over: Partial<Evidence> = {}): boolean =>
    /your network blocks UDP: \d+ other hosts/.test(
      verdictOf({ ...unanswered, ...over, ...(network && { network }) }).text,
    );
  assert.equal(says(undefined), false);
  assert.equal(says({ failedHosts: 1, reachedHosts: 0 }), false);
  assert.equal(says(blockedHere), true);
  assert.equal(says({ failedHosts: 9, reachedHosts: 1 }), false);
  assert.equal(says(blockedHere, { attempts: [h3(refused), h2()] }), true);
  const heard: AttemptError = { code: 'handshake-timeout', message: 'm' };
  assert.equal(says(blockedHere, { attempts: [h3(heard), h2()] }), false, 'the peer was heard over UDP');
});

test('a host that fails where others are reached is told that it is this host', () => {
  const network = { failedHosts: 5, reachedHosts: 1 };
  const { text } = verdictOf({ ...base, network, attempts: [h3(silent), h2()] });
  assert.match(text, /Open UDP 443.* it is this host\.$/);
});

test('where the network blocks UDP nobody is told to enable HTTP/3', () => {
  const verdict = verdictOf({
    ...base,
    network: blockedHere,
    discovered: quiet,
    attempts: [h3(silent), h2()],
  });
  assert.equal(verdict.code, 'h3-not-offered');
  assert.match(verdict.text, /cannot be told: your network blocks UDP/);
  assert.doesNotMatch(verdict.text, /Enable HTTP\/3/);
});

const v6 = { address: '2001:db8::1' };

test('one family only: which one fails, how, and whether TCP shares its fate', () => {
  const familyOf = (attempts: Attempt[], discovered = own): string => {
    const verdict = verdictOf({ ...base, attempts, discovered });
    return [verdict, ...verdict.findings].map(({ text }) => text).join('\n');
  };
  const quicOnly = familyOf([h3(silent, v6), h3(), h2(null, v6)]);
  assert.match(
    quicOnly,
    /fails over IPv6 \(no answer over UDP\) and works over IPv4\. Let QUIC listen on the IPv6/,
  );
  assert.match(
    familyOf([h3(refused), h3(null, v6), h2()]),
    /fails over IPv4 \(UDP refused\) and works over IPv6/,
  );
  assert.match(familyOf([h3(silent, v6), h3(), h2(dead, v6), h2()]), /IPv6 as a whole is broken/);
  assert.match(familyOf([h3(silent, v6), h3(), h2()], quiet), /Before you do: HTTP\/3 fails over IPv6/);
  assert.doesNotMatch(
    familyOf([h3(null, v6), h3(silent), h3(), h2()]),
    /fails over/,
    'one address of several',
  );
});

test('the gain is told in milliseconds with three significant figures, whoever is quicker', () => {
  assert.match(verdictOf({ ...base, gainMs: 41.234 }).text, /HTTP\/2 takes 41\.2 ms longer/);
  assert.match(verdictOf({ ...base, gainMs: -0.5 }).text, /HTTP\/3 takes 0\.5 ms longer/);
  assert.doesNotMatch(verdictOf(base).text, /longer/);
  const { findings } = verdictOf({ ...base, gainMs: 3, discovered: { ...own, knownRoot: false } });
  assert.ok(findings.length > 0 && findings.every(({ text }) => !text.includes('longer')), 'once is enough');
});

test('the evidence of a race is its attempts, and why there are none', () => {
  const failed = attempt({ protocol: 'h3', outcome: 'failed', error: silent, establishedMs: 3 });
  const race = originRace([trial([failed], null), trial([h2()], 'h2')]);
  const evidence = evidenceOfRace(race);
  assert.deepEqual(evidence.attempts, [failed, h2()]);
  assert.equal(verdictOf(evidence).code, 'h3-advertised-unreachable', 'a handshake without an answer failed');
  const unraced = originRace([], { error: { code: 'no-address', message: 'none' } });
  assert.match(verdictOf(evidenceOfRace(unraced)).text, /^Could not be tried: example\.org has no address/);
  const cut = originRace([], { error: { code: 'cancelled', message: 'cut' } });
  assert.doesNotMatch(verdictOf(evidenceOfRace(cut)).text, /Could not be tried/);
});

test('a race that memory decided against HTTP/3 says that it was left out', () => {
  const race = originRace([{ ...trial([h2()], 'h2'), cacheHit: true }]);
  assert.match(verdictOf(evidenceOfRace(race)).text, /host cache remembers/);
});
