// What verdicts say beyond their codes: an action for every failure, whose fault it is, and the source of the evidence.

import {
  allTexts,
  atB,
  attempt,
  base,
  dead,
  h2,
  h3,
  names,
  onB,
  originRace,
  own,
  quiet,
  refused,
  silent,
  trial,
  unasked,
  unheard,
} from '../testing/race-samples.ts';
import { otherFindings, verdictAsText, verdictText } from './verdict-text.ts';
import '@photofinish/shared/language/english';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Attempt, AttemptError, OriginRace } from '../race/outcome.ts';
import { ATTEMPT_ERROR_CODES, CERTIFICATE_REASONS, MEMORIES } from '../race/terms.ts';
import type { Origin } from '../web/origin.ts';
import type { Gain } from './gain.ts';
import { type Evidence, evidenceOfRace, verdictOf } from './verdict.ts';

const FAILURES = ATTEMPT_ERROR_CODES.filter(
  (code) => code !== 'cancelled' && code !== 'internal' && code !== 'response-too-large',
);
const v6 = { address: '2001:db8::1' };

/** What an operator can do, by the code with which HTTP/3 fails where it is advertised. */
const ACTIONS: Record<(typeof FAILURES)[number], RegExp> = {
  'dns-failed': /Check the name and its DNS/,
  'no-address': /\(words of the peer\)\. Check the name and its A, AAAA and HTTPS records/,
  'udp-refused': /Open UDP 443 on the server/,
  'udp-timeout': /Open UDP 443 or remove/,
  'handshake-timeout': /path that drops large UDP datagrams/,
  'tcp-refused': /open TCP 443/,
  'tcp-timeout': /firewall on the path drops TCP 443/,
  'version-mismatch': /Enable QUIC version 1/,
  'alpn-mismatch': /Enable the missing protocol in its configuration/,
  'certificate-invalid': /Serve the same certificate as on TCP/,
  'tls-alert': /Compare the TLS settings/,
  'connection-closed': /Check the server log/,
  'stateless-reset': /one connection to one backend/,
  'h3-error': /server log for HTTP\/3 errors/,
  goaway: /restarts and limits/,
  misdirected: /Configure this host there/,
  'response-timeout': /path MTU.*lower the tunnel’s MTU/,
  blocked: /Allow private addresses/,
  'port-blocked': /Use another port/,
  'version-fallback': /change the server’s configuration for this URL/,
  'udp-unreachable':
    /Allow UDP 443 in the firewalls of this network and of the server, and check the routes of this machine/,
  'tcp-unreachable': /firewalls that reject TCP 443, and the routes of this machine/,
  'no-route': /says nothing about the server\. Check the network of this machine/,
};

for (const code of FAILURES)
  test(`advertised HTTP/3 that fails with ${code} says what to do`, () => {
    const verdict = verdictOf({ ...base, attempts: [h3({ code, message: 'words of the peer' }), h2()] });
    assert.equal(verdict.code, 'h3-advertised-unreachable');
    assert.match(verdictText(verdict), /^Advertises HTTP\/3 on port 443, but /);
    assert.match(verdictText(verdict), ACTIONS[code]);
    assert.doesNotMatch(verdictText(verdict), /[{}]|undefined/);
  });

test('each reason for which a certificate is rejected has its own text', () => {
  const texts = CERTIFICATE_REASONS.map((reason) => {
    const error: AttemptError = { code: 'certificate-invalid', message: 'm', reason };
    return verdictText(verdictOf({ ...base, attempts: [h3(error), h2()] }));
  });
  assert.equal(new Set(texts).size, CERTIFICATE_REASONS.length);
  for (const text of texts) assert.match(text, /certificate/);
});

