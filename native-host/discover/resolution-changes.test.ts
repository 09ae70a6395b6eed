// Sections 4.3, 4.4 and 7 of the Happy Eyeballs v3 draft: answers that arrive late, change, or expire. Requirements on
// attempts already started concern the race; these tests concern the list of endpoints not yet tried.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { a, aaaa, failing, https, IPV6_ONLY, resolve } from '../testing/resolution.ts';

const NO_RECORDS = https('a.test', 5);

test('4.3: "any newly received endpoints are incorporated into the list of available candidate endpoints"', () => {
  const { log } = resolve({
    replies: [NO_RECORDS, aaaa('a.test', 10, ['2001:db8::1']), a('a.test', 900, ['192.0.2.1'])],
  });
  assert.deepEqual(log.slice(3), ['10 start h2 2001:db8::1', '900 update h2 2001:db8::1, h2 192.0.2.1']);
});

test('7: "its position SHOULD be determined by applying the sorting rules to the complete list of endpoints"', () => {
  const { log } = resolve({
    replies: [
      NO_RECORDS,
      aaaa('a.test', 10, ['2001:db8::1', '2001:db8::2', '2001:db8::3']),
      a('a.test', 900, ['192.0.2.1']),
    ],
  });
  assert.equal(log.at(-1), '900 update h2 2001:db8::1, h2 192.0.2.1, h2 2001:db8::2, h2 2001:db8::3');
});

test('7: late service information puts its endpoints before those with no service', () => {
  const { log } = resolve({
    connectivity: IPV6_ONLY,
    replies: [
      aaaa('a.test', 10, ['2001:db8::1']),
      https('a.test', 900, { target: 'svc.test', alpn: ['h3'], ipv6Hints: ['2001:db8::5'] }),
    ],
  });
  assert.equal(log.at(-1), '900 update h3 2001:db8::5, h2 2001:db8::5, h2 2001:db8::1');
});

test('7: "endpoints from SVCB IP hints SHOULD be removed from the list once A and AAAA records are received"', () => {
  const hinted = { target: 'svc.test', ipv6Hints: ['2001:db8::5', '2001:db8::6'] };
  const { log } = resolve({
    connectivity: IPV6_ONLY,
    replies: [https('a.test', 5, hinted), aaaa('svc.test', 10, ['2001:db8::6', '2001:db8::7'])],
  });
  assert.deepEqual(log.slice(3), [
    '5 start h2 2001:db8::5, h2 2001:db8::6',
    '15 update h2 2001:db8::6, h2 2001:db8::7',
  ]);
});

test('7: "If the removed endpoint had not yet had a connection attempt started, it SHOULD be removed from the list"', () => {
  const { lists, queries } = resolve({
    connectivity: IPV6_ONLY,
    untilMs: 2500,
    replies: [
      NO_RECORDS,
      aaaa('a.test', 10, ['2001:db8::1', '2001:db8::2'], 2),
      aaaa('a.test', 10, ['2001:db8::2'], 300),
    ],
  });
  assert.deepEqual(queries, ['HTTPS? a.test', 'AAAA? a.test', 'AAAA? a.test']);
  assert.deepEqual(
    lists.map(({ atMs, endpoints }) => [atMs, endpoints.map((e) => e.address)]),
    [
      [10, ['2001:db8::1', '2001:db8::2']],
      [2020, ['2001:db8::2']],
    ],
  );
});

test('4.4: "the client MAY trigger new DNS queries" when answers expire: only those, and the list stands meanwhile', () => {
  const { log } = resolve({
    untilMs: 4000,
    replies: [NO_RECORDS, aaaa('a.test', 10, ['2001:db8::1'], 3), a('a.test', 10, ['192.0.2.1'], 60)],
  });
  assert.deepEqual(log.slice(3), [
    '10 start h2 2001:db8::1',
    '10 update h2 2001:db8::1, h2 192.0.2.1',
    '3010 AAAA? a.test',
  ]);
});

test('an unchanged answer emits nothing', () => {
  const { lists, queries } = resolve({
    connectivity: IPV6_ONLY,
    untilMs: 9000,
    replies: [NO_RECORDS, aaaa('a.test', 10, ['2001:db8::1'], 1)],
  });
  assert.equal(lists.length, 1);
  assert.equal(queries.filter((query) => query === 'AAAA? a.test').length, 9);
});

test('a TTL of 0 does not cause continuous queries', () => {
  const { queries } = resolve({
    connectivity: IPV6_ONLY,
    untilMs: 3000,
    replies: [NO_RECORDS, aaaa('a.test', 0, ['2001:db8::1'], 0)],
  });
  assert.equal(queries.length, 5, 'the first two, and once a second');
});

test('4.4: an expired answer that cannot be renewed remains in use', () => {
  const { lists, queries } = resolve({
    connectivity: IPV6_ONLY,
    untilMs: 4500,
    replies: [NO_RECORDS, aaaa('a.test', 0, ['2001:db8::1'], 2), failing('AAAA', 'a.test', 0)],
  });
  assert.equal(lists.length, 1);
  assert.equal(queries.length, 5, 'asked again after 2, 3 and 4 s');
});

test('an expired HTTPS answer is replaced entirely, and what only the old one named is no longer queried', () => {
  const { lists, queries } = resolve({
    connectivity: IPV6_ONLY,
    untilMs: 6000,
    replies: [
      https('a.test', 5, { target: 'old.test', alpn: ['h3'], ttlSeconds: 2 }),
      https('a.test', 5, { target: 'new.test', alpn: ['h2'], ttlSeconds: 300 }),
      aaaa('old.test', 5, ['2001:db8::5'], 3),
      aaaa('new.test', 5, ['2001:db8::6'], 300),
      aaaa('a.test', 5, ['2001:db8::1']),
    ],
  });
  assert.equal(queries.filter((query) => query === 'AAAA? old.test').length, 1);
  assert.deepEqual(
    lists.at(-1)?.endpoints.map((e) => e.host),
    ['new.test', 'a.test'],
  );
});

test('a renewed answer that is empty empties the list', () => {
  const { lists } = resolve({
    connectivity: IPV6_ONLY,
    replies: [NO_RECORDS, aaaa('a.test', 0, ['2001:db8::1'], 2), aaaa('a.test', 0, [])],
  });
  assert.deepEqual([lists.at(-1)?.endpoints.length, lists.at(-1)?.final], [0, true]);
});

test('an unchanged list is emitted once more when it becomes final', () => {
  const { lists } = resolve({
    replies: [NO_RECORDS, aaaa('a.test', 10, ['2001:db8::1']), a('a.test', 20, [])],
  });
  assert.deepEqual(
    lists.map(({ atMs, final }) => [atMs, final]),
    [
      [10, false],
      [20, true],
    ],
  );
});
