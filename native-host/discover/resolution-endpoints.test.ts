// What is asked and which endpoints follow from the answers: sections 4.1 (questions), 4.2.1 (HTTPS records, with what
// it needs of RFC 9460), 6.2 (Alt-Svc, with RFC 9460 section 9.3) and 8 (NAT64) of the Happy Eyeballs v3 draft.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Alternative } from '@photofinish/shared/web/alt-svc';
import {
  a,
  aaaa,
  DUAL_STACK,
  failing,
  https,
  IPV4_ONLY,
  IPV6_ONLY,
  NAT64,
  type Reply,
  resolve,
  type Testbed,
} from '../testing/resolution.ts';

test('4.1: "When there is IPv6 connectivity, the client MUST include a query for AAAA records"', () => {
  assert.deepEqual(resolve({ connectivity: IPV6_ONLY }).queries, ['HTTPS? a.test', 'AAAA? a.test']);
});

test('4.1: "When there is IPv4 connectivity, the client MUST include a query for A records"', () => {
  assert.deepEqual(resolve({ connectivity: IPV4_ONLY }).queries, ['HTTPS? a.test', 'A? a.test']);
});

test('4.1: "if the client has detected a NAT64 prefix on the network, the client MUST include a query for A records"', () => {
  assert.deepEqual(resolve({ connectivity: NAT64 }).queries, ['HTTPS? a.test', 'AAAA? a.test', 'A? a.test']);
});

test('4.1: "For applications using HTTP or HTTPS, the client SHOULD send a query for HTTPS records"', () => {
  assert.ok(resolve({}).queries.includes('HTTPS? a.test'));
});

test('4.1: "All of the DNS queries SHOULD be made as soon after one another as possible"', () => {
  const { log } = resolve({});
  assert.ok(log.length === 3 && log.every((line) => line.startsWith('0 ')));
});

test('4.1: "The order in which the queries are sent SHOULD be": HTTPS, AAAA, A', () => {
  assert.deepEqual(resolve({}).queries, ['HTTPS? a.test', 'AAAA? a.test', 'A? a.test']);
});

test('4.1: a machine with only loopback queries both families', () => {
  const connectivity = { ...DUAL_STACK, ipv6: false, ipv4: false };
  assert.deepEqual(resolve({ connectivity }).queries, ['HTTPS? a.test', 'AAAA? a.test', 'A? a.test']);
});

test("RFC 9460, 9.1: HTTPS records of another port have a prefixed name; addresses are the host's", () => {
  assert.deepEqual(resolve({ origin: 'https://a.test:8443' }).queries, [
    'HTTPS? _8443._https.a.test',
    'AAAA? a.test',
    'A? a.test',
  ]);
});

for (const [origin, expected] of [
  ['https://[2001:db8::1]', 'h2 2001:db8::1'],
  ['https://192.0.2.1:8443', 'h2 192.0.2.1 8443'],
] as const)
  test(`an address literal is not looked up: ${origin}`, () => {
    const { log, lists } = resolve({ origin });
    assert.deepEqual(log, [`0 start ${expected}`]);
    assert.equal(lists[0]?.final, true);
  });

const ORIGIN = [aaaa('a.test', 10, ['2001:db8::1']), a('a.test', 10, ['192.0.2.1'])];
const FALLBACK = ['h2 2001:db8::1', 'h2 192.0.2.1'];
const ALIAS = { priority: 0, target: '.' };

function last(...replies: Reply[]): readonly string[] {
  return resolve({ replies: [...replies, ...ORIGIN] }).last;
}

test('4.2.1: "AliasMode requires another SVCB/HTTPS query for the alias name", with its addresses', () => {
  const { log } = resolve({
    replies: [
      https('a.test', 10, { ...ALIAS, target: 'svc.test' }),
      https('svc.test', 10, { alpn: ['h3'] }),
      aaaa('svc.test', 10, ['2001:db8::5']),
      a('svc.test', 10, []),
      ...ORIGIN,
    ],
  });
  assert.deepEqual(log.slice(3), [
    '10 HTTPS? svc.test',
    '10 AAAA? svc.test',
    '10 A? svc.test',
    '10 wait until 60',
    '20 wait no more',
    '20 start h3 2001:db8::5, h2 2001:db8::5, h2 2001:db8::1, h2 192.0.2.1',
    '20 final',
  ]);
});

