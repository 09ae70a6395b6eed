// When a client moves on to connecting, and what later answers change: section 4.2 of the Happy Eyeballs v3 draft with
// its eight timing diagrams, each titled with the words that introduce it, sections 4.3, 4.4 and 7, and random orders.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ServiceRecord } from '@photofinish/shared/race/discovered';
import fc from 'fast-check';
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
} from '../testing/resolution.ts';

const V6 = ['2001:db8::1', '2001:db8::2'];
const V4 = ['192.0.2.1', '192.0.2.2'];
const QUERIES = ['0 HTTPS? a.test', '0 AAAA? a.test', '0 A? a.test'];
const START_V6 = 'start h2 2001:db8::1, h2 2001:db8::2';
const START_V4 = 'start h2 192.0.2.1, h2 192.0.2.2';
const BOTH = 'h2 2001:db8::1, h2 192.0.2.1, h2 2001:db8::2, h2 192.0.2.2';

test('4.2.2, diagram 1: "A simple dual-stack case where AAAA answers return slight before A answers"', () => {
  const { log, lists } = resolve({
    replies: [https('a.test', 30, {}), aaaa('a.test', 30, V6), a('a.test', 32, V4)],
  });
  assert.deepEqual(log, [...QUERIES, `30 ${START_V6}`, `32 update ${BOTH}`]);
  assert.deepEqual(
    lists.map(({ final }) => final),
    [false, true],
  );
});

test('4.2.2, diagram 2: "A answers return before AAAA answers, but AAAA answers do arrive after a short delay"', () => {
  const { log } = resolve({
    replies: [https('a.test', 30, {}), a('a.test', 30, V4), aaaa('a.test', 40, V6)],
  });
  assert.deepEqual(log, [...QUERIES, '30 wait until 80', '40 wait no more', `40 start ${BOTH}`]);
});

test('4.2.2, diagram 3: "A answers return significantly before AAAA answers"', () => {
  const { log } = resolve({
    replies: [https('a.test', 30, {}), a('a.test', 30, V4), aaaa('a.test', 180, V6)],
  });
  assert.deepEqual(log, [...QUERIES, '30 wait until 80', `80 ${START_V4}`, `180 update ${BOTH}`]);
});

test('4.2.2, diagram 4: "SVCB/HTTPS answers are slightly delayed"', () => {
  const { log } = resolve({
    replies: [aaaa('a.test', 30, V6), a('a.test', 30, V4), https('a.test', 40, {})],
  });
  assert.deepEqual(log, [...QUERIES, '30 wait until 80', '40 wait no more', `40 start ${BOTH}`]);
});

for (const httpsAfterMs of [500, null])
  test(`4.2.2, diagram 5: "SVCB/HTTPS answers are significantly delayed, or never arrive" (${httpsAfterMs})`, () => {
    const late = httpsAfterMs === null ? [] : [https('a.test', httpsAfterMs, {})];
    const { log, lists } = resolve({ replies: [aaaa('a.test', 30, V6), a('a.test', 30, V4), ...late] });
    assert.deepEqual(log.slice(0, 5), [...QUERIES, '30 wait until 80', `80 start ${BOTH}`]);
    assert.equal(lists.at(-1)?.final, httpsAfterMs !== null);
  });

test('4.2.2, diagram 6: "AAAA answers are delayed, but hints are available"', () => {
  const hints = { ipv6Hints: V6, ipv4Hints: V4 };
  const { log } = resolve({ replies: [https('a.test', 30, hints)] });
  assert.deepEqual(log, [...QUERIES, `30 start ${BOTH}`]);
});

test('4.2.2, diagram 7: "connection attempts can start in parallel with new AAAA and A queries"', () => {
  const { log } = resolve({
    replies: [
      https('a.test', 30, { priority: 1 }, { priority: 2, target: 'alt.test' }),
      aaaa('a.test', 30, V6),
      a('a.test', 30, V4),
      aaaa('alt.test', 30, ['2001:db8::a']),
      a('alt.test', 31, ['192.0.2.10']),
    ],
  });
  assert.deepEqual(log, [
    ...QUERIES,
    '30 AAAA? alt.test',
    '30 A? alt.test',
    `30 ${START_V6}`,
    `30 update ${BOTH}`,
    `60 update ${BOTH}, h2 2001:db8::a`,
    `61 update ${BOTH}, h2 2001:db8::a, h2 192.0.2.10`,
  ]);
});

