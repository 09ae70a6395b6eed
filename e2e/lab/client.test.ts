// Which times count for a trial that failed or reports none, and the conversion of our client's record into a trial.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Attempt, Trial } from '@photofinish/shared/race/outcome';
import { type LabTrial, labTrial, timesOf } from './client.ts';

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

const attempt = (
  part: Partial<Attempt> & Pick<Attempt, 'protocol' | 'outcome' | 'establishedMs'>,
): Attempt => ({
  address: '10.77.1.2',
  port: 443,
  startedMs: 0,
  ...part,
});

function trialOf(adopted: Trial['adopted'], establishedMs: number | null, attempts: Attempt[]): Trial {
  return { adopted, establishedMs, firstByteMs: null, lateH3: false, cacheHit: false, attempts };
}

test('by Alt-Svc the first usable connection is old HTTP, although HTTP/3 is adopted', () => {
  const trial = trialOf('h3', 160, [
    attempt({ protocol: 'h2', outcome: 'cancelled', establishedMs: 102 }),
    attempt({ protocol: 'h3', outcome: 'adopted', establishedMs: 160 }),
  ]);
  assert.equal(labTrial(trial).establishedMs, 102);
});

test('a connection that broke before it responded was not usable', () => {
  const error = { code: 'response-timeout', message: 'no answer' } as const;
  const trial = trialOf('h2', 2100, [
    attempt({ protocol: 'h3', outcome: 'failed', establishedMs: 51, error }),
    attempt({ protocol: 'h2', outcome: 'adopted', establishedMs: 2100 }),
  ]);
  assert.equal(labTrial(trial).establishedMs, 2100);
});

test('datagrams include every QUIC attempt, also the fresh one; a failure has its reason', () => {
  const error = { code: 'udp-timeout', message: 'nothing came back' } as const;
  const quic = { protocol: 'h3', outcome: 'failed', establishedMs: null, error } as const;
  const trial = trialOf(null, null, [
    attempt({ ...quic, packets: { sent: 4, lost: 0 } }),
    attempt({ ...quic, fresh: true, packets: { sent: 3, lost: 0 } }),
  ]);
  const { datagramsSent, error: why, establishedMs } = labTrial(trial);
  assert.deepEqual([datagramsSent, why, establishedMs], [7, 'udp-timeout: nothing came back', null]);
});