test('4.2.1: "does not consider service information to be received until ServiceMode records are available"', () => {
  const { log } = resolve({ replies: [https('a.test', 5, { ...ALIAS, target: 'svc.test' }), ...ORIGIN] });
  assert.ok(log.includes('10 wait until 60') && log.at(-1)?.startsWith('60 start'));
});

test('RFC 9460, 3: a different target is tried before the origin itself, if its addresses arrive within the delay', () => {
  const record = https('a.test', 10, { alpn: ['h3', 'h2'], target: 'b.test' });
  const withinMs = (afterMs: number) =>
    resolve({
      replies: [record, ...ORIGIN, aaaa('b.test', afterMs, ['2001:db8::5']), a('b.test', afterMs, [])],
    }).log.filter((line) => line.includes(' start '));
  assert.deepEqual(withinMs(40), ['50 start h3 2001:db8::5, h2 2001:db8::5, h2 2001:db8::1, h2 192.0.2.1']);
  assert.deepEqual(withinMs(60), ['60 start h2 2001:db8::1, h2 192.0.2.1']);
});

test('RFC 9460, 3: a target without the preferred family is awaited until the other family is answered', () => {
  const record = https('a.test', 10, { alpn: ['h3'], target: 'b.test' });
  const { log } = resolve({
    replies: [record, ...ORIGIN, aaaa('b.test', 1, []), a('b.test', 20, ['192.0.2.5'])],
  });
  assert.ok(log.some((line) => line.startsWith('30 start h3 192.0.2.5, h2 ')));
});

test('RFC 9460, 7.3: a hint of the preferred family for the target is an address, so the target is not awaited', () => {
  const record = https('a.test', 10, { alpn: ['h3'], target: 'b.test', ipv6Hints: ['2001:db8::7'] });
  const { log } = resolve({ replies: [record, ...ORIGIN, aaaa('b.test', 40, ['2001:db8::5'])] });
  assert.ok(log.some((line) => line.startsWith('10 start h3 2001:db8::7')));
});

test('RFC 9460, 3: the end of an alias chain without records is tried before the origin itself', () => {
  const alias = https('a.test', 5, { ...ALIAS, target: 'svc.test' });
  const end = [https('svc.test', 5), aaaa('svc.test', 5, ['2001:db8::5']), a('svc.test', 5, [])];
  assert.deepEqual(last(alias, ...end), ['h2 2001:db8::5', ...FALLBACK]);
});

test('RFC 9460, 2.4.1: beside an AliasMode record, "the recipient MUST ignore any ServiceMode records in the set"', () => {
  const { queries, last: list } = resolve({
    replies: [
      https('a.test', 5, { alpn: ['h3'], target: 'no.test' }, { ...ALIAS, target: 'svc.test' }),
      https('svc.test', 5),
      aaaa('svc.test', 5, []),
      a('svc.test', 5, []),
      ...ORIGIN,
    ],
  });
  assert.ok(!queries.some((query) => query.includes('no.test')));
  assert.deepEqual(list, FALLBACK);
});

test('RFC 9460, 3.1: an alias chain that is too long counts "as if the origin\'s SVCB record did not exist"', () => {
  const chain = Array.from({ length: 12 }, (_, i) => {
    const name = i === 0 ? 'a.test' : `s${i}.test`;
    return [https(name, 1, { ...ALIAS, target: `s${i + 1}.test` }), aaaa(name, 1, ['2001:db8::bad'])];
  }).flat();
  const { queries, lists } = resolve({ connectivity: IPV6_ONLY, replies: [...ORIGIN, ...chain] });
  assert.equal(queries.filter((query) => query.startsWith('HTTPS?')).length, 9, 'the origin and 8 aliases');
  assert.deepEqual(
    lists.at(-1)?.endpoints.map((e) => e.host),
    ['a.test'],
  );
  assert.equal(lists.at(-1)?.final, true);
});

