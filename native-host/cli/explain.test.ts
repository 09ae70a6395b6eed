// The options of `explain`, and an explanation in a terminal.
import { verdictSaying } from '@photofinish/shared/testing/race-samples';
import '@photofinish/shared/language/english';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DnsResults } from '@photofinish/shared/race/discovered';
import type { Attempt, OriginRace } from '@photofinish/shared/race/outcome';
import { EXPLAIN_SCHEMA, type Explanation } from '@photofinish/shared/verdict/explanation';
import type { Origin } from '@photofinish/shared/web/origin';
import { commandLine } from '../install/own-command.ts';
import { parseExplainCommand } from './explain.ts';
import { explanationText } from './explain-text.ts';
import { Complaint } from './usage.ts';

const ORIGIN = 'https://a.test' as Origin;
const AT_MS = 1_000_000_000;

function attempt(over: Partial<Attempt>): Attempt {
  return {
    ...{ protocol: 'h3', address: '192.0.2.1', port: 443, startedMs: 0, establishedMs: null },
    ...{ outcome: 'adopted', ...over },
  };
}

function race(attempts: Attempt[], over: Partial<OriginRace> = {}): OriginRace {
  const adopted = attempts.find(({ outcome }) => outcome === 'adopted') ?? null;
  return {
    ...{ origin: ORIGIN, network: 'net', mode: 'race', memory: 'none', startDelayMs: 10, atMs: AT_MS },
    trials: [
      {
        adopted: adopted?.protocol ?? null,
        establishedMs: adopted?.establishedMs ?? null,
        firstByteMs: null,
        lateH3: false,
        cacheHit: false,
        attempts,
      },
    ],
    summary: {
      trials: 1,
      adoption: { h3: 0, h2: 1, 'http/1.1': 0 },
      failed: 0,
      gainMs: null,
      establishedMs: null,
    },
    discovered: { altSvc: 'h3="b.test:444"; ma=3600', knownRoot: true },
    verdict: verdictSaying('unknown', 'Not shown.'),
    ...over,
  };
}

const names: DnsResults = {
  addresses: [
    { host: 'a.test', address: '192.0.2.1', source: 'a', ttlSeconds: 300 },
    { host: 'a.test', address: '2001:db8::1', source: 'aaaa', ttlSeconds: 60 },
  ],
  services: [
    {
      ...{
        owner: 'a.test',
        priority: 1,
        target: 'b.test',
        alpn: ['h3', 'h2'],
        noDefaultAlpn: true,
        port: 444,
      },
      ...{ ipv4Hints: ['192.0.2.9'], ipv6Hints: [], ech: true, incompatible: false, ttlSeconds: 7200 },
    },
    {
      ...{ owner: 'www.a.test', priority: 0, target: 'c.test', alpn: [], noDefaultAlpn: false, port: null },
      ...{ ipv4Hints: [], ipv6Hints: [], ech: false, incompatible: false, ttlSeconds: 30 },
    },
  ],
  lookups: [
    { name: 'a.test', kind: 'A', tookMs: 3, outcome: 'answered', records: 1 },
    { name: 'b.test', kind: 'AAAA', tookMs: 4, outcome: 'failed', records: 0, message: 'SERVFAIL' },
    { name: 'b.test', kind: 'A', tookMs: 5, outcome: 'empty', records: 0 },
  ],
};

const refused = { code: 'udp-refused', message: 'Connection refused' } as const;
const h2 = attempt({ protocol: 'h2', startedMs: 10, establishedMs: 31.4 });

function explanation(over: Partial<Explanation> = {}): Explanation {
  return {
    ...{ schema: EXPLAIN_SCHEMA, origin: ORIGIN, network: 'net', atMs: AT_MS, names },
    alternatives: [
      { alpn: 'h3', host: 'b.test', port: 444, persist: true, expiresInSeconds: 3600, source: 'answer' },
    ],
    race: race([
      attempt({ outcome: 'failed', error: refused, host: 'b.test', source: 'alt-svc', port: 444 }),
      h2,
    ]),
    v3: race([h2], { mode: 'v3' }),
    altSvc: null,
    h3: null,
    compare: null,
    remembered: null,
    shared: null,
    evidence: { failedHosts: 0, reachedHosts: 0 },
    verdict: verdictSaying(
      'h3-advertised-unreachable',
      'Advertises HTTP/3 at b.test:444, but the UDP port is closed. Open UDP 444 on the server or remove the Alt-Svc header.',
      ['h3-advertisement-wrong', 'Two do not agree.'],
    ),
    ...over,
  };
}