test('4.2.2, diagram 8: "An IPv4-only network connection where SVCB/HTTPS answers are slightly delayed"', () => {
  const { log } = resolve({
    connectivity: IPV4_ONLY,
    replies: [a('a.test', 30, V4), https('a.test', 40, {})],
  });
  assert.deepEqual(log, [
    '0 HTTPS? a.test',
    '0 A? a.test',
    '30 wait until 80',
    '40 wait no more',
    `40 ${START_V4}`,
  ]);
});

test('4.2: "Implementations SHOULD NOT wait for all answers to return before starting the next steps"', () => {
  const { lists } = resolve({ replies: [https('a.test', 5), aaaa('a.test', 6, V6)] });
  assert.deepEqual([lists[0]?.atMs, lists[0]?.final], [6, false]);
});

test('4.2: "SHOULD treat DNS resolution as asynchronous, processing different record types independently"', () => {
  const { log } = resolve({
    replies: [failing('HTTPS', 'a.test', 5), aaaa('a.test', 10, V6), failing('A', 'a.test', 20)],
  });
  assert.deepEqual(log.slice(3), [`10 ${START_V6}`, '20 final']);
});

test('4.2: "A postive (non-empty) or negative (empty) answer has been received for the preferred address family"', () => {
  const { log } = resolve({ replies: [https('a.test', 5), a('a.test', 10, V4), aaaa('a.test', 20, [])] });
  assert.deepEqual(log.slice(3), ['10 wait until 60', '20 wait no more', `20 ${START_V4}`]);
});

test('4.2: a query that fails is a negative answer, "with or without an error like NXDOMAIN"', () => {
  const { log } = resolve({
    replies: [failing('HTTPS', 'a.test', 5), a('a.test', 10, V4), failing('AAAA', 'a.test', 20)],
  });
  assert.deepEqual(log.slice(3), ['10 wait until 60', '20 wait no more', `20 ${START_V4}`]);
});

test('4.2: negative answers alone never start: "Some positive (non-empty) address answers have been received"', () => {
  const { log } = resolve({ replies: [https('a.test', 5), aaaa('a.test', 10, []), a('a.test', 200, V4)] });
  assert.deepEqual(log.slice(3), [`200 ${START_V4}`]);
});

test('4.2: the delay counts from the first positive address answer, not from service information', () => {
  const { log } = resolve({ replies: [https('a.test', 5, {}), a('a.test', 100, V4)] });
  assert.deepEqual(log.slice(3), ['100 wait until 150', `150 ${START_V4}`]);
});

test('4.2: the delay runs once, however many answers arrive during it', () => {
  const { log } = resolve({ replies: [a('a.test', 10, V4), aaaa('a.test', 40, V6)] });
  assert.deepEqual(log.slice(3), ['10 wait until 60', `60 start ${BOTH}`]);
});

test('4.2: "The RECOMMENDED value for the Resolution Delay is 50 milliseconds"', () => {
  const { log } = resolve({ replies: [a('a.test', 10, V4)] });
  assert.deepEqual(log.slice(3), ['10 wait until 60', `60 ${START_V4}`]);
});

test('4.2: "If only one of IPv6 or IPv4 has a default route, that address family" is waited for', () => {
  const { log } = resolve({ connectivity: IPV6_ONLY, replies: [https('a.test', 5), aaaa('a.test', 10, V6)] });
  assert.deepEqual(log, ['0 HTTPS? a.test', '0 AAAA? a.test', `10 ${START_V6}`]);
});

test('4.2: an address hint of the other family does not count for the preferred one', () => {
  const { log } = resolve({ replies: [https('a.test', 10, { ipv4Hints: V4 }), aaaa('a.test', 30, V6)] });
  assert.deepEqual(log.slice(3, 6), ['10 wait until 60', '30 wait no more', `30 start ${BOTH}`]);
});

