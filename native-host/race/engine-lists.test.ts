// Random worlds with many endpoints whose list changes during the trial. The simulation asserts the engine's invariants
// at every action; the tests here check the outcome of each world.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Mode } from '@photofinish/shared/race/terms';
import fc from 'fast-check';
import { NO_HINTS, type PathHint } from '../cache/policy.ts';
import type { Endpoint } from '../discover/discovering.ts';
import { plainPlan } from '../testing/race.ts';
import { type Behaviour, endpoint, type Listing, simulate } from '../testing/simulation.ts';
import type { Decision } from './plan.ts';

const TIMEOUT_MS = 400;
const ADDRESSES = ['::1', '::2', '127.0.0.1', '127.0.0.2'];

const anyEndpoint = fc
  .record({
    transport: fc.constantFrom('h3' as const, 'h2' as const),
    address: fc.constantFrom(...ADDRESSES),
    port: fc.constantFrom(443, 8443),
    source: fc.constantFrom('origin' as const, 'https-record' as const, 'alt-svc' as const),
  })
  .map(({ transport, ...more }) => endpoint(transport, more));
const endpoints = fc.array(anyEndpoint, { maxLength: 8 });
const instant = fc.option(fc.nat({ max: 500 }), { nil: null, freq: 4 });
const sometimes = { nil: undefined, freq: 2 };
const behaviour: fc.Arbitrary<Behaviour> = fc
  .record({
    handshakeMs: instant,
    transportMs: instant,
    refusal: fc.option(fc.constantFrom('udp-refused' as const, 'tls-alert' as const), sometimes),
    answerMs: instant,
    answerFailure: fc.option(fc.constantFrom('misdirected' as const, 'goaway' as const), sometimes),
    advertises: fc.option(endpoints, sometimes),
    followMs: instant,
  })
  .map(({ refusal, answerFailure, advertises, ...rest }) => ({
    ...rest,
    ...(refusal && { refusal }),
    ...(answerFailure && { answerFailure }),
    ...(advertises && { advertises }),
  }));
const hint: fc.Arbitrary<PathHint | null> = fc.option(
  fc
    .record({ srttMs: fc.nat({ max: 300 }), rttvarMs: fc.nat({ max: 100 }) })
    .map((rtt) => ({ ...rtt, handshakeMs: null, lossRate: null })),
);

const listing: fc.Arbitrary<Listing> = fc.record({
  atMs: fc.nat({ max: 450 }),
  endpoints: fc.option(endpoints, { nil: null, freq: 12 }),
  final: fc.boolean(),
});

const world = fc.record({
  mode: fc.constantFrom<Mode>('race', 'v3', 'v3', 'alt-svc', 'naive', 'h3', 'h2'),
  settled: endpoints,
  lists: fc.array(listing, { maxLength: 5 }),
  decision: fc.constantFrom<Decision | null>(null, null, 'h3', 'h2'),
  h3: hint,
  h2: hint,
  tcpAttemptDelayMs: fc.option(fc.nat({ max: 120 })),
  attemptDelayMs: fc.option(fc.nat({ max: 120 })),
  hedge: fc.boolean(),
  behaviours: fc.infiniteStream(behaviour),
  order: fc.infiniteStream(fc.nat()),
  cancelAtMs: fc.option(fc.nat({ max: 450 }), { nil: undefined, freq: 3 }),
  endLatencyMs: fc.nat({ max: 3 }),
});

function distinct(endpoints: readonly Endpoint[]): Endpoint[] {
  const key = (e: Endpoint): string => `${e.transport} ${e.address} ${e.port}`;
  return [...new Map(endpoints.map((e) => [key(e), e])).values()];
}

test('random lists and peers keep the invariants, in every mode', () => {
  fc.assert(
    fc.property(world, (w) => {
      const plan = plainPlan({
        mode: w.mode,
        endpoints: w.mode === 'v3' ? [] : distinct(w.settled),
        decision: w.decision,
        hints: { ...NO_HINTS, h3: w.h3, h2: w.h2 },
        tcpAttemptDelayMs: w.tcpAttemptDelayMs,
        attemptDelayMs: w.attemptDelayMs,
        hedge: w.hedge && w.mode === 'race',
        timeoutMs: TIMEOUT_MS,
      });
      const lists = w.mode === 'v3' ? w.lists.toSorted((a, b) => a.atMs - b.atMs) : [];
      const { trial, endedMs } = simulate({
        plan,
        lists,
        behave: () => w.behaviours.next().value ?? { handshakeMs: null },
        choose: (count) => (w.order.next().value ?? 0) % count,
        endLatencyMs: w.endLatencyMs,
        ...(w.cancelAtMs !== undefined && { cancelAtMs: w.cancelAtMs }),
      });
      assert.ok(endedMs <= TIMEOUT_MS + w.endLatencyMs, 'a trial ends with its time-out');
      assert.ok(trial.attempts.filter((a) => a.fresh).length <= 1, 'one hedged attempt at most');
    }),
    { numRuns: 4000 },
  );
});

test('v3: a working endpoint with enough time is always found, whatever fails before and however lists arrive', () => {
  const dead = fc.record({
    handshakeMs: fc.option(fc.nat({ max: 300 })),
    transportMs: fc.constant(null),
    refusal: fc.constant('tcp-refused' as const),
  });
  fc.assert(
    fc.property(
      fc.array(dead, { maxLength: 6 }),
      fc.nat({ max: 6 }),
      fc.nat({ max: 50 }),
      (peers, at, laterMs) => {
        const endpoints = peers.map((_, index) => endpoint('h2', { address: `10.0.0.${index}` }));
        const sound = endpoint('h3', { address: '::5' });
        const whole = endpoints.toSpliced(Math.min(at, endpoints.length), 0, sound);
        const plan = plainPlan({ mode: 'v3', timeoutMs: 10_000 });
        const { trial } = simulate({
          plan,
          lists: [
            { atMs: 0, endpoints, final: false },
            { atMs: laterMs, endpoints: whole, final: true },
          ],
          behave: (transport, nth) =>
            transport === 'h3' ? { handshakeMs: 20 } : (peers[nth] ?? { handshakeMs: null }),
        });
        assert.equal(trial.adopted, 'h3');
      },
    ),
  );
});
