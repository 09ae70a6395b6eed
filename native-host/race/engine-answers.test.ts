// Races whose adopted attempt does not answer, and what silence proves; in virtual time.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Mode } from '@photofinish/shared/race/terms';
import { plainPlan } from '../testing/race.ts';
import { type Behaviour, endpoint, type Simulation, simulate } from '../testing/simulation.ts';
import { createTrial } from './engine.ts';

const TIMEOUT_MS = 3000;
/** Half of the time left when the request is sent. */
const DUE_MS = TIMEOUT_MS / 2;
const MUTE: Behaviour = { handshakeMs: 0, answerMs: null };

interface Testbed {
  readonly mode?: Mode;
  readonly h3: Behaviour;
  readonly h2: Behaviour;
  readonly addresses?: readonly string[];
}

function play({ mode = 'race', h3, h2, addresses = ['127.0.0.1'] }: Testbed): Simulation {
  const endpoints = addresses.flatMap((address) => [
    endpoint('h3', { address }),
    endpoint('h2', { address }),
  ]);
  const live = mode === 'v3';
  const plan = plainPlan({
    mode,
    endpoints: live ? [] : endpoints,
    tcpAttemptDelayMs: 10,
    timeoutMs: TIMEOUT_MS,
  });
  return simulate({
    plan,
    behave: (transport) => (transport === 'h3' ? h3 : h2),
    ...(live && { lists: [{ atMs: 0, endpoints, final: true }] }),
  });
}

const told = ({ trial }: Simulation): string[] =>
  trial.attempts.map(({ protocol, outcome, error }) => `${protocol} ${error?.code ?? outcome}`);

for (const mode of ['race', 'naive', 'v3'] as const)
  test(`${mode}: HTTP/3 that never answers leaves HTTP/2 enough time, and is recorded as not answering`, () => {
    const run = play({ mode, h3: MUTE, h2: { handshakeMs: 20, answerMs: 200 } });
    assert.equal(run.trial.adopted, 'h2');
    assert.equal(run.trial.establishedMs, DUE_MS + 20);
    assert.equal(run.trial.firstByteMs, DUE_MS + 220);
    const [h3] = run.trial.attempts;
    assert.equal(h3?.error?.code, 'response-timeout');
    assert.match(h3.error.message, /within 3000 ms/);
    assert.equal(run.endedMs, TIMEOUT_MS);
  });

test('the first request may still be answered first: HTTP/3 stays adopted', () => {
  const slow = { handshakeMs: 0, answerMs: 1800 };
  const run = play({ h3: slow, h2: slow });
  assert.deepEqual(told(run), ['h3 adopted', 'h2 cancelled']);
  assert.equal(run.trial.firstByteMs, 1800);
  assert.equal(run.endedMs, 1800);
});

test('HTTP/3 that answers after HTTP/2 has not failed', () => {
  const run = play({ h3: { handshakeMs: 0, answerMs: 2000 }, h2: { handshakeMs: 20, answerMs: 20 } });
  assert.deepEqual(told(run), ['h3 cancelled', 'h2 adopted']);
  assert.equal(run.trial.attempts[0]?.firstByteMs, 2000);
  assert.equal(run.endedMs, 2000);
});

test('an answer that takes more than four seconds over both: neither handshake is blamed', () => {
  const run = play({ h3: { handshakeMs: 2, answerMs: 4000 }, h2: { handshakeMs: 5, answerMs: 4000 } });
  assert.deepEqual(told(run), ['h3 response-timeout', 'h2 response-timeout']);
  assert.equal(run.trial.adopted, null);
  assert.match(run.trial.attempts[1]?.error?.message ?? '', /within 1494 ms/);
});

test('HTTP/2 that does not answer leaves HTTP/3 as much time', () => {
  const run = play({ h3: { handshakeMs: 60, answerMs: 5 }, h2: { handshakeMs: 20, answerMs: null } });
  assert.deepEqual(told(run), ['h3 established-late', 'h2 response-timeout', 'h3 adopted']);
});

