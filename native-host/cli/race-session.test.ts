// How trials are split into parallel runs, and that merging the runs loses none of them. And the number of concurrent
// races, with a simulated clock and event loop.
import { verdictSaying } from '@photofinish/shared/testing/race-samples';
import '@photofinish/shared/language/english';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OriginRace, Trial } from '@photofinish/shared/race/outcome';
import { parseOrigin } from '@photofinish/shared/web/origin';
import fc from 'fast-check';
import { summaryOf } from '../race/race-record.ts';
import { adaptivePace, fixedPace, MIN_CONCURRENT_RACES, type Pace } from './race-pace.ts';
import { allAdopted, inParallel, joinRuns, splitTrials } from './race-session.ts';

function trial(establishedMs: number | null): Trial {
  return {
    adopted: establishedMs === null ? null : 'h3',
    establishedMs,
    firstByteMs: establishedMs,
    lateH3: false,
    cacheHit: false,
    attempts: [],
  };
}

function race(trials: readonly Trial[], more: Partial<OriginRace> = {}): OriginRace {
  const parsed = parseOrigin('a.test');
  assert.ok(parsed.ok);
  return {
    origin: parsed.value.origin,
    network: 'n',
    mode: 'race',
    memory: 'none',
    startDelayMs: 10,
    atMs: 1000,
    trials: [...trials],
    summary: summaryOf('race', trials),
    discovered: { altSvc: null, knownRoot: null },
    verdict: verdictSaying('unknown', ''),
    ...more,
  };
}

test('cold trials are split evenly and completely', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 1000 }),
      fc.integer({ min: 1, max: 256 }),
      (trials, concurrency) => {
        const shares = splitTrials({ mode: 'race', memory: 'none', trials, concurrency });
        assert.equal(
          shares.reduce((sum, share) => sum + share, 0),
          trials,
        );
        assert.equal(shares.length, Math.min(trials, concurrency));
        assert.ok(Math.max(...shares) - Math.min(...shares) <= 1);
      },
    ),
  );
});

test('trials that learn from each other, and pairs, stay sequential', () => {
  const series = { mode: 'race', memory: 'full', trials: 8, concurrency: 4 } as const;
  assert.deepEqual(splitTrials(series), [8]);
  assert.deepEqual(splitTrials({ ...series, mode: 'compare', memory: 'none' }), [8]);
});

test('no more tasks run concurrently than allowed, results keep their order', async () => {
  let running = 0;
  let most = 0;
  const results = await inParallel([5, 4, 3, 2, 1], 2, async (task) => {
    running += 1;
    most = Math.max(most, running);
    for (let turn = 0; turn < task; turn += 1) await Promise.resolve();
    running -= 1;
    return task * 10;
  });
  assert.deepEqual(results, [50, 40, 30, 20, 10]);
  assert.equal(most, 2);
});

test('merged runs count every trial and keep what any of them found out', () => {
  const joined = joinRuns([
    race([trial(1), trial(3)], { atMs: 2000 }),
    race([trial(2), trial(null)], {
      discovered: { altSvc: 'h3=":443"', altSvcSource: 'frame', knownRoot: true },
    }),
  ]);
  assert.equal(joined.trials.length, 4);
  assert.equal(joined.summary.trials, 4);
  assert.deepEqual(joined.summary.adoption, { h3: 3, h2: 0, 'http/1.1': 0 });
  assert.equal(joined.summary.failed, 1);
  assert.equal(joined.summary.establishedMs?.median, 2);
  assert.equal(joined.atMs, 1000);
  assert.deepEqual(joined.discovered, { altSvc: 'h3=":443"', altSvcSource: 'frame', knownRoot: true });
});