test('RFC 9460, 3.1: an alias loop ends', () => {
  const { queries, last: list } = resolve({
    replies: [
      https('a.test', 5, { ...ALIAS, target: 'b.test' }),
      https('b.test', 5, { ...ALIAS, target: 'a.test' }),
      aaaa('b.test', 5, ['2001:db8::b']),
      a('b.test', 5, []),
      ...ORIGIN,
    ],
  });
  assert.equal(queries.length, 6);
  assert.deepEqual(list, FALLBACK);
});

test('RFC 9460, 3.1: an alias of itself is a loop, and says nothing of the service', () => {
  const { last: list } = resolve({
    replies: [https('a.test', 5, { ...ALIAS, target: 'a.test' }), ...ORIGIN],
  });
  assert.deepEqual(list, FALLBACK);
});

test('RFC 9460, 2.5.1: an alias to "." says "that the service is not available or does not exist"', () => {
  const { log, failure } = resolve({ replies: [https('a.test', 5, ALIAS), ...ORIGIN] });
  assert.deepEqual(log.slice(3), ['10 failed no-address']);
  assert.match(failure?.message ?? '', /no such service/);
});

test('RFC 9460, 2.4.1: an alias to "." that arrives after the start leaves nothing more to try', () => {
  const { lists } = resolve({ replies: [https('a.test', 500, ALIAS), ...ORIGIN] });
  assert.deepEqual(
    lists.map(({ endpoints, final }) => [endpoints.length, final]),
    [
      [2, false],
      [0, true],
    ],
  );
});

test('4.2.1: hints "SHOULD be considered as positive non-empty answers", and A and AAAA are still asked for', () => {
  const { log } = resolve({
    replies: [https('a.test', 5, { target: 'svc.test', ipv6Hints: ['2001:db8::5'], alpn: ['h2'] })],
  });
  assert.deepEqual(log.slice(3), ['5 AAAA? svc.test', '5 A? svc.test', '5 start h2 2001:db8::5']);
});

test('4.2.1: "When those records are received, they replace the hints", per family', () => {
  const { log } = resolve({
    replies: [
      https('a.test', 5, { target: 'svc.test', ipv6Hints: ['2001:db8::5'], ipv4Hints: ['192.0.2.5'] }),
      aaaa('svc.test', 5, ['2001:db8::6']),
      a('svc.test', 15, ['192.0.2.6']),
    ],
  });
  assert.deepEqual(log.slice(5), [
    '5 start h2 2001:db8::5, h2 192.0.2.5',
    '10 update h2 2001:db8::6, h2 192.0.2.5',
    '20 update h2 2001:db8::6, h2 192.0.2.6',
  ]);
});

test('4.2.1: an empty answer replaces the hints too; a failed one does not', () => {
  const hinted = https('a.test', 5, {
    target: 'svc.test',
    ipv6Hints: ['2001:db8::5'],
    ipv4Hints: ['192.0.2.5'],
  });
  const answers = [aaaa('svc.test', 5, []), failing('A', 'svc.test', 5)];
  assert.deepEqual(last(hinted, ...answers), ['h2 192.0.2.5', ...FALLBACK]);
});

test('hints of a family that we cannot send from are not used', () => {
  const hinted = https('a.test', 5, { ipv4Hints: ['192.0.2.5'] });
  const { last: list } = resolve({ connectivity: IPV6_ONLY, replies: [hinted, ...ORIGIN] });
  assert.deepEqual(list, ['h2 2001:db8::1']);
});

