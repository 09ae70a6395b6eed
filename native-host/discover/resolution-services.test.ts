// Section 4.2.1 of the Happy Eyeballs v3 draft and the parts of RFC 9460 that it needs: aliases, targets, hints, ports,
// protocols, and records that must be ignored.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { a, aaaa, failing, https, IPV6_ONLY, type Reply, resolve } from '../testing/resolution.ts';

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
