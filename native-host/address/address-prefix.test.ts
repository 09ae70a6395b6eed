import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressPrefix } from './address-prefix.ts';

test('an address stands for its /24 or /48; other text for nothing', () => {
  assert.equal(addressPrefix('192.0.2.77'), '192.0.2.0/24');
  assert.equal(addressPrefix('2001:db8:1:2:3::4'), '2001:db8:1::/48');
  assert.equal(addressPrefix('fe80::1%eth0'), 'fe80::/48');
  assert.equal(addressPrefix('a.test'), null);
  assert.equal(addressPrefix(''), null);
});
