import { verdictAsText, verdictText } from './verdict-text.ts';
import '@photofinish/shared/language/english';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import type { DnsResults, ServiceRecord } from '../race/discovered.ts';
import type { NetworkEvidence } from '../race/outcome.ts';
import {
  attempt,
  clearComparison,
  comparison,
  originRace,
  SAMPLE_ORIGIN,
  trial,
} from '../testing/race-samples.ts';
import { NO_OTHERS } from './evidence.ts';
import {
  discoveredIn,
  EXPLAIN_SCHEMA,
  evidenceOfRaces,
  explanationSchema,
  type Races,
  verdictOfRaces,
} from './explanation.ts';

const silent = { code: 'udp-timeout', message: 'no answer' } as const;
const h3Failed = attempt({ protocol: 'h3', outcome: 'failed', error: silent });
const h3 = attempt({ protocol: 'h3', outcome: 'adopted', establishedMs: 2 });
const h2 = attempt({ protocol: 'h2', outcome: 'adopted', establishedMs: 5 });
const names: DnsResults = { addresses: [], services: [], lookups: [] };

function races(over: Partial<Races>): Races {
  return {
    race: originRace([trial([h3Failed, h2], 'h2')]),
    v3: null,
    altSvc: null,
    h3: null,
    compare: null,
    ...over,
  };
}

test('what one race does not show another may: attempts add up', () => {
  assert.equal(verdictOfRaces(races({}), NO_OTHERS).code, 'h3-advertised-unreachable');
  const reached = races({ altSvc: originRace([trial([h2, h3])]) });
  assert.equal(evidenceOfRaces(reached, NO_OTHERS).attempts.length, 4);
  assert.equal(verdictOfRaces(reached, NO_OTHERS).code, 'h3-available');
});

test('a look-up that this busy machine falsified is its own fault, as in the race itself', () => {
  const error = { code: 'dns-failed', message: 'no answer', disturbed: true } as const;
  const busy = races({ race: originRace([], { error }) });
  assert.equal(verdictOfRaces(busy, NO_OTHERS).code, 'machine-too-busy');
});

test('a failure over HTTP/3 counts only if the trial was decided by it', () => {
  const undecided = originRace([{ ...trial([h3Failed, h2], 'h2'), h3Undecided: true }]);
  assert.deepEqual(
    evidenceOfRaces(races({ race: undecided }), NO_OTHERS).attempts.map(({ protocol }) => protocol),
    ['h2'],
  );
});

test('a record’s endpoint that no race tried is judged by the race over HTTP/3 only', () => {
  const service: ServiceRecord = {
    ...{
      owner: 'a.test',
      priority: 1,
      target: 'b.test',
      alpn: ['h3', 'h2'],
      noDefaultAlpn: false,
      port: 444,
    },
    ...{ ipv4Hints: [], ipv6Hints: [], ech: false, incompatible: false, ttlSeconds: 60 },
  };
  const address = { host: 'b.test', address: '192.0.2.9', source: 'a' as const, ttlSeconds: 60 };
  const record: DnsResults = { addresses: [address], services: [service], lookups: [] };
  const race = originRace([trial([h2], 'h2')], {
    discovered: { altSvc: null, knownRoot: true, names: record },
  });
  const place = { host: 'b.test', port: 444, address: address.address, source: 'https-record' as const };
  assert.equal(verdictOfRaces(races({ race }), NO_OTHERS).code, 'unknown');
  const works = originRace([trial([{ ...h3, ...place }])], { mode: 'h3' });
  assert.equal(verdictOfRaces(races({ race, h3: works }), NO_OTHERS).code, 'h3-available');
  const fails = originRace([trial([{ ...h3Failed, ...place }], null)], { mode: 'h3' });
  assert.equal(verdictOfRaces(races({ race, h3: fails }), NO_OTHERS).code, 'h3-advertised-unreachable');
});

test('what DNS has not answered is called unknown, and a later race with an answer takes precedence', () => {
  const lookup = { name: 'example.org', kind: 'HTTPS' as const, tookMs: 58, records: 0 };
  const unheard: DnsResults = { ...names, lookups: [{ ...lookup, outcome: 'failed', unanswered: true }] };
  const received: DnsResults = { ...names, lookups: [{ ...lookup, outcome: 'empty' }] };
  const asking = (own: DnsResults) =>
    originRace([trial([h3Failed, h2], 'h2')], { discovered: { altSvc: null, knownRoot: true, names: own } });
  const unknown = /Whether an HTTPS record advertises it is unknown/;
  const before = verdictOfRaces(races({ race: asking(unheard) }), NO_OTHERS);
  assert.equal(before.code, 'unknown', 'a record may name another port');
  assert.match(verdictText(before), unknown);
  const later = races({ race: asking(unheard), h3: asking(received) });
  assert.deepEqual(discoveredIn(later).names, received);
  const { code, text } = verdictAsText(verdictOfRaces(later, NO_OTHERS));
  assert.equal(code, 'h3-not-offered');
  assert.doesNotMatch(text, unknown);
});

