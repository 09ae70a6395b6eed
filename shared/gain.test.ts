import './english.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { h3 } from './evidence.fixture.ts';
import { gainOf } from './gain.ts';
import { comparison, originRace, trial } from './race-samples.fixture.ts';

test('the gain is milliseconds of what HTTP/2 takes, whoever is quicker', () => {
  assert.deepEqual(gainOf(comparison([10, 20, 30], [90, 100, 110])), { gainMs: 80, ofMs: 100 });
  assert.deepEqual(gainOf(comparison([12, 12, 12], [10, 10, 10])), { gainMs: -2, ofMs: 10 });
});

test('too few pairs and races of another kind measure none', () => {
  assert.equal(gainOf(comparison([10, 20], [90, 100])), null);
  assert.equal(gainOf(originRace([trial([h3()])])), null);
});