test('Alt-Svc is joined by protocol, the last value over each', () => {
  const told = (altSvc: string | null, altSvcOver: { tcp?: string | null; h3?: string | null }) =>
    race([trial(1)], { discovered: { altSvc, altSvcOver, knownRoot: true } });
  const { discovered } = joinRuns([
    told('clear', { tcp: 'clear' }),
    told('h3=":443"', { tcp: null, h3: 'h3=":443"' }),
    told(null, { h3: null }),
  ]);
  assert.deepEqual(discovered, {
    ...{ altSvc: 'h3=":443"', altSvcOver: { tcp: 'clear', h3: 'h3=":443"' } },
    knownRoot: true,
  });
});

test('a race counts as successful only when every trial adopted a protocol', () => {
  assert.equal(allAdopted([race([trial(1)]), race([trial(2)])]), true);
  assert.equal(allAdopted([race([trial(1)]), race([trial(null)])]), false);
  assert.equal(allAdopted([race([])]), false);
  assert.equal(allAdopted([race([trial(1)], { error: { code: 'cancelled', message: '' } })]), false);
});

test('what runs learnt beside their trials is kept, the last result of each', () => {
  const names = (host: string) => ({
    addresses: [{ host, address: '192.0.2.1', source: 'a', ttlSeconds: 60 } as const],
    services: [],
    lookups: [],
  });
  const alternatives = [
    { alpn: 'h3', host: '', port: 443, persist: false, expiresInSeconds: 60, source: 'answer' } as const,
  ];
  const joined = joinRuns([
    race([trial(1)], {
      discovered: { altSvc: 'h3=":443"', knownRoot: null, names: names('a'), alternatives },
    }),
    race([trial(2)], { discovered: { altSvc: null, knownRoot: true, names: names('b') } }),
    race([trial(3)]),
  ]);
  assert.deepEqual(joined.discovered, {
    altSvc: 'h3=":443"',
    knownRoot: true,
    names: names('b'),
    alternatives,
  });
});

function testbed(takenAt: (limit: number) => number) {
  let nowMs = 0;
  const pace: Pace = adaptivePace(
    () => nowMs,
    () => takenAt(pace.limit()),
  );
  /** All races that may run end after this long; returns the limits after each such round. */
  const rounds = (count: number, tookMs = 300): number[] =>
    Array.from({ length: count }, () => {
      nowMs += tookMs;
      for (let left = pace.limit(); left > 0; left -= 1) pace.over();
      return pace.limit();
    });
  return { pace, rounds };
}

test('a number given explicitly is fixed', () => {
  const pace = fixedPace(7);
  for (let i = 0; i < 100; i += 1) pace.over();
  assert.equal(pace.limit(), 7);
});

test('with spare time the number doubles, up to the limit on open files', () => {
  const { pace, rounds } = testbed(() => 0.1);
  assert.equal(pace.limit(), MIN_CONCURRENT_RACES);
  assert.deepEqual(rounds(8), [8, 16, 32, 64, 128, 256, 256, 256]);
});

test('a machine that is busy from the start stays at the minimum', () => {
  assert.deepEqual(testbed(() => 0.95).rounds(4), [4, 4, 4, 4]);
});

test('it settles where the event loop is busy for half to three quarters of the time', () => {
  const { rounds } = testbed((limit) => Math.min(1, limit / 64));
  const settled = rounds(40).slice(10);
  assert.ok(
    settled.every((limit) => limit >= 32 && limit < 64),
    `${settled}`,
  );
});

test('it yields to other load on this machine', () => {
  let others = 0;
  const { rounds } = testbed((limit) => Math.min(1, limit / 400 + others));
  assert.equal(rounds(6).at(-1), 128 + 128);
  others = 0.7;
  assert.ok((rounds(12).at(-1) ?? 0) <= 20);
});

test('load is only evaluated when all running races may have ended, and not over short intervals', () => {
  const { pace, rounds } = testbed(() => 0);
  pace.over();
  assert.equal(pace.limit(), MIN_CONCURRENT_RACES);
  assert.deepEqual(rounds(2, 20), [4, 4]);
});