test('of a name in the hosts file DNS was not queried, which is said, and is no silence of DNS', () => {
  const lookup = { name: 'example.org', kind: 'HTTPS' as const, tookMs: 0, records: 0 };
  const own: DnsResults = { ...names, lookups: [{ ...lookup, outcome: 'failed', unasked: true }] };
  const discovered = { altSvc: null, knownRoot: true, names: own };
  const race = originRace([trial([h3Failed, h2], 'h2')], { discovered });
  const { code, text } = verdictAsText(verdictOfRaces(races({ race }), NO_OTHERS));
  assert.equal(code, 'unknown');
  assert.match(text, /DNS was not queried/);
  assert.doesNotMatch(text, /no usable answer/);
});

test('an answer about the record of an Alt-Svc host is none about the origin’s', () => {
  const lookup = { kind: 'HTTPS' as const, tookMs: 58, records: 0 };
  const failed = { ...lookup, name: 'example.org', outcome: 'failed' } as const;
  const other = { ...lookup, name: 'alt.test', outcome: 'empty' } as const;
  const answered = { ...lookup, name: 'example.org', outcome: 'empty' } as const;
  const asking = (...lookups: DnsResults['lookups']) =>
    originRace([trial([h2], 'h2')], {
      discovered: { altSvc: null, knownRoot: true, names: { ...names, lookups } },
    });
  const found = discoveredIn(races({ race: asking(other), h3: asking(failed), v3: asking(answered) }));
  assert.deepEqual(found.names?.lookups, [answered, other]);
});

/** HTTP/3 at the origin's own port was first, so that only the race in mode `alt-svc` followed the alternative. */
function following(place: string, own: Partial<DnsResults>, attempts: (typeof h3)[] = []): Races {
  const pin = { host: 'example.org', address: '192.0.2.1', source: 'pin', ttlSeconds: null } as const;
  const discovered = { altSvc: `h3="${place}"`, knownRoot: true, names: { ...names, addresses: [pin] } };
  return races({
    race: originRace([trial([h3])], { discovered }),
    altSvc: originRace([trial([h2, ...attempts], 'h2')], {
      mode: 'alt-svc',
      discovered: { ...discovered, names: { ...discovered.names, ...own } },
    }),
  });
}

test('an alternative’s name is looked up by the race that follows it, and its answers count', () => {
  const lookups = (['A', 'AAAA'] as const).map((kind) => ({
    ...{ name: 'alt.invalid', kind, tookMs: 2, outcome: 'empty' as const, records: 0 },
  }));
  const followed = following('alt.invalid:443', { lookups });
  assert.deepEqual(discoveredIn(followed).names?.lookups, lookups);
  const { code, text } = verdictAsText(verdictOfRaces(followed, NO_OTHERS));
  assert.equal(code, 'h3-advertisement-wrong');
  assert.match(text, /at alt\.invalid:443, a name without an address/);
  const cut = lookups.map((lookup) => ({ ...lookup, outcome: 'failed' as const, unanswered: true }));
  const { names: open } = discoveredIn({
    ...followed,
    race: following('', { lookups: cut }).altSvc ?? followed.race,
  });
  assert.deepEqual(open?.lookups, lookups, 'an answer replaces a question that had none in time');
});

test('alternatives beyond the limit are counted by the race that follows them', () => {
  const refused = { code: 'udp-refused', message: 'refused' } as const;
  const failed = { ...h3Failed, error: refused, port: 444, source: 'alt-svc' as const };
  const text = (attempts: (typeof h3)[]) =>
    verdictText(verdictOfRaces(following(':444', { untried: 13 }, attempts), NO_OTHERS));
  assert.match(text([failed]), /13 more addresses or alternatives were not tried/);
  assert.doesNotMatch(text([{ ...h3, port: 444, source: 'alt-svc' }]), /were not tried/);
});

