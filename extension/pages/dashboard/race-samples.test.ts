// Races as numbers: only comparisons measure, only whole pairs count, and the newest measured one is the gain.
import '../../testing/catalogs.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { comparison, SAMPLE_ORIGIN } from '@photofinish/shared/testing/race-samples';
import type { Origin } from '@photofinish/shared/web/origin';
import { aClearRace, aRace } from '../../testing/samples.ts';
import { distributionsOf, gainsOf, summariseRace } from './race-samples.ts';

const A = 'https://a.test' as Origin;

test('a comparison gives samples of both sides, an ordinary race none', () => {
  const compared = summariseRace(aRace());
  assert.deepEqual(compared.established, { h3: [10], h2: [31] });
  assert.deepEqual(compared.firstByte, { h3: [12], h2: [35] });
  assert.deepEqual(compared.pairs, { whole: 1, late: 0, all: 1 });
  assert.equal(compared.adopted, null);
  const raced = summariseRace(aRace({ mode: 'race' }));
  assert.deepEqual(raced.established, { h3: [], h2: [] });
  assert.equal(raced.comparison, null, 'its loser was cancelled');
});

test('a pair with one failed side is counted, not measured', () => {
  const whole = aRace();
  const [h3, h2] = whole.trials;
  assert.ok(h3 && h2);
  const broken = { ...h2, adopted: null, establishedMs: null, firstByteMs: null };
  const summary = summariseRace(aRace({ trials: [h3, h2, h3, broken] }));
  assert.deepEqual(summary.pairs, { whole: 1, late: 0, all: 2 });
  assert.deepEqual(summary.established.h3, [10]);
  const late = { ...broken, disturbed: 'times' } as const;
  const busy = summariseRace(
    aRace({ trials: [h3, h2, h3, broken, h3, late, { ...h3, disturbed: 'times' }, h2] }),
  );
  assert.deepEqual(busy.pairs, { whole: 1, late: 2, all: 4 });
});

test('the gain of an origin is that of its newest comparison with enough pairs, clear or not', () => {
  const races = [
    aClearRace({ atMs: 4, mode: 'race' }),
    aRace({ atMs: 3 }),
    aClearRace({ atMs: 2 }),
    comparison([10, 11, 12], [12, 11, 10]),
  ].map(summariseRace);
  const gain = gainsOf(races).get(A);
  assert.deepEqual([gain?.quicker, gain?.h3Ms, gain?.h2Ms], ['h3', 10, 31]);
  assert.equal(gainsOf(races.slice(3)).get(SAMPLE_ORIGIN)?.quicker, null);
});

test('distributions pool comparisons, sorted, with their counts', () => {
  const slow = aRace({
    origin: 'https://b.test' as Origin,
    trials: aRace().trials.map((t) => ({ ...t, establishedMs: 5 })),
  });
  const all = distributionsOf([aRace(), slow, aRace({ mode: 'v3' })].map(summariseRace));
  assert.deepEqual(all.established, { h3: [5, 10], h2: [5, 31] });
  assert.equal(all.comparisons, 2);
  assert.equal(all.origins, 2);
  assert.deepEqual(all.pairs, { whole: 2, late: 0, all: 2 });
});
