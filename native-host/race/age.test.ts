import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ageSeconds } from './age.ts';

test('digits are seconds, the first of several members counts, and the value is capped at 2^31', () => {
  assert.deepEqual(['0', ' 7 ', '86400', '12, 99', '12,x', '9'.repeat(400), '2147483649'].map(ageSeconds), [
    0,
    7,
    86_400,
    12,
    12,
    2 ** 31,
    2 ** 31,
  ]);
});

test('any other value is ignored', () => {
  for (const value of [
    null,
    '',
    '-',
    `-${'9'.repeat(400)}`,
    '-1',
    '+1',
    '1.5',
    '1e9',
    '0x10',
    '12 s',
    ',5',
    '٣',
  ])
    assert.equal(ageSeconds(value), 0, String(value));
});

test('the age can be sent on whatever the field contains', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^-?[0-9]{0,500}$/)), (value) => {
      const seconds = ageSeconds(value);
      assert.ok(Number.isSafeInteger(seconds) && seconds >= 0 && seconds <= 2 ** 31);
    }),
  );
});
