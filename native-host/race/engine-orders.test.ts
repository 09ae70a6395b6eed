// Every order of events possible in a two-sided race, and random worlds beyond that, also with many endpoints whose
// list changes during the trial. The simulation itself asserts the invariants: one adoption at a time, a decision by
// the time-out, nothing left running, no request by a late attempt.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AttemptErrorCode, Mode, TransportName } from '@photofinish/shared/race/terms';
import fc from 'fast-check';
import { NO_HINTS, type PathHint } from '../cache/policy.ts';
import type { Endpoint } from '../discover/discoverer.ts';
import { plainPlan } from '../testing/race.ts';
import { type Behaviour, endpoint, type Listing, simulate } from '../testing/simulation.ts';
import type { Decision, TrialPlan } from './plan.ts';

const TIMEOUT_MS = 100;
/** Less than this proves nothing: a third of such a short trial. */
const MIN_WAIT_MS = TIMEOUT_MS / 3;
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
        if (error?.code === 'cancelled') assert.ok(waited < MIN_WAIT_MS, 'cut short with time enough');
        if (error?.code.endsWith('-timeout')) assert.ok(waited >= MIN_WAIT_MS, 'blamed for our haste');
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

const LISTS_TIMEOUT_MS = 400;
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
const anyInstant = fc.option(fc.nat({ max: 500 }), { nil: null, freq: 4 });
const sometimes = { nil: undefined, freq: 2 };
const anyBehaviour: fc.Arbitrary<Behaviour> = fc
  .record({
    handshakeMs: anyInstant,
    transportMs: anyInstant,
    refusal: fc.option(fc.constantFrom('udp-refused' as const, 'tls-alert' as const), sometimes),
    answerMs: anyInstant,
    answerFailure: fc.option(fc.constantFrom('misdirected' as const, 'goaway' as const), sometimes),
    advertises: fc.option(endpoints, sometimes),
    followMs: anyInstant,
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

const listingWorld = fc.record({
  mode: fc.constantFrom<Mode>('race', 'v3', 'v3', 'alt-svc', 'naive', 'h3', 'h2'),
  settled: endpoints,
  lists: fc.array(listing, { maxLength: 5 }),
  decision: fc.constantFrom<Decision | null>(null, null, 'h3', 'h2'),
  h3: hint,
  h2: hint,
  tcpAttemptDelayMs: fc.option(fc.nat({ max: 120 })),
  attemptDelayMs: fc.option(fc.nat({ max: 120 })),
  hedge: fc.boolean(),
  behaviours: fc.infiniteStream(anyBehaviour),
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
    fc.property(listingWorld, (w) => {
      const plan = plainPlan({
        mode: w.mode,
        endpoints: w.mode === 'v3' ? [] : distinct(w.settled),
        decision: w.decision,
        hints: { ...NO_HINTS, h3: w.h3, h2: w.h2 },
        tcpAttemptDelayMs: w.tcpAttemptDelayMs,
        attemptDelayMs: w.attemptDelayMs,
        hedge: w.hedge && w.mode === 'race',
        timeoutMs: LISTS_TIMEOUT_MS,
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
      assert.ok(endedMs <= LISTS_TIMEOUT_MS + w.endLatencyMs, 'a trial ends with its time-out');
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
