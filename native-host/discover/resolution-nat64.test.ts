// Section 8 of the Happy Eyeballs v3 draft: IPv4-only peers from an IPv6-only network.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { a, aaaa, DUAL_STACK, https, NAT64, resolve } from '../testing/resolution.ts';

const NO_RECORDS = https('a.test', 5);
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
