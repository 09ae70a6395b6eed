// What one trial and one race may cost others, whatever DNS and servers say: attempts and places, in virtual time.
import '@photofinish/shared/english';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plainPlan } from './plan-scene.ts';
import { race } from './race-scene.ts';
import { type Listing, place, simulate } from './simulation.ts';
import { MOST_ATTEMPTS_PER_TRIAL, TRIAL_LIMITS } from './trial-budget.ts';

const TIMEOUT_MS = 3000;
const REFUSED = { handshakeMs: 1, refusal: 'tcp-refused' } as const;

/** Lists whose addresses are new each time. */
function ever(count: number, contenders: readonly ('h3' | 'h2')[]): Listing[] {
  return Array.from({ length: count }, (_, n) => ({
    atMs: n * 20,
    endpoints: contenders.flatMap((contender) =>
      Array.from({ length: 4 }, (_, i) => place(contender, { address: `192.0.${n}.${i}` })),
    ),
    final: false,
  }));
}

test('a zone that names other addresses all the time is gone to at a bounded number of places', () => {
  const plan = plainPlan({ mode: 'v3', timeoutMs: TIMEOUT_MS, attemptDelayMs: 10 });
  const { trial, starts } = simulate({ plan, behave: () => REFUSED, lists: ever(100, ['h3', 'h2']) });
  assert.equal(starts.length, TRIAL_LIMITS.places);
  assert.ok((trial.untried ?? 0) > 300, `${trial.untried} addresses untried`);
});

test('a trial that has made its attempts ends, and does not wait for more names', () => {
  const plan = plainPlan({
    ...{ mode: 'v3', timeoutMs: TIMEOUT_MS, attemptDelayMs: 10 },
    limits: { attempts: MOST_ATTEMPTS_PER_TRIAL, places: 1000 },
  });
  const { trial, starts, endedMs } = simulate({ plan, behave: () => REFUSED, lists: ever(20, ['h3', 'h2']) });
  assert.equal(starts.length, MOST_ATTEMPTS_PER_TRIAL);
  assert.ok(endedMs < TIMEOUT_MS, `ended after ${endedMs} ms`);
  assert.equal(trial.adopted, null);
});

test('HTTP/3 that failed at some places is undecided where a limit kept it from others', () => {
  const endpoints = Array.from({ length: 6 }, (_, i) => place('h3', { address: `192.0.2.${i}` }));
  const plan = plainPlan({
    ...{ mode: 'h3', endpoints, timeoutMs: TIMEOUT_MS },
    limits: { attempts: 2, places: 24 },
  });
  const { trial } = simulate({ plan, behave: () => ({ handshakeMs: 1, refusal: 'udp-refused' }) });
  assert.deepEqual([trial.attempts.length, trial.h3Undecided, trial.untried], [2, true, 4]);
});

test('a race over the port ends when it has made its attempts over all its trials', async () => {
  const { result, contenders } = await race([{ handshakeMs: 20 }], [{ handshakeMs: 20 }], {
    ...{ mode: 'compare', pairs: 15, limits: { attempts: 9, places: 24 } },
  });
  assert.equal(contenders.h3.targets.length + contenders.h2.targets.length, 9);
  assert.equal(result.trials.length, 9);
});

test('its places are counted over all its trials, and of the command line those of each', async () => {
  const trials = { mode: 'race', trials: 3 } as const;
  for (const [limits, expected] of [
    [{ attempts: 64, places: 1 }, 1],
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