test('a stream that was refused is not called a shutdown', () => {
  for (const wireCode of ['REFUSED_STREAM', 'H3_REQUEST_REJECTED']) {
    const error: AttemptError = { code: 'goaway', message: 'm', wireCode };
    const text = verdictText(verdictOf({ ...base, attempts: [h3(error), h2(error)] }));
    assert.match(text, /\(request refused\).* refuses the request without processing it/);
    assert.doesNotMatch(text, /GOAWAY|shutting down/);
  }
});

test('a cancelled attempt proves nothing', () => {
  const cancelled: AttemptError = { code: 'cancelled', message: 'beaten' };
  const verdict = verdictOf({ ...base, attempts: [h3(cancelled, { outcome: 'cancelled' }), h2()] });
  assert.equal(verdict.code, 'unknown');
});

test('HTTP/3 that was tried and cancelled is not called untried', () => {
  const beaten = h3(null, { outcome: 'cancelled', establishedMs: null });
  const said = (attempts: Attempt[], discovered: Evidence['discovered']): string => {
    const verdict = verdictOf({ ...base, discovered, attempts });
    const text = allTexts(verdict).join('\n');
    assert.doesNotMatch(text, /not tried/);
    return text;
  };
  assert.match(
    said([beaten, h2()], own),
    /^Advertises HTTP\/3 on port 443, where the attempt was cancelled, so .* unknown\. Race it again in race mode/,
  );
  assert.match(
    said([beaten, h2()], quiet),
    /^HTTP\/2 was established and the attempt over HTTP\/3 cancelled, so whether HTTP\/3 works is unknown\. Race it/,
  );
  assert.match(
    said([beaten, h2(dead)], quiet),
    /^HTTP\/2 fails \(TCP refused\), and the attempt over HTTP\/3 was cancelled: /,
  );
  const beatenThere = { ...beaten, ...onB };
  assert.match(
    said([h3(refused), beatenThere, h2()], atB),
    /at b\.test:444, where the attempt was cancelled; on its own port 443, QUIC fails \(UDP refused\)/,
  );
  assert.match(said([h3(), beatenThere, h2()], atB), /at b\.test:444, where the attempt was cancelled, so/);
  const elsewhere = verdictOf({ ...base, discovered: atB, attempts: [beaten, h2()] });
  assert.match(verdictText(elsewhere), /at b\.test:444, which was not tried\./, 'only at its own port');
});

test('a response larger than our limit says nothing against the server, whichever transport was tried', () => {
  const large: AttemptError = {
    code: 'response-too-large',
    message: 'larger than the 256 KiB that are read',
  };
  for (const attempts of [[h3(large), h2()], [h3(large), h2(large)], [h2(large)]]) {
    const verdict = verdictOf({ ...base, attempts });
    assert.equal(verdict.code, 'unknown');
    assert.match(
      verdictText(verdict),
      /larger than Photofinish reads .*256 KiB.* The server is not to blame/,
    );
    assert.deepEqual(otherFindings(verdict), []);
  }
});

test('an advertised endpoint at which we failed was tried', () => {
  const fault: AttemptError = { code: 'internal', message: 'EPERM' };
  for (const own of [h3(), h3(refused), h3(null, { outcome: 'cancelled' })]) {
    const attempts = [own, h3(fault, { host: 'b.test', port: 444 }), h2()];
    const text = allTexts(verdictOf({ ...base, discovered: atB, attempts })).join('\n');
    assert.match(
      text,
      /at b\.test:444, where a cause on this machine prevented a result \(EPERM\), so whether/,
    );
    assert.doesNotMatch(text, /was not tried/);
  }
});

test('our own fault is reported as such, and is neither the server’s nor the network’s', () => {
  const fault: AttemptError = { code: 'internal', message: 'a panic' };
  const verdict = verdictOf({ ...base, attempts: [h3(fault), h2()] });
  assert.equal(verdict.code, 'unknown');
  assert.match(verdictText(verdict), /\(a panic\).*bug in Photofinish; please report it/);
  assert.doesNotMatch(verdictText(verdict), /server log|Advertises/);
  const also: AttemptError = { code: 'udp-timeout', message: 'silence' };
  const both = verdictOf({ ...base, attempts: [h3(also), h3(fault), h2()] });
  assert.equal(both.code, 'h3-advertised-unreachable');
  assert.equal(verdictOf({ ...base, attempts: [h3(fault), h3(), h2()] }).code, 'h3-available');
});

