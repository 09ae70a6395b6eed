// Every order of events possible in a two-sided race, and random worlds beyond that. The simulation itself asserts the
// invariants: one adoption at a time, a decision by the time-out, nothing left running, no request by a late attempt.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AttemptErrorCode, Mode, TransportName } from '@photofinish/shared/race/terms';
import fc from 'fast-check';
import type { Endpoint } from '../discover/discovering.ts';
import { plainPlan } from '../testing/race.ts';
import { type Behaviour, endpoint, simulate } from '../testing/simulation.ts';
import type { Decision, TrialPlan } from './plan.ts';

const TIMEOUT_MS = 100;
/** Less than this proves nothing: a third of such a short trial. */
const LEAST_PATIENCE_MS = TIMEOUT_MS / 3;
const MODES: readonly Mode[] = ['race', 'alt-svc', 'h3', 'h2'];

function planOf(
  mode: Mode,
  decision: Decision | null,
  alternativePort: number | null,
  delayMs: number,
): TrialPlan {
  const h3 =
    alternativePort === null ? endpoint('h3') : endpoint('h3', { port: alternativePort, source: 'alt-svc' });
  return plainPlan({
    mode,
    endpoints: [h3, endpoint('h2')],
    decision,
    tcpAttemptDelayMs: delayMs,
    timeoutMs: TIMEOUT_MS,
  });
}

const ADVERTISED: readonly Endpoint[] = [endpoint('h3', { port: 8443, source: 'alt-svc' })];

test('every order of handshakes, failures, answers, start delay and time-out', () => {
  // Instants at, before and after the start delay (10) and the time-out (100), and coinciding with each other.
  const instants = [1, 10, 11, 50, 90, 99, 100, 150, null];
  const answers = [0, 1, 40, 90, null];
  const behaviours: Behaviour[] = instants.flatMap((handshakeMs): Behaviour[] => [
    { handshakeMs, refusal: 'connection-closed' },
    ...answers.flatMap((answerMs): Behaviour[] => [
      { handshakeMs, answerMs, advertises: ADVERTISED },
      { handshakeMs, answerMs, answerFailure: 'goaway' },
    ]),
  ]);
  let worlds = 0;
  for (const mode of ['race', 'alt-svc'] as const) {
    const plan = planOf(mode, null, null, 10);
    for (const h3 of behaviours)
      for (const h2 of behaviours)
        for (const last of [false, true]) {
          const behave = (transport: TransportName): Behaviour => (transport === 'h3' ? h3 : h2);
          const choose = (count: number): number => (last ? count - 1 : 0);
          const { trial, endedMs } = simulate({ plan, behave, choose });
          assert.ok(endedMs <= TIMEOUT_MS);
          worlds += 1;
          if (mode !== 'race') continue;
          const timely = (b: Behaviour): boolean =>
            b.handshakeMs !== null &&
            b.answerMs != null &&
            b.handshakeMs + 10 + b.answerMs < TIMEOUT_MS &&
            b.refusal === undefined &&
            b.answerFailure === undefined;
          const dead = (b: Behaviour): boolean => b.refusal !== undefined || b.handshakeMs === null;
          if ((timely(h3) && (timely(h2) || dead(h2))) || (timely(h2) && dead(h3)))
            assert.notEqual(trial.adopted, null, 'a protocol that answers in time is adopted');
        }
  }
  assert.ok(worlds > 10_000);
});

const code = fc.constantFrom<AttemptErrorCode>(
  'udp-refused',
  'certificate-invalid',
  'h3-error',
  'connection-closed',
);
const instant = fc.option(fc.nat({ max: 130 }), { nil: null, freq: 4 });
const behaviour: fc.Arbitrary<Behaviour> = fc
  .record({
    handshakeMs: instant,
    refusal: fc.option(code, { nil: undefined, freq: 3 }),
    transportMs: instant,
    answerMs: instant,
    answerFailure: fc.option(code, { nil: undefined, freq: 3 }),
    advertises: fc.option(fc.constantFrom([endpoint('h3')], ADVERTISED, []), { nil: undefined }),
    followMs: fc.option(fc.nat({ max: 60 }), { nil: null, freq: 6 }),
  })
  .map(({ refusal, answerFailure, advertises, ...rest }) => ({
    ...rest,
    ...(advertises && { advertises }),
    ...(refusal && { refusal }),
    ...(answerFailure && { answerFailure }),
  }));
const world = fc.record({
  plan: fc
    .tuple(
      fc.constantFrom(...MODES),
      fc.constantFrom<Decision | null>(null, 'h3', 'h2', 'http/1.1'),
      fc.constantFrom(null, 443, 8443),
      fc.nat({ max: 120 }),
    )
    .map((inputs) => planOf(...inputs)),
  h3: fc.array(behaviour, { minLength: 4, maxLength: 4 }),
  h2: fc.array(behaviour, { minLength: 4, maxLength: 4 }),
  order: fc.infiniteStream(fc.nat()),
  cancelAtMs: fc.option(fc.nat({ max: 130 }), { nil: undefined, freq: 3 }),
  endLatencyMs: fc.nat({ max: 3 }),
});

test('random worlds keep the invariants', () => {
  fc.assert(
    fc.property(world, ({ plan, h3, h2, order, cancelAtMs, endLatencyMs }) => {
      const { trial, endedMs } = simulate({
        plan,
        behave: (transport, nth) => {
          const one = (transport === 'h3' ? h3 : h2)[nth];
          assert.ok(one, 'no transport is attempted for ever');
          return one;
        },
        choose: (count) => (order.next().value ?? 0) % count,
        endLatencyMs,
        ...(cancelAtMs !== undefined && { cancelAtMs }),
      });
      assert.ok(endedMs <= TIMEOUT_MS + endLatencyMs, 'a trial ends with its time-out');
      if (cancelAtMs !== undefined) return;
      for (const { error, ...a } of trial.attempts) {
        const waited = TIMEOUT_MS - Math.max(a.startedMs, a.establishedMs ?? 0);
        if (error?.code === 'cancelled') assert.ok(waited < LEAST_PATIENCE_MS, 'cut short with time enough');
        if (error?.code.endsWith('-timeout')) assert.ok(waited >= LEAST_PATIENCE_MS, 'blamed for our haste');
      }
    }),
    { numRuns: 5000 },
  );
});

test('adding delay to one transport never makes it win', () => {
  const sound = fc.nat({ max: 40 });
  fc.assert(
    fc.property(sound, sound, fc.integer({ min: 1, max: 40 }), (h3Ms, h2Ms, moreMs) => {
      const plan = planOf('race', null, null, 10);
      const winner = (slowerMs: number): string | null =>
        simulate({
          plan,
          behave: (transport) => ({ handshakeMs: transport === 'h3' ? h3Ms + slowerMs : h2Ms }),
        }).trial.adopted;
      if (winner(0) === 'h2') assert.equal(winner(moreMs), 'h2');
    }),
  );
});
