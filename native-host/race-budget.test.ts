import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { MAX_RACES_AT_ONCE, MAX_RACES_PER_MINUTE, raceBudget } from './race-budget.ts';

test('four races at once; a place given back twice is one place', () => {
  const budget = raceBudget({ nowMs: () => 0 });
  const places = Array.from({ length: MAX_RACES_AT_ONCE }, () => budget.take());
  assert.ok(places.every((place) => place !== null));
  assert.equal(budget.take(), null);
  places[0]?.();
  places[0]?.();
  assert.notEqual(budget.take(), null);
  assert.equal(budget.take(), null);
});

test('thirty races in any minute, however they are spread', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 5000 }), { maxLength: 200 }), (gaps) => {
      let now = 0;
      const budget = raceBudget({ nowMs: () => now });
      const begun: number[] = [];
      for (const gap of gaps) {
        now += gap;
        const place = budget.take();
        const inMinute = begun.filter((at) => now - at < 60_000).length;
        assert.equal(place !== null, inMinute < MAX_RACES_PER_MINUTE);
        if (place === null) continue;
        begun.push(now);
        place();
      }
    }),
  );
});