/** Whether a line is in 80 columns; one with a command is as long as the path to it. */
const fits = (line: string) => line.replace(commandLine(), 'photofinish').length <= 80;

test('the verdict comes first, then its evidence, in 80 columns and without escapes if colour is disabled', () => {
  const text = explanationText(explanation());
  const lines = text.split('\n');
  assert.equal(lines[0], ORIGIN);
  assert.match(lines[1] ?? '', /^ {2}Advertises HTTP\/3 at b\.test:444, but/);
  assert.ok(lines.includes(`  What this means: ${commandLine('codes', 'h3-advertised-unreachable')}`));
  assert.ok(text.indexOf('Also: Two do not agree.') < text.indexOf('What DNS says'));
  for (const line of lines) {
    assert.ok(fits(line), line);
    assert.equal(line, line.trimEnd());
  }
  assert.equal(text.includes('\u001b'), false);
});

test('a second QUIC attempt at the same endpoint is described as such', () => {
  const stalled = attempt({ outcome: 'cancelled' });
  const fresh = attempt({ fresh: true, startedMs: 60, establishedMs: 104, outcome: 'adopted' });
  const text = explanationText(explanation({ race: race([stalled, fresh]) }));
  assert.equal(text.match(/tried again/g)?.length, 1);
  assert.doesNotMatch(explanationText(explanation()), /tried afresh/);
});

test('what is too wide for a table is described in sentences of 80 columns', () => {
  const address = '2001:db8:1111:2222:3333:4444:5555:6666';
  const error = { code: 'handshake-timeout', message: 'no end' } as const;
  const wide = attempt({ address, port: 44_300, outcome: 'failed', error });
  const host = `${'a-long-label.'.repeat(3)}test`;
  const found = [{ host, address, source: 'hint', ttlSeconds: 60 } as const];
  const text = explanationText(
    explanation({ race: race([wide, h2]), names: { ...names, addresses: found } }),
  );
  for (const line of text.split('\n')) assert.ok(fits(line), line);
  const flat = text.replaceAll(/\n +/g, ' ');
  assert.match(flat, /address 2001:[0-9a-f:]+, name a-long[a-z.-]+, from HTTPS record hint, valid for 1 min/);
  assert.match(
    flat,
    /protocol HTTP\/3, address \[2001:[0-9a-f:]+\]:44300, started 0 ms, established –, outcome hand/,
  );
});

test('DNS: addresses with source and TTL, complete records, and questions without results', () => {
  const text = explanationText(explanation());
  assert.match(text, /192\.0\.2\.1 +a\.test +A +5 min\n/);
  assert.match(text, /2001:db8::1 +a\.test +AAAA +1 min\n/);
  const flat = text.replaceAll(/\n +/g, ' ');
  assert.match(
    flat,
    /HTTPS 1 a\.test: at b\.test; port 444; alpn h3, h2; no-default-alpn; hints 192\.0\.2\.9; ECH; TTL 2 h/,
  );
  assert.match(flat, /HTTPS 0 www\.a\.test: alias of c\.test, TTL 30 s/);
  const [service] = names.services;
  assert.ok(service);
  const behindCname = { ...names, services: [{ ...service, target: 'a.test', canonical: 'x.cdn.test' }] };
  assert.match(
    explanationText(explanation({ names: behindCname })),
    /HTTPS 1 a\.test \(CNAME x\.cdn\.test\): port 444; alpn h3/,
  );
  assert.match(flat, /AAAA b\.test: failed: SERVFAIL, after 4 ms/);
  assert.match(flat, /A b\.test: no such record, after 5 ms/);
  assert.doesNotMatch(flat, /A a\.test: /, 'what was answered is in the table');
});

