// Which times count for a trial that failed or reports none.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type LabTrial, timesOf } from './client.ts';

const won = (establishedMs: number | null, firstByteMs: number | null = null): LabTrial => ({
  adopted: 'h3',
  establishedMs,
  firstByteMs,
});
const FAILED: LabTrial = { adopted: null, establishedMs: null, firstByteMs: null };

test('a failed trial counts as the deadline', () => {
  assert.deepEqual(timesOf([won(51), FAILED], 'establishedMs'), [51, 30_000]);
});

test('a client that never reports times has none, one whose trials all failed has only the deadline', () => {
  assert.deepEqual(timesOf([won(null), FAILED], 'establishedMs'), []);
  assert.deepEqual(timesOf([FAILED, FAILED], 'establishedMs'), [30_000, 30_000]);
});

test('a response that never came is a failure, an unreported time is no value', () => {
  const trials = [won(51, 102), won(null, null)];
  assert.deepEqual(timesOf(trials, 'firstByteMs'), [102, 30_000]);
  assert.deepEqual(timesOf(trials, 'establishedMs'), [51]);
});
