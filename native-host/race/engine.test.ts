// P2's rules, one test each, in virtual time; times are chosen so that no two events coincide unless that is the point.
// Also that the scenarios of the decision benchmark, which nothing else runs, still end as races do.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Mode } from '@photofinish/shared/race/terms';
import type { Endpoint } from '../discover/discoverer.ts';
import { type PlainInput, plainPlan } from '../testing/race.ts';
import { type Behaviour, endpoint, type Simulation, simulate, type World } from '../testing/simulation.ts';
import '@photofinish/shared/language/english';
import { SCENARIOS, scenarioOf } from './decide.bench.ts';

const DELAY_MS = 10;
const TIMEOUT_MS = 3000;

function plan(mode: Mode, overrides: Partial<PlainInput> = {}) {
  return plainPlan({
    mode,
    endpoints: [endpoint('h3'), endpoint('h2')],
    tcpAttemptDelayMs: DELAY_MS,
    timeoutMs: TIMEOUT_MS,
    ...overrides,
  });
}

interface Testbed extends Omit<World, 'plan' | 'behave'> {
  readonly mode?: Mode;
  readonly with?: Partial<PlainInput>;
  readonly h3?: Behaviour | readonly Behaviour[];
  readonly h2?: Behaviour | readonly Behaviour[];
}

/** What an answer advertises: HTTP/3 on this port of the origin's own host. */
const advertised = (port: number): readonly Endpoint[] => [endpoint('h3', { port, source: 'alt-svc' })];

const NEVER: Behaviour = { handshakeMs: null };

/** One behaviour for every attempt of a transport, or one per attempt, the last one repeating. */
function nthOf(behaviours: Behaviour | readonly Behaviour[] | undefined, nth: number): Behaviour {
  const list = behaviours === undefined ? [NEVER] : [behaviours].flat();
  return list[Math.min(nth, list.length - 1)] ?? NEVER;
}

function play({ mode = 'race', with: overrides, h3, h2, ...world }: Testbed): Simulation {
  const behave: World['behave'] = (transport, nth) => nthOf(transport === 'h3' ? h3 : h2, nth);
  return simulate({ ...world, plan: plan(mode, overrides), behave });
}

const outcomes = ({ trial }: Simulation): string[] => trial.attempts.map((a) => `${a.protocol} ${a.outcome}`);
const codes = ({ trial }: Simulation): (string | undefined)[] => trial.attempts.map((a) => a.error?.code);

test('rule 1: QUIC starts at once, TCP after the start delay', () => {
  const { trial } = play({ h3: { handshakeMs: 50 }, h2: { handshakeMs: 100 } });
  assert.deepEqual(
    trial.attempts.map((a) => [a.protocol, a.startedMs]),
    [
      ['h3', 0],
      ['h2', DELAY_MS],
    ],
  );
});

test('rule 1: with a start delay of 0 both start at the same instant, however fast QUIC is', () => {
  const run = play({ with: { tcpAttemptDelayMs: 0 }, h3: { handshakeMs: 0 }, h2: { handshakeMs: 5 } });
  assert.deepEqual(
    run.trial.attempts.map((a) => [a.protocol, a.startedMs]),
    [
      ['h3', 0],
      ['h2', 0],
    ],
  );
});

test('rule 1: if QUIC is established within the delay, TCP is never attempted', () => {
  const run = play({ h3: { handshakeMs: 9, answerMs: 30 }, h2: { handshakeMs: 1 } });
  assert.deepEqual(outcomes(run), ['h3 adopted']);
});

test('rule 1: a QUIC attempt that fails earlier starts TCP at once', () => {
  const run = play({ h3: { handshakeMs: 2, refusal: 'udp-refused' }, h2: { handshakeMs: 5 } });
  assert.equal(run.trial.attempts[1]?.startedMs, 2);
  assert.deepEqual(outcomes(run), ['h3 failed', 'h2 adopted']);
  assert.equal(run.trial.establishedMs, 7);
});