test('alternatives and attempts show their source, failures show what was observed', () => {
  const text = explanationText(explanation()).replaceAll(/\n +/g, ' ');
  assert.match(text, /h3 at b\.test:444, valid for 1 h, on every network, from a response in these\s+races/);
  assert.match(text, /192\.0\.2\.1:444 is b\.test, from Alt-Svc\./);
  assert.match(text, /HTTP\/3 to 192\.0\.2\.1:444 failed, udp-refused: Connection refused/);
  assert.match(text, /Not compared: only one of the two protocols works\./);
  const dead = attempt({ protocol: 'h2', outcome: 'failed', error: { code: 'tcp-refused', message: '' } });
  const silent = attempt({ outcome: 'failed', error: refused });
  const faulty = attempt({ outcome: 'failed', error: { code: 'internal', message: 'EMFILE' } });
  const compared = (...attempts: (typeof h2)[]) =>
    explanationText(explanation({ race: race(attempts), v3: null })).replaceAll(/\n +/g, ' ');
  assert.match(compared(silent, dead), /Not compared: neither protocol works\./);
  const elsewhere = attempt({ outcome: 'established-late', establishedMs: 9, source: 'alt-svc' });
  assert.match(compared(h2, elsewhere), /Not compared: HTTP\/3 works at an alternative service only/);
  assert.match(compared(faulty, h2), /Not compared: the race above does not show that both protocols work\./);
});

test('a first visit: HTTP/3 by the HTTPS record, or why not', () => {
  const h3 = attempt({ establishedMs: 12 });
  const said = (over: Partial<Explanation>): string =>
    explanationText(explanation(over)).replaceAll(/\n +/g, ' ');
  assert.match(said({ v3: race([h3]) }), /uses HTTP\/3 on its first visit: its HTTPS record advertises it/);
  assert.match(said({}), /uses HTTP\/2 on its first visit: an HTTPS record advertises HTTP\/3, but/);
  assert.match(said({ names: { ...names, services: [] } }), /no HTTPS record advertises HTTP\/3/);
  assert.match(said({ v3: null }), /Not raced: the race above adopted nothing/);
  const [service] = names.services;
  assert.ok(service);
  const unusable = { ...names, services: [{ ...service, incompatible: true }] };
  assert.match(said({ names: unusable }), /the HTTPS record that lists h3 cannot be used here, and Alt-Svc/);
  const lookup = { name: 'a.test', kind: 'HTTPS', tookMs: 5000, outcome: 'failed', records: 0 } as const;
  const unheard = { ...names, services: [], lookups: [lookup] };
  assert.match(said({ names: unheard }), /DNS has not answered whether an HTTPS record advertises/);
  const v3 = {
    ...race([h2]),
    trials: race([h2]).trials.map((t) => ({ ...t, disturbed: 'outcome' as const })),
  };
  assert.match(said({ v3 }), /Not known: that race could not be run, or this machine was too busy/);
});

test('memory: a back-off with its cause and end, a success with its freshness', () => {
  const remembered = {
    ...{ tcp: { protocol: 'h2', atMs: AT_MS - 60_000 } as const, races: 4 },
    altSvc: { value: 'h3=":443"', atMs: AT_MS - 3_600_000, untilMs: null },
  };
  const failed = {
    failure: 'udp-timeout',
    atMs: AT_MS - 60_000,
    untilMs: AT_MS + 600_000,
    failures: 2,
  } as const;
  const text = explanationText(explanation({ remembered: { ...remembered, h3: failed } })).replaceAll(
    /\n +/g,
    ' ',
  );
  assert.match(
    text,
    /HTTP\/3 failed 1 min ago \(no reply over UDP\)\. It is not tried again for another 10 min\. The back-off grows with each failure \(2 so far\); each success halves/,
  );
  assert.match(text, /HTTP\/2 worked 1 min ago\./);
  assert.match(text, /Alt-Svc, received 1 h ago: h3=":443"/);
  const worked = { failure: null, atMs: AT_MS - 1000, untilMs: AT_MS - 1, failures: 0 };
  assert.match(
    explanationText(explanation({ remembered: { ...remembered, h3: worked } })),
    /HTTP\/3 worked 1 s ago, too long ago to rely on/,
  );
});

