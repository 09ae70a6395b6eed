import {
  allTexts,
  at444,
  atB,
  base,
  dead,
  h2,
  h3,
  misdirected,
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
  unresolved,
  wrongName,
} from '../testing/race-samples.ts';
import { otherFindings, verdictText } from './verdict-text.ts';
import '@photofinish/shared/language/english';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DnsResults } from '../race/discovered.ts';
import type { VerdictCode } from '../race/verdict-schema.ts';
import { type Origin, originParts } from '../web/origin.ts';
import { countHosts } from './evidence.ts';
import { type BrowserEvidence, type Evidence, evidenceOfRace, verdictOf } from './verdict.ts';

const unansweredBehindAlias = names([{ priority: 0, alpn: [], target: 'cdn.test' }], {
  lookups: [
    { name: 'a.test', kind: 'HTTPS', tookMs: 5, outcome: 'answered', records: 1 },
    { name: 'cdn.test', kind: 'HTTPS', tookMs: 5000, outcome: 'failed', records: 0 },
  ],
});

const at8443 = originParts('https://a.test:8443' as Origin);

/** A query for HTTPS records with its number of records. */
function answered(name: string, records: number): DnsResults['lookups'][number] {
  const outcome = records === 0 ? 'empty' : 'answered';
  return { name, kind: 'HTTPS', tookMs: 5, outcome, records };
}

const OWN = 'h3=":443"';

/** Alt-Svc by protocol, the newest over HTTP/3. */
function over(tcp: string | null | undefined, overH3: string): Evidence['discovered'] {
  return { altSvc: overH3, altSvcOver: { ...(tcp !== undefined && { tcp }), h3: overH3 }, knownRoot: true };
}

const heardOverH3 = {
  ...{ alpn: 'h3', host: '', port: 443, persist: false, expiresInSeconds: 60 },
  source: 'answer',
} as const;
const CANCELLED_TCP = h2(null, { outcome: 'cancelled', establishedMs: null });

const GIVEN = { host: 'a.test', address: '192.0.2.1', source: 'pin', ttlSeconds: null } as const;

type Row = readonly [string, Partial<Evidence>, VerdictCode, VerdictCode[], RegExp?];

/** More alternatives than are read, none of the first over HTTP/3. */
const MANY = Array.from({ length: 40 }, (_, n) => `h2=":${n + 1}"`).join(', ');

