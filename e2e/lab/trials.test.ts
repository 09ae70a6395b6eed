// What trials say: the smoke test's expectations of them hold where they should and fail where they must; which times
// count for a trial that failed or reports none; and the conversion of our client's record into a trial.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Attempt, Trial } from '@photofinish/shared/race/outcome';
import fc from 'fast-check';
import type { CellResult } from './adoption/turns.ts';
import { type LabTrial, labTrial } from './client.ts';
import {
  adopts,
  countBounds,
  linkLoses,
  neverFails,
  noClientCrashed,
  ONE_IN_A_MILLION,
  takesRoundTrips,
} from './quick.ts';

const LOSSLESS = { id: 'delay-50', delayMs: 50, loss: 0 };
const LOSSY = { id: 'loss-10', delayMs: 0, loss: 0.1 };
const trial = (adopted: LabTrial['adopted']): LabTrial => ({ adopted, establishedMs: 1, firstByteMs: 2 });

function result(cell: CellResult['cell'], protocols: readonly LabTrial['adopted'][]): CellResult {
  return { cell, trials: { race: protocols.map(trial) }, link: [], crashed: {} };
}

function carried(cell: CellResult['cell'], lost: number, delivered: number, lostUp = 0): CellResult {
  const rest = { overflowed: 0, oversized: 0, lateUs: null, shortestUs: null };
  const report = { up: { lost: lostUp, delivered, ...rest }, down: { lost, delivered, ...rest } };
  return { cell, trials: {}, link: [report], crashed: {} };
}

const h3 = (count: number) => Array<LabTrial['adopted']>(count).fill('h3');
const h2 = (count: number) => Array<LabTrial['adopted']>(count).fill('h2');

test('adoption: three of twenty may miss without loss, more with loss; no measurement counts as no adoption', () => {
  // Probability of 4 or more in 20 at 0.3 %, and of 11 or more at 9 %: 3.7e-7 and 2.6e-7.
  assert.equal(adopts(result(LOSSLESS, [...h3(17), ...h2(3)]), 'race').holds, true);
  assert.equal(adopts(result(LOSSLESS, [...h3(16), ...h2(4)]), 'race').holds, false);
  assert.equal(adopts(result(LOSSY, [...h3(10), ...h2(10)]), 'race').holds, true);
  assert.equal(adopts(result(LOSSY, [...h3(9), ...h2(11)]), 'race').holds, false);
  assert.equal(adopts(result(LOSSY, h3(20)), 'go-race').holds, false);
});

test('without loss a single failure is too many, and its error is shown', () => {
  assert.equal(neverFails(result(LOSSLESS, [...h3(1), ...h2(1)]), 'race').holds, true);
  const failed: CellResult = {
    ...result(LOSSLESS, []),
    trials: { race: [trial('h3'), { ...trial(null), error: 'no answer' }] },
  };
  assert.deepEqual(neverFails(failed, 'race').holds, false);
  assert.equal(neverFails(failed, 'race').found, '1, no answer');
});

test('the link: too few losses, too many, in the wrong direction, and no packets at all', () => {
  assert.equal(linkLoses(carried(LOSSY, 100, 900)).holds, true);
  assert.equal(linkLoses(carried(LOSSY, 40, 960)).holds, false);
  assert.equal(linkLoses(carried(LOSSY, 160, 840)).holds, false);
  assert.equal(linkLoses(carried(LOSSY, 100, 900, 1)).holds, false);
  assert.equal(linkLoses(carried(LOSSLESS, 0, 1000)).holds, true);
  assert.equal(linkLoses(carried(LOSSLESS, 1, 999)).holds, false);
  assert.equal(linkLoses(carried(LOSSLESS, 0, 0)).holds, false);
});

test('clients that crashed are named', () => {
  const cell = result(LOSSY, h3(1));
  assert.equal(noClientCrashed([cell]).holds, true);
  const { holds, found } = noClientCrashed([{ ...cell, crashed: { race: 'killed' } }]);
  assert.equal(holds, false);
  assert.equal(found, 'race: killed');
});

test('times: one shorter than the link allows, half of them late, and none reported', () => {
  const holds = (times: readonly (number | null)[], roundTrips = 1) => {
    const trials = times.map((establishedMs) => ({ ...trial('h3'), establishedMs }));
    return takesRoundTrips({ ...result(LOSSLESS, []), trials: { race: trials } }, 'race', roundTrips).holds;
  };
  assert.equal(holds([50, 51, 5000]), true);
  assert.equal(holds([48, 51, 52]), false);
  assert.equal(holds([50, 1051, 1052]), false);
  assert.equal(holds([50, 51, 52], 2), false);
  assert.equal(holds([null]), false);
  assert.equal(holds([]), false);
});

test('coin tosses that can be counted by hand', () => {
  // Either end alone has a probability of 2^-20, just below one in a million; with its neighbour, 21 times that.
  assert.deepEqual(countBounds(20, 0.5), { least: 1, most: 19 });
  assert.deepEqual(countBounds(19, 0.5), { least: 0, most: 19 });
  assert.deepEqual(countBounds(1, 0.3, 0.2), { least: 0, most: 1 });
  assert.deepEqual(countBounds(1, 0.3, 0.31), { least: 0, most: 0 });
});

test('chance exceeds the bounds no more often than stated, and would exceed narrower ones more often', () => {
  const inputs = [
    fc.integer({ min: 1, max: 400 }),
    fc.double({ min: 0.01, max: 0.99, noNaN: true }),
  ] as const;
  fc.assert(
    fc.property(...inputs, (trials, share) => {
      const { least, most } = countBounds(trials, share);
      // The same distribution from its recurrence, as an independent definition: Pascal's triangle.
      let row = [1];
      for (let trial = 0; trial < trials; trial += 1)
        row = Array.from(
          { length: row.length + 1 },
          (_, k) => (row[k] ?? 0) * (1 - share) + (row[k - 1] ?? 0) * share,
        );
      const sum = (from: number, to: number) =>
        row.slice(from, to).reduce((total, chance) => total + chance, 0);
      const slack = 1 + 1e-6;
      assert.ok(sum(0, least) < ONE_IN_A_MILLION * slack);
      assert.ok(sum(0, least + 1) * slack >= ONE_IN_A_MILLION);
      assert.ok(sum(most + 1, trials + 1) < ONE_IN_A_MILLION * slack);
      assert.ok(sum(most, trials + 1) * slack >= ONE_IN_A_MILLION);
    }),
    { numRuns: 50 },
  );
});

test('certain outcomes have no bounds', () => {
  for (const share of [0, 1, -0.1, Number.NaN]) assert.throws(() => countBounds(10, share), RangeError);
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

test('by Alt-Svc the first usable connection is TCP, although HTTP/3 is adopted', () => {
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
