import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { networkNameSchema } from './network-name.ts';

test('a name is trimmed and composed', () => {
  assert.equal(v.parse(networkNameSchema, '  Home  '), 'Home');
  assert.equal(v.parse(networkNameSchema, 'Cafe\u0301'), 'Café');
  // 40 characters as users count them, not UTF-16 units.
  assert.equal(v.is(networkNameSchema, '🏠'.repeat(40)), true);
});

test('what could rewrite the surrounding text, or is empty, is rejected', () => {
  for (const name of [
    '',
    '   ',
    'x'.repeat(41),
    'a\nb',
    'a\u001b[31mb',
    'a\u202eb',
    'a\u2066b',
    'a\u2028b',
    '\u200d',
    '\ud800',
  ])
    assert.equal(v.is(networkNameSchema, name), false, JSON.stringify(name));
});