const REACHED: readonly Row[] = [
  [
    'more alternatives than are read, one of them malformed',
    { discovered: { altSvc: `@@, ${OWN}, ${MANY}`, knownRoot: true } },
    'h3-advertisement-wrong',
    ['h3-available'],
    /^1 of 42 entries /,
  ],
  [
    'more alternatives than are read, HTTP/3 among the first',
    { discovered: { altSvc: `${OWN}, ${MANY}`, knownRoot: true } },
    'h3-available',
    [],
    /^(?!.*reads only)/,
  ],
  [
    'more alternatives than are read, HTTP/3 not among the first',
    { discovered: { altSvc: MANY, knownRoot: true } },
    'h3-available',
    [],
    /Whether its Alt-Svc header advertises HTTP\/3 is unknown: Photofinish reads only/,
  ],
  [
    'more alternatives than are read, HTTP/3 not among the first, and it fails',
    { discovered: { altSvc: MANY, knownRoot: true }, attempts: [h3(silent), h2()] },
    'unknown',
    [],
    /unknown whether the origin offers HTTP\/3: QUIC on port 443 fails .* Photofinish reads only/,
  ],
  ['advertised and works', {}, 'h3-available', []],
  [
    'advertised and works, and what DNS advertises is unknown',
    { discovered: { ...own, names: unheard } },
    'h3-available',
    [],
    /^Supports HTTP\/3 on this network\.$/,
  ],
  [
    'reachable, and TCP was established but not answered',
    { discovered: quiet, attempts: [h3(), h2(null, { outcome: 'cancelled', establishedMs: 5 })] },
    'h3-available',
    [],
  ],
  [
    'reachable, and whether DNS advertises it is unknown',
    { discovered: { ...quiet, names: unheard } },
    'h3-available',
    [],
    /No Alt-Svc header advertises it\. If no HTTPS record does either, send: .* no usable answer to that query/,
  ],
  [
    'an alias whose target’s HTTPS record was not answered leaves it open, too',
    { discovered: { ...quiet, names: unansweredBehindAlias } },
    'h3-available',
    [],
    /No Alt-Svc header advertises it\. If no HTTPS record does either, send: .* no usable answer to that query/,
  ],
  [
    'reachable by a given address, for which DNS was not asked',
    { discovered: { ...quiet, names: unasked } },
    'h3-available',
    [],
    /No Alt-Svc header advertises it\. If no HTTPS record does either, send: .* DNS was not queried, because/,
  ],
  [
    'reachable at an address literal, which no HTTPS record can be about',
    {
      origin: { origin: 'https://192.0.2.1' as Origin, host: '192.0.2.1', port: 443 },
      discovered: {
        ...quiet,
        names: names([], {
          addresses: [{ host: '192.0.2.1', address: '192.0.2.1', source: 'literal', ttlSeconds: null }],
        }),
      },
    },
    'h3-not-advertised',
    ['h3-available'],
  ],
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
    'nor does one in ServiceMode beside it',
    { discovered: { ...quiet, names: names([{ priority: 0, alpn: [] }, { alpn: ['h3'] }]) } },
    'h3-not-advertised',
    ['h3-available'],
  ],
  [
    'reachable, withdrawn by clear',
    { discovered: { altSvc: 'clear', knownRoot: true } },
    'h3-not-advertised',
    ['h3-available'],
    /withdraws the advertisement \(Alt-Svc: clear\)/,
  ],
  [
    'withdrawn over TCP, whatever HTTP/3 carries',
    { discovered: over('clear', OWN) },
    'h3-not-advertised',
    ['h3-available'],
    /withdraws the advertisement \(Alt-Svc: clear\)/,
  ],
  [
    'advertised over HTTP/3 only',
    { discovered: { ...over(null, OWN), alternatives: [heardOverH3] } },
    'h3-not-advertised',
    ['h3-available'],
    /advertises it over HTTP\/3 only, of which browsers must first learn/,
  ],
  [
    'advertised over HTTP/3 only, and perhaps by a record',
    { discovered: { ...over(null, OWN), names: unheard } },
    'h3-available',
    [],
    /Alt-Svc advertises it over HTTP\/3 only/,
  ],
  [
    'another port over TCP than over HTTP/3',
    { discovered: over('h3=":5"', OWN), attempts: [h3(), h3(silent, { port: 5 }), h2()] },
    'h3-advertised-unreachable',
    ['h3-available'],
    /Advertises HTTP\/3 on port 5/,
  ],
  ['advertised over TCP, withdrawn over HTTP/3', { discovered: over(OWN, 'clear') }, 'h3-available', []],
  ['faulty over HTTP/3 alone', { discovered: over(OWN, 'h3=443') }, 'h3-available', []],
  [
    'faulty over TCP alone',
    { discovered: over('h3=443', OWN) },
    'h3-advertisement-wrong',
    ['h3-not-advertised', 'h3-available'],
  ],
  [
    'no response over TCP, so what HTTP/3 carries shows no fault',
    { attempts: [h3(), CANCELLED_TCP], discovered: over(undefined, 'h3=443') },
    'h3-available',
    [],
  ],
  [
    'no response over TCP: advertised elsewhere over HTTP/3',
    { attempts: [h3(), CANCELLED_TCP], discovered: over(undefined, 'h3=":444"') },
    'h3-available',
    [],
    /Advertises HTTP\/3 on port 444/,
  ],
  [
    'remembered, and repeated by no response',
    { discovered: { altSvc: OWN, altSvcOver: { tcp: null, h3: null }, knownRoot: true } },
    'h3-available',
    [],
  ],
  [
    'expired when it arrives, by the Age of its response',
    { discovered: { ...own, alternatives: [{ ...heardOverH3, expiresInSeconds: 0 }] } },
    'h3-advertisement-wrong',
    ['h3-available'],
    /has already expired when it arrives .* Age exceeds ma/,
  ],
  [
    'expired when it arrives, at a port that is therefore none to try',
    {
      discovered: { ...at444, alternatives: [{ ...heardOverH3, port: 444, expiresInSeconds: 0 }] },
      attempts: [h3(silent), h2()],
    },
    'h3-advertisement-wrong',
    [],
    /has already expired when it arrives/,
  ],
  [
    'expired when it arrives, beside an HTTPS record that leads to HTTP/3',
    {
      discovered: {
        ...own,
        alternatives: [{ ...heardOverH3, expiresInSeconds: 0 }],
        names: names([{ target: 'a.test' }]),
      },
    },
    'h3-available',
    ['h3-advertisement-wrong'],
  ],
  [
    'expired when it arrives, beside more alternatives than are read',
    {
      discovered: {
        ...{ altSvc: `${OWN}, ${MANY}`, knownRoot: true },
        alternatives: [{ ...heardOverH3, expiresInSeconds: 0 }],
      },
    },
    'h3-available',
    [],
    /reads only/,
  ],
  [
    'others that have expired, or the same in another response, say nothing of the advertised one',
    {
      discovered: {
        ...own,
        alternatives: [
          { ...heardOverH3, expiresInSeconds: 0, port: 444 },
          { ...heardOverH3, expiresInSeconds: 0, host: 'b.test' },
          { ...heardOverH3, expiresInSeconds: 0, alpn: 'h2' },
          { ...heardOverH3, expiresInSeconds: 0, source: 'memory' },
        ],
      },
    },
    'h3-available',
    [],
  ],
  [
    'expired when it arrives in one of two responses',
    { discovered: { ...own, alternatives: [heardOverH3, { ...heardOverH3, expiresInSeconds: 0 }] } },
    'h3-available',
    [],
  ],
  [
    'reachable, HTTP/2 advertised in memory',
    { discovered: { ...quiet, alternatives: [{ ...heardOverH3, alpn: 'h2', source: 'memory' }] } },
    'h3-not-advertised',
    ['h3-available'],
  ],
  [
    'nothing advertised over TCP, and HTTP/2 over HTTP/3',
    { discovered: over(null, 'h2=":443"') },
    'h3-not-advertised',
    ['h3-available'],
    /does not advertise it/,
  ],
  [
    'reachable, with a given address for another host',
    { discovered: { ...quiet, names: names([], { addresses: [{ ...GIVEN, host: 'b.test' }] }) } },
    'h3-not-advertised',
    ['h3-available'],
  ],
  [
    'reachable by a given address, for which DNS was asked nevertheless',
    {
      discovered: {
        ...quiet,
        names: names([], { addresses: [GIVEN], lookups: [answered('a.test', 0)] }),
      },
    },
    'h3-not-advertised',
    ['h3-available'],
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
    'two endpoints advertised, one of them dead',
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
    /UDP is refused there \(refused\): nothing listens on that port, or a firewall rejects it\. Open UDP 443/,
  ],
  [
    'advertised, UDP silent',
    { attempts: [h3(silent), h2()] },
    'h3-advertised-unreachable',
    [],
    /Open UDP 443 or remove the Alt-Svc header/,
  ],
  [
    'advertised by an HTTPS record, UDP silent',
    { discovered: { ...quiet, names: names([{}]) }, attempts: [h3(silent), h2()] },
    'h3-advertised-unreachable',
    [],
    /in its HTTPS record, but there is no reply over UDP.* remove h3 from the HTTPS record/,
  ],
  [
    'the better of two HTTPS records is named first',
    {
      discovered: { ...quiet, names: names([{ priority: 2, port: 444 }, {}]) },
      attempts: [h3(silent), h3(silent, { port: 444 }), h2()],
    },
    'h3-advertised-unreachable',
    [],
    /on port 443 in its HTTPS record/,
  ],
  [
    'the endpoint of an HTTPS record: its port, its target',
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
    /at b\.test:444, but .* HTTP\/3 also fails on port 443 \(UDP refused\)/,
  ],
  [
    'advertised on another host, which no attempt went to',
    { discovered: atB, attempts: [h3(refused), h2()] },
    'unknown',
    [],
    /at b\.test:444, which was not tried; on its own port 443, QUIC fails \(UDP refused\)/,
  ],
  [
    'no QUIC at a given address, for which DNS was not asked',
    { attempts: [h3(silent), h2()], discovered: { ...quiet, names: unasked } },
    'unknown',
    [],
    /^It is unknown whether the origin offers HTTP\/3: no response advertises it, .* DNS was not queried, because/,
  ],
  [
    'no advertisement, no QUIC',
    { attempts: [h3(silent), h2()], discovered: quiet },
    'h3-not-offered',
    [],
    /: it is not advertised, and QUIC on port 443 fails \(no reply over UDP\)\. Enable HTTP\/3/,
  ],
  [
    'no advertisement, on a network that blocks UDP',
    { attempts: [h3(silent), h2()], discovered: quiet, network: { failedHosts: 3, reachedHosts: 0 } },
    'unknown',
    [],
    /: it is not advertised, and whether QUIC works on port 443 .* your network blocks UDP: 3/,
  ],
  [
    'withdrawn, on a network that blocks UDP',
    {
      attempts: [h3(silent), h2()],
      discovered: { altSvc: 'clear', knownRoot: true },
      network: { failedHosts: 3, reachedHosts: 0 },
    },
    'unknown',
    [],
    /: Alt-Svc withdraws it \(clear\), and whether QUIC works on port 443 .* your network blocks UDP: 3/,
  ],
  [
    'withdrawn, QUIC that answers and fails',
    { attempts: [h3(wrongName), h2()], discovered: { altSvc: 'clear', knownRoot: true } },
    'h3-not-offered',
    [],
    /: Alt-Svc withdraws it \(clear\), and QUIC on port 443 fails: the certificate is for/,
  ],
  [
    'two endpoints advertised, one of them dead and one not tried',
    { attempts: [h3(silent), h2()], discovered: { altSvc: 'h3=":443", h3=":444"', knownRoot: true } },
    'h3-advertised-unreachable',
    [],
  ],
  [
    'two silent endpoints advertised, and at one a peer was heard',
    {
      attempts: [h3(silent), h3(wrongName, { port: 444 }), h2()],
      discovered: { altSvc: 'h3=":443", h3=":444"', knownRoot: true },
      network: { failedHosts: 9, reachedHosts: 0 },
    },
    'h3-advertised-unreachable',
    [],
    /^(?!.*blocks UDP)/,
  ],
  [
    'advertised, and heard there, where other hosts work',
    { attempts: [h3(wrongName), h2()], network: { failedHosts: 0, reachedHosts: 1 } },
    'h3-advertised-unreachable',
    [],
    /^(?!.*Other hosts)/,
  ],
  [
    'IPv6 alone broken, and nothing advertised',
    { discovered: quiet, attempts: [h3(silent, { address: '2001:db8::1' }), h3(), h2()] },
    'h3-not-advertised',
    ['h3-available'],
  ],
  [
    'IPv6 alone broken at the second endpoint advertised',
    {
      discovered: { altSvc: 'h3=":443", h3=":444"', knownRoot: true },
      attempts: [h3(), h3(silent, { port: 444, address: '2001:db8::1' }), h3(null, { port: 444 }), h2()],
    },
    'h3-available',
    ['h3-advertised-unreachable'],
  ],
  [
    'no advertisement, QUIC that answers and fails',
    { attempts: [h3(wrongName), h2()], discovered: quiet },
    'h3-not-offered',
    [],
    /it is not advertised, and QUIC on port 443 fails: the certificate is for a different name.* Then send/,
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
    'IPv6 alone broken where it is not advertised',
    {
      discovered: at444,
      attempts: [h3(refused, { address: '2001:db8::1' }), h3(), h3(null, { port: 444 }), h2()],
    },
    'h3-available',
    [],
  ],
  [
    'not answered over TCP either, and whether DNS advertises it is unknown',
    { discovered: { ...quiet, names: unheard }, attempts: [h3(silent), h2()] },
    'unknown',
    [],
    /^It is unknown whether the origin offers HTTP\/3: no response advertises it, .* Whether an HTTPS record/,
  ],
  [
    'an HTTPS record and Alt-Svc name the same dead endpoint',
    { discovered: { ...own, names: names([{}]) }, attempts: [h3(silent), h2()] },
    'h3-advertised-unreachable',
    [],
  ],
];