test('a host that was not raced says why, and a forbidden address how to allow it', () => {
  const error = { code: 'blocked', message: '10.0.0.1 is private' } as const;
  const dead = race([], { trials: [], error });
  const text = explanationText(explanation({ names: null, race: dead, v3: null }));
  assert.match(text, /Not raced \(blocked\): 10\.0\.0\.1 is private\. Allow it with --allow-private\./);
  assert.match(text, /DNS was not queried\./);
  const lookup = { name: 'a.test', kind: 'A', tookMs: 3, outcome: 'empty', records: 0 } as const;
  const lookups = [{ ...lookup, message: error.message }];
  const refused = explanationText(
    explanation({ names: { addresses: [], services: [], lookups }, race: dead, v3: null }),
  );
  assert.match(refused, /No address that may be connected to\./);
  assert.match(refused, /A a\.test: nothing to connect to: 10\.0\.0\.1 is private, after 3 ms/);
  assert.match(text, /Not compared: the race above does not show that both protocols work\./);
});

test('text from servers and resolvers cannot move the cursor', () => {
  const hostile = 'x\u001b[2J\u0007\u202e';
  const text = explanationText(
    explanation({
      race: race([attempt({ outcome: 'failed', error: { code: 'h3-error', message: hostile } })], {
        discovered: { altSvc: hostile, knownRoot: null },
      }),
      names: {
        ...names,
        lookups: [{ ...names.lookups[1], message: hostile } as DnsResults['lookups'][number]],
      },
      network: hostile,
    }),
  );
  assert.doesNotMatch(text, /[^\P{Cc}\n]|\p{Cf}/u);
});

test('other hosts are counted in words, and only those reached over TCP count against UDP', () => {
  const said = (reachedHosts: number, failedHosts: number): string =>
    explanationText(explanation({ evidence: { reachedHosts, failedHosts } })).replaceAll(/\n +/g, ' ');
  assert.match(
    said(0, 0),
    /no other host was reached over HTTP\/3 here, and none that advertises it was silent/,
  );
  assert.match(said(1, 0), /reached 1 other host here; none that advertises it was silent over UDP\./);
  assert.match(
    said(2, 1),
    /reached 2 other hosts here; 1 host that advertises it did not respond over UDP, but did over TCP\./,
  );
  assert.match(said(2, 3), /; 3 hosts that advertise it did not respond over UDP/);
  const silent = { reachedHosts: 0, failedHosts: 2 };
  assert.doesNotMatch(said(0, 2), /answered over UDP/);
  assert.match(
    explanationText(explanation({ evidence: { ...silent, answeredHosts: 1 } })).replaceAll(/\n +/g, ' '),
    /reached 0 other hosts here; 2 .* over TCP\. 1 other host answered over UDP, but failed over HTTP\/3\./,
  );
});

test('that this machine was too busy is reported once, and not where the verdict says so', () => {
  const [trial] = race([h2]).trials;
  assert.ok(trial);
  const disturbed = race([h2], { trials: [{ ...trial, disturbed: 'times' }] });
  const times = (text: string): number => text.split('too busy').length - 1;
  const some = explanation({ race: disturbed, v3: disturbed, compare: null });
  assert.equal(times(explanationText(some)), 1);
  assert.match(explanationText(some), /too busy in 2 of 2 trials/);
  const none = verdictSaying('machine-too-busy', 'This machine was too busy.');
  const all = explanation({ race: disturbed, verdict: none });
  assert.equal(times(explanationText(all)), 1);
});

test('what other machines shared is told as theirs, and nothing is told if they shared nothing', () => {
  const shared = { atMs: AT_MS - 3_600_000, h3Failure: 'udp-timeout', tcpProtocol: 'h2' } as const;
  const text = explanationText(explanation({ shared })).replaceAll(/\s+/g, ' ');
  assert.match(
    text,
    /on a machine of the organisation HTTP\/3 failed within the last hour \(no reply over UDP\)/,
  );
  assert.match(text, /The verdict does not rest on it/);
  assert.doesNotMatch(explanationText(explanation({})), /Fleet cache/);
});

