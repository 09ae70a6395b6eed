// Section 4.2 of the Happy Eyeballs v3 draft: when a client moves on to connecting. First its eight timing diagrams,
// each titled with the words that introduce it, then the rules between them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { a, aaaa, failing, https, IPV4_ONLY, IPV6_ONLY, resolve } from '../testing/resolution.ts';

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