test('text from the peer is inserted and never interpreted as a placeholder', () => {
  const error: AttemptError = { code: 'connection-closed', message: '{port} $& {host}' };
  assert.match(
    verdictText(verdictOf({ ...base, attempts: [h3(error), h2()] })),
    /without a complete response \(\{port\} \$& \{host\}\)/,
  );
});

const unreachable: AttemptError = { code: 'udp-unreachable', message: 'host unreachable' };
const noRoute: AttemptError = { code: 'no-route', message: 'network unreachable' };
const blockedHere = { failedHosts: 2, reachedHosts: 0 };

test('your network blocks UDP: only with two other hosts that fail and none that answers', () => {
  const unanswered = { ...base, attempts: [h3(silent), h2()] };
  const says = (network: Evidence['network'], over: Partial<Evidence> = {}): boolean =>
    /your network blocks UDP: \d+ other hosts/.test(
      verdictText(verdictOf({ ...unanswered, ...over, ...(network && { network }) })),
    );
  assert.equal(says(undefined), false);
  assert.equal(says({ failedHosts: 1, reachedHosts: 0 }), false);
  assert.equal(says(blockedHere), true);
  assert.equal(says({ failedHosts: 9, reachedHosts: 1 }), false);
  assert.equal(says({ ...blockedHere, answeredHosts: 0 }), true);
  assert.equal(says({ ...blockedHere, answeredHosts: 1 }), false, 'datagrams come back');
  assert.equal(says(blockedHere, { attempts: [h3(unreachable), h2()] }), true);
  assert.equal(says(blockedHere, { attempts: [h3(refused), h2()] }), false, 'perhaps the host’s own word');
  assert.equal(says(blockedHere, { attempts: [h3(noRoute), h2()] }), false, 'nothing was sent');
  const received: AttemptError = { code: 'handshake-timeout', message: 'm' };
  assert.equal(
    says(blockedHere, { attempts: [h3(received), h2()] }),
    false,
    'the peer was received over UDP',
  );
});

test('if a host fails while others are reached, the verdict says that it is not the network as such', () => {
  const says = (network: NonNullable<Evidence['network']>): string =>
    verdictAsText(verdictOf({ ...base, network, attempts: [h3(silent), h2()] })).text;
  const itsOwn = /Open UDP 443.* so the problem is this host or the path to it\.$/;
  assert.match(says({ failedHosts: 5, reachedHosts: 1, reachedLater: true }), itsOwn);
  assert.match(says({ failedHosts: 0, reachedHosts: 1, reachedLater: true }), itsOwn);
  assert.match(says({ failedHosts: 0, reachedHosts: 1 }), itsOwn);
  const open: NonNullable<Evidence['network']>[] = [
    { failedHosts: 9, reachedHosts: 1, reachedLater: false },
    // Which of the two is newer is unknown.
    { failedHosts: 9, reachedHosts: 1 },
    { failedHosts: 0, reachedHosts: 0, reachedLater: false },
  ];
  for (const network of open) assert.doesNotMatch(says(network), /the problem is this host|blocks UDP/);
});

test('if the network blocks UDP nobody is advised to enable HTTP/3', () => {
  const verdict = verdictOf({
    ...base,
    network: blockedHere,
    discovered: quiet,
    attempts: [h3(silent), h2()],
  });
  assert.equal(verdict.code, 'unknown');
  assert.match(verdictText(verdict), /cannot be determined, because your network blocks UDP/);
  assert.doesNotMatch(verdictText(verdict), /Enable HTTP\/3/);
});