test('6.2: "it SHOULD perform the procedure specified in Section 7.1.2 of SVCB": one endpoint for each transport', () => {
  for (const [alpn, noDefaultAlpn, expected] of [
    [['h3', 'h2'], true, ['h3', 'h2']],
    [['h3'], false, ['h3', 'h2']],
    [['h3', 'http/1.1'], true, ['h3', 'h2']],
    [['http/1.1'], true, ['h2']],
    [['h2'], true, ['h2']],
    [[], false, ['h2']],
    [['h3-29', 'doq'], false, ['h2']],
  ] as const) {
    const record = { target: 'svc.test', alpn: [...alpn], noDefaultAlpn, ipv6Hints: ['2001:db8::5'] };
    const { lists } = resolve({ replies: [https('a.test', 5, record)] });
    assert.deepEqual(
      lists[0]?.endpoints.map((e) => e.transport),
      expected,
      `${alpn} ${noDefaultAlpn}`,
    );
  }
});

test('6.2: no attempt over TCP "because the record indicates that svc1.example.com only supports HTTP/3"', () => {
  const record = { target: 'svc1.test', alpn: ['h3'], noDefaultAlpn: true, ipv6Hints: ['2001:db8::2'] };
  assert.deepEqual(last(https('a.test', 5, record)), ['h3 2001:db8::2', ...FALLBACK]);
});

test('6.2: "SHOULD NOT attempt to make a connection to a service endpoint whose SVCB ALPN set does not contain any protocols that the client supports"', () => {
  const unknown = { alpn: ['foo'], noDefaultAlpn: true };
  const other = { priority: 2, target: 'svc.test', alpn: ['h2'], ipv6Hints: ['2001:db8::2'] };
  assert.deepEqual(
    last(https('a.test', 5, { ...unknown, target: 'foo.test', ipv6Hints: ['2001:db8::f'] }, other)),
    ['h2 2001:db8::2', ...FALLBACK],
  );
  // The origin itself is such an endpoint here, but not if only another port of it is.
  assert.deepEqual(last(https('a.test', 5, unknown, other)), ['h2 2001:db8::2']);
  const elsewhere = https('a.test', 5, { ...unknown, port: 8443 }, other);
  assert.deepEqual(last(elsewhere), ['h2 2001:db8::2', ...FALLBACK]);
});

test('RFC 9460, 8: "If the SVCB RRSet contains no compatible RRs, the client will generally act as if the RRSet is empty"', () => {
  const unknownKey = { target: 'svc.test', alpn: ['h3'], ipv6Hints: ['2001:db8::2'], incompatible: true };
  const { queries, last: list } = resolve({ replies: [https('a.test', 5, unknownKey), ...ORIGIN] });
  assert.equal(queries.length, 3, 'nothing is asked for an incompatible record');
  assert.deepEqual(list, FALLBACK);
  assert.deepEqual(last(https('a.test', 5, { alpn: ['foo'], noDefaultAlpn: true })), FALLBACK);
});

test('trap: ALPN sets are per HTTPS record, never merged', () => {
  const one = { target: 'one.test', alpn: ['h3'], noDefaultAlpn: true, ipv6Hints: ['2001:db8::2'] };
  const two = {
    priority: 2,
    target: 'two.test',
    alpn: ['h2'],
    noDefaultAlpn: true,
    ipv6Hints: ['2001:db8::4'],
  };
  assert.deepEqual(last(https('a.test', 5, one, two)), ['h3 2001:db8::2', 'h2 2001:db8::4', ...FALLBACK]);
});

test('trap: port, target and hints of one record do not leak into another or into the fallback', () => {
  const one = { port: 8443, ipv4Hints: ['192.0.2.99'], alpn: ['h3'] };
  const two = { priority: 2, target: 'two.test', alpn: ['h2'], ipv6Hints: ['2001:db8::4'] };
  const { lists } = resolve({ replies: [https('a.test', 5, one, two), ...ORIGIN] });
  assert.deepEqual(
    lists.at(-1)?.endpoints.map((e) => `${e.transport} ${e.address} ${e.port} ${e.host} ${e.source}`),
    [
      'h3 2001:db8::1 8443 a.test https-record',
      'h3 192.0.2.1 8443 a.test https-record',
      'h2 2001:db8::1 8443 a.test https-record',
      'h2 192.0.2.1 8443 a.test https-record',
      'h2 2001:db8::4 443 two.test https-record',
      'h2 2001:db8::1 443 a.test origin',
      'h2 192.0.2.1 443 a.test origin',
    ],
  );
});