test('the gain is the comparison’s', () => {
  const compared = races({
    race: originRace([trial([h3])]),
    compare: clearComparison(10, 30),
  });
  assert.match(
    verdictText(verdictOfRaces(compared, NO_OTHERS)),
    /connects in 10\.0 ms, HTTP\/2 in 30\.0 ms \(20\.0 ms faster\)/,
  );
});

test('other hosts are evidence about the network', () => {
  const { text } = verdictAsText(verdictOfRaces(races({}), { failedHosts: 2, reachedHosts: 0 }));
  assert.match(text, /your network blocks UDP/);
});

test('discovered facts come from the first race that has them', () => {
  const mute = originRace([], { discovered: { altSvc: null, knownRoot: null } });
  const told = originRace([], { discovered: { altSvc: 'h3=":1"', knownRoot: false, names } });
  const later = originRace([], { discovered: { altSvc: 'h3=":2"', knownRoot: true } });
  assert.deepEqual(discoveredIn(races({ race: mute, v3: told, compare: later })), {
    altSvc: 'h3=":1"',
    knownRoot: false,
    names,
  });
});

test('what TCP carried in any race counts, whatever the first race received over HTTP/3', () => {
  const alternative = (port: number) =>
    ({ alpn: 'h3', host: '', port, persist: false, expiresInSeconds: 60, source: 'answer' }) as const;
  const over = (altSvcOver: { tcp?: string | null; h3?: string | null }, port: number) => ({
    ...{ altSvc: 'h3=":443"', altSvcOver, knownRoot: true },
    alternatives: [alternative(port)],
  });
  const cancelled = attempt({ protocol: 'h2', outcome: 'cancelled' });
  const first = originRace([trial([h3, cancelled])], { discovered: over({ h3: 'h3=":443"' }, 443) });
  const judged = (tcp: string | null) => {
    const compare = originRace([trial([h2], 'h2')], { discovered: over({ tcp }, 5) });
    const all = races({ race: first, compare });
    return { ...discoveredIn(all), code: verdictOfRaces(all, NO_OTHERS).code };
  };
  const { altSvcOver, alternatives, code } = judged('h3=":5"');
  assert.deepEqual(altSvcOver, { tcp: 'h3=":5"', h3: 'h3=":443"' });
  assert.deepEqual([alternatives?.map(({ port }) => port), code], [[5], 'h3-available']);
  assert.equal(judged('clear').code, 'h3-not-advertised');
  assert.equal(judged(null).code, 'h3-not-advertised');
  assert.equal(verdictOfRaces(races({ race: first }), NO_OTHERS).code, 'h3-available');
});

test('a root is private if QUIC’s chain ends in it, whatever TCP’s does', () => {
  const seen = (attempts: (typeof h3)[], knownRoot: boolean) =>
    originRace([trial(attempts, 'h2')], { discovered: { altSvc: 'h3=":443"', knownRoot } });
  const cancelled = attempt({ protocol: 'h3', outcome: 'cancelled' });
  const late = { ...h3, outcome: 'established-late' } as const;
  for (const isPublic of [true, false]) {
    const overTcp = seen([cancelled, h2], !isPublic);
    const both = races({ race: overTcp, v3: seen([h2, late], isPublic) });
    assert.equal(discoveredIn(both).knownRoot, isPublic);
    assert.equal(verdictOfRaces(both, NO_OTHERS).code, isPublic ? 'h3-available' : 'h3-private-root');
    assert.equal(discoveredIn(races({ race: overTcp })).knownRoot, !isPublic);
  }
});

test('the document has its schema, and a missing part is rejected', () => {
  const all = races({ compare: comparison([1, 1, 1], [2, 2, 2]) });
  const document = {
    ...{ schema: EXPLAIN_SCHEMA, origin: SAMPLE_ORIGIN, network: 'net', atMs: 1, names, alternatives: [] },
    ...all,
    ...{ remembered: null, shared: null, evidence: NO_OTHERS, verdict: verdictOfRaces(all, NO_OTHERS) },
  };
  const read = (evidence: NetworkEvidence) =>
    v.parse(explanationSchema, JSON.parse(JSON.stringify({ ...document, evidence }))).evidence;
  // Without the order in older documents.
  for (const evidence of [NO_OTHERS, { ...NO_OTHERS, reachedLater: true }])
    assert.deepEqual(read(evidence), evidence);
  for (const part of Object.keys(document)) {
    const { [part as keyof typeof document]: _, ...rest } = document;
    assert.equal(v.safeParse(explanationSchema, rest).success, false, part);
  }
});
