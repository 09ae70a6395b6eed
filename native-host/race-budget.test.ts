import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RACES_AT_ONCE, RACES_PER_MINUTE } from '@photofinish/shared/port/race-limits';
import { MOST_PAIRS } from '@photofinish/shared/race/paired-comparison';
import fc from 'fast-check';
import { MAX_ATTEMPTS_PER_MINUTE, RACE_LIMITS, type RaceReason, raceBudget } from './race-budget.ts';

test('four concurrent races; releasing a slot twice frees one slot', () => {
  const budget = raceBudget({ nowMs: () => 0 });
  const slots = Array.from({ length: RACES_AT_ONCE }, () => budget.take('click'));
  assert.ok(slots.every((slot) => slot !== null));
  assert.equal(budget.take('click'), null);
  slots[0]?.release();
  slots[0]?.release();
  assert.notEqual(budget.take('click'), null);
  assert.equal(budget.take('click'), null);
});

test('thirty races in any minute, however they are spread', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 5000 }), { maxLength: 200 }), (gaps) => {
      let now = 0;
      const budget = raceBudget({ nowMs: () => now });
      const begun: number[] = [];
      for (const gap of gaps) {
        now += gap;
        const slot = budget.take('click');
        const inMinute = begun.filter((at) => now - at < 60_000).length;
        assert.equal(slot !== null, inMinute < RACES_PER_MINUTE);
        if (slot === null) continue;
        begun.push(now);
        slot.release();
      }
    }),
  );
});

test('attempts count, not only races: a few races with many attempts use up the minute, those of navigations first', () => {
  let now = 0;
  const budget = raceBudget({ nowMs: () => now });
  const race = (reason: RaceReason, attempts: number): boolean => {
    const slot = budget.take(reason);
    for (let n = 0; n < attempts; n += 1) slot?.began();
    slot?.release();
    return slot !== null;
  };
  const { click, navigation } = MAX_ATTEMPTS_PER_MINUTE;
  assert.ok(race('navigation', navigation - 1));
  assert.ok(race('navigation', 1));
  assert.equal(race('navigation', 1), false);
  assert.ok(race('click', click - navigation));
  assert.equal(race('click', 1), false);
  now += 60_000;
  assert.ok(race('navigation', 1));
});

test('the limits of a single race keep the total per minute finite', () => {
  const most = MAX_ATTEMPTS_PER_MINUTE.click + RACES_AT_ONCE * RACE_LIMITS.attempts;
  assert.ok(most <= 1216, `${most} attempts`);
  assert.ok(RACE_LIMITS.attempts >= 2 * MOST_PAIRS, 'a whole comparison');
});