test('rule 2: TCP connected without TLS is not established, so QUIC still wins', () => {
  const run = play({ h3: { handshakeMs: 60 }, h2: { handshakeMs: 70, transportMs: 20 } });
  assert.equal(run.trial.adopted, 'h3');
  assert.equal(run.trial.establishedMs, 60);
});

test('rule 3: QUIC first is adopted and the other attempt is ended at once', () => {
  const run = play({ h3: { handshakeMs: 50, answerMs: 25 }, h2: { handshakeMs: 100 } });
  assert.deepEqual(outcomes(run), ['h3 adopted', 'h2 cancelled']);
  assert.equal(run.told.find((t) => t.event === 'cancelled')?.atMs, 50);
  assert.equal(run.trial.firstByteMs, 75);
  assert.deepEqual(run.requests, [0]);
});

test('rule 4: TCP first is adopted and sends its request; QUIC is established late and sends none', () => {
  const run = play({ h3: { handshakeMs: 80 }, h2: { handshakeMs: 20, answerMs: 5 } });
  assert.deepEqual(outcomes(run), ['h3 established-late', 'h2 adopted']);
  assert.deepEqual(run.requests, [1]);
  assert.equal(run.trial.lateH3, true);
  assert.equal(run.trial.attempts[0]?.establishedMs, 80);
  assert.equal(run.trial.establishedMs, 30);
  assert.equal(run.endedMs, 80);
});

test('rule 4: a late QUIC handshake before the answer is closed while the request runs', () => {
  const run = play({ h3: { handshakeMs: 40 }, h2: { handshakeMs: 20, answerMs: 50 } });
  assert.deepEqual(outcomes(run), ['h3 established-late', 'h2 adopted']);
  assert.equal(run.endedMs, 80);
});

test('rule 4: a late failure is recorded as failed', () => {
  const run = play({ h3: { handshakeMs: 80, refusal: 'alpn-mismatch' }, h2: { handshakeMs: 20 } });
  assert.deepEqual(outcomes(run), ['h3 failed', 'h2 adopted']);
  assert.deepEqual(codes(run), ['alpn-mismatch', undefined]);
  assert.equal(run.trial.lateH3, false);
});

test('rule 4: silence over UDP is recorded as udp-timeout, without delaying the decision', () => {
  const run = play({ h2: { handshakeMs: 100 } });
  assert.equal(run.told.find((t) => t.event === 'adopted')?.atMs, 110);
  assert.deepEqual(codes(run), ['udp-timeout', undefined]);
  assert.equal(run.endedMs, TIMEOUT_MS);
});

test('rule 5: a fresh h3 decision attempts h3 alone', () => {
  const run = play({ with: { decision: 'h3' }, h3: { handshakeMs: 900 }, h2: { handshakeMs: 1 } });
  assert.deepEqual(outcomes(run), ['h3 adopted']);
  assert.equal(run.trial.cacheHit, true);
});

test('rule 5: a fresh decision for TCP attempts it alone, and sends no UDP at all', () => {
  const run = play({
    with: { decision: 'http/1.1' },
    h3: { handshakeMs: 1 },
    h2: { handshakeMs: 50, protocol: 'http/1.1' },
  });
  assert.deepEqual(outcomes(run), ['http/1.1 adopted']);
});

test('rule 5: when the remembered protocol fails, the other is tried at once', () => {
  const run = play({
    with: { decision: 'h3' },
    h3: { handshakeMs: 4, refusal: 'udp-refused' },
    h2: { handshakeMs: 5 },
  });
  assert.deepEqual(outcomes(run), ['h3 failed', 'h2 adopted']);
  assert.equal(run.trial.establishedMs, 9);
  assert.equal(run.trial.cacheHit, true);
});

test('rule 5: when the remembered protocol stays silent, the other is started beside it', () => {
  const run = play({ with: { decision: 'h3' }, h2: { handshakeMs: 5 } });
  assert.equal(run.trial.adopted, 'h2');
  assert.equal(run.trial.establishedMs, 1005);
});