test('v3: HTTP/3 that was ended for HTTP/2, and fails when it is tried again, has failed', () => {
  const broken = { answerMs: 5, answerFailure: 'connection-closed' } as const;
  const h3 = { handshakeMs: 400, ...broken };
  const run = play({ mode: 'v3', h3, h2: { handshakeMs: 5, ...broken } });
  assert.deepEqual(told(run), ['h3 cancelled', 'h2 connection-closed', 'h3 connection-closed']);
  assert.equal(run.trial.h3Undecided, undefined);
});

test('HTTP/3 has failed if one of two attempts at the only endpoint did, and the other was ended', () => {
  const endpoints = [endpoint('h3'), endpoint('h2')];
  const asked = {
    mode: 'race',
    endpoints,
    hedge: true,
    tcpAttemptDelayMs: 2000,
    timeoutMs: TIMEOUT_MS,
  } as const;
  const run = simulate({
    plan: plainPlan(asked),
    behave: () => ({ handshakeMs: 400, transportMs: null, answerMs: 5, answerFailure: 'misdirected' }),
  });
  assert.deepEqual(told(run), ['h3 misdirected', 'h3 cancelled', 'h2 misdirected']);
  assert.equal(run.trial.h3Undecided, undefined);
});

test('v3: the other addresses of a protocol that does not answer are tried last', () => {
  const run = play({ mode: 'v3', h3: MUTE, h2: { handshakeMs: 20 }, addresses: ['127.0.0.1', '127.0.0.2'] });
  assert.deepEqual(told(run), ['h3 response-timeout', 'h2 adopted']);
});

test('race: the second request is sent at every other address too, and one of them is adopted', () => {
  const run = play({ h3: MUTE, h2: { handshakeMs: 20 }, addresses: ['127.0.0.1', '127.0.0.2'] });
  assert.equal(run.trial.adopted, 'h2');
  assert.deepEqual(run.requests, [0, 1, 2]);
  const winner = run.told.findLast(({ event }) => event === 'adopted')?.attempt;
  const last = run.told.filter(({ attempt }) => attempt === winner).map(({ event }) => event);
  assert.deepEqual(last, ['started', 'established', 'first-byte', 'adopted']);
});

test('race: beside an overdue answer, a failure over HTTP/3 does not hurry the next address over HTTP/2', () => {
  const addresses = ['127.0.0.1', '127.0.0.2'];
  const endpoints = addresses.flatMap((address) => [
    endpoint('h3', { address }),
    endpoint('h2', { address }),
  ]);
  const run = simulate({
    plan: plainPlan({ mode: 'race', endpoints, tcpAttemptDelayMs: 10, timeoutMs: TIMEOUT_MS }),
    behave(transport, _nth, { address }) {
      if (transport === 'h2') return { handshakeMs: 20, answerMs: 100 };
      return address === '127.0.0.1' ? MUTE : { handshakeMs: 60, refusal: 'udp-refused' };
    },
  });
  assert.deepEqual(told(run), ['h3 response-timeout', 'h3 udp-refused', 'h2 adopted']);
});

for (const mode of ['race', 'v3', 'h3'] as const)
  test(`${mode}: an endpoint that does not answer either does not keep the next from being tried`, () => {
    const addresses = ['127.0.0.1', '127.0.0.2', '127.0.0.3'];
    const endpoints = addresses.map((address) => endpoint('h3', { address }));
    const live = mode === 'v3';
    const run = simulate({
      plan: plainPlan({ mode, endpoints: live ? [] : endpoints, timeoutMs: TIMEOUT_MS }),
      behave: (_transport, _nth, { address }) =>
        address === '127.0.0.3' ? { handshakeMs: 20, answerMs: 30 } : MUTE,
      ...(live && { lists: [{ atMs: 0, endpoints, final: true }] }),
    });
    assert.equal(run.trial.adopted, 'h3');
    assert.equal(run.trial.attempts.find(({ outcome }) => outcome === 'adopted')?.address, '127.0.0.3');
    assert.deepEqual(run.requests, [0, 1, 2]);
    assert.ok((run.trial.firstByteMs ?? TIMEOUT_MS) < DUE_MS + 350);
  });