const OURS = { code: 'internal', message: 'no sockets' } as const;
const OTHER_WORKS = { failedHosts: 0, reachedHosts: 1 };

const WRONG: readonly Row[] = [
  [
    'a port where nothing listens',
    { discovered: at444, attempts: [h3(refused, { port: 444 }), h2()], network: OTHER_WORKS },
    'h3-advertisement-wrong',
    ['h3-advertised-unreachable'],
    /on port 444, where UDP is refused; the site itself is on port 443/,
  ],
  [
    'a refused port may be a firewall’s where no UDP is known to pass',
    { discovered: at444, attempts: [h3(refused), h3(refused, { port: 444 }), h2()] },
    'h3-advertised-unreachable',
    [],
  ],
  [
    'a refused port, while the own port speaks HTTP/3',
    { discovered: at444, attempts: [h3(), h3(refused, { port: 444 }), h2()] },
    'h3-advertisement-wrong',
    ['h3-advertised-unreachable', 'h3-available'],
    /does not respond \(UDP refused\), but supports HTTP\/3 on port 443\. Fix the port .* if a firewall rejects it/,
  ],
  [
    'a port that does not answer, while the own port speaks HTTP/3',
    { discovered: at444, attempts: [h3(), h3(silent, { port: 444 }), h2()] },
    'h3-advertised-unreachable',
    ['h3-available'],
    /Unless port 444 is a mistake in the Alt-Svc header, a firewall lets UDP 443 through but not UDP 444/,
  ],
  [
    'a port that does not answer where others are silent too, although the own port answers',
    {
      discovered: at444,
      attempts: [h3(), h3(silent, { port: 444 }), h2()],
      network: { failedHosts: 9, reachedHosts: 0 },
    },
    'h3-advertised-unreachable',
    ['h3-available'],
    /^(?!.*blocks UDP)/,
  ],
  [
    'a refused port where UDP passes, as an answer from the own port shows',
    { discovered: at444, attempts: [h3(wrongName, { transportMs: 1 }), h3(refused, { port: 444 }), h2()] },
    'h3-advertisement-wrong',
    ['h3-advertised-unreachable'],
    /on port 444, where UDP is refused; the site itself is on port 443/,
  ],
  [
    'a refused port of another host is no fault of the origin’s',
    { discovered: atB, attempts: [h3(), h3(refused, onB), h2()] },
    'h3-advertised-unreachable',
    ['h3-available'],
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
    /at b\.test:444, a name without an address/,
  ],
  [
    'a host of which one family was not queried may have addresses of it',
    {
      discovered: { ...atB, names: names([], { lookups: unresolved.filter((l) => l.kind === 'A') }) },
      attempts: [h2()],
    },
    'unknown',
    [],
    /at b\.test:444, which was not tried/,
  ],
  [
    'a host with an address in the answer of a query, whatever the others found',
    {
      discovered: {
        ...atB,
        names: names([], { lookups: unresolved, addresses: [{ ...GIVEN, host: 'b.test' }] }),
      },
      attempts: [h2()],
    },
    'unknown',
    [],
    /at b\.test:444, which was not tried/,
  ],
  [
    'a host that was not queried, beside one without an address',
    {
      discovered: {
        ...atB,
        names: names([], { lookups: unresolved.map((l) => ({ ...l, name: 'c.test' })) }),
      },
      attempts: [h2()],
    },
    'unknown',
    [],
    /at b\.test:444, which was not tried/,
  ],
  [
    'a host without an address, whose HTTPS records are not known either',
    {
      discovered: {
        ...atB,
        names: names([], {
          lookups: [...unresolved, { ...answered('b.test', 0), outcome: 'failed', message: 'SERVFAIL' }],
        }),
      },
      attempts: [h3(refused), h2()],
    },
    'h3-advertisement-wrong',
    ['h3-advertised-unreachable'],
    /at b\.test:444, a name without an address/,
  ],
  [
    'a host that cannot be looked up now may well exist',
    {
      discovered: {
        ...atB,
        names: names([], {
          lookups: unresolved.map((l) => ({ ...l, outcome: 'failed', message: 'SERVFAIL' })),
        }),
      },
      attempts: [h3(refused), h2()],
    },
    'h3-advertised-unreachable',
    [],
    /the DNS lookup of b\.test failed \(SERVFAIL\)/,
  ],
  [
    'a host whose look-up outlasted the race may well exist',
    {
      discovered: {
        ...atB,
        names: names([], { lookups: unresolved.map((l) => ({ ...l, outcome: 'failed', unanswered: true })) }),
      },
      attempts: [h2()],
    },
    'unknown',
    [],
    /at b\.test:444, which was not tried/,
  ],
  [
    'a host that nobody answers for in seconds',
    {
      discovered: {
        ...atB,
        names: names([], {
          lookups: unresolved.map((l) => ({ ...l, outcome: 'failed', unanswered: true, tookMs: 2900 })),
        }),
      },
      attempts: [h3(refused), h2()],
    },
    'h3-advertised-unreachable',
    [],
    /the DNS lookup of b\.test failed/,
  ],
  [
    'a host whose addresses the guard took',
    {
      discovered: {
        ...atB,
        names: names([], { lookups: unresolved.map((l) => ({ ...l, message: '10.0.0.1 is private' })) }),
      },
      attempts: [h3(refused), h2()],
    },
    'unknown',
    [],
    /a cause on this machine prevented a result \(10\.0\.0\.1 is private\), so whether it works there is unknown/,
  ],
  [
    'a host without the certificate',
    { discovered: atB, attempts: [h3(refused), h3(wrongName, onB), h2()] },
    'h3-advertisement-wrong',
    ['h3-advertised-unreachable'],
    /no valid certificate for a\.test \(wrong name\)/,
  ],
  [
    'a host that answers 421',
    { discovered: atB, attempts: [h3(refused), h3(misdirected, onB), h2()] },
    'h3-advertisement-wrong',
    ['h3-advertised-unreachable'],
    /does not serve a\.test \(421\)/,
  ],
  [
    'the target of an HTTPS record without an address',
    {
      discovered: { ...quiet, names: names([{ target: 'b.test' }], { lookups: unresolved }) },
      attempts: [h3(refused), h2()],
    },
    'h3-advertisement-wrong',
    ['h3-advertised-unreachable'],
    /Fix the host in the HTTPS record/,
  ],
  [
    'a header that cannot be parsed',
    { attempts: [h3(silent), h2()], discovered: { altSvc: 'h3=443', knownRoot: true } },
    'h3-advertisement-wrong',
    ['h3-not-offered'],
    /^The Alt-Svc header cannot be parsed/,
  ],
  [
    'a header of which a part cannot be parsed',
    { discovered: { altSvc: 'h3=":443", h3=444', knownRoot: true } },
    'h3-advertisement-wrong',
    ['h3-available'],
    /1 of 2 entries/,
  ],
  [
    'the same beside a fault of ours',
    { discovered: { altSvc: 'h3=":443", h3=444', knownRoot: true }, attempts: [h3(OURS), h2()] },
    'h3-advertisement-wrong',
    ['unknown'],
  ],
  [
    'a fault of ours beside an HTTPS record without h3',
    { discovered: { ...own, names: names([{ alpn: ['h2'] }]) }, attempts: [h3(OURS), h2()] },
    'unknown',
    ['h3-advertisement-wrong'],
  ],
  [
    'a lifetime of nothing',
    { discovered: { altSvc: 'h3=":443"; ma=0', knownRoot: true } },
    'h3-advertisement-wrong',
    ['h3-not-advertised', 'h3-available'],
    /ma=0/,
  ],
  [
    'drafts, beside more alternatives than are read',
    { discovered: { altSvc: `h3-29=":443", ${MANY}`, knownRoot: true } },
    'h3-available',
    [],
    /reads only/,
  ],
  [
    'drafts beside h3',
    { discovered: { altSvc: `h3-29=":443", ${OWN}`, knownRoot: true } },
    'h3-available',
    [],
  ],
  [
    'drafts beside HTTP/2',
    { discovered: { altSvc: 'h3-29=":443", h2=":443"', knownRoot: true } },
    'h3-advertisement-wrong',
    ['h3-not-advertised', 'h3-available'],
    /only drafts of HTTP\/3 \(h3-29\)/,
  ],
  [
    'drafts only',
    { discovered: { altSvc: 'h3-29=":443", quic=":443"', knownRoot: true } },
    'h3-advertisement-wrong',
    ['h3-not-advertised', 'h3-available'],
    /only drafts of HTTP\/3 \(h3-29, quic\)/,
  ],
  [
    'an HTTPS record that cannot be used here may advertise to others',
    { discovered: { ...quiet, names: names([{ incompatible: true }]) } },
    'h3-available',
    ['unknown'],
  ],
  [
    'an HTTPS record without h3 that cannot be used here',
    { discovered: { ...quiet, names: names([{ incompatible: true, alpn: ['h2'] }]) } },
    'h3-not-advertised',
    ['h3-available'],
  ],
  [
    'an HTTPS record that cannot be used here, beside QUIC that fails',
    { discovered: { ...quiet, names: names([{ incompatible: true }]) }, attempts: [h3(silent), h2()] },
    'unknown',
    [],
    /does not support, such as ech/,
  ],
  [
    'an HTTPS record that cannot be used here, beside Alt-Svc',
    { discovered: { ...own, names: names([{ incompatible: true }]) } },
    'h3-available',
    ['unknown'],
  ],
  [
    'an HTTPS record without h3 beside Alt-Svc with it',
    { discovered: { ...own, names: names([{ alpn: ['h2'] }]) } },
    'h3-available',
    ['h3-advertisement-wrong'],
  ],
  [
    'an HTTPS record and Alt-Svc that name different endpoints',
    { discovered: { ...own, names: names([{ port: 8443 }]) } },
    'h3-available',
    ['h3-advertisement-wrong'],
  ],
  [
    'the HTTPS record of another port than 443, whose name is longer than its host',
    {
      origin: at8443,
      discovered: {
        altSvc: 'h3=":8443"',
        knownRoot: true,
        names: names([{ owner: '_8443._https.a.test', target: '_8443._https.a.test' }]),
      },
      attempts: [
        h3(null, { host: '_8443._https.a.test', port: 8443, source: 'https-record' }),
        h2(null, { port: 8443 }),
      ],
    },
    'h3-available',
    [],
  ],
  [
    'the same without Alt-Svc',
    {
      origin: at8443,
      discovered: {
        ...quiet,
        names: names([{ owner: '_8443._https.a.test', target: '_8443._https.a.test', port: 8443 }]),
      },
      attempts: [h3(null, { port: 8443 }), h2(null, { port: 8443 })],
    },
    'h3-available',
    [],
    /^Supports HTTP\/3 on this network\.$/,
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
      discovered: {
        ...atB,
        names: names([{ owner: '_444._https.b.test', alpn: ['h2'] }], {
          lookups: [answered('a.test', 0), answered('_444._https.b.test', 1)],
        }),
      },
      attempts: [h3(refused), h3(null, onB), h2()],
    },
    'h3-available',
    [],
  ],
  [
    'the record of an Alt-Svc host that is also the target of the origin’s alias is the origin’s own',
    {
      discovered: {
        altSvc: 'h3="cdn.test:443"',
        knownRoot: true,
        names: names(
          [
            { priority: 0, alpn: [], target: 'cdn.test' },
            { owner: 'cdn.test', target: 'cdn.test', alpn: ['h2'] },
          ],
          { lookups: [answered('a.test', 1), answered('cdn.test', 1)] },
        ),
      },
      attempts: [h3(null, { host: 'cdn.test', source: 'alt-svc' }), h2()],
    },
    'h3-available',
    ['h3-advertisement-wrong'],
  ],
];