test('both fail: nothing is adopted, both reasons are recorded', () => {
  const run = play({
    h3: { handshakeMs: 1, refusal: 'udp-refused' },
    h2: { handshakeMs: 1, refusal: 'tcp-refused' },
  });
  assert.equal(run.trial.adopted, null);
  assert.deepEqual(codes(run), ['udp-refused', 'tcp-refused']);
  assert.equal(run.endedMs, 2);
});

test('time-out: each attempt fails by how far it had come', () => {
  assert.deepEqual(codes(play({})), ['udp-timeout', 'tcp-timeout']);
  const shaking: Behaviour = { handshakeMs: TIMEOUT_MS * 2, transportMs: 100 };
  assert.deepEqual(codes(play({ h3: shaking, h2: shaking })), ['handshake-timeout', 'handshake-timeout']);
  const mute = play({ mode: 'h2', h2: { handshakeMs: 5, answerMs: null } });
  assert.deepEqual(codes(mute), ['response-timeout']);
  assert.equal(mute.trial.adopted, null);
  assert.equal(mute.endedMs, TIMEOUT_MS);
});

test('time-out: a handshake reported after the decision is not adopted', () => {
  const run = play({ h3: { handshakeMs: TIMEOUT_MS }, choose: () => 0, h2: NEVER });
  assert.equal(run.trial.adopted, null);
  assert.deepEqual(codes(run), ['handshake-timeout', 'tcp-timeout']);
});

test('an adopted HTTP/3 connection that breaks falls back to TCP, and is recorded as failed', () => {
  const run = play({
    h3: { handshakeMs: 20, answerMs: 3, answerFailure: 'h3-error' },
    h2: [{ handshakeMs: 100 }, { handshakeMs: 40 }],
  });
  assert.deepEqual(outcomes(run), ['h3 failed', 'h2 cancelled', 'h2 adopted']);
  assert.equal(run.trial.attempts[2]?.startedMs, 23);
  assert.equal(run.trial.establishedMs, 63);
});

test('an adopted TCP connection that breaks falls back to QUIC if that is still in progress', () => {
  const run = play({
    h3: { handshakeMs: 90, answerMs: 1 },
    h2: { handshakeMs: 20, answerMs: 3, answerFailure: 'misdirected' },
  });
  assert.deepEqual(outcomes(run), ['h3 adopted', 'h2 failed']);
  assert.deepEqual(run.requests, [1, 0]);
});

test('the h2 transport is adopted as the protocol that ALPN selected', () => {
  const run = play({ mode: 'h2', h2: { handshakeMs: 20, protocol: 'http/1.1' } });
  assert.equal(run.trial.adopted, 'http/1.1');
});

test('a port advertised by an answer is tried as a late attempt', () => {
  const run = play({
    h3: [{ handshakeMs: 1, refusal: 'udp-refused' }, { handshakeMs: 7 }],
    h2: { handshakeMs: 20, answerMs: 5, advertises: advertised(8443) },
  });
  assert.deepEqual(outcomes(run), ['h3 failed', 'h2 adopted', 'h3 established-late']);
  assert.equal(run.trial.attempts[2]?.port, 8443);
  assert.deepEqual(run.requests, [1]);
});

test('an answer that advertises the port already tried changes nothing', () => {
  const run = play({
    h3: { handshakeMs: 1, refusal: 'udp-refused' },
    h2: { handshakeMs: 20, advertises: advertised(443) },
  });
  assert.equal(run.trial.attempts.length, 2);
});

test('alt-svc: without an advertisement TCP is adopted, and QUIC never attempted', () => {
  const run = play({ mode: 'alt-svc', h3: { handshakeMs: 1 }, h2: { handshakeMs: 20, answerMs: 20 } });
  assert.deepEqual(outcomes(run), ['h2 adopted']);
  const events = run.told.map(({ event }) => event);
  assert.deepEqual(events, ['started', 'established', 'first-byte', 'adopted']);
  assert.equal(run.trial.establishedMs, 20);
});

