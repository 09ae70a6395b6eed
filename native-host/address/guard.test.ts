import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { BAD_PORTS, TRANSPORTS } from '@photofinish/shared/race/terms';
import fc from 'fast-check';
import { addressBytes, addressText } from './address-bytes.ts';
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

const NO_DESTINATIONS: ReadonlySet<string> = new Set(['0.0.0.0', '::']);

test('non-public addresses are refused, with the address and its class in the message', () => {
  const policy = addressPolicy([]);
  for (const [address, kind] of CLASSES) {
    const refusal = policy.refusal(address)?.message ?? null;
    if (kind === 'public') assert.equal(refusal, null, address);
    else if (NO_DESTINATIONS.has(address)) assert.ok(refusal?.startsWith(`${address} is no destination;`));
    else assert.ok(refusal?.startsWith(`${address} is ${kind};`), address);
  }
});

test('settings allow exactly what they name', () => {
  const policy = addressPolicy(['127.0.0.0/8', 'fd00::/8', '10.1.2.3', 'fe80::/10', 'fc00::5']);
  const allowed = (address: string) => policy.refusal(address) === null;
  for (const address of [
    '127.0.0.1',
    '127.9.9.9',
    'fd12::1',
    '10.1.2.3',
    '1.1.1.1',
    'fe80::1%eth0',
    'fc00::5',
  ])
    assert.ok(allowed(address), address);
  for (const address of ['10.1.2.4', '::1', 'fc00::1', '192.168.0.1', 'localhost'])
    assert.ok(!allowed(address), address);
});

test('a flag that allows everything allows addresses only, and none that is no destination', () => {
  const policy = addressPolicy(ALLOW_EVERYTHING);
  for (const [address, kind] of CLASSES) {
    const allowed = kind !== 'not-an-address' && !NO_DESTINATIONS.has(address);
    assert.equal(policy.refusal(address) === null, allowed, address);
  }
  for (const address of [...NO_DESTINATIONS, '::ffff:0.0.0.0'])
    assert.equal(policy.refusal(address)?.code, 'no-address', address);
});

test('blocked ports are those of another implementation of Fetch, and port 0', () => {
  const { badPorts } = createRequire(import.meta.url)('undici/lib/web/fetch/constants.js');
  assert.deepEqual([...BAD_PORTS], [0, ...badPorts.map(Number)]);
  for (const port of BAD_PORTS)
    for (const transport of TRANSPORTS) assert.equal(refusedPort(port, transport)?.code, 'port-blocked');
  assert.match(refusedPort(22, 'h2')?.message ?? '', /Fetch Standard/);
  assert.match(refusedPort(11211, 'h3')?.message ?? '', /reflection attacks/);
  assert.deepEqual([refusedPort(11211, 'h2'), refusedPort(443, 'h3')], [null, null]);
});

/** `carrier`: the class is that of the embedded IPv4 address. */
type Row = readonly [first: string, last: string, kind: AddressClass | 'carrier'];

const IPV4: readonly Row[] = [
  ['0.0.0.0', '0.255.255.255', 'unspecified'],
  ['1.0.0.0', '9.255.255.255', 'public'],
  ['10.0.0.0', '10.255.255.255', 'private'],
  ['11.0.0.0', '100.63.255.255', 'public'],
  ['100.64.0.0', '100.127.255.255', 'shared'],
  ['100.128.0.0', '126.255.255.255', 'public'],
  ['127.0.0.0', '127.255.255.255', 'loopback'],
  ['128.0.0.0', '169.253.255.255', 'public'],
  ['169.254.0.0', '169.254.255.255', 'link-local'],
  ['169.255.0.0', '172.15.255.255', 'public'],
  ['172.16.0.0', '172.31.255.255', 'private'],
  ['172.32.0.0', '191.255.255.255', 'public'],
  ['192.0.0.0', '192.0.0.255', 'reserved'],
  ['192.0.1.0', '192.0.1.255', 'public'],
  ['192.0.2.0', '192.0.2.255', 'documentation'],
  ['192.0.3.0', '192.88.98.255', 'public'],
  ['192.88.99.0', '192.88.99.255', 'reserved'],
  ['192.88.100.0', '192.167.255.255', 'public'],
  ['192.168.0.0', '192.168.255.255', 'private'],
  ['192.169.0.0', '198.17.255.255', 'public'],
  ['198.18.0.0', '198.19.255.255', 'benchmarking'],
  ['198.20.0.0', '198.51.99.255', 'public'],
  ['198.51.100.0', '198.51.100.255', 'documentation'],
  ['198.51.101.0', '203.0.112.255', 'public'],
  ['203.0.113.0', '203.0.113.255', 'documentation'],
  ['203.0.114.0', '223.255.255.255', 'public'],
  ['224.0.0.0', '239.255.255.255', 'multicast'],
  ['240.0.0.0', '255.255.255.255', 'reserved'],
];