const UNKNOWN: readonly Row[] = [
  [
    'both dead',
    { attempts: [h3(silent), h2(dead)], discovered: { altSvc: null, knownRoot: null } },
    'unknown',
    [],
    /Neither HTTP\/3 \(no reply over UDP\) nor HTTP\/2 \(TCP refused\).* Start the server/,
  ],
  [
    'both dead although memory has an advertisement for another port',
    { attempts: [h3(refused, { port: 444 }), h2(dead)], discovered: at444 },
    'unknown',
    [],
  ],
  [
    'nothing tried',
    { attempts: [], discovered: { altSvc: null, knownRoot: null } },
    'unknown',
    [],
    /^Not enough data/,
  ],
  [
    'HTTP/3 cut short',
    {
      attempts: [h3({ code: 'cancelled', message: 'm' }, { outcome: 'cancelled' }), h2()],
      discovered: quiet,
    },
    'unknown',
    [],
    /the attempt over HTTP\/3 cancelled/,
  ],
  [
    'only HTTP/2 tried, with one fault of ours',
    { attempts: [h2(), h2(OURS)], discovered: quiet },
    'unknown',
    [],
    /^HTTP\/3 was not tried\./,
  ],
  [
    'HTTP/3 failed, and HTTP/2 was established and cancelled',
    { attempts: [h3(misdirected), h2(null, { outcome: 'cancelled' })], discovered: quiet },
    'unknown',
    [],
    /^HTTP\/3 fails \(.*\), and the attempt over HTTP\/2 has no result/,
  ],
  [
    'only HTTP/3 tried, in vain',
    { attempts: [h3(silent)], discovered: { altSvc: null, knownRoot: null } },
    'unknown',
    [],
    /^HTTP\/3 fails \(no reply over UDP\), and HTTP\/2 was not tried: there is no reply over UDP/,
  ],
  [
    'only HTTP/3 tried, with a certificate that has expired',
    {
      attempts: [h3({ code: 'certificate-invalid', message: 'expired', reason: 'expired' })],
      discovered: { altSvc: null, knownRoot: null },
    },
    'unknown',
    [],
    /^HTTP\/3 fails \(.*\), and HTTP\/2 was not tried: the certificate has expired by .* renew it/,
  ],
  [
    'only HTTP/3 tried, on a network that blocks UDP',
    {
      attempts: [h3(silent)],
      discovered: { altSvc: null, knownRoot: null },
      network: { failedHosts: 3, reachedHosts: 0 },
    },
    'unknown',
    [],
    /^HTTP\/3 fails \(no reply over UDP\), and HTTP\/2 was not tried: your network blocks UDP: 3/,
  ],
  [
    'HTTP/3 failed, and HTTP/2 was cancelled',
    {
      attempts: [h3(misdirected), h2(null, { outcome: 'cancelled', establishedMs: null })],
      discovered: { altSvc: null, knownRoot: null },
    },
    'unknown',
    [],
    /^HTTP\/3 fails \(.*\), and the attempt over HTTP\/2 has no result: the server responds with 421/,
  ],
  [
    'only HTTP/2 tried, in vain',
    { attempts: [h2(dead)], discovered: quiet },
    'unknown',
    [],
    /^HTTP\/2 fails \(TCP refused\), and HTTP\/3 was not tried: .* Start the server/,
  ],
  [
    'only HTTP/3 tried, in vain, where other hosts are reached and answer',
    {
      attempts: [h3(silent)],
      discovered: quiet,
      network: { failedHosts: 3, reachedHosts: 1, answeredHosts: 1 },
    },
    'unknown',
    [],
    /^(?!.*blocks UDP)/,
  ],
  [
    'only HTTP/2 tried, one of its attempts cancelled',
    { attempts: [h2(), CANCELLED_TCP], discovered: quiet },
    'unknown',
    [],
    /^HTTP\/3 was not tried\./,
  ],
  [
    'only HTTP/2 tried, in vain, although HTTP/3 is advertised',
    { attempts: [h2(dead)] },
    'unknown',
    [],
    /^HTTP\/2 fails \(TCP refused\), and HTTP\/3 was not tried:/,
  ],
  [
    'HTTP/3 left out by memory, although advertised',
    { attempts: [h2()], leftOut: true },
    'unknown',
    [],
    /host cache remembers/,
  ],
  [
    'advertised where no race can be advised',
    { attempts: [h2()], next: null },
    'unknown',
    [],
    /on port 443, which was not tried\.$/,
  ],
  [
    'only HTTP/2 tried, with nothing that names HTTP/3',
    { attempts: [h2()], discovered: quiet },
    'unknown',
    [],
    /^HTTP\/3 was not tried\./,
  ],
  [
    'advertised by the answer of a mode that does not follow it',
    { attempts: [h2()] },
    'unknown',
    [],
    /on port 443, which was not tried\. Race it again in race mode/,
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
    /the DNS lookup of a\.test failed \(NXDOMAIN\)/,
  ],
  [
    'HTTP/3 left out by memory',
    { attempts: [h2()], discovered: quiet, leftOut: true },
    'unknown',
    [],
    /host cache remembers/,
  ],
];

