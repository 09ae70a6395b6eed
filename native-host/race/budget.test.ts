// Limits on the load that one trial, one race and all races over the port may cause, whatever DNS, servers and messages
// send: attempts, endpoints, bytes and packets, in virtual time.
import '@photofinish/shared/language/english';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RACES_AT_ONCE, RACES_PER_MINUTE } from '@photofinish/shared/port/race-limits';
import { MAX_PAIRS } from '@photofinish/shared/race/statistics';
import fc from 'fast-check';
import { plainPlan, race } from '../testing/race.ts';
import { endpoint, type Listing, simulate } from '../testing/simulation.ts';
import {
  MAX_ATTEMPTS_PER_MINUTE,
  MAX_ATTEMPTS_PER_TRIAL,
  RACE_LIMITS,
  type RaceReason,
  raceBudget,
  TRIAL_LIMITS,
} from './budget.ts';

const TIMEOUT_MS = 3000;
const REFUSED = { handshakeMs: 1, refusal: 'tcp-refused' } as const;

/** Lists with new addresses every time. */
function ever(count: number, transports: readonly ('h3' | 'h2')[]): Listing[] {
  return Array.from({ length: count }, (_, n) => ({
    atMs: n * 20,
    endpoints: transports.flatMap((transport) =>
      Array.from({ length: 4 }, (_, i) => endpoint(transport, { address: `192.0.${n}.${i}` })),
    ),
    final: false,
  }));
}

test('for a zone that keeps naming new addresses, the number of endpoints tried is bounded', () => {
  const plan = plainPlan({ mode: 'v3', timeoutMs: TIMEOUT_MS, attemptDelayMs: 10 });
  const { trial, starts } = simulate({ plan, behave: () => REFUSED, lists: ever(100, ['h3', 'h2']) });
  assert.equal(starts.length, TRIAL_LIMITS.endpoints);
  assert.ok((trial.untried ?? 0) > 300, `${trial.untried} addresses untried`);
});

test('a trial that has used up its attempts ends without waiting for more names', () => {
  const plan = plainPlan({
    ...{ mode: 'v3', timeoutMs: TIMEOUT_MS, attemptDelayMs: 10 },
    limits: { ...TRIAL_LIMITS, endpoints: 1000 },
  });
  const { trial, starts, endedMs } = simulate({ plan, behave: () => REFUSED, lists: ever(20, ['h3', 'h2']) });
  assert.equal(starts.length, MAX_ATTEMPTS_PER_TRIAL);
  assert.ok(endedMs < TIMEOUT_MS, `ended after ${endedMs} ms`);
  assert.equal(trial.adopted, null);
});

test('HTTP/3 that failed at some endpoints is undecided if a limit kept the others from being tried', () => {
  const endpoints = Array.from({ length: 6 }, (_, i) => endpoint('h3', { address: `192.0.2.${i}` }));
  const plan = plainPlan({
    ...{ mode: 'race', endpoints, timeoutMs: TIMEOUT_MS },
    limits: { ...TRIAL_LIMITS, attempts: 2 },
  });
  const { trial } = simulate({ plan, behave: () => ({ handshakeMs: 1, refusal: 'udp-refused' }) });
  assert.deepEqual([trial.attempts.length, trial.h3Undecided, trial.untried], [2, true, 4]);
  const second = simulate({ plan, behave: (_, nth) => (nth === 1 ? { handshakeMs: 1 } : REFUSED) }).trial;
  assert.deepEqual([second.adopted, second.untried], ['h3', undefined], 'none was needed');
  const limitedTo1 = (other: 'h3' | 'h2', address = '192.0.2.1') =>
    simulate({
      plan: plainPlan({
        ...{ mode: 'race', endpoints: [endpoint('h3'), endpoint(other, { address })] },
        ...{ timeoutMs: TIMEOUT_MS, limits: { ...TRIAL_LIMITS, endpoints: 1 } },
      }),
      behave: () => ({ handshakeMs: 1, refusal: 'udp-refused' }),
    }).trial;
  assert.deepEqual([limitedTo1('h3').h3Undecided, limitedTo1('h3').untried], [true, 1]);
  assert.deepEqual([limitedTo1('h2').h3Undecided, limitedTo1('h2').untried], [undefined, 1]);
  assert.equal(limitedTo1('h2', '127.0.0.1').untried, undefined, 'the address was tried');
  const timed = plainPlan({ mode: 'h3', endpoints, timeoutMs: 1000 });
  const { trial: expired } = simulate({ plan: timed, behave: () => ({ handshakeMs: null }) });
  assert.deepEqual([expired.attempts.length, expired.untried], [4, undefined], 'time is no such limit');
});