const F = 'ffff:ffff:ffff:ffff:ffff:ffff:ffff';
const IPV6: readonly Row[] = [
  ['::', '::', 'unspecified'],
  ['::1', '::1', 'loopback'],
  ['::2', '::fffe:ffff:ffff', 'reserved'],
  ['::ffff:0:0', '::ffff:ffff:ffff', 'mapped'],
  ['::1:0:0:0', '64:ff9a:ffff:ffff:ffff:ffff:ffff:ffff', 'reserved'],
  ['64:ff9b::', '64:ff9b::ffff:ffff', 'carrier'],
  ['64:ff9b::1:0:0', `1fff:${F}`, 'reserved'],
  ['2000::', '2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'public'],
  ['2001::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff', 'reserved'],
  ['2001:200::', '2001:db7:ffff:ffff:ffff:ffff:ffff:ffff', 'public'],
  ['2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', 'documentation'],
  ['2001:db9::', `2001:${F}`, 'public'],
  ['2002::', `2002:${F}`, 'carrier'],
  ['2003::', '3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'public'],
  ['3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff', 'documentation'],
  ['3fff:1000::', `3fff:${F}`, 'public'],
  ['4000::', `fbff:${F}`, 'reserved'],
  ['fc00::', `fdff:${F}`, 'unique-local'],
  ['fe00::', `fe7f:${F}`, 'reserved'],
  ['fe80::', `febf:${F}`, 'link-local'],
  ['fec0::', `feff:${F}`, 'reserved'],
  ['ff00::', `ffff:${F}`, 'multicast'],
];

function numberOf(address: string): bigint {
  return BigInt(`0x${Buffer.from(addressBytes(address)).toString('hex')}`);
}

function textOf(number: bigint, bytes: 4 | 16): string {
  return addressText([...Buffer.from(number.toString(16).padStart(bytes * 2, '0'), 'hex')]);
}

const strict = addressPolicy([]);

function assertClass(address: string, kind: AddressClass): void {
  assert.equal(classifyAddress(address), kind, address);
  assert.equal(strict.refusal(address) === null, kind === 'public', address);
}

for (const [space, bytes, rows] of [
  ['IPv4', 4, IPV4],
  ['IPv6', 16, IPV6],
] as const) {
  test(`${space}: the ranges are contiguous from the first address to the last`, () => {
    let next = 0n;
    for (const [first, last] of rows) {
      assert.equal(numberOf(first), next, first);
      assert.ok(numberOf(last) >= next, last);
      next = numberOf(last) + 1n;
    }
    assert.equal(next, 1n << BigInt(bytes * 8));
  });

  for (const [first, last, kind] of rows) {
    if (kind === 'carrier') continue;
    test(`${space}: ${first} to ${last} is ${kind}, at both ends and in between`, () => {
      for (const edge of [first, last]) assertClass(edge, kind);
      fc.assert(
        fc.property(fc.bigInt(numberOf(first), numberOf(last)), (number) =>
          assertClass(textOf(number, bytes), kind),
        ),
      );
    });
  }
}

const ipv4 = fc.bigInt(0n, (1n << 32n) - 1n);

test('IPv6 with an embedded IPv4 address has the class of that address: NAT64 and 6to4', () => {
  const rest = fc.bigInt(0n, (1n << 80n) - 1n);
  fc.assert(
    fc.property(ipv4, rest, (inner, tail) => {
      const kind = classifyAddress(textOf(inner, 4));
      assertClass(textOf(numberOf('64:ff9b::') | inner, 16), kind);
      assertClass(textOf(numberOf('2002::') | (inner << 80n) | tail, 16), kind);
    }),
  );
});

test('no mapped address passes, whatever it maps to', () => {
  fc.assert(fc.property(ipv4, (inner) => assertClass(textOf(numberOf('::ffff:0:0') | inner, 16), 'mapped')));
});

/** Prefixes that a network may use, and the class of a public IPv4 address behind each. */
const PREFIXES: readonly (readonly [prefix: string, behind: AddressClass])[] = [
  ['64:ff9b::/96', 'public'],
  ['64:ff9b:1:2::/96', 'public'],
  ['fd00:64::/96', 'public'],
  ['2600:64:ff9b::/96', 'public'],
  // These can only lead to internal addresses.
  ['::/96', 'reserved'],
  ['fe80::/96', 'link-local'],
  ['ff02::/96', 'multicast'],
  ['2001:db8:64::/96', 'documentation'],
];

test("behind the network's own NAT64 prefix both the prefix and the IPv4 address must be public", () => {
  fc.assert(
    fc.property(fc.constantFrom(...PREFIXES), ipv4, ([prefix, behind], inner) => {
      const [network = ''] = prefix.split('/');
      const address = textOf(numberOf(network) | inner, 16);
      const inside = classifyAddress(textOf(inner, 4));
      // The addresses that make up the unspecified and the loopback address are special themselves.
      if (network === '::' && inner < 2n) return;
      assert.equal(classifyAddress(address, prefix), inside === 'public' ? behind : inside, address);
      assert.equal(
        strict.refusal(address, prefix) === null,
        inside === 'public' && behind === 'public',
        address,
      );
    }),
  );
});

test('only ::ffff:0:0/96 is mapped, not what merely resembles it', () => {
  assert.equal(classifyAddress('::ffff:0:0'), 'mapped');
  assert.equal(classifyAddress('::ffff:255.255.255.255'), 'mapped');
  assert.equal(classifyAddress('::255.255.1.1'), 'reserved');
  assert.equal(classifyAddress('::ffff:ffff'), 'reserved');
});

test('an address outside the prefix has its own class', () => {
  assert.equal(classifyAddress('fd00:65::808:808', 'fd00:64::/96'), 'unique-local');
  assert.equal(classifyAddress('fd00:64::808:808'), 'unique-local');
});

test('unusual notations and zones change no class', () => {
  const upper = (address: string): string => address.toUpperCase();
  const full = (address: string): string =>
    addressBytes(address).length === 4
      ? address
      : (Buffer.from(addressBytes(address)).toString('hex').match(/.{4}/g) ?? []).join(':');
  for (const [first, last, kind] of IPV6) {
    if (kind === 'carrier') continue;
    for (const address of [first, last])
      for (const spelt of [upper(address), full(address), `${address}%eth0`, `${full(address)}%1`])
        assertClass(spelt, kind);
  }
  for (const spelt of [
    '0127.0.0.1',
    '127.0.0.01',
    '0x7f.1',
    '127.1',
    '2130706433',
    ' 127.0.0.1',
    '127.0.0.1 ',
  ])
    assertClass(spelt, 'not-an-address');
});

test('a range of IPv6 allows no IPv4 address', () => {
  for (const cidr of ['::/0', '::ffff:0:0/96']) {
    const { refusal } = addressPolicy([cidr]);
    // Systems connect to a mapped address over IPv4.
    for (const address of ['127.0.0.1', '::ffff:127.0.0.1'])
      assert.equal(refusal(address)?.code, 'blocked', `${address} by ${cidr}`);
    assert.equal(addressPolicy([cidr, '127.0.0.0/8']).refusal('::ffff:127.0.0.1'), null);
  }
});