test('that no Alt-Svc was received is said only of responses, complete or not', () => {
  const told = (...attempts: Attempt[]): string => {
    const discovered = { altSvc: null, knownRoot: null };
    const only = { race: race(attempts, { discovered }), v3: null };
    return explanationText(explanation(only)).replaceAll(/\n +/g, ' ');
  };
  const cut = { code: 'connection-closed', message: 'gone' } as const;
  const failed = { protocol: 'h2', establishedMs: 20, outcome: 'failed', error: cut } as const;
  const none = /No Alt-Svc was received/;
  assert.doesNotMatch(told(attempt(failed)), none);
  assert.match(told(attempt(failed)), /No response was received, so it is unknown whether Alt-Svc is sent\./);
  const misdirected = { code: 'misdirected', message: '421' } as const;
  for (const over of [{ outcome: 'adopted' }, { firstByteMs: 31 }, { error: misdirected }] as const)
    assert.match(told(attempt({ ...failed, ...over })), none);
  const begun = told(attempt({ ...failed, firstByteMs: 31.4 }));
  assert.match(begun, /failed, connection-closed: gone \(its response began at 31\.4 ms\)/);
  assert.match(begun, / 20 ms +response cut off /);
});

test('Alt-Svc is shown by protocol where that makes a difference, and that the two disagree', () => {
  const said = (altSvcOver: { tcp?: string | null; h3?: string | null }): string => {
    const discovered = { altSvc: altSvcOver.h3 ?? altSvcOver.tcp ?? null, altSvcOver, knownRoot: true };
    const text = explanationText(explanation({ race: race([h2], { discovered }) }));
    return text.replaceAll(/\s+/g, ' ');
  };
  const own = 'h3=":443"';
  const crossed = said({ tcp: 'h3=":5"', h3: own });
  assert.match(crossed, /Alt-Svc over TCP: h3=":5" Alt-Svc over HTTP\/3: h3=":443" They disagree\./);
  assert.match(said({ tcp: 'clear', h3: own }), /over TCP: clear .*They disagree\./);
  assert.match(said({ tcp: own, h3: 'clear' }), /over HTTP\/3: clear They disagree\./);
  assert.doesNotMatch(said({ tcp: own, h3: `${own}; ma=60` }), /disagree/);
  assert.match(said({ tcp: null, h3: own }), /No Alt-Svc was received over TCP\. Alt-Svc over HTTP\/3: h3=/);
  assert.doesNotMatch(said({ h3: own }), /over TCP/);
  for (const alike of [{ tcp: own }, { tcp: own, h3: null }, { tcp: own, h3: own }])
    assert.match(said(alike), / Alt-Svc: h3=":443" /);
});

test('one origin, fifteen pairs at most by default, and the options shared with race', () => {
  const plain = parseExplainCommand(['example.org']);
  assert.equal(plain.origin.origin, 'https://example.org');
  assert.deepEqual([plain.pairs, plain.json, plain.allowPrivate, plain.network], [15, false, false, null]);
  const full = parseExplainCommand([
    ...[
      '--json',
      '--trials',
      '5',
      '--timeout',
      '70',
      '--allow-private',
      '--network',
      'home',
      '--ca',
      'ca.pem',
    ],
    ...[
      '--resolve',
      'a.test:443:127.0.0.1',
      '--resolver',
      '127.0.0.1:5353',
      '--cache',
      'c.db',
      '--',
      'a.test',
    ],
  ]);
  assert.equal(full.origin.host, 'a.test');
  assert.deepEqual(
    [full.pairs, full.timeoutMs, full.network, full.resolver],
    [5, 70, 'home', '127.0.0.1:5353'],
  );
  assert.deepEqual([...full.pins], [['a.test:443', '127.0.0.1']]);
  assert.deepEqual([full.caFiles, full.cacheFile, full.allowPrivate], [['ca.pem'], 'c.db', true]);
});

const MISTAKES: readonly [string, string, ...string[]][] = [
  ['no origin', 'bad-usage'],
  ['two origins', 'bad-usage', 'a.test', 'b.test'],
  ['standard input', 'bad-usage', '-'],
  ['an option of race alone', 'bad-usage', 'a.test', '--mode', 'race'],
  ['no https origin', 'bad-origin', 'http://a.test'],
  ['no pairs', 'bad-number', 'a.test', '--trials', '0'],
  ['a pin without an address', 'bad-resolve', 'a.test', '--resolve', 'a.test:443'],
  ['a resolver by name', 'bad-resolver', 'a.test', '--resolver', 'dns.test:53'],
];
for (const [name, code, ...args] of MISTAKES)
  test(`${name}: ${code}`, () => {
    assert.throws(
      () => parseExplainCommand(args),
      (error) => error instanceof Complaint && error.code === code && error.exitCode === 2,
    );
  });