const ON_H2 = { lastProtocol: 'h2', visitsSinceAdvertised: 0 } as const;
const ONE_OF_TWO = {
  discovered: { altSvc: 'h3=":443", h3=":444"', knownRoot: true },
  attempts: [h3(), h3(silent, { port: 444 }), h2()],
};
const BROWSER: readonly Row[] = [
  [
    'the browser used it',
    { browser: { lastProtocol: 'h3', visitsSinceAdvertised: 4 } },
    'h3-used',
    ['h3-available'],
  ],
  [
    'the browser’s visits are unknown',
    { browser: { ...ON_H2, visitsSinceAdvertised: null } },
    'h3-available',
    [],
  ],
  [
    'the browser could not know yet, and nothing at all was found',
    { attempts: [], discovered: { altSvc: null, knownRoot: null }, browser: ON_H2 },
    'h3-first-visit',
    [],
  ],
  [
    'the browser could not know yet, nothing was raced, and the root is private',
    { attempts: [], discovered: { ...own, knownRoot: false }, browser: ON_H2 },
    'h3-first-visit',
    [],
  ],
  [
    'the browser could not know yet, and trusts the private root',
    { discovered: { ...own, knownRoot: false }, trustsRoot: true, browser: ON_H2 },
    'h3-first-visit',
    ['h3-available'],
  ],
  [
    'the browser on h2, and a race that found nothing advertised',
    { attempts: [h2()], discovered: quiet, browser: ON_H2 },
    'unknown',
    [],
  ],
  [
    'the browser on h2, where it is withdrawn',
    { attempts: [], discovered: { altSvc: 'clear', knownRoot: true }, browser: ON_H2 },
    'unknown',
    [],
  ],
  [
    'the browser on h2, advertised elsewhere, and dead at the own port',
    { attempts: [h3(silent), h2()], discovered: atB, browser: ON_H2 },
    'unknown',
    [],
    /which was not tried/,
  ],
  [
    'the browser on h2, and a fault that keeps clients from HTTP/3',
    { discovered: { altSvc: 'h3=":443", h3=444', knownRoot: true }, browser: ON_H2 },
    'h3-advertisement-wrong',
    ['h3-available'],
  ],
  [
    'the browser could not know yet, and one of two endpoints is dead',
    { ...ONE_OF_TWO, browser: ON_H2 },
    'h3-first-visit',
    ['h3-available'],
  ],
  [
    'the browser stays away, and one of two endpoints is dead',
    {
      ...ONE_OF_TWO,
      browser: { ...ON_H2, visitsSinceAdvertised: 3, visitsHere: true, proxied: false },
    },
    'h3-browser-avoids',
    ['h3-available'],
  ],
  [
    'the browser uses a proxy',
    { browser: { ...ON_H2, proxied: true } },
    'h3-available',
    [],
    /a proxy is in use/,
  ],
  [
    'the browser stays away, and perhaps uses a proxy',
    { browser: { ...ON_H2, visitsSinceAdvertised: 3, visitsHere: true } },
    'h3-available',
    [],
    /it may be using a proxy/,
  ],
  [
    'the browser could not know yet',
    { browser: { lastProtocol: 'h2', visitsSinceAdvertised: 0 } },
    'h3-first-visit',
    ['h3-available'],
    /the browser did not know yet/,
  ],
  [
    'the browser knew since an earlier page',
    { browser: { lastProtocol: 'h2', visitsSinceAdvertised: 1 } },
    'h3-first-visit',
    ['h3-available'],
    /has known this since an earlier page/,
  ],
  [
    'the browser could not know yet, and would refuse the root',
    {
      discovered: { ...own, knownRoot: false },
      browser: { lastProtocol: 'h2', visitsSinceAdvertised: 0 },
    },
    'h3-private-root',
    ['h3-available'],
  ],
  [
    'the browser on h2, and a later race that reached nothing',
    {
      attempts: [h3(silent), h2(dead)],
      browser: { lastProtocol: 'h2', visitsSinceAdvertised: null },
    },
    'unknown',
    [],
    /^Reached over HTTP\/2\. A later race could not reach it: Neither/,
  ],
  [
    'the browser could not know yet, and nothing was raced',
    { attempts: [], browser: { lastProtocol: 'h2', visitsSinceAdvertised: 0 } },
    'h3-first-visit',
    [],
  ],
  [
    'the browser stays away',
    { browser: { lastProtocol: 'h2', visitsSinceAdvertised: 3, visitsHere: true, proxied: false } },
    'h3-browser-avoids',
    ['h3-available'],
  ],
  [
    'the browser stays away on another network, or on one that is not known',
    { browser: { lastProtocol: 'h2', visitsSinceAdvertised: 9 } },
    'h3-available',
    [],
    /^Supports HTTP\/3 on this network\. On its last visits the browser stayed on HTTP\/2, but not/,
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
    'the browser on h2, and the advertised port was not tried',
    {
      discovered: at444,
      attempts: [h3(), h2()],
      browser: { lastProtocol: 'h2', visitsSinceAdvertised: 9, visitsHere: true, proxied: false },
    },
    'h3-available',
    [],
    /Supports HTTP\/3 on this network\. Advertises HTTP\/3 on port 444, which was not tried\./,
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
    const codes = new Set(verdict.findings.map((finding) => finding.code));
    assert.deepEqual([...codes], [code, ...findings]);
    if (words !== undefined) assert.match(verdictText(verdict), words);
    for (const text of allTexts(verdict)) {
      assert.match(text, /^[A-Z0-9].*\.$/, 'a sentence');
      assert.doesNotMatch(text, /[!{}]|undefined|null/);
    }
  });

