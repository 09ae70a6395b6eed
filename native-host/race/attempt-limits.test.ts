// What one trial and one race may cost others, whatever DNS and servers say: attempts, endpoints, bytes and
// packets, in virtual time.
import '@photofinish/shared/language/english';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RACE_LIMITS } from '../race-budget.ts';
import { plainPlan } from '../testing/plan.ts';
import { race } from '../testing/race.ts';
import { endpoint, type Listing, simulate } from '../testing/simulation.ts';
import { MOST_ATTEMPTS_PER_TRIAL, TRIAL_LIMITS } from './trial-budget.ts';

const TIMEOUT_MS = 3000;
const REFUSED = { handshakeMs: 1, refusal: 'tcp-refused' } as const;

/** Lists whose addresses are new each time. */
function ever(count: number, contenders: readonly ('h3' | 'h2')[]): Listing[] {
  return Array.from({ length: count }, (_, n) => ({
    atMs: n * 20,
    endpoints: contenders.flatMap((contender) =>
      Array.from({ length: 4 }, (_, i) => endpoint(contender, { address: `192.0.${n}.${i}` })),
    ),
    final: false,
  }));
}

test('a zone that names other addresses all the time is gone to at a bounded number of endpoints', () => {
  const plan = plainPlan({ mode: 'v3', timeoutMs: TIMEOUT_MS, attemptDelayMs: 10 });
  const { trial, starts } = simulate({ plan, behave: () => REFUSED, lists: ever(100, ['h3', 'h2']) });
  assert.equal(starts.length, TRIAL_LIMITS.endpoints);
  assert.ok((trial.untried ?? 0) > 300, `${trial.untried} addresses untried`);
});

test('a trial that has made its attempts ends, and does not wait for more names', () => {
  const plan = plainPlan({
    ...{ mode: 'v3', timeoutMs: TIMEOUT_MS, attemptDelayMs: 10 },
    limits: { ...TRIAL_LIMITS, endpoints: 1000 },
  });
  const { trial, starts, endedMs } = simulate({ plan, behave: () => REFUSED, lists: ever(20, ['h3', 'h2']) });
  assert.equal(starts.length, MOST_ATTEMPTS_PER_TRIAL);
  assert.ok(endedMs < TIMEOUT_MS, `ended after ${endedMs} ms`);
  assert.equal(trial.adopted, null);
});

test('HTTP/3 that failed at some endpoints is undecided where a limit kept it from others', () => {
  const endpoints = Array.from({ length: 6 }, (_, i) => endpoint('h3', { address: `192.0.2.${i}` }));
  const plan = plainPlan({
    ...{ mode: 'h3', endpoints, timeoutMs: TIMEOUT_MS },
    limits: { ...TRIAL_LIMITS, attempts: 2 },
  });
  const { trial } = simulate({ plan, behave: () => ({ handshakeMs: 1, refusal: 'udp-refused' }) });
  assert.deepEqual([trial.attempts.length, trial.h3Undecided, trial.untried], [2, true, 4]);
});

test('a race over the port ends when it has made its attempts over all its trials', async () => {
  const { result, contenders } = await race([{ handshakeMs: 20 }], [{ handshakeMs: 20 }], {
    ...{ mode: 'compare', pairs: 15, limits: { ...RACE_LIMITS, attempts: 9 } },
  });
  assert.equal(contenders.h3.targets.length + contenders.h2.targets.length, 9);
  assert.equal(result.trials.length, 9);
});

test('its endpoints are counted over all its trials, and of the command line those of each', async () => {
  const trials = { mode: 'race', trials: 3 } as const;
  for (const [limits, expected] of [
    [{ ...RACE_LIMITS, endpoints: 1 }, 1],
    [undefined, 2],
  ] as const) {
    const { contenders } = await race([{ handshakeMs: 50 }], [{ handshakeMs: 20 }], {
      ...trials,
      ...(limits && { limits }),
    });
    const { targets } = contenders.h2;
    const visited = new Set([...contenders.h3.targets.map(() => 'h3'), ...targets.map(() => 'h2')]);
    assert.equal(visited.size, expected);
  }
});

const MIB = 1024 * 1024;

for (const [what, traffic] of [
  ['bytes', { bytes: 5 * MIB, packets: 1 }],
  ['packets', { bytes: 1, packets: 5000 }],
] as const)
  test(`a trial begins no attempt once the others took their ${what}; what is left counts as untried`, () => {
    const endpoints = Array.from({ length: 6 }, (_, i) => endpoint('h3', { address: `192.0.2.${i}` }));
    const plan = plainPlan({ mode: 'h3', endpoints, timeoutMs: TIMEOUT_MS });
    const refusal = 'response-too-large' as const;
    const { trial } = simulate({ plan, behave: () => ({ handshakeMs: 1, refusal, traffic }) });
    assert.deepEqual([trial.attempts.length, trial.h3Undecided, trial.untried], [4, true, 2]);
  });

for (const [what, traffic] of [
  ['bytes', { bytes: 6 * MIB, packets: 1 }],
  ['packets', { bytes: 1, packets: 6000 }],
] as const)
  test(`a race over the port ends when all its trials together took their ${what}`, async () => {
    const peer = [{ handshakeMs: 20, traffic }];
    const series = { mode: 'compare', pairs: 15 } as const;
    const { result } = await race(peer, peer, { ...series, limits: RACE_LIMITS });
    assert.equal(result.trials.length, 3);
    const { result: unbound } = await race(peer, peer, series);
    assert.ok(unbound.trials.length > 3, 'those of the command line have their limits each');
  });

test('a flood that used a race up is not held against the protocol that had no turn', async () => {
  const traffic = { bytes: 40 * MIB, packets: 1 };
  const flood = [{ handshakeMs: 20, refusal: 'response-too-large', traffic }] as const;
  const { result, contenders } = await race([...flood], [{ handshakeMs: 20 }], {
    ...{ mode: 'compare', pairs: 15, limits: RACE_LIMITS },
  });
  assert.deepEqual([contenders.h3.targets.length, contenders.h2.targets.length], [1, 0]);
  assert.equal(result.verdict.code, 'unknown');
});
