import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RACES_AT_ONCE, RACES_PER_MINUTE } from '@photofinish/shared/port/race-limits';
import { MOST_PAIRS } from '@photofinish/shared/race/paired-comparison';
import fc from 'fast-check';
import { MAX_ATTEMPTS_PER_MINUTE, RACE_LIMITS, type RaceReason, raceBudget } from './race-budget.ts';

test('four races at once; an endpoint given back twice is one endpoint', () => {
  const budget = raceBudget({ nowMs: () => 0 });
  const endpoints = Array.from({ length: RACES_AT_ONCE }, () => budget.take('click'));
  assert.ok(endpoints.every((endpoint) => endpoint !== null));
  assert.equal(budget.take('click'), null);
  endpoints[0]?.release();
  endpoints[0]?.release();
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
        const endpoint = budget.take('click');
        const inMinute = begun.filter((at) => now - at < 60_000).length;
        assert.equal(endpoint !== null, inMinute < RACES_PER_MINUTE);
        if (endpoint === null) continue;
        begun.push(now);
        endpoint.release();
      }
    }),
  );
});

test('attempts count, not only races: a few races that make many use the minute up, those of navigations first', () => {
  let now = 0;
  const budget = raceBudget({ nowMs: () => now });
  const race = (reason: RaceReason, attempts: number): boolean => {
    const endpoint = budget.take(reason);
    for (let n = 0; n < attempts; n += 1) endpoint?.began();
    endpoint?.release();
    return endpoint !== null;
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

test('what a race may do by itself leaves the minute finite', () => {
  const most = MAX_ATTEMPTS_PER_MINUTE.click + RACES_AT_ONCE * RACE_LIMITS.attempts;
  assert.ok(most <= 1216, `${most} attempts`);
  assert.ok(RACE_LIMITS.attempts >= 2 * MOST_PAIRS, 'a whole comparison');
});
