// Section 4.1 of the Happy Eyeballs v3 draft: which questions are asked, in which order, and under which names.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DUAL_STACK, IPV4_ONLY, IPV6_ONLY, NAT64, resolve } from '../testing/resolution.ts';

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