test('what is wrong with several ports is said once, with its remedy', () => {
  const altSvc = 'h3=":444", h3=":445", h3="b.test:25", h3=":446"';
  const refusedAt = (port: number) => h3(refused, { port });
  const attempts = [h3(), refusedAt(444), refusedAt(445), refusedAt(446), h2()];
  const { findings } = verdictOf({ ...base, discovered: { altSvc, knownRoot: true }, attempts });
  const text = allTexts({ code: 'unknown', findings }).join(' ');
  assert.match(
    text,
    /on port 444, which does not respond .* Fix the port in [^.]+\. The same applies on port 445, on port 446\./,
  );
  assert.equal(text.match(/Fix the port/g)?.length, 1);
  assert.match(text, /at b\.test:25, a port to which browsers do not connect/);
});

test('a race in which this machine was too busy in every trial is no evidence', () => {
  const limits = [h3(silent), h2({ code: 'tcp-timeout', message: 'no answer' })];
  const disturbed = { ...trial(limits, null), disturbed: 'outcome' as const };
  const verdict = verdictOf(evidenceOfRace(originRace([disturbed, disturbed])));
  assert.equal(verdict.code, 'machine-too-busy');
  assert.match(verdictText(verdict), /this machine was too busy/);
  assert.doesNotMatch(verdictText(verdict), /firewall|UDP|TCP|down/);
  assert.deepEqual(otherFindings(verdict), []);
  const sound = verdictOf(evidenceOfRace(originRace([disturbed, trial([h3(), h2()])])));
  assert.equal(sound.code, 'h3-available', 'one trial that was not disturbed is enough');
});

