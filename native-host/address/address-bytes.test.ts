// The parser of addresses must always agree with the platform's. NAT64: RFC 6052's own table of synthesized addresses, and
// RFC 7050's discovery of the prefix.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { addressBytes, addressPrefix, addressText, commonPrefixBits } from './address-bytes.ts';
import { nat64Of, nat64PrefixOf } from './nat64.ts';

function platformText(ipv6: string): string {
  return new URL(`http://[${ipv6}]`).hostname.slice(1, -1);
}

test('every form of an IPv6 address is parsed like the platform does', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.ipV6(),
        fc.ipV6().map((text) => text.toUpperCase()),
      ),
      (text) => {
        const bytes = addressBytes(text);
        assert.equal(bytes.length, 16);
        assert.equal(addressText(bytes), platformText(text));
      },
    ),
    { numRuns: 1000 },
  );
});

test('edge cases of IPv6 notation', () => {
  for (const text of [
    '::',
    '::1',
    '1::',
    '2001:db8::',
    '::ffff:192.0.2.1',
    '1:2:3:4:5:6:7:8',
    '64:ff9b::1.2.3.4',
  ])
    assert.equal(addressText(addressBytes(text)), platformText(text), text);
  assert.deepEqual(addressBytes('fe80::1%eth0'), addressBytes('fe80::1'));
});

test('IPv4 round trip', () => {
  fc.assert(fc.property(fc.ipV4(), (text) => assert.equal(addressText(addressBytes(text)), text)));
});

test('an invalid address throws', () => {
  for (const text of ['', 'a.test', '1.2.3', '1.2.3.4.5', '256.1.1.1', ':::', '1::2::3', '[::1]'])
    assert.throws(() => addressBytes(text), TypeError, text);
});

test('bits in common', () => {
  const bits = (a: string, b: string): number => commonPrefixBits(addressBytes(a), addressBytes(b));
  assert.equal(bits('::', '8000::'), 0);
  assert.equal(bits('2001:db8::1', '2001:db8::1'), 128);
  assert.equal(bits('2001:db8::', '2001:db9::'), 31);
  assert.equal(bits('192.0.2.1', '192.0.2.3'), 30);
});

test('an address stands for its /24 or /48; other text for nothing', () => {
  assert.equal(addressPrefix('192.0.2.77'), '192.0.2.0/24');
  assert.equal(addressPrefix('2001:db8:1:2:3::4'), '2001:db8:1::/48');
  assert.equal(addressPrefix('fe80::1%eth0'), 'fe80::/48');
  assert.equal(addressPrefix('a.test'), null);
  assert.equal(addressPrefix(''), null);
});

/** RFC 6052 section 2.4: 192.0.2.33 under each length of prefix. */
const TABLE: readonly [prefix: string, address: string][] = [
  ['2001:db8::/32', '2001:db8:c000:221::'],
  ['2001:db8:100::/40', '2001:db8:1c0:2:21::'],
  ['2001:db8:122::/48', '2001:db8:122:c000:2:2100::'],
  ['2001:db8:122:300::/56', '2001:db8:122:3c0:0:221::'],
  ['2001:db8:122:344::/64', '2001:db8:122:344:c0:2:2100:0'],
  ['2001:db8:122:344::/96', '2001:db8:122:344::c000:221'],
  ['64:ff9b::/96', '64:ff9b::c000:221'],
];

function canonical(address: string): string {
  return addressText(addressBytes(address));
}

test('RFC 6052, 2.4: every prefix length, in both directions', () => {
  for (const [prefix, address] of TABLE) {
    assert.equal(nat64Of(prefix).synthesize('192.0.2.33'), canonical(address), prefix);
    assert.equal(nat64Of(prefix).desynthesize(address), '192.0.2.33', prefix);
  }
});

test('a synthesized address is de-synthesized to the same address', () => {
  fc.assert(
    fc.property(fc.constantFrom(...TABLE.map(([prefix]) => prefix)), fc.ipV4(), (prefix, ipv4) => {
      const nat64 = nat64Of(prefix);
      const made = nat64.synthesize(ipv4);
      if (made !== null) assert.equal(nat64.desynthesize(made), ipv4);
    }),
  );
});

test('8.3: "0.0.0.0/8, 127.0.0.0/8, 169.254.0.0/16, and 255.255.255.255/32" are not synthesized', () => {
  for (const ipv4 of ['0.0.0.0', '0.1.2.3', '127.0.0.1', '127.255.0.1', '169.254.169.254', '255.255.255.255'])
    for (const [prefix] of TABLE) assert.equal(nat64Of(prefix).synthesize(ipv4), null, `${ipv4} ${prefix}`);
  for (const ipv4 of ['1.0.0.0', '126.0.0.1', '128.0.0.1', '169.253.0.1', '169.255.0.1', '255.255.255.254'])
    assert.notEqual(nat64Of('64:ff9b::/96').synthesize(ipv4), null, ipv4);
});

test('RFC 6052, 3.1: the well-known prefix "MUST NOT be used to represent non-global IPv4 addresses"', () => {
  for (const ipv4 of ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1']) {
    assert.equal(nat64Of('64:ff9b::/96').synthesize(ipv4), null);
    assert.notEqual(nat64Of('2001:db8:64::/96').synthesize(ipv4), null);
  }
});

test('8.2: native addresses are unchanged', () => {
  const native = ['2001:db8::1', '64:ff9b:1::c000:221', '2001:db8:122:345:c0:2:2100:0'];
  for (const address of native)
    for (const prefix of ['64:ff9b::/96', '2001:db8:122:344::/64'])
      assert.equal(nat64Of(prefix).desynthesize(address), null, address);
});

test('bits that should be zero hide no IPv4 address', () => {
  const { desynthesize } = nat64Of('2001:db8:122:344::/64');
  for (const address of ['2001:db8:122:344:c0:2:2100:1', '2001:db8:122:344:ffc0:2:2100:0'])
    assert.equal(desynthesize(address), '192.0.2.33', address);
});

test('prefixes of other lengths, or of IPv4, are invalid', () => {
  for (const cidr of ['64:ff9b::/95', '64:ff9b::', '10.0.0.0/8'])
    assert.throws(() => nat64Of(cidr), TypeError, cidr);
});

test('RFC 7050, 3: the prefix is derived from the answer for ipv4only.arpa, whatever its length', () => {
  for (const [prefix] of TABLE) {
    const nat64 = nat64Of(prefix);
    const answer = ['192.0.0.170', '192.0.0.171'].map((ipv4) => nat64.synthesize(ipv4) ?? '');
    assert.equal(nat64PrefixOf(answer), prefix, prefix);
    assert.equal(nat64PrefixOf(answer.slice(1)), prefix, `${prefix}, by one address`);
  }
});

test('RFC 7050, 3: without a synthesized address there is no prefix', () => {
  for (const answer of [[], ['192.0.0.170', '192.0.0.171'], ['2001:db8::1'], ['::']])
    assert.equal(nat64PrefixOf(answer), null);
});

test('RFC 7050, 3: a prefix that itself contains a well-known address is not mistaken for a shorter one', () => {
  // 192.0.0.170 also follows the /32 by accident, and the bytes after it are not zero.
  const prefix = '2001:db8:c000:aa::/96';
  const answer = [170, 171].map((last) => nat64Of(prefix).synthesize(`192.0.0.${last}`) ?? '');
  assert.equal(nat64PrefixOf(answer), prefix);
});