test('a record without a port is for the authority\'s own, and "." of a prefixed name is that name', () => {
  const { queries, last: list } = resolve({
    origin: 'https://a.test:8443',
    replies: [
      https('_8443._https.a.test', 5, { target: 'svc.test', alpn: ['h3'], ipv6Hints: ['2001:db8::4'] }),
      ...ORIGIN,
    ],
  });
  assert.deepEqual(queries.slice(3), ['AAAA? svc.test', 'A? svc.test']);
  assert.deepEqual(list, [
    'h3 2001:db8::4 8443',
    'h2 2001:db8::4 8443',
    'h2 2001:db8::1 8443',
    'h2 192.0.2.1 8443',
  ]);
  const self = https('_8443._https.a.test', 5, { alpn: ['h3'] });
  assert.deepEqual(resolve({ origin: 'https://a.test:8443', replies: [self] }).queries.slice(3), [
    'AAAA? _8443._https.a.test',
    'A? _8443._https.a.test',
  ]);
});

test('if CNAMEs led to a record, its "." is the queried name, whose addresses they lead to as well', () => {
  const behindCname = { owner: 'cdn.test', target: 'cdn.test', alpn: ['h3'] };
  const { log } = resolve({ replies: [https('a.test', 5, behindCname), ...ORIGIN] });
  assert.deepEqual(log.slice(3), [
    '10 start h3 2001:db8::1, h2 2001:db8::1',
    '10 update h3 2001:db8::1, h3 192.0.2.1, h2 2001:db8::1, h2 192.0.2.1',
  ]);
});

test('RFC 9460, 2.2: a set of records rejected as a whole contains no alias either', () => {
  const rejected = { incompatible: true, target: 'svc.test' };
  const { queries } = resolve({
    replies: [https('a.test', 5, { ...rejected, ...ALIAS }, rejected), ...ORIGIN],
  });
  assert.equal(queries.length, 3);
});

test('5.1.1: an ECH configuration does not change the order, because we do not use it', () => {
  const plain = { target: 'one.test', alpn: ['h2'], ipv6Hints: ['2001:db8::2'] };
  const ech = { priority: 2, target: 'two.test', alpn: ['h2'], ipv6Hints: ['2001:db8::4'], ech: true };
  assert.deepEqual(last(https('a.test', 5, ech, plain)), ['h2 2001:db8::2', 'h2 2001:db8::4', ...FALLBACK]);
});

test('an answer with many services causes a bounded number of questions', () => {
  const many = Array.from({ length: 100 }, (_, i) => ({ priority: i + 1, target: `s${i}.test` }));
  const { queries } = resolve({ replies: [https('a.test', 5, ...many), ...ORIGIN] });
  assert.equal(queries.length, 32);
});

test("services, aliases and alternatives together cause a bounded number of questions, the origin's own first", () => {
  const hosts = Array.from({ length: 32 }, (_, i) => `alt${i}.test`);
  const alternatives = hosts.map((host) => ({
    alpn: 'h3',
    host,
    port: 443,
    maxAgeSeconds: 60,
    persist: false,
  }));
  const servicesOf = (name: string) =>
    https(name, 5, ...hosts.map((_, i) => ({ target: `s${i}.${name}`, alpn: ['h3'] })));
  const replies = [...hosts.map(servicesOf), https('a.test', 5), ...ORIGIN];
  const { queries, last } = resolve({ alternatives, replies });
  assert.equal(queries.length, 32);
  assert.deepEqual(queries.slice(0, 3), ['HTTPS? a.test', 'AAAA? a.test', 'A? a.test']);
  assert.ok(last.some((place) => place.startsWith('h2 ')));
});