test('alt-svc: the advertised HTTP/3 is adopted; its time counts from the start of the trial', () => {
  const run = play({
    mode: 'alt-svc',
    h3: { handshakeMs: 50, answerMs: 50 },
    h2: { handshakeMs: 100, answerMs: 50, advertises: advertised(8443) },
  });
  assert.deepEqual(outcomes(run), ['h2 cancelled', 'h3 adopted']);
  assert.equal(run.trial.establishedMs, 200);
  assert.equal(run.trial.attempts[1]?.port, 8443);
});

test('alt-svc: when the advertised HTTP/3 fails, the TCP connection that answered is adopted', () => {
  const run = play({
    mode: 'alt-svc',
    h3: { handshakeMs: 2, refusal: 'udp-refused' },
    h2: { handshakeMs: 100, answerMs: 50, advertises: advertised(443) },
  });
  assert.deepEqual(outcomes(run), ['h2 adopted', 'h3 failed']);
  assert.equal(run.trial.establishedMs, 100);
});

test('alt-svc: when the advertised HTTP/3 is silent, the decision is made at the time-out', () => {
  const run = play({ mode: 'alt-svc', h2: { handshakeMs: 100, answerMs: 50, advertises: advertised(443) } });
  assert.deepEqual(outcomes(run), ['h2 adopted', 'h3 failed']);
  assert.equal(run.told.find((t) => t.event === 'adopted')?.atMs, TIMEOUT_MS);
});

test('alt-svc: when the advertised HTTP/3 breaks after its handshake, the answer over TCP is used', () => {
  const run = play({
    mode: 'alt-svc',
    h3: { handshakeMs: 5, answerFailure: 'goaway' },
    h2: { handshakeMs: 10, advertises: advertised(443) },
  });
  assert.deepEqual(outcomes(run), ['h2 adopted', 'h3 failed']);
});

test('alt-svc: a known alternative is tried first, with TCP as the fallback', () => {
  const run = play({
    mode: 'alt-svc',
    with: { endpoints: [...advertised(8443), endpoint('h2')] },
    h3: { handshakeMs: 60 },
    h2: { handshakeMs: 100 },
  });
  assert.deepEqual(
    run.trial.attempts.map((a) => [a.protocol, a.port, a.startedMs]),
    [
      ['h3', 8443, 0],
      ['h2', 443, DELAY_MS],
    ],
  );
});

test('h3 and h2 attempt one protocol only, whatever is remembered', () => {
  const h3 = play({ mode: 'h3', with: { decision: 'h2' }, h3: { handshakeMs: 20 } });
  assert.deepEqual(outcomes(h3), ['h3 adopted']);
  assert.equal(h3.trial.cacheHit, false);
  const h2 = play({ mode: 'h2', with: { decision: 'h3' }, h2: { handshakeMs: 20 } });
  assert.deepEqual(outcomes(h2), ['h2 adopted']);
});

test("the user's cancel ends every attempt at once", () => {
  const run = play({ h2: { handshakeMs: 100 }, cancelAtMs: 30 });
  assert.deepEqual(outcomes(run), ['h3 cancelled', 'h2 cancelled']);
  assert.deepEqual(codes(run), ['cancelled', 'cancelled']);
  assert.equal(run.endedMs, 30);
});

test('cancelling while the winner waits for its answer leaves nothing adopted', () => {
  const run = play({ h3: { handshakeMs: 5, answerMs: null }, cancelAtMs: 8 });
  assert.equal(run.trial.adopted, null);
  assert.deepEqual(outcomes(run), ['h3 cancelled']);
});

for (const scenario of SCENARIOS)
  for (const count of [16, 128])
    test(`${scenario} with ${count} endpoints`, () => {
      scenarioOf(scenario, count)();
    });

test('a number of endpoints that DNS answers cannot give is refused by name', () => {
  for (const count of [0, 2, 4.5, Number.NaN])
    assert.throws(() => scenarioOf('answers', count), /multiple of 4, not /);
});