test('what was tried while this machine was too busy is not called untried', () => {
  const said = (
    altSvc: string | null,
    lost: Evidence['attempts'][0],
    ...sound: Evidence['attempts'][0][]
  ) => {
    const busy = { ...trial([lost], null), disturbed: 'outcome' as const };
    const race = { ...originRace([busy, trial(sound)]), discovered: { altSvc, knownRoot: true } };
    return allTexts(verdictOf(evidenceOfRace(race))).join(' ');
  };
  const texts = [
    said(null, h2(dead), h3(refused)),
    said(null, h3(silent), h2(dead)),
    said(null, h3(silent), h2()),
    said('h3=":444"', h3(silent, { port: 444 }), h2()),
  ];
  for (const text of texts) assert.doesNotMatch(text, /was not tried/);
  assert.match(texts[0] ?? '', /the attempt over HTTP\/2 has no result: UDP is refused/);
  for (const text of texts.slice(1)) assert.match(text, /about HTTP\/3 here: this machine was too busy/);
  const bug = { code: 'internal', message: 'panicked' } as const;
  assert.match(said(null, h3(silent), h3(bug), h2()), /this is a bug in Photofinish/);
});

test('disturbed times do not change what was reached', () => {
  const timed = { ...trial([h3(), h2()]), disturbed: 'times' as const };
  assert.equal(verdictOf(evidenceOfRace(originRace([timed]))).code, 'h3-available');
});

test('the browser’s record takes precedence over a race for which this machine was too busy', () => {
  const disturbed = { ...trial([h3(silent), h2(dead)], null), disturbed: 'outcome' as const };
  const browser = { lastProtocol: 'h3', visitsSinceAdvertised: 5 } as const;
  const verdict = verdictOf(evidenceOfRace(originRace([disturbed]), browser));
  assert.deepEqual(
    [verdict.code, ...otherFindings(verdict).map(({ code }) => code)],
    ['h3-used', 'machine-too-busy'],
  );
});

test('a race in mode race does not advise that mode again, and explain advises no race at all', () => {
  const attempts = [h3(refused), h2()];
  const texts = (['race', 'explain', null] as const).map((next) =>
    verdictText(verdictOf({ ...base, next, discovered: atB, attempts })),
  );
  assert.match(texts[0] ?? '', /which was not tried; .* Race it again in race mode/);
  assert.match(texts[1] ?? '', /Run photofinish explain https:\/\/a\.test/);
  assert.doesNotMatch(texts[2] ?? '', /Race it|Run /);
});

test('a record’s own name that has no address is named (RFC 9460 section 2.5.2)', () => {
  const own = '_7014._https.a.test';
  const lookups = (['HTTPS', 'A', 'AAAA'] as const).map((kind) => ({
    ...{ name: own, kind, tookMs: 3, records: 0 },
    outcome: kind === 'HTTPS' ? ('answered' as const) : ('empty' as const),
  }));
  const discovered = {
    ...quiet,
    names: names([{ owner: own, target: own, port: 7022 }], { lookups }),
  };
  const origin = originParts('https://a.test:7014' as Origin);
  const at7014 = [h3(refused, { port: 7014 }), h2(null, { port: 7014 })];
  const verdict = verdictOf({ ...base, origin, discovered, attempts: at7014 });
  assert.equal(verdict.code, 'h3-advertisement-wrong');
  assert.match(verdictText(verdict), /at _7014\._https\.a\.test:7022, a name without an address/);
});

test('a record and a header that lead to one address and port do not contradict each other', () => {
  const address = (host: string, where: string) => ({
    ...{ host, address: where, source: 'a' as const, ttlSeconds: 60 },
  });
  const faults = (port: number, where: string) => {
    const addresses = [address('a.test', '192.0.2.1'), address('b.test', where)];
    const discovered = { ...own, names: names([{ target: 'b.test', port }], { addresses }) };
    return otherFindings(verdictOf({ ...base, discovered }))
      .filter(({ code }) => code === 'h3-advertisement-wrong')
      .map(({ text }) => text);
  };
  assert.deepEqual(faults(443, '192.0.2.1'), []);
  assert.match(faults(443, '192.0.2.9')[0] ?? '', /Make the two agree/);
  assert.match(faults(444, '192.0.2.1')[0] ?? '', /Make the two agree/);
});

test('HTTP/3 used before and HTTP/2 now is a separate case, for any number of visits', () => {
  const browser = { lastProtocol: 'h2', visitsSinceAdvertised: 1, usedH3: true, proxied: false } as const;
  const once = verdictOf({ ...base, browser });
  assert.equal(once.code, 'h3-used-before');
  assert.match(
    verdictText(once),
    /over HTTP\/3 before; this time TCP was faster, .* or the advertisement that it knew had expired\.$/,
  );
  const unsure = verdictOf({ ...base, browser: { ...browser, proxied: null } });
  assert.match(verdictText(unsure), /this time TCP was faster, .* or it went through a proxy\.$/);
  const proxied = verdictOf({ ...base, browser: { ...browser, visitsSinceAdvertised: 9, proxied: true } });
  assert.equal(proxied.code, 'h3-used-before');
  assert.match(verdictText(proxied), /now a proxy is in use, .* browsers do not use HTTP\/3\.$/);
  const often = verdictOf({ ...base, browser: { ...browser, visitsSinceAdvertised: 3 } });
  assert.equal(often.code, 'h3-used-before');
  assert.match(verdictText(often), /not used HTTP\/3 for three or more visits\.$/);
  assert.doesNotMatch(verdictText(often), /policy/);
  assert.equal(
    verdictOf({ ...base, browser, attempts: [h3(refused), h2()] }).code,
    'h3-advertised-unreachable',
  );
});

test('HTTP/3 on the visit alone is no use before it, and said with whatever the verdict is', () => {
  const browser = { lastProtocol: 'h2', visitsSinceAdvertised: 0, visitUsesH3: true } as const;
  const first = verdictOf({ ...base, browser });
  assert.equal(first.code, 'h3-first-visit');
  assert.match(
    verdictText(first),
    /^Reached over HTTP\/2\. Other requests of the visit already use HTTP\/3\./,
  );
  const failed = verdictOf({ ...base, browser, attempts: [h3(refused), h2()] });
  assert.equal(failed.code, 'h3-advertised-unreachable');
  assert.match(verdictText(failed), /Other requests of the visit already use HTTP\/3\./);
  assert.equal(
    verdictText(verdictOf({ ...base, browser: { ...browser, lastProtocol: 'h3' } })).includes('Other'),
    false,
  );
  const trusted = verdictOf({ ...base, browser, discovered: { ...own, knownRoot: false } });
  assert.ok(trusted.findings.every(({ code }) => code !== 'h3-private-root'));
});