test('alt-svc: an address that was ended for one whose answer fails is tried again', () => {
  const h2 = { handshakeMs: 300, answerMs: 5, answerFailure: 'goaway' } as const;
  const run = play({ mode: 'alt-svc', h3: MUTE, h2, addresses: ['127.0.0.1', '127.0.0.2'] });
  assert.deepEqual(told(run), ['h2 goaway', 'h2 cancelled', 'h2 goaway']);
});

test('alt-svc: an address that does not answer over HTTP/2 leaves the next enough time', () => {
  const endpoints = ['127.0.0.1', '127.0.0.2'].map((address) => endpoint('h2', { address }));
  const run = simulate({
    plan: plainPlan({ mode: 'alt-svc', endpoints, timeoutMs: TIMEOUT_MS }),
    behave: (transport, nth) =>
      transport === 'h2' && nth === 0
        ? MUTE
        : { handshakeMs: 20, answerMs: 30, advertises: [endpoint('h3')] },
  });
  assert.deepEqual(told(run), ['h2 response-timeout', 'h2 cancelled', 'h3 adopted']);
  assert.deepEqual(run.requests, [0, 1, 2]);
});

test('alt-svc: the first address may still answer after it was overdue', () => {
  const endpoints = ['127.0.0.1', '127.0.0.2'].map((address) => endpoint('h2', { address }));
  const run = simulate({
    plan: plainPlan({ mode: 'alt-svc', endpoints, timeoutMs: TIMEOUT_MS }),
    behave: (_transport, nth) => ({ handshakeMs: 20, answerMs: nth === 0 ? 1800 : null }),
  });
  assert.deepEqual(told(run), ['h2 adopted', 'h2 cancelled']);
  assert.equal(run.trial.firstByteMs, 1820);
});

test('alt-svc: the first answer is kept although an overdue one comes while its alternatives are tried', () => {
  const endpoints = ['127.0.0.1', '127.0.0.2'].map((address) => endpoint('h2', { address }));
  const first: Behaviour = { handshakeMs: 20, answerMs: 1700 };
  const second: Behaviour = { handshakeMs: 20, answerMs: 30, advertises: [endpoint('h3')] };
  const run = simulate({
    plan: plainPlan({ mode: 'alt-svc', endpoints, timeoutMs: TIMEOUT_MS }),
    behave: (transport, nth) => {
      if (transport === 'h3') return { handshakeMs: 500, refusal: 'connection-closed' };
      return nth === 0 ? first : second;
    },
  });
  assert.deepEqual(told(run), ['h2 cancelled', 'h2 adopted', 'h3 connection-closed']);
  assert.equal(run.trial.firstByteMs, 1560);
});

test('alt-svc: an answer is kept until the alternative that it advertises has answered, too', () => {
  const run = simulate({
    plan: plainPlan({ mode: 'alt-svc', endpoints: [endpoint('h2')], timeoutMs: TIMEOUT_MS }),
    behave: (transport) =>
      transport === 'h3'
        ? MUTE
        : { handshakeMs: 20, answerMs: 1000, advertises: [endpoint('h3')], followMs: 1700 },
  });
  assert.equal(run.trial.adopted, 'h2');
  assert.equal(run.trial.firstByteMs, 1020);
});