test('a race over the port ends when its trials together have used up its attempts', async () => {
  const { result, transports } = await race([{ handshakeMs: 20 }], [{ handshakeMs: 20 }], {
    ...{ mode: 'compare', pairs: 15, limits: { ...RACE_LIMITS, attempts: 9 } },
  });
  assert.equal(transports.h3.targets.length + transports.h2.targets.length, 9);
  assert.equal(result.trials.length, 9);
});

test('over the port endpoints are counted across all trials, on the command line per trial', async () => {
  const trials = { mode: 'race', trials: 3 } as const;
  for (const [limits, expected] of [
    [{ ...RACE_LIMITS, endpoints: 1 }, 1],
    [undefined, 2],
  ] as const) {
    const { transports } = await race([{ handshakeMs: 50 }], [{ handshakeMs: 20 }], {
      ...trials,
      ...(limits && { limits }),
    });
    const { targets } = transports.h2;
    const visited = new Set([...transports.h3.targets.map(() => 'h3'), ...targets.map(() => 'h2')]);
    assert.equal(visited.size, expected);
  }
});

const MIB = 1024 * 1024;

for (const [what, traffic] of [
  ['bytes', { bytes: 5 * MIB, packets: 1 }],
  ['packets', { bytes: 1, packets: 5000 }],
] as const)
  test(`a trial starts no attempt once the others used up its ${what}; remaining endpoints count as untried`, () => {
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
  test(`a race over the port ends when its trials together have used up its ${what}`, async () => {
    const peer = [{ handshakeMs: 20, traffic }];
    const series = { mode: 'compare', pairs: 15 } as const;
    const { result } = await race(peer, peer, { ...series, limits: RACE_LIMITS });
    assert.equal(result.trials.length, 3);
    const { result: unbound } = await race(peer, peer, series);
    assert.ok(unbound.trials.length > 3, 'those of the command line have their limits each');
  });

test("a flood that used up a race's limits does not count against the protocol not yet tried", async () => {
  const traffic = { bytes: 40 * MIB, packets: 1 };
  const flood = [{ handshakeMs: 20, refusal: 'response-too-large', traffic }] as const;
  const { result, transports } = await race([...flood], [{ handshakeMs: 20 }], {
    ...{ mode: 'compare', pairs: 15, limits: RACE_LIMITS },
  });
  assert.deepEqual([transports.h3.targets.length, transports.h2.targets.length], [1, 0]);
  assert.equal(result.verdict.code, 'unknown');
});

test('four concurrent races; releasing a slot twice frees one slot', () => {
  const budget = raceBudget({ nowMs: () => 0 });
  const slots = Array.from({ length: RACES_AT_ONCE }, () => budget.take('click'));
  assert.ok(slots.every((slot) => slot !== null));
  assert.equal(budget.take('click'), null);
  slots[0]?.release();
  slots[0]?.release();
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
        const slot = budget.take('click');
        const inMinute = begun.filter((at) => now - at < 60_000).length;
        assert.equal(slot !== null, inMinute < RACES_PER_MINUTE);
        if (slot === null) continue;
        begun.push(now);
        slot.release();
      }
    }),
  );
});

test('attempts count, not only races: a few races with many attempts use up the minute, those of navigations first', () => {
  let now = 0;
  const budget = raceBudget({ nowMs: () => now });
  const race = (reason: RaceReason, attempts: number): boolean => {
    const slot = budget.take(reason);
    for (let n = 0; n < attempts; n += 1) slot?.countAttempt();
    slot?.release();
    return slot !== null;
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

test('the limits of a single race keep the total per minute finite', () => {
  const most = MAX_ATTEMPTS_PER_MINUTE.click + RACES_AT_ONCE * RACE_LIMITS.attempts;
  assert.ok(most <= 1216, `${most} attempts`);
  assert.ok(RACE_LIMITS.attempts >= 2 * MAX_PAIRS, 'a whole comparison');
});