const NO_RECORDS = https('a.test', 5);

function h3At(host: string, port: number): Alternative {
  return { alpn: 'h3', host, port, maxAgeSeconds: 3600, persist: false };
}

function withAlternatives(alternatives: Alternative[], replies: Reply[], more: Partial<Testbed> = {}) {
  return resolve({ assumeH3: true, alternatives, replies: [...ORIGIN, ...replies], ...more });
}

test("an alternative on the origin's host and port needs no question of its own", () => {
  const { queries, last } = withAlternatives([h3At('', 443)], [NO_RECORDS]);
  assert.equal(queries.length, 3);
  assert.deepEqual(last, ['h3 2001:db8::1', 'h3 192.0.2.1', 'h2 2001:db8::1', 'h2 192.0.2.1']);
});

test('trap: "Do not try HTTP/3 on 443 when the advertisement says 8443"', () => {
  const { queries, last } = withAlternatives([h3At('', 8443)], [NO_RECORDS, https('_8443._https.a.test', 5)]);
  assert.deepEqual(queries, ['HTTPS? a.test', 'AAAA? a.test', 'A? a.test', 'HTTPS? _8443._https.a.test']);
  assert.deepEqual(last, ['h3 2001:db8::1 8443', 'h3 192.0.2.1 8443', 'h2 2001:db8::1', 'h2 192.0.2.1']);
});

test('an alternative on another host is looked up beside the origin', () => {
  const { queries, last } = withAlternatives(
    [h3At('alt.test', 443)],
    [NO_RECORDS, https('alt.test', 5), aaaa('alt.test', 5, ['2001:db8::7']), a('alt.test', 5, [])],
  );
  assert.deepEqual(queries.slice(3), ['HTTPS? alt.test', 'AAAA? alt.test', 'A? alt.test']);
  assert.deepEqual(last, ['h3 2001:db8::7', 'h2 192.0.2.1', 'h2 2001:db8::1']);
});

test('an alternative that is an address needs no look-up; an invalid host is left out', () => {
  const { queries, lists } = withAlternatives([h3At('[2001:db8::9]', 443), h3At('[:::]', 443)], [NO_RECORDS]);
  assert.equal(queries.length, 3);
  assert.deepEqual(
    lists.at(-1)?.endpoints.filter((e) => e.transport === 'h3'),
    [{ transport: 'h3', address: '2001:db8::9', host: '2001:db8::9', port: 443, source: 'alt-svc' }],
  );
});

test('6.2: "connection attempts are consistent with both the Alt-Svc parameters and the SVCB ALPN set"', () => {
  // The example of RFC 9460 section 9.3 without its HTTP/2 alternatives, which we do not follow.
  const { lists } = withAlternatives(
    [h3At('', 8443)],
    [
      NO_RECORDS,
      https('_8443._https.a.test', 5, { target: 'alt3.test', port: 9443, alpn: ['h2', 'h3'] }),
      aaaa('alt3.test', 5, ['2001:db8::3']),
      a('alt3.test', 5, []),
    ],
  );
  assert.deepEqual(
    lists.at(-1)?.endpoints.map((e) => `${e.transport} ${e.address} ${e.port} ${e.host}`),
    [
      'h3 2001:db8::3 9443 alt3.test',
      'h2 192.0.2.1 443 a.test',
      'h2 2001:db8::1 443 a.test',
      'h3 2001:db8::1 8443 a.test',
      'h3 192.0.2.1 8443 a.test',
    ],
    "HTTP/3 at the record's place, no TCP there, the alternative's own place as the last resort",
  );
});

test('RFC 9460, 9.3: an alternative whose own record does not name HTTP/3 is not tried', () => {
  const { last } = withAlternatives([h3At('', 443)], [https('a.test', 5, { alpn: ['h2'] })]);
  assert.deepEqual(last, ['h2 2001:db8::1', 'h2 192.0.2.1']);
});

