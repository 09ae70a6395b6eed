// What counts as a number within bounds, before anything is saved.
import '../../testing/catalogs.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readNumber } from './number-field.ts';

test('every integer within the bounds is read, none outside', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2000 }), (number) => {
      const expected = number >= 1 && number <= 400 ? number : null;
      assert.equal(readNumber(String(number), 1, 400), expected);
    }),
  );
});

for (const text of ['', ' ', '1.5', '1e2', '-1', '0x10', 'ten', '99999999999'])
  test(`${JSON.stringify(text)} is not a number to save`, () =>
    assert.equal(readNumber(text, 0, 1000), null));