test('where no datagram reaches the server, nothing is said of what it offers', () => {
  for (const error of [unreachable, noRoute])
    for (const names of [undefined, unheard, unasked]) {
      const discovered = { ...quiet, ...(names && { names }) };
      const verdict = verdictOf({ ...base, discovered, attempts: [h3(error), h2()] });
      assert.equal(verdict.code, 'unknown');
      assert.match(verdictText(verdict), /whether QUIC works on port 443 cannot be determined/);
      assert.doesNotMatch(verdictText(verdict), /Enable HTTP\/3|stop offering/);
    }
});

test('a missing route is this machine’s: no host is blamed, and any other failure says more', () => {
  const network = { failedHosts: 0, reachedHosts: 4 };
  assert.doesNotMatch(
    verdictText(verdictOf({ ...base, network, attempts: [h3(noRoute), h2()] })),
    /the problem is this host/,
  );
  assert.deepEqual(otherFindings(verdictOf({ ...base, attempts: [h3(noRoute, v6), h3(), h2()] })), []);
  for (const attempts of [
    [h3(silent), h3(noRoute, v6)],
    [h3(noRoute, v6), h3(silent)],
  ])
    assert.match(verdictText(verdictOf({ ...base, attempts: [...attempts, h2()] })), /no reply over UDP/);
});

test('a failure over TCP is not explained as one of QUIC', () => {
  const said = (attempts: Attempt[]): string =>
    verdictText(verdictOf({ ...base, discovered: quiet, attempts }));
  const stalled: AttemptError = { code: 'handshake-timeout', message: 'm' };
  const rejected: AttemptError = { code: 'certificate-invalid', reason: 'other', message: 'm' };
  assert.match(
    said([h3(refused), h2(stalled)]),
    /TCP connects, but the TLS handshake does not complete in time/,
  );
  assert.match(said([h2(stalled)]), /TCP connects, but the TLS handshake does not complete in time/);
  assert.match(said([h3(stalled), h2()]), /the QUIC handshake does not complete in time, although/);
  assert.doesNotMatch(said([h3(refused), h2(rejected)]), /as on TCP/);
  assert.match(said([h3(rejected), h2()]), /Serve the same certificate as on TCP/);
});

test('one family only: which one fails, how, and whether TCP fails on it too', () => {
  const familyOf = (attempts: Attempt[], discovered = own): string => {
    const verdict = verdictOf({ ...base, attempts, discovered });
    return allTexts(verdict).join('\n');
  };
  const quicOnly = familyOf([h3(silent, v6), h3(), h2(null, v6)]);
  assert.match(
    quicOnly,
    /fails over IPv6 \(no reply over UDP\) but works over IPv4\. TCP works over IPv6, so either QUIC .* or a firewall/,
  );
  assert.match(
    familyOf([h3(refused), h3(null, v6), h2()]),
    /fails over IPv4 \(UDP refused\) but works over IPv6/,
  );
  const tcpSilent: AttemptError = { code: 'tcp-timeout', message: 'no answer' };
  assert.match(
    familyOf([h3(silent, v6), h3(), h2(tcpSilent, v6), h2()]),
    /not QUIC alone: check the host’s IPv6 address and the path to it/,
  );
  const unclear = /works over IPv4\. Whether the host or the IPv6 path is the cause is unknown/;
  assert.match(familyOf([h3(silent, v6), h3(), h2(dead, v6), h2()]), unclear, 'a reset is an answer');
  assert.match(familyOf([h3(refused, v6), h3(), h2()]), unclear, 'TCP was not tried');
  assert.match(familyOf([h3(silent, v6), h3(), h2()], quiet), /Fix this first: HTTP\/3 fails over IPv6/);
  assert.doesNotMatch(
    familyOf([h3(null, v6), h3(silent), h3(), h2()]),
    /fails over/,
    'one address of several',
  );
});

