// The hand-written parser is faster than the platform's, and must always agree with it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { addressBytes, addressPrefix, addressText, commonPrefixBits } from './address-bytes.ts';

function canonical(ipv6: string): string {
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
        assert.equal(addressText(bytes), canonical(text));
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
    assert.equal(addressText(addressBytes(text)), canonical(text), text);
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
