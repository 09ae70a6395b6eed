import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { BAD_PORTS } from '@photofinish/shared/race/blocked-ports';
import { TRANSPORTS } from '@photofinish/shared/race/terms';
import fc from 'fast-check';
import { type AddressClass, ALLOW_EVERYTHING, addressPolicy, classifyAddress, refusedPort } from './guard.ts';

const CLASSES: readonly [address: string, kind: AddressClass][] = [
  ['1.1.1.1', 'public'],
  ['9.255.255.255', 'public'],
  ['11.0.0.0', 'public'],
  ['100.63.255.255', 'public'],
  ['100.128.0.0', 'public'],
  ['172.15.255.255', 'public'],
  ['172.32.0.0', 'public'],
  ['192.0.1.0', 'public'],
  ['223.255.255.255', 'public'],
  ['0.0.0.0', 'unspecified'],
  ['0.1.2.3', 'unspecified'],
  ['10.0.0.0', 'private'],
  ['10.255.255.255', 'private'],
  ['100.64.0.0', 'shared'],
  ['100.127.255.255', 'shared'],
  ['127.0.0.1', 'loopback'],
  ['127.255.255.254', 'loopback'],
  ['169.254.169.254', 'link-local'],
  ['172.16.0.0', 'private'],
  ['172.31.255.255', 'private'],
  ['192.168.255.255', 'private'],
  ['192.0.0.8', 'reserved'],
  ['192.0.2.1', 'documentation'],
  ['192.88.99.1', 'reserved'],
  ['198.18.0.1', 'benchmarking'],
  ['198.19.255.255', 'benchmarking'],
  ['198.51.100.1', 'documentation'],
  ['203.0.113.255', 'documentation'],
  ['224.0.0.1', 'multicast'],
  ['239.255.255.255', 'multicast'],
  ['240.0.0.1', 'reserved'],
  ['255.255.255.255', 'reserved'],
  ['2606:4700::1111', 'public'],
  ['3ffe::1', 'public'],
  ['::', 'unspecified'],
  ['::1', 'loopback'],
  ['0:0:0:0:0:0:0:1', 'loopback'],
  ['fc00::1', 'unique-local'],
  ['fdff:ffff::', 'unique-local'],
  ['fe80::1', 'link-local'],
  ['fe80::1%eth0', 'link-local'],
  ['febf::1', 'link-local'],
  ['fec0::1', 'reserved'],
  ['ff02::1', 'multicast'],
  ['2001:db8::1', 'documentation'],
  ['3fff::1', 'documentation'],
  ['2001::1', 'reserved'],
  ['2001:1ff:ffff::', 'reserved'],
  ['100::1', 'reserved'],
  ['4000::1', 'reserved'],
  ['::127.0.0.1', 'reserved'],
  ['::ffff:127.0.0.1', 'mapped'],
  ['::ffff:1.1.1.1', 'mapped'],
  ['::FFFF:7f00:1', 'mapped'],
  ['0:0:0:0:0:ffff:7f00:1', 'mapped'],
  ['64:ff9b::1.1.1.1', 'public'],
  ['64:ff9b::127.0.0.1', 'loopback'],
  ['64:ff9b::a00:1', 'private'],
  ['64:ff9b:1::1', 'reserved'],
  ['2002:0101:0101::1', 'public'],
  ['2002:7f00:1::', 'loopback'],
  ['2002:c0a8:101::1', 'private'],
  ['localhost', 'not-an-address'],
  ['127.1', 'not-an-address'],
  ['0x7f000001', 'not-an-address'],
  ['017700000001', 'not-an-address'],
  ['2130706433', 'not-an-address'],
  ['[::1]', 'not-an-address'],
  ['', 'not-an-address'],
];

test('every class of address, at the ends of its ranges and in every notation', () => {
  for (const [address, kind] of CLASSES) assert.equal(classifyAddress(address), kind, address);
});

test('non-public addresses are refused, with the address and its class in the message', () => {
  const policy = addressPolicy([]);
  for (const [address, kind] of CLASSES) {
    const result = policy.check([address]);
    assert.equal(result.ok, kind === 'public', address);
    if (!result.ok) assert.deepEqual([result.address, result.kind], [address, kind]);
  }
});

test('every address is checked: one forbidden address among public ones refuses all, at any position', () => {
  const policy = addressPolicy([]);
  const publics = fc.constantFrom('1.1.1.1', '8.8.8.8', '2606:4700::1111');
  const forbidden = fc.constantFrom(...CLASSES.filter(([, kind]) => kind !== 'public').map(([a]) => a));
  fc.assert(
    fc.property(fc.array(publics), forbidden, fc.array(publics), (before, bad, after) => {
      assert.equal(policy.check([...before, bad, ...after]).ok, false);
      assert.deepEqual(policy.check([...before, ...after]), { ok: true, addresses: [...before, ...after] });
    }),
  );
});

test('settings allow exactly what they name', () => {
  const policy = addressPolicy(['127.0.0.0/8', 'fd00::/8', '10.1.2.3', 'fe80::/10']);
  const allowed = (address: string) => policy.check([address]).ok;
  for (const address of ['127.0.0.1', '127.9.9.9', 'fd12::1', '10.1.2.3', '1.1.1.1', 'fe80::1%eth0'])
    assert.ok(allowed(address), address);
  for (const address of ['10.1.2.4', '::1', 'fc00::1', '192.168.0.1', 'localhost'])
    assert.ok(!allowed(address), address);
});

test('a flag that allows everything allows addresses only', () => {
  const policy = addressPolicy(ALLOW_EVERYTHING);
  for (const [address, kind] of CLASSES)
    assert.equal(policy.check([address]).ok, kind !== 'not-an-address', address);
});

test('blocked ports are those of another implementation of Fetch, and port 0', () => {
  const { badPorts } = createRequire(import.meta.url)('undici/lib/web/fetch/constants.js');
  assert.deepEqual([...BAD_PORTS], [0, ...badPorts.map(Number)]);
  for (const port of BAD_PORTS)
    for (const transport of TRANSPORTS) assert.equal(refusedPort(port, transport)?.code, 'port-blocked');
  assert.match(refusedPort(11211, 'h3')?.message ?? '', /reflection attacks/);
  assert.deepEqual([refusedPort(11211, 'h2'), refusedPort(443, 'h3')], [null, null]);
});