test('one success hides no failures at the same address, and they do not change the verdict', () => {
  const said = (...attempts: Attempt[]): string => {
    const verdict = verdictOf({ ...base, attempts: [...attempts, h2()] });
    assert.equal(verdict.code, 'h3-available');
    return allTexts(verdict).join(' ');
  };
  const often = [h3(), h3(refused), h3(), h3(refused), h3(refused), h3()];
  assert.match(
    said(...often),
    /HTTP\/3 failed in 3 of 6 attempts at the same address \(UDP refused\) and worked/,
  );
  const late = h3({ code: 'response-timeout', message: 'm' }, { establishedMs: 3 });
  const handshake = h3(null, { outcome: 'established-late' });
  assert.match(
    said(h3(), late, handshake),
    /failed in 1 of 2 attempts/,
    'a handshake alone proves nothing then',
  );
  const unnoticed = [
    h3({ code: 'cancelled', message: 'm' }),
    h3(null, { outcome: 'cancelled' }),
    h3({ code: 'internal', message: 'm' }),
    h3({ code: 'no-route', message: 'm' }),
    h3(refused, { address: '192.0.2.2' }),
  ];
  assert.doesNotMatch(said(h3(), ...unnoticed), /attempts at the same address/);
  const busy = { ...trial([h3(refused)], null), disturbed: 'outcome' } as const;
  const race = originRace([trial([h3()]), busy, { ...trial([h3(refused), h2()], 'h2'), h3Undecided: true }]);
  assert.doesNotMatch(allTexts(verdictOf(evidenceOfRace(race))).join(' '), /at the same address/);
});

test('that HTTP/3 works at one address hides no failure at another of its family', () => {
  const said = (...attempts: Attempt[]): string =>
    allTexts(verdictOf({ ...base, attempts: [...attempts, h2()] })).join(' ');
  const other = { address: '192.0.2.2' };
  const uneven = /Of 2 addresses of one family, HTTP\/3 failed at 1 \(UDP refused\) and worked at the rest/;
  assert.match(said(h3(refused), h3(null, other)), uneven);
  assert.match(
    said(h3(refused), h3(refused), h3(null, other), h3({ code: 'internal', message: 'm' })),
    uneven,
  );
  for (const unproven of [
    [h3(null, other), h3({ code: 'cancelled', message: 'm' })],
    [h3(null, other), h3({ code: 'no-route', message: 'm' })],
    [h3(null, other), h3(refused, other)],
    [h3(null, other), h3(refused, { address: '2001:db8::1' })],
    [h3(null, other), h3(refused, { port: 8443 })],
    [h3(refused), h3(refused, other)],
  ])
    assert.doesNotMatch(said(...unproven), /addresses of one family/);
});

test('who can still connect if TCP fails depends on whether an HTTPS record leads to HTTP/3', () => {
  const said = (over: Partial<Evidence>): string =>
    allTexts(verdictOf({ ...base, attempts: [h3(), h2(dead)], ...over })).join(' ');
  const record = { ...own, names: names([{}]) };
  const read = /so only clients that read HTTPS records or already know about HTTP\/3 can connect/;
  assert.match(said({ discovered: record }), read);
  assert.match(said({ discovered: { altSvc: null, knownRoot: true, names: names([{}]) } }), read);
  const known = /so only clients that already know about HTTP\/3 can connect/;
  assert.match(said({}), known);
  assert.match(said({ discovered: { ...own, names: names([{ alpn: ['h2'] }]) } }), known);
  const elsewhere = { ...own, names: names([{ target: 'b.test', port: 444 }]) };
  assert.match(said({ discovered: elsewhere, attempts: [h3(), h3(refused, onB), h2(dead)] }), known);
});