test('of two QUIC attempts at one endpoint only the first established sends a request', () => {
  const endpoints = [endpoint('h3'), endpoint('h2')];
  const hedge = { tcpAttemptDelayMs: 300, hedge: true } as const;
  const run = simulate({
    plan: plainPlan({ mode: 'race', endpoints, timeoutMs: TIMEOUT_MS, ...hedge }),
    behave: (transport, nth) =>
      transport === 'h3'
        ? { handshakeMs: nth === 0 ? 1700 : 1600, answerMs: 600 }
        : { handshakeMs: 20, answerMs: null },
  });
  assert.ok(run.starts.filter(({ endpoint: { transport } }) => transport === 'h3').length > 1, 'hedged');
  assert.equal(run.requests.length, 2);
  assert.equal(run.trial.adopted, 'h3');
});

test('a request sent beside an overdue one is still awaited when the latter breaks', () => {
  const h3: readonly Behaviour[] = [
    { handshakeMs: 0, answerMs: DUE_MS + 100, answerFailure: 'h3-error' },
    { handshakeMs: 150, answerMs: 100 },
  ];
  const plan = plainPlan({
    mode: 'race',
    endpoints: [endpoint('h3'), endpoint('h3', { address: '127.0.0.2' }), endpoint('h2')],
    tcpAttemptDelayMs: 10,
    timeoutMs: TIMEOUT_MS,
  });
  const run = simulate({
    plan,
    behave: (transport, nth) =>
      transport === 'h2' ? { handshakeMs: 20, answerMs: 200 } : (h3[nth] ?? { handshakeMs: null }),
  });
  assert.deepEqual(told(run), ['h3 h3-error', 'h3 cancelled', 'h2 adopted']);
  assert.deepEqual(run.requests, [0, 2, 1], 'all three, the last when nothing is adopted any more');
});

test('alt-svc: the answer that advertised HTTP/3 stands when that is overdue, and other endpoints of HTTP/3 are still tried', () => {
  const advertises = ['127.0.0.1', '127.0.0.2'].map((address) => endpoint('h3', { address, port: 8443 }));
  const behaviours: Record<'h3' | 'h2', readonly Behaviour[]> = {
    h3: [
      { handshakeMs: 0, answerMs: DUE_MS + 100, answerFailure: 'h3-error' },
      { handshakeMs: 200, answerMs: 200, answerFailure: 'h3-error' },
    ],
    h2: [{ handshakeMs: 0, advertises }],
  };
  const run = simulate({
    plan: plainPlan({ mode: 'alt-svc', endpoints: [endpoint('h2')], timeoutMs: TIMEOUT_MS }),
    behave: (transport, nth) => behaviours[transport][nth] ?? { handshakeMs: null },
  });
  assert.deepEqual(told(run), ['h2 adopted', 'h3 h3-error', 'h3 established-late']);
  assert.equal(run.trial.firstByteMs, 0);
  assert.equal(run.endedMs, DUE_MS + 300);
});

test('silence without enough time is no evidence: the attempt is cancelled', () => {
  const silent: Behaviour = { handshakeMs: null };
  const plan = plainPlan({
    mode: 'race',
    endpoints: [endpoint('h3'), endpoint('h2')],
    tcpAttemptDelayMs: 2500,
    timeoutMs: TIMEOUT_MS,
  });
  const late = simulate({ plan, behave: () => silent });
  assert.deepEqual(told(late), ['h3 udp-timeout', 'h2 cancelled']);
  assert.match(late.trial.attempts[1]?.error?.message ?? '', /500 ms/);
});

test("an attempt's own time-out proves no more than the trial's", () => {
  const plan = plainPlan({
    mode: 'race',
    endpoints: [endpoint('h3'), endpoint('h2')],
    tcpAttemptDelayMs: 2500,
    timeoutMs: TIMEOUT_MS,
  });
  const behave = (transport: 'h3' | 'h2'): Behaviour =>
    transport === 'h3' ? { handshakeMs: null } : { handshakeMs: 499, refusal: 'tcp-timeout' };
  const run = simulate({ plan, behave });
  assert.deepEqual(told(run), ['h3 udp-timeout', 'h2 cancelled']);
});