test('RFC 9460, 9.3: "Fallback to the client\'s non-Alt-Svc connection behavior" is always there', () => {
  const { last } = withAlternatives(
    [h3At('', 8443)],
    [https('a.test', 5, { alpn: ['h3', 'h2'] }), https('_8443._https.a.test', 5)],
  );
  assert.deepEqual(last, [
    'h3 2001:db8::1 8443',
    'h3 192.0.2.1 8443',
    'h2 2001:db8::1',
    'h2 192.0.2.1',
    'h3 2001:db8::1',
    'h3 192.0.2.1',
  ]);
});

test("the service information of an alternative is awaited like the origin's own", () => {
  const record = https('_8443._https.a.test', 30, {
    target: 'x.test',
    alpn: ['h3'],
    ipv6Hints: ['2001:db8::3'],
  });
  const { log } = withAlternatives([h3At('', 8443)], [NO_RECORDS, record]);
  assert.deepEqual(log.slice(4, 5), ['10 wait until 60']);
  assert.ok(log.some((line) => line.startsWith('30 start h3 2001:db8::3 8443, ')));
});

test('an alternative that is named twice counts once, however its address is written', () => {
  const spelt = [h3At('[2001:db8::9]', 443), h3At('[2001:db8:0:0::9]', 443)];
  const { last } = withAlternatives(spelt, [NO_RECORDS]);
  assert.equal(last.filter((endpoint) => endpoint.startsWith('h3')).length, 1);
  const { queries } = withAlternatives([h3At('', 8443), h3At('a.test', 8443)], [NO_RECORDS]);
  assert.equal(queries.length, 4);
});

test("HTTP/3 is assumed at the origin's own port only if nothing advertises it", () => {
  const assumed = (record: Reply): readonly string[] =>
    withAlternatives([], [record]).last.filter((endpoint) => endpoint.startsWith('h3'));
  assert.deepEqual(assumed(NO_RECORDS), ['h3 2001:db8::1', 'h3 192.0.2.1']);
  assert.deepEqual(assumed(https('a.test', 5, { alpn: ['h2'] })), ['h3 2001:db8::1', 'h3 192.0.2.1']);
  const elsewhere = { target: 'svc.test', port: 8443, alpn: ['h3'], ipv6Hints: ['2001:db8::3'] };
  assert.deepEqual(assumed(https('a.test', 5, elsewhere)), ['h3 2001:db8::3 8443']);
  assert.deepEqual(
    assumed(https('a.test', 5, { ...elsewhere, ipv6Hints: [] })),
    [],
    'not even while it resolves',
  );
});

test('unadvertised HTTP/3 is not tried unless it is assumed', () => {
  const { last } = withAlternatives([], [NO_RECORDS], { assumeH3: false });
  assert.deepEqual(last, ['h2 2001:db8::1', 'h2 192.0.2.1']);
});

test('an assumption is replaced by a record that arrives late', () => {
  const { lists } = withAlternatives([], [https('a.test', 500, { port: 8443, alpn: ['h3'] })]);
  const h3 = (at: number): number[] => [
    ...new Set(lists[at]?.endpoints.filter((e) => e.transport === 'h3').map((e) => e.port)),
  ];
  assert.deepEqual([h3(0), h3(1)], [[443], [8443]]);
});

test('an address literal with alternatives and assumption', () => {
  const literal = { origin: 'https://192.0.2.1', replies: [] };
  assert.deepEqual(resolve({ ...literal, assumeH3: true }).last, ['h3 192.0.2.1', 'h2 192.0.2.1']);
  assert.deepEqual(resolve({ ...literal, assumeH3: true, alternatives: [h3At('', 8443)] }).last, [
    'h3 192.0.2.1 8443',
    'h2 192.0.2.1',
  ]);
});

const SYNTHESIZED = '64:ff9b::c000:201';