test('the result of a comparison is stated once, with the verdict itself', () => {
  const clear = { pairs: 9, h3Ms: 60.8, h2Ms: 102, quicker: 'h3', lowMs: 40, highMs: 43 } as const;
  const text = (gain: Gain) => verdictText(verdictOf({ ...base, gain }));
  assert.match(text(clear), / HTTP\/3 connects in 61 ms, HTTP\/2 in 102 ms \(41 ms faster\)\.$/);
  assert.match(
    text({ ...clear, quicker: null }),
    /: no clear difference in 9 pairs \(HTTP\/3 40 ms to 43 ms faster\)\.$/,
  );
  assert.doesNotMatch(verdictText(verdictOf(base)), /102 ms/);
  const browser = { lastProtocol: 'h3', visitsSinceAdvertised: 5 } as const;
  const findings = otherFindings(verdictOf({ ...base, gain: clear, browser }));
  assert.ok(findings.length > 0 && findings.every((each) => !each.text.includes('102')), 'once is enough');
});

test('the evidence of a race is its attempts, or why there are none', () => {
  const failed = attempt({ protocol: 'h3', outcome: 'failed', error: silent, establishedMs: 3 });
  const race = originRace([trial([failed], null), trial([h2()], 'h2')]);
  const evidence = evidenceOfRace(race);
  assert.deepEqual(evidence.attempts, [failed, h2()]);
  assert.equal(verdictOf(evidence).code, 'h3-advertised-unreachable', 'a handshake without an answer failed');
  const refused = attempt({ protocol: 'h3', outcome: 'failed', error: silent });
  const left = evidenceOfRace(originRace([{ ...trial([refused, h2()], 'h2'), h3Undecided: true }]));
  assert.deepEqual(left.attempts, [h2()], 'failed at one address, left at others: not lost');
  assert.match(
    verdictText(verdictOf(left)),
    /^HTTP\/3 failed at some addresses and was not tried at the others/,
  );
  const limited = evidenceOfRace(originRace([{ ...trial([refused, h2(dead)], null), h3Undecided: true }]));
  assert.match(verdictText(verdictOf(limited)), /HTTP\/3 failed too, but was not tried at every address/);
  const unraced = originRace([], { error: { code: 'no-address', message: 'none' } });
  assert.match(
    verdictText(verdictOf(evidenceOfRace(unraced))),
    /^Could not be raced: there is no address that this machine can use \(none\)/,
  );
  const cut = originRace([], { error: { code: 'cancelled', message: 'cut' } });
  assert.doesNotMatch(verdictText(verdictOf(evidenceOfRace(cut))), /Could not be raced/);
});

test('a race in which memory excluded HTTP/3 says that it was left out', () => {
  const decided = originRace([{ ...trial([h2()], 'h2'), cacheHit: true }], {
    memory: 'full',
    discovered: quiet,
  });
  const avoided = originRace([trial([h2()], 'h2')], { memory: 'hints', discovered: quiet });
  for (const race of [decided, avoided])
    assert.match(verdictText(verdictOf(evidenceOfRace(race))), /host cache remembers/);
  const h2Only = originRace([trial([h2()], 'h2')], { memory: 'full', mode: 'h2', discovered: quiet });
  assert.doesNotMatch(verdictText(verdictOf(evidenceOfRace(h2Only))), /host cache remembers/);
});

test('a race without HTTP/3 is not explained by memory that did not decide it', () => {
  const alone = (over: Partial<OriginRace>) =>
    evidenceOfRace(originRace([trial([h2()], 'h2')], { mode: 'race', discovered: quiet, ...over }));
  assert.equal(alone({ memory: 'full' }).leftOut, false, 'a remembered failure would have been a hit');
  assert.equal(alone({ memory: 'hints' }).leftOut, true);
  const origin = 'https://a.test:11211' as Origin;
  for (const memory of MEMORIES) {
    const evidence = alone({ memory, origin });
    assert.equal(evidence.leftOut, false, memory);
    assert.match(
      verdictText(verdictOf(evidence)),
      /QUIC works on port 11211 cannot be determined, because port 11211 belongs to .* Use another port/,
    );
  }
});
