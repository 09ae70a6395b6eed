// Durations where their unit changes.
import assert from 'node:assert/strict';
import test from 'node:test';
import { formatDuration } from './duration.ts';

test('durations are in the unit that people would use', () => {
  assert.equal(formatDuration(0), '0 s');
  assert.equal(formatDuration(39_200), '40 s');
  assert.equal(formatDuration(12 * 60_000), '12 min');
  assert.equal(formatDuration(185 * 60_000), '3 h 5 min');
});
