// The result of a stored race's pairs: from its trials, whatever its summary says.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { clearComparison, comparison, originRace } from '../testing/race-samples.ts';
import { comparisonSchema, originRaceSchema } from './outcome.ts';
import { comparisonOf, pairGains, wholePairs } from './race-pairs.ts';

const times = (count: number, ms: number): number[] => Array.from({ length: count }, () => ms);

test('a record from before the rule is judged by its trials', () => {
  const { comparison: _, ...summary } = clearComparison(10, 30).summary;
  const old = { ...clearComparison(10, 30), summary: { ...summary, gainMs: -5 } };
  assert.ok(v.is(originRaceSchema, old));
  assert.equal(comparisonOf(old)?.quicker, 'h3');
  const few = comparison([10, 11, 12], [30, 31, 32]);
  assert.equal(comparisonOf({ ...few, summary: { ...summary, gainMs: 20 } })?.quicker, null);
});

test('the maximum number of pairs determines how boldly the last one is judged', () => {
  const six = comparison(times(6, 10), times(6, 30));
  const judged = (most: number) => {
    const { comparison: shown } = six.summary;
    assert.ok(shown);
    return comparisonOf({ ...six, summary: { ...six.summary, comparison: { ...shown, most } } })?.quicker;
  };
  assert.deepEqual([judged(6), judged(7), judged(15)], ['h3', null, null]);
});

test('a pair with a failure reduces the number of pairs to come', () => {
  const seven = comparison(times(7, 10), times(7, 30));
  const broken = { ...seven.trials[0], adopted: null, establishedMs: null } as (typeof seven.trials)[number];
  const trials = seven.trials.with(0, broken);
  assert.equal(wholePairs(trials).length, 6);
  const shown = seven.summary.comparison;
  assert.ok(shown);
  const of = (most: number) =>
    comparisonOf({ ...seven, trials, summary: { ...seven.summary, comparison: { ...shown, most } } })
      ?.quicker;
  assert.deepEqual([of(7), of(8)], ['h3', null]);
});

test('pairs of one protocol and races of another mode give no comparison', () => {
  const clear = clearComparison(10, 30);
  assert.equal(comparisonOf({ ...clear, mode: 'race' }), null);
  assert.equal(comparisonOf(originRace([], { mode: 'compare' })), null);
  const h3 = clear.trials.filter(({ adopted }) => adopted === 'h3');
  assert.deepEqual([comparisonOf({ ...clear, trials: h3 }), pairGains(h3)], [null, []]);
});

test('a comparison with contradictory numbers is rejected', () => {
  const { comparison: shown } = clearComparison(10, 30).summary;
  assert.ok(shown);
  const fits = (over: Partial<typeof shown>) => v.is(comparisonSchema, { ...shown, ...over });
  assert.ok(fits({}));
  assert.ok(!fits({ most: shown.pairs - 1 }));
  assert.ok(!fits({ h2Quicker: shown.pairs }));
  assert.ok(!fits({ lowMs: shown.highMs + 1 }));
  assert.ok(!fits({ highMs: Number.POSITIVE_INFINITY }));
  assert.ok(!fits({ h3Ms: -1 }));
  assert.ok(!fits({ pairs: 0 }));
  assert.ok(!v.is(comparisonSchema, { ...shown, quicker: 'both' }));
});

test('the protocol compared with HTTP/3 is named if it was not HTTP/2', () => {
  const race = clearComparison(10, 30);
  assert.equal(comparisonOf(race)?.old, undefined);
  const trials = race.trials.map((each) =>
    each.adopted === 'h3' ? each : { ...each, adopted: 'http/1.1' as const },
  );
  assert.equal(comparisonOf({ ...race, trials })?.old, 'http/1.1');
});