test('8.1: "whenever the client detects a NAT64 prefix, clients MUST send A queries in addition to AAAA queries"', () => {
  assert.deepEqual(resolve({ connectivity: NAT64 }).queries.slice(1), ['AAAA? a.test', 'A? a.test']);
});

test('8.3: without an IPv4 route "the client MUST synthesize this address into an IPv6 address using the PREF64"', () => {
  const { last } = resolve({
    connectivity: NAT64,
    replies: [NO_RECORDS, aaaa('a.test', 10, []), a('a.test', 10, ['192.0.2.1'])],
  });
  assert.deepEqual(last, [`h2 ${SYNTHESIZED}`]);
});

test('8.3: synthesized "from IPv4 address hints received in SVCB/HTTPS records"', () => {
  const record = { target: 'svc.test', ipv4Hints: ['192.0.2.1'], alpn: ['h3'] };
  const { last } = resolve({
    connectivity: NAT64,
    replies: [https('a.test', 5, record), aaaa('a.test', 5, [])],
  });
  assert.deepEqual(last, [`h3 ${SYNTHESIZED}`, `h2 ${SYNTHESIZED}`]);
});

test('8.3: synthesized "from IPv4 literal addresses passed by an application"', () => {
  const { log } = resolve({ connectivity: NAT64, origin: 'https://192.0.2.1' });
  assert.deepEqual(log, [`0 start h2 ${SYNTHESIZED}`]);
});

test('8.3: where an IPv4 route applies nothing is synthesized', () => {
  const connectivity = { ...DUAL_STACK, nat64Prefix: '64:ff9b::/96' };
  assert.deepEqual(resolve({ connectivity, origin: 'https://192.0.2.1' }).last, ['h2 192.0.2.1']);
});

test('8.3: some IPv4 prefixes "do not require synthesis"', () => {
  assert.deepEqual(resolve({ connectivity: NAT64, origin: 'https://127.0.0.1' }).last, ['h2 127.0.0.1']);
});

test('8.2: synthesized addresses "MUST be de-synthesized into IPv4 addresses before" grouping and sorting', () => {
  const { last } = resolve({
    connectivity: NAT64,
    replies: [
      NO_RECORDS,
      aaaa('a.test', 10, ['64:ff9b::c000:201', '2001:db8::1', '2001:db8::2', '64:ff9b::c000:202']),
      a('a.test', 10, []),
    ],
  });
  assert.deepEqual(
    last,
    ['h2 2001:db8::1', 'h2 64:ff9b::c000:201', 'h2 2001:db8::2', 'h2 64:ff9b::c000:202'],
    'native IPv6 leads, and the others take turns with it as IPv4 addresses do',
  );
});

test('8.2: "Clients that are aware of the PREF64 value MUST check to see if an IPv6 address is actually an IPv4 address"', () => {
  const connectivity = { ...DUAL_STACK, nat64Prefix: '2001:db8:64::/96' };
  const { last } = resolve({
    connectivity,
    replies: [NO_RECORDS, aaaa('a.test', 10, ['2001:db8:64::c000:201']), a('a.test', 10, ['192.0.2.1'])],
  });
  assert.deepEqual(last, ['h2 192.0.2.1'], 'one address, and connected to over IPv4 where that has a route');
});

test('8.2: an address synthesized by both DNS64 and us counts once', () => {
  const { last } = resolve({
    connectivity: NAT64,
    replies: [NO_RECORDS, aaaa('a.test', 10, [SYNTHESIZED]), a('a.test', 10, ['192.0.2.1'])],
  });
  assert.deepEqual(last, [`h2 ${SYNTHESIZED}`]);
});

test('an unknown prefix changes nothing: AAAA answers are native addresses', () => {
  const { last } = resolve({ replies: [NO_RECORDS, aaaa('a.test', 10, [SYNTHESIZED]), a('a.test', 10, [])] });
  assert.deepEqual(last, [`h2 ${SYNTHESIZED}`]);
});