test('an attempt started while an answer was awaited is recorded, although that answer then comes', () => {
  const endpoints = ['127.0.0.1', '127.0.0.2', '127.0.0.3'].map((address) => endpoint('h3', { address }));
  const peers: readonly Behaviour[] = [MUTE, { handshakeMs: 20, answerMs: 400 }];
  const run = simulate({
    plan: plainPlan({ mode: 'h3', endpoints, timeoutMs: TIMEOUT_MS }),
    behave: (_transport, nth) => peers[nth] ?? { handshakeMs: null },
  });
  assert.deepEqual(told(run), ['h3 response-timeout', 'h3 adopted', 'h3 cancelled']);
});

test('a handshake finished in time and reported after the deadline is not blamed on the server', () => {
  const machine = createTrial(plainPlan({ mode: 'h3', endpoints: [endpoint('h3')], timeoutMs: TIMEOUT_MS }));
  machine.start();
  machine.handle({ type: 'timer', timer: 'deadline' }, TIMEOUT_MS + 4);
  const end = { transportMs: 2, rttMs: null };
  const event = { type: 'established', attempt: 0, protocol: 'h3', ...end } as const;
  machine.handle({ ...event, establishedMs: TIMEOUT_MS - 1 }, TIMEOUT_MS + 5);
  const [attempt] = machine.record().attempts;
  assert.deepEqual([attempt?.outcome, attempt?.error?.code], ['cancelled', 'cancelled']);
  assert.equal(attempt?.establishedMs, TIMEOUT_MS - 1);
});

test('an answer received in time and reported after the deadline is not blamed on the server', () => {
  const machine = createTrial(
    plainPlan({ mode: 'alt-svc', endpoints: [endpoint('h2')], timeoutMs: TIMEOUT_MS }),
  );
  machine.start();
  const end = { transportMs: 1, rttMs: null };
  machine.handle({ type: 'established', attempt: 0, protocol: 'h2', establishedMs: 2, ...end }, 2);
  machine.handle({ type: 'timer', timer: 'deadline' }, TIMEOUT_MS + 4);
  machine.handle(
    { type: 'answered', attempt: 0, firstByteMs: 2900, status: 200, advertises: false },
    TIMEOUT_MS + 5,
  );
  const [attempt] = machine.record().attempts;
  assert.deepEqual(
    [attempt?.outcome, attempt?.error?.code, attempt?.firstByteMs],
    ['cancelled', 'cancelled', 2900],
  );
});

for (const mode of ['race', 'v3', 'h3'] as const)
  test(`${mode}: attempts that only our own lateness started after the winner was established are not recorded`, () => {
    const other = mode === 'h3' ? endpoint('h3', { address: '127.0.0.2' }) : endpoint('h2');
    const endpoints = [endpoint('h3'), other];
    const live = mode === 'v3';
    const timer = mode === 'race' ? 'stagger' : 'group-0';
    const machine = createTrial(
      plainPlan({ mode, endpoints: live ? [] : endpoints, tcpAttemptDelayMs: 10, timeoutMs: TIMEOUT_MS }),
    );
    machine.start();
    if (live) machine.handle({ type: 'endpoints', endpoints, final: true }, 0);
    machine.handle({ type: 'timer', timer }, 252);
    const end = { transportMs: null };
    const event = { type: 'established', attempt: 0, protocol: 'h3', rttMs: null, ...end } as const;
    const actions = machine.handle({ ...event, establishedMs: 9 }, 253);
    assert.ok(actions.some((action) => action.type === 'end' && action.attempt === 1));
    machine.handle({ type: 'answered', attempt: 0, firstByteMs: 255, status: 200, advertises: false }, 255);
    const { adopted, attempts } = machine.record();
    assert.deepEqual([adopted, attempts.length, attempts[0]?.startedMs], ['h3', 1, 0]);
  });