test('4.2: "If all answers come back with negative answers, the connection establishment will fail"', () => {
  const { log, failure } = resolve({
    replies: [https('a.test', 5), aaaa('a.test', 10, []), a('a.test', 20, [])],
  });
  assert.deepEqual(log.slice(3), ['20 failed no-address']);
  assert.equal(failure?.message, 'a.test has no address');
});

test('4.1: a family that was not queried is not told as a missing record', () => {
  const said = (connectivity: typeof IPV4_ONLY, reply: ReturnType<typeof a>) =>
    resolve({ connectivity, replies: [https('a.test', 5), reply] }).failure;
  assert.deepEqual(said(IPV4_ONLY, a('a.test', 10, [])), {
    ...{ type: 'failed', code: 'no-address' },
    message: 'a.test has no A record, and this machine cannot use IPv6',
  });
  assert.equal(
    said(IPV6_ONLY, aaaa('a.test', 10, []))?.message,
    'a.test has no AAAA record, and this machine cannot use IPv4',
  );
});

test('4.2: a failed HTTPS query does not turn a missing address into a failed look-up', () => {
  const { failure } = resolve({
    replies: [failing('HTTPS', 'a.test', 5), aaaa('a.test', 10, []), a('a.test', 20, [])],
  });
  assert.equal(failure?.code, 'no-address');
});

test('4.2: a resolution fails as dns-failed when a family could not be looked up', () => {
  const { failure } = resolve({
    replies: [https('a.test', 5), failing('AAAA', 'a.test', 10), a('a.test', 20, [])],
  });
  assert.equal(failure?.code, 'dns-failed');
  assert.equal(failure?.message, 'SERVFAIL');
});

test('addresses withdrawn before the end of the delay: the next one is used without waiting', () => {
  const { log } = resolve({
    alternatives: [{ alpn: 'h3', host: 'b.test', port: 443, maxAgeSeconds: 60, persist: false }],
    replies: [
      a('a.test', 0, V4),
      https('a.test', 28, { priority: 0, target: '.' }),
      aaaa('a.test', 28, []),
      failing('HTTPS', 'b.test', 28),
      aaaa('b.test', 28, []),
      a('b.test', 51, ['192.0.2.9']),
    ],
  });
  assert.deepEqual(log.slice(-2), ['0 wait until 50', '51 start h3 192.0.2.9']);
});

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

const HOSTS = ['a.test', 'b.test', 'c.test', 'd.test'] as const;
const FORBIDDEN = '2001:db8:bad::';

const ipv6 = fc.constantFrom('2001:db8::1', '2001:db8::2', '2001:db8::3', '64:ff9b::c000:201', 'fd00::1');
const ipv4 = fc.constantFrom('192.0.2.1', '192.0.2.2', '192.0.2.3', '127.0.0.1');

const record: fc.Arbitrary<Partial<ServiceRecord>> = fc
  .record({
    priority: fc.constantFrom(0, 1, 1, 1, 2, 3),
    target: fc.constantFrom(...HOSTS),
    alpn: fc.subarray(['h3', 'h2', 'http/1.1', 'foo']),
    noDefaultAlpn: fc.boolean(),
    port: fc.constantFrom(null, 443, 8443),
    ipv6Hints: fc.uniqueArray(ipv6, { maxLength: 2 }),
    ipv4Hints: fc.uniqueArray(ipv4, { maxLength: 2 }),
    incompatible: fc.constantFrom(false, false, true),
  })
  // Only an incompatible record can name this address, so it must never appear.
  .map((r) => (r.incompatible ? { ...r, priority: r.priority + 1, ipv6Hints: [FORBIDDEN] } : r));