test('when the browser tries again is said of the browser that it is, and of none that is unknown', () => {
  const visits = { visitsSinceAdvertised: 3, visitsHere: true, proxied: false } as const;
  const stays = { lastProtocol: 'h2', ...visits } as const;
  const keys = (browser: BrowserEvidence) =>
    verdictOf({ ...base, browser }).findings.map(({ code, key }) => `${code} ${key}`);
  for (const [browser, retries] of [
    ['chromium', 'verdictRetriesChromium'],
    ['firefox', 'verdictRetriesFirefox'],
  ] as const) {
    assert.deepEqual(keys({ ...stays, browser }).slice(0, 2), [
      'h3-browser-avoids verdictAvoids',
      `h3-browser-avoids ${retries}`,
    ]);
    assert.equal(keys({ ...stays, browser, usedH3: true })[2], `h3-used-before ${retries}`);
    const first = keys({ ...stays, browser, visitsSinceAdvertised: 1 });
    assert.ok(!first.join().includes('Retries'), 'a first visit avoids nothing');
  }
  assert.ok(!keys(stays).join().includes('Retries'));
});

test('a later race that reached nothing is mentioned beside the browser’s record, an older one is not', () => {
  const browser = { lastProtocol: 'h3', visitsSinceAdvertised: 0, usedH3: true } as const;
  const attempts = [h3(refused), h2(dead)];
  assert.match(
    verdictText(verdictOf({ ...base, attempts, browser })),
    /^Reached over HTTP\/3\. A later race could not reach it: Neither HTTP\/3 \(UDP refused\) nor HTTP\/2/,
  );
  const older = verdictOf({ ...base, attempts, browser: { ...browser, raceIsOlder: true } });
  assert.equal(verdictText(older), 'Reached over HTTP/3.');
});

test('a browser that reached the origin over HTTP/3 trusts the root for it', () => {
  const discovered = { ...own, knownRoot: false };
  const codes = (browser: Evidence['browser']) =>
    verdictOf({ ...base, discovered, ...(browser && { browser }) }).findings.map(({ code }) => code);
  assert.ok(codes({ lastProtocol: 'h2', visitsSinceAdvertised: 0 }).includes('h3-private-root'));
  assert.ok(!codes({ lastProtocol: 'h3', visitsSinceAdvertised: 0 }).includes('h3-private-root'));
  for (const lastProtocol of ['h2', 'h3'] as const)
    assert.ok(!codes({ lastProtocol, visitsSinceAdvertised: 0, usedH3: true }).includes('h3-private-root'));
  assert.equal(verdictOf({ ...base, discovered, trustsRoot: true }).code, 'h3-available');
});

test('over a family in which the peer was heard, the cause is told, not that nothing listens there', () => {
  const stalls = { code: 'handshake-timeout', message: 'no Finished' } as const;
  const attempts = [h3(stalls, { address: '2001:db8::1' }), h3(), h2()];
  const [said] = otherFindings(verdictOf({ ...base, attempts }));
  assert.match(
    said?.text ?? '',
    /^HTTP\/3 works over IPv4, but not over IPv6: the QUIC handshake does not complete in time, although/,
  );
});

test('offline is this machine’s problem, and nothing about the name or the server needs fixing', () => {
  const lost = { code: 'dns-failed', message: 'no route' } as const;
  for (const over of [{ error: lost, attempts: [] }, { attempts: [h3(silent), h2(dead)] }]) {
    const verdict = verdictOf({ ...base, ...over, offline: true });
    const text = verdictText(verdict);
    assert.deepEqual([verdict.code, otherFindings(verdict)], ['unknown', []]);
    assert.match(text, /^This machine is offline/);
  }
  for (const [attempts, code] of [
    [[h3(), h2()], 'h3-available'],
    [[h3(), h2(dead)], 'h3-available'],
    [[h3(silent), h2()], 'h3-advertised-unreachable'],
  ] as const)
    assert.equal(verdictOf({ ...base, attempts, offline: true }).code, code);
});

test('addresses skipped because of our own limits are mentioned if something failed, but not as the cause', () => {
  const names = { addresses: [], services: [], lookups: [], untried: 3 };
  const race = originRace([{ ...trial([h3(silent), h2()]), untried: 8 }]);
  const failed = verdictOf(evidenceOfRace({ ...race, discovered: { ...own, names } }));
  assert.match(
    verdictText(failed),
    / 11 more addresses or alternatives were not tried: a race tries only a limited number/,
  );
  const works = originRace([trial([h3(), h2()])]);
  const fine = verdictOf(evidenceOfRace({ ...works, discovered: { ...own, names } }));
  assert.doesNotMatch(verdictText(fine), /more address/);
});

test('a port to which browsers do not connect is a fault of the advertisement, not a failure of the server', () => {
  for (const [port, says] of [
    [25, /^Advertises HTTP\/3 on port 25, a port to which browsers do not connect \(Fetch Standard/],
    [11211, /^Advertises HTTP\/3 on port 11211, the port of a service that is used for reflection attacks/],
  ] as const) {
    const verdict = verdictOf({
      ...base,
      attempts: [h2()],
      discovered: { altSvc: `h3=":${port}"`, knownRoot: true },
    });
    assert.equal(verdict.code, 'h3-advertisement-wrong');
    assert.match(verdictText(verdict), says);
    assert.ok(verdict.findings.some(({ code }) => code === 'h3-advertised-unreachable'));
    assert.doesNotMatch(allTexts(verdict).join(), /firewall|QUIC server is listening/);
  }
  const error = { code: 'port-blocked', message: 'M' } as const;
  const origin = { ...base.origin, port: 25 };
  const untried = verdictOf({ ...base, origin, error, attempts: [], discovered: quiet });
  assert.match(verdictText(untried), /^Could not be raced: browsers do not connect to port 25/);
});

test('names at one address are one host, and each further name takes as few steps as the first', (t) => {
  const names = Array.from({ length: 200 }, (_, i) => ({
    host: `${i}.example`,
    addresses: ['192.0.2.1', '2001:db8::1'],
  }));
  const other = { host: 'other.example', addresses: ['192.0.2.2'] };
  const { mock } = t.mock.method(Map.prototype, 'get');
  assert.equal(countHosts([...names, other], []), 2);
  assert.equal(countHosts([...names, other], ['2001:db8::1']), 1, 'apart from the host that is judged');
  const steps = mock.callCount();
  assert.ok(steps < 100 * names.length, `${steps} steps`);
});
