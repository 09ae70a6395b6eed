// HTTP/3 advertised by Alt-Svc, or merely assumed: consistent with HTTPS records (RFC 9460 section 9.3, draft section
// 6.2), and only at the endpoints that were named.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Alternative } from '@photofinish/shared/web/alt-svc';
import { a, aaaa, https, type Reply, resolve, type Testbed } from '../testing/resolution.ts';

const ORIGIN = [aaaa('a.test', 10, ['2001:db8::1']), a('a.test', 10, ['192.0.2.1'])];
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