/** A whole zone: each question is answered, with or without records, or fails. */
const zone: fc.Arbitrary<Reply[]> = fc
  .tuple(
    ...HOSTS.map((host) =>
      fc.tuple(
        fc.oneof(
          fc.array(record, { maxLength: 4 }).map((records) => https(host, 0, ...records)),
          fc.constant(failing('HTTPS', host, 0)),
        ),
        fc.oneof(
          { weight: 4, arbitrary: fc.uniqueArray(ipv6).map((list) => aaaa(host, 0, list)) },
          { weight: 1, arbitrary: fc.constant(failing('AAAA', host, 0)) },
        ),
        fc.uniqueArray(ipv4).map((list) => a(host, 0, list)),
      ),
    ),
  )
  .map((replies) => replies.flat());

const world = fc.record({
  replies: zone,
  delays: fc.array(fc.array(fc.nat({ max: 200 }), { minLength: 12, maxLength: 12 }), {
    minLength: 2,
    maxLength: 2,
  }),
  random: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  connectivity: fc.constantFrom(DUAL_STACK, NAT64),
  assumeH3: fc.boolean(),
  alternatives: fc.array(
    fc.record({
      alpn: fc.constant('h3'),
      host: fc.constantFrom('', 'a.test', 'b.test', '[2001:db8::9]'),
      port: fc.constantFrom(443, 8443),
      maxAgeSeconds: fc.constant(60),
      persist: fc.constant(false),
    }),
    { maxLength: 2 },
  ),
});

/** The zone's answers, and empty ones for the prefixed names, each after its own delay. */
function delayed(replies: readonly Reply[], delays: readonly number[]): Reply[] {
  const prefixed = HOSTS.slice(0, 2).map((host) => https(`_8443._https.${host}`, 0));
  return [...replies, ...prefixed].map((reply, i) => ({ ...reply, afterMs: delays[i % delays.length] ?? 0 }));
}

test('the final list is the same for any order of answers, given the same shuffles', () => {
  fc.assert(
    fc.property(world, ({ replies, delays, random, ...options }) => {
      const runs = delays.map((one) =>
        resolve({ ...options, random: () => random, replies: delayed(replies, one) }),
      );
      const [first, second] = runs.map((run) => run.lists.at(-1)?.endpoints ?? []);
      assert.deepEqual(second, first);
      for (const { lists, failure } of runs) {
        assert.ok(failure !== null || lists.at(-1)?.final, 'it ends');
        for (const { endpoints } of lists)
          for (const { address } of endpoints)
            assert.notEqual(address, FORBIDDEN, 'of an incompatible record');
      }
    }),
    { numRuns: 500 },
  );
});

/** The zone without what can remove endpoints again: aliases, replaced hints, and records that name no HTTP/3. */
function lasting(replies: readonly Reply[]): Reply[] {
  const given = { ipv6Hints: [], ipv4Hints: [], alpn: ['h3'], noDefaultAlpn: false };
  return replies.map(({ answer, ...reply }) => {
    if (!answer.ok || answer.kind !== 'HTTPS') return { ...reply, answer };
    const services = answer.services.map((r) => ({ ...r, ...given, priority: Math.max(r.priority, 1) }));
    return { ...reply, answer: { ...answer, services } };
  });
}

test('the first list comes at most one resolution delay after the first lasting address', () => {
  fc.assert(
    fc.property(world, ({ replies, delays, random, ...options }) => {
      const { lists, log } = resolve({
        ...options,
        random: () => random,
        replies: delayed(lasting(replies), delays[0] ?? []),
      });
      const waited = log.find((line) => line.includes('wait until'));
      if (waited === undefined || lists[0] === undefined) return;
      assert.ok(lists[0].atMs <= Number(waited.split(' ').at(-1)));
    }),
  );
});

test('every name in every list was named by the origin, a compatible record, or an alternative', () => {
  fc.assert(
    fc.property(world, ({ replies, delays, random, ...options }) => {
      const { lists } = resolve({
        ...options,
        random: () => random,
        replies: delayed(replies, delays[0] ?? []),
      });
      const named = new Set(['a.test', '2001:db8::9', ...options.alternatives.map(({ host }) => host)]);
      for (const { answer } of replies)
        if (answer.ok && answer.kind === 'HTTPS')
          for (const { target, incompatible } of answer.services) if (!incompatible) named.add(target);
      for (const { endpoints } of lists) for (const { host } of endpoints) assert.ok(named.has(host), host);
    }),
  );
});
