// Sorting packed numbers agrees with sorting by comparison, for any keys.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { orderRows, ranksOf } from './packed-sort.ts';

const keys = fc.array(fc.option(fc.integer({ min: -(2 ** 35), max: 2 ** 35 }), { nil: Number.NaN }), {
  maxLength: 300,
});

test('the order is that of a stable comparison, rows without a key last either way', () => {
  fc.assert(
    fc.property(keys, fc.boolean(), (values, up) => {
      const rows = Uint32Array.from(values.keys()).reverse();
      const sign = up ? 1 : -1;
      const expected = [...rows].sort((a, b) => {
        const [x = Number.NaN, y = Number.NaN] = [values[a], values[b]];
        if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y));
        return sign * (x - y);
      });
      const order = orderRows(rows, (row) => values[row] ?? Number.NaN, up ? 'ascending' : 'descending');
      assert.deepEqual([...order], expected);
    }),
  );
});

test('instants of two years fit beside a hundred thousand rows', () => {
  const rows = Uint32Array.from({ length: 100_000 }, (_, i) => i);
  const order = orderRows(rows, (row) => 1.7e12 + row * 630_000, 'descending');
  assert.equal(order[0], 99_999);
  assert.equal(order[99_999], 0);
});

test('fractions of a key never produce another row', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 1e9, noNaN: true }), { maxLength: 200 }), (values) => {
      const rows = Uint32Array.from(values.keys());
      const order = orderRows(rows, (row) => values[row] ?? 0, 'ascending');
      assert.deepEqual(
        [...order].sort((a, b) => a - b),
        [...rows],
      );
      const whole = Array.from(order, (row) => Math.floor(values[row] ?? 0));
      assert.deepEqual(
        whole,
        whole.toSorted((a, b) => a - b),
      );
    }),
  );
});

test('keys that do not fit are rejected, not mixed up', () => {
  assert.throws(() => orderRows(Uint32Array.of(0, 1), (row) => row * 2 ** 53, 'ascending'), RangeError);
});

test('ranks are the inverse of the order', () => {
  assert.deepEqual([...ranksOf(Uint32Array.of(2, 0, 1))], [1, 2, 0]);
});
