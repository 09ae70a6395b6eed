// Attempt groups with several endpoints: in every mode, HTTP/3 is raced within its own address families before it
// counts as lost; advertisements, broken HTTP/3 and the hedged QUIC attempt. Times are chosen so that no two events
// coincide.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Mode } from '@photofinish/shared/race/terms';
import { NO_HINTS } from '../cache/policy.ts';
import type { Endpoint } from '../discover/discoverer.ts';
import { type PlainInput, plainPlan } from '../testing/race.ts';
import { type Behaviour, endpoint, type Simulation, simulate } from '../testing/simulation.ts';
import { TRIAL_LIMITS } from './budget.ts';

const TIMEOUT_MS = 3000;
const SILENT: Behaviour = { handshakeMs: null };
const UDP_REFUSED: Behaviour = { handshakeMs: 1, refusal: 'udp-refused' };
const FAMILIES: readonly Endpoint[] = [
  endpoint('h3', { address: '::1' }),
  endpoint('h3', { address: '127.0.0.1' }),
  endpoint('h2', { address: '::1' }),
  endpoint('h2', { address: '127.0.0.1' }),
];

interface Testbed {
  readonly mode?: Mode;
  readonly endpoints?: readonly Endpoint[];
  readonly with?: Partial<PlainInput>;
  /** Keyed by transport, address and port, by transport and address, or by transport; silent by default. */
  readonly peers?: Readonly<Record<string, Behaviour | readonly Behaviour[]>>;
}

function play({ mode = 'race', endpoints = FAMILIES, with: more, peers = {} }: Testbed): Simulation {
  const plan = plainPlan({ mode, endpoints, tcpAttemptDelayMs: 10, timeoutMs: TIMEOUT_MS, ...more });
  const seen = new Map<string, number>();
  return simulate({
    plan,
    behave(transport, _nth, { address, port }) {
      const endpoint = `${transport} ${address}`;
      const nth = seen.get(endpoint) ?? 0;
      seen.set(endpoint, nth + 1);
      const found = peers[`${endpoint} ${port}`] ?? peers[endpoint] ?? peers[transport] ?? SILENT;
      return [found].flat()[nth] ?? [found].flat().at(-1) ?? SILENT;
    },
  });
}

const starts = ({ starts: all }: Simulation): string[] =>
  all.map(({ endpoint, atMs }) => `${endpoint.transport} ${endpoint.address} ${atMs}`);
const outcomes = ({ trial }: Simulation): string[] =>
  trial.attempts.map((a) => `${a.protocol} ${a.address} ${a.outcome}`);

test('UDP black-holed on IPv6 only: HTTP/3 is established late on IPv4, and is not lost', () => {
  const run = play({ peers: { 'h3 127.0.0.1': { handshakeMs: 40 }, h2: { handshakeMs: 60 } } });
  assert.deepEqual(starts(run), ['h3 ::1 0', 'h2 ::1 10', 'h3 127.0.0.1 250']);
  assert.deepEqual(outcomes(run), ['h3 ::1 cancelled', 'h2 ::1 adopted', 'h3 127.0.0.1 established-late']);
  assert.equal(run.trial.lateH3, true);
  assert.equal(run.endedMs, 290);
});

test('UDP refused on IPv6 only: HTTP/3 continues on IPv4 at once, and wins', () => {
  const run = play({
    peers: { 'h3 ::1': UDP_REFUSED, 'h3 127.0.0.1': { handshakeMs: 40 }, h2: { handshakeMs: 60 } },
  });
  assert.deepEqual(starts(run), ['h3 ::1 0', 'h3 127.0.0.1 1', 'h2 ::1 10']);
  assert.equal(run.trial.adopted, 'h3');
});

test('a group has failed only when all its endpoints have: then TCP starts at once', () => {
  const run = play({ peers: { h3: UDP_REFUSED, h2: { handshakeMs: 60 } }, with: { tcpAttemptDelayMs: 500 } });
  assert.deepEqual(starts(run), ['h3 ::1 0', 'h3 127.0.0.1 1', 'h2 ::1 2']);
});

test('one family refused, the other silent: TCP waits for its start delay', () => {
  const run = play({
    peers: { 'h3 ::1': UDP_REFUSED, h2: { handshakeMs: 60 } },
    with: { tcpAttemptDelayMs: 100 },
  });
  assert.deepEqual(starts(run), ['h3 ::1 0', 'h3 127.0.0.1 1', 'h2 ::1 100']);
});

test('TCP black-holed on IPv6 only: it is established on IPv4', () => {
  const run = play({ peers: { 'h2 127.0.0.1': { handshakeMs: 60 } } });
  assert.deepEqual(starts(run).slice(0, 4), [
    'h3 ::1 0',
    'h2 ::1 10',
    'h3 127.0.0.1 250',
    'h2 127.0.0.1 260',
  ]);
  assert.equal(run.trial.adopted, 'h2');
  assert.equal(run.trial.establishedMs, 320);
});

test('HTTP/3 established on one family ends the other family and TCP', () => {
  const run = play({
    peers: { 'h3 127.0.0.1': { handshakeMs: 40, answerMs: 30 } },
    with: { attemptDelayMs: 50 },
  });
  assert.deepEqual(outcomes(run), [
    'h3 ::1 cancelled',
    'h2 ::1 cancelled',
    'h3 127.0.0.1 adopted',
    'h2 127.0.0.1 cancelled',
  ]);
});

test('HTTP/3 that failed and was then established late is not undecided, although an address was not tried', () => {
  const { trial } = play({
    endpoints: [...FAMILIES, endpoint('h3', { address: '127.0.0.2' })],
    peers: { 'h3 ::1': UDP_REFUSED, 'h3 127.0.0.1': { handshakeMs: 200 }, h2: { handshakeMs: 20 } },
  });
  assert.deepEqual([trial.attempts.length, trial.lateH3, trial.h3Undecided], [3, true, undefined]);
});

test('HTTP/3 that failed until the time was up is not undecided, although the last attempt had too little', () => {
  const run = play({
    endpoints: [...FAMILIES, endpoint('h3', { address: '127.0.0.2' })],
    with: { attemptDelayMs: 2000 },
    peers: { 'h3 ::1': { handshakeMs: 50, refusal: 'udp-refused' }, h2: { handshakeMs: 20 } },
  });
  assert.deepEqual(outcomes(run).slice(2), ['h3 127.0.0.1 failed', 'h3 127.0.0.2 cancelled']);
  assert.equal(run.trial.h3Undecided, undefined);
});

test('HTTP/3 that fails everywhere after it was beaten is recorded as failed at every endpoint', () => {
  const run = play({ peers: { h3: { handshakeMs: 90, refusal: 'alpn-mismatch' }, h2: { handshakeMs: 20 } } });
  assert.deepEqual(outcomes(run), ['h3 ::1 failed', 'h2 ::1 adopted', 'h3 127.0.0.1 failed']);
  assert.equal(run.trial.h3Undecided, undefined);
  assert.equal(run.endedMs, 180);
});

test('an adopted HTTP/3 that breaks is retried on the other family while TCP is attempted afresh', () => {
  const run = play({
    peers: {
      'h3 ::1': { handshakeMs: 20, answerMs: 5, answerFailure: 'h3-error' },
      'h3 127.0.0.1': { handshakeMs: 30, answerMs: 5 },
      h2: { handshakeMs: 100 },
    },
  });
  assert.deepEqual(starts(run), ['h3 ::1 0', 'h2 ::1 10', 'h3 127.0.0.1 25', 'h2 ::1 25']);
  assert.equal(run.trial.adopted, 'h3');
});

test('an adopted TCP connection that breaks after a late HTTP/3 handshake falls back to a new HTTP/3 attempt', () => {
  const run = play({
    peers: {
      'h3 ::1': [{ handshakeMs: 40 }, { handshakeMs: 30, answerMs: 1 }],
      'h2 ::1': { handshakeMs: 20, answerMs: 30, answerFailure: 'connection-closed' },
    },
  });
  assert.deepEqual(starts(run), ['h3 ::1 0', 'h2 ::1 10', 'h3 ::1 60', 'h2 127.0.0.1 60']);
  assert.equal(run.trial.adopted, 'h3');
});

test('after a late HTTP/3 handshake no address is tried, although an overdue request then breaks', () => {
  const run = play({
    endpoints: [...FAMILIES.slice(0, 2), endpoint('h3', { address: '127.0.0.2' }), endpoint('h2')],
    peers: {
      'h3 ::1': { handshakeMs: 0, answerMs: 1800, answerFailure: 'h3-error' },
      'h3 127.0.0.1': { handshakeMs: 200 },
      h2: { handshakeMs: 20, answerMs: 20 },
    },
  });
  assert.deepEqual(starts(run), ['h3 ::1 0', 'h3 127.0.0.1 1500', 'h2 127.0.0.1 1500']);
  assert.equal(run.trial.lateH3, true);
});

for (const mode of ['naive', 'h3', 'h2'] as const)
  test(`${mode}: address families are raced as well`, () => {
    const run = play({
      mode,
      peers: { 'h3 127.0.0.1': { handshakeMs: 30 }, 'h2 127.0.0.1': { handshakeMs: 40 } },
    });
    assert.equal(run.trial.establishedMs, mode === 'h2' ? 290 : 280);
    assert.ok(run.starts.every(({ endpoint }) => mode === 'naive' || endpoint.transport === mode));
  });

test('naive: both protocols start at the same instant', () => {
  assert.deepEqual(starts(play({ mode: 'naive' })).slice(0, 2), ['h3 ::1 0', 'h2 ::1 0']);
});

test('alt-svc: TCP alone sends a request once established, then the advertised address families are raced', () => {
  const endpoints = ['::1', '127.0.0.1'].map((address) =>
    endpoint('h3', { address, port: 8443, source: 'alt-svc' }),
  );
  const run = play({
    mode: 'alt-svc',
    peers: {
      'h2 127.0.0.1': { handshakeMs: 50, answerMs: 50, advertises: endpoints, followMs: 7 },
      'h3 ::1': UDP_REFUSED,
      'h3 127.0.0.1': { handshakeMs: 30 },
    },
    with: { attemptDelayMs: 20 },
  });
  assert.deepEqual(starts(run), ['h2 ::1 0', 'h2 127.0.0.1 20', 'h3 ::1 127', 'h3 127.0.0.1 128']);
  assert.deepEqual(run.requests, [1, 3]);
  assert.equal(run.trial.adopted, 'h3');
});

test('alt-svc: if HTTP/3 breaks after its adoption, the address that is held is not attempted again', () => {
  const advertises = [endpoint('h3', { port: 8443, source: 'alt-svc' })];
  const run = play({
    mode: 'alt-svc',
    peers: {
      'h2 127.0.0.1': { handshakeMs: 50, answerMs: 50, advertises, followMs: 7 },
      h3: { handshakeMs: 30, answerMs: 5, answerFailure: 'h3-error' },
    },
    with: { attemptDelayMs: 20 },
  });
  assert.deepEqual(starts(run), ['h2 ::1 0', 'h2 127.0.0.1 20', 'h3 127.0.0.1 127']);
  assert.equal(run.trial.adopted, 'h2');
});

test('alt-svc: if the advertised endpoints fail, the held TCP connection is adopted', () => {
  const answer = { handshakeMs: 50, answerMs: 50, advertises: [] };
  const empty = play({ mode: 'alt-svc', peers: { h2: { ...answer, followMs: 80 } } });
  assert.equal(empty.told.find(({ event }) => event === 'adopted')?.atMs, 180);
  const never = play({ mode: 'alt-svc', peers: { h2: { ...answer, followMs: null } } });
  assert.equal(never.told.find(({ event }) => event === 'adopted')?.atMs, TIMEOUT_MS);
  assert.equal(never.trial.adopted, 'h2');
});

test('alt-svc: endpoints from HTTPS records do not count as advertised by Alt-Svc', () => {
  const endpoints = [endpoint('h3', { source: 'https-record' }), endpoint('h2')];
  const run = play({
    mode: 'alt-svc',
    endpoints,
    peers: { h2: { handshakeMs: 20 }, h3: { handshakeMs: 1 } },
  });
  assert.deepEqual(outcomes(run), ['h2 127.0.0.1 adopted']);
});

test('alt-svc: endpoints from HTTPS records do not count as advertised beside a known alternative either', () => {
  const endpoints = [
    endpoint('h3', { port: 8443, source: 'alt-svc' }),
    endpoint('h3', { source: 'https-record' }),
    endpoint('h2'),
  ];
  const run = play({ mode: 'alt-svc', endpoints, peers: { h3: UDP_REFUSED, h2: { handshakeMs: 20 } } });
  assert.deepEqual(
    run.trial.attempts.map(({ protocol, port }) => `${protocol} ${port}`),
    ['h3 8443', 'h2 443'],
  );
});

test('race: an advertised port replaces the assumed endpoints not yet attempted, and starts at once', () => {
  const advertises = [endpoint('h3', { address: '::1', port: 8443, source: 'alt-svc' })];
  const run = play({
    peers: { h2: { handshakeMs: 20, answerMs: 5, advertises }, 'h3 ::1 8443': { handshakeMs: 30 } },
  });
  assert.deepEqual(starts(run), ['h3 ::1 0', 'h2 ::1 10', 'h3 ::1 35']);
  assert.equal(run.trial.attempts[2]?.port, 8443);
  assert.equal(run.trial.lateH3, true);
});

test('race: advertising the assumed endpoints changes neither their order nor their pacing', () => {
  const run = play({ peers: { h2: { handshakeMs: 20, answerMs: 5, advertises: FAMILIES.slice(0, 2) } } });
  assert.deepEqual(starts(run), ['h3 ::1 0', 'h2 ::1 10', 'h3 127.0.0.1 250']);
});

test('race: an advertisement without usable endpoints leaves the assumed endpoints unchanged', () => {
  const run = play({ peers: { h2: { handshakeMs: 20, answerMs: 5, advertises: [] } } });
  assert.deepEqual(starts(run), ['h3 ::1 0', 'h2 ::1 10', 'h3 127.0.0.1 250']);
});

test('race: once HTTP/3 is known to work, advertised endpoints are not tried', () => {
  const advertises = [endpoint('h3', { port: 8443, source: 'alt-svc' })];
  const run = play({
    peers: { h3: { handshakeMs: 40 }, h2: { handshakeMs: 20, answerMs: 30, advertises, followMs: 5 } },
  });
  assert.deepEqual(starts(run), ['h3 ::1 0', 'h2 ::1 10']);
  assert.equal(run.endedMs, 60, 'nor is it looked up');
  const later = play({
    peers: { h3: { handshakeMs: 62 }, h2: { handshakeMs: 20, answerMs: 30, advertises, followMs: 5 } },
  });
  assert.deepEqual(starts(later), ['h3 ::1 0', 'h2 ::1 10']);
});

test('no endpoint for HTTP/3: TCP starts at 0 ms', () => {
  const run = play({ endpoints: FAMILIES.slice(2), peers: { h2: { handshakeMs: 20 } } });
  assert.deepEqual(starts(run), ['h2 ::1 0']);
});

test('no endpoint at all: the trial ends at once', () => {
  assert.deepEqual(play({ endpoints: [] }).endedMs, 0);
});

const BROKEN = { ...NO_HINTS, h3Broken: { code: 'udp-timeout', untilMs: 5000 } as const };

for (const mode of ['race', 'alt-svc'] as const)
  test(`${mode}: HTTP/3 known to be broken costs 0 ms and no UDP, not even where it is advertised`, () => {
    const advertises = [endpoint('h3', { port: 8443, source: 'alt-svc' })];
    const run = play({
      mode,
      endpoints: [endpoint('h3', { source: 'alt-svc' }), ...FAMILIES],
      with: { hints: BROKEN, epochMs: 4999 },
      peers: { h2: { handshakeMs: 20, advertises, followMs: 500 } },
    });
    assert.deepEqual(starts(run), ['h2 ::1 0']);
    assert.equal(run.trial.adopted, 'h2');
    assert.equal(run.endedMs, 20, 'what is advertised is not even looked up');
  });

test('after the back-off HTTP/3 is tried again', () => {
  const run = play({ with: { hints: BROKEN, epochMs: 5000 }, peers: { h3: { handshakeMs: 20 } } });
  assert.equal(run.trial.adopted, 'h3');
});

for (const mode of ['naive', 'h3'] as const)
  test(`${mode}: endpoints known to be broken are tried all the same`, () => {
    const run = play({ mode, with: { hints: BROKEN, epochMs: 0 }, peers: { h3: { handshakeMs: 20 } } });
    assert.equal(run.trial.adopted, 'h3');
  });

test('a remembered decision for TCP whose host has died falls back to HTTP/3 although that was broken', () => {
  const run = play({
    with: { hints: BROKEN, decision: 'h2' },
    peers: { h2: { handshakeMs: 1, refusal: 'tcp-refused' }, h3: { handshakeMs: 9 } },
  });
  assert.deepEqual(starts(run), ['h2 ::1 0', 'h2 127.0.0.1 1', 'h3 ::1 2']);
  assert.equal(run.trial.adopted, 'h3');
});

const FRESH = { hedge: true, tcpAttemptDelayMs: 5000 };

test('hedged QUIC: one attempt at the same endpoint after one PTO of silence, and never another', () => {
  const run = play({ endpoints: FAMILIES.slice(1, 2), with: FRESH });
  assert.deepEqual(starts(run), ['h3 127.0.0.1 0', 'h3 127.0.0.1 201']);
  assert.deepEqual(
    run.trial.attempts.map((a) => a.fresh),
    [undefined, true],
  );
});

const KNOWN = { srttMs: 40, rttvarMs: 2, handshakeMs: 44, lossRate: null };
const ON_KNOWN_PATH = { hedge: null, tcpAttemptDelayMs: null, hints: { ...NO_HINTS, h3: KNOWN } };
const ONE_ADDRESS = FAMILIES.filter(({ address }) => address === '127.0.0.1');

test('hedged QUIC: by default where HTTP/3 is known to work, when a handshake is overdue; TCP 10 ms later', () => {
  const run = play({ endpoints: ONE_ADDRESS, with: ON_KNOWN_PATH });
  assert.deepEqual(starts(run), ['h3 127.0.0.1 0', 'h3 127.0.0.1 52', 'h2 127.0.0.1 62']);
});

test('hedged QUIC: on a known path a lost ServerHello is detected without a sign of life', () => {
  const run = play({
    endpoints: ONE_ADDRESS,
    with: ON_KNOWN_PATH,
    peers: { h3: [{ handshakeMs: 240, transportMs: 40 }, { handshakeMs: 44 }] },
  });
  assert.deepEqual(outcomes(run), [
    'h3 127.0.0.1 cancelled',
    'h3 127.0.0.1 adopted',
    'h2 127.0.0.1 cancelled',
  ]);
});

test('hedged QUIC: not started for a handshake in time, but for a remembered decision for HTTP/3', () => {
  const quick = play({ endpoints: ONE_ADDRESS, with: ON_KNOWN_PATH, peers: { h3: { handshakeMs: 51 } } });
  assert.deepEqual(starts(quick), ['h3 127.0.0.1 0']);
  const decided = play({
    endpoints: ONE_ADDRESS,
    with: { ...ON_KNOWN_PATH, decision: 'h3' },
    peers: { h3: [SILENT, { handshakeMs: 44 }] },
  });
  assert.deepEqual(outcomes(decided), ['h3 127.0.0.1 cancelled', 'h3 127.0.0.1 adopted']);
});

test('hedged QUIC: on an unknown path the first sign of life determines when a handshake is overdue', () => {
  const run = play({
    endpoints: FAMILIES.slice(1, 2),
    with: FRESH,
    peers: { h3: { handshakeMs: 900, transportMs: 20 } },
  });
  assert.deepEqual(starts(run), ['h3 127.0.0.1 0', 'h3 127.0.0.1 80']);
  const beside = play({
    endpoints: ONE_ADDRESS,
    with: { hedge: true },
    peers: { h3: { handshakeMs: 900, transportMs: 20 }, h2: { handshakeMs: 900, transportMs: 60 } },
  });
  assert.deepEqual(starts(beside), ['h3 127.0.0.1 0', 'h2 127.0.0.1 10', 'h3 127.0.0.1 80']);
});

test('hedged QUIC: by default on an unknown path for a stalled handshake, never for silence', () => {
  const unasked = { hedge: null, tcpAttemptDelayMs: 5000 };
  const stalled = play({
    endpoints: ONE_ADDRESS,
    with: unasked,
    peers: { h3: [{ handshakeMs: 300, transportMs: 2 }, { handshakeMs: 9 }] },
  });
  assert.deepEqual(starts(stalled), ['h3 127.0.0.1 0', 'h3 127.0.0.1 12']);
  const silent = play({ endpoints: ONE_ADDRESS, with: unasked, peers: { h3: { handshakeMs: 900 } } });
  assert.deepEqual(starts(silent), ['h3 127.0.0.1 0']);
});

test('hedged QUIC: a TCP handshake that stalls beside a silent QUIC attempt indicates a path that loses packets', () => {
  const h3 = [{ handshakeMs: 900 }, { handshakeMs: 9 }];
  const unasked = { hedge: null };
  const stalled = play({
    endpoints: ONE_ADDRESS,
    with: unasked,
    peers: { h3, h2: { handshakeMs: 400, transportMs: 7 } },
  });
  assert.deepEqual(starts(stalled), ['h3 127.0.0.1 0', 'h2 127.0.0.1 10', 'h3 127.0.0.1 38']);
  const inTime = play({
    endpoints: ONE_ADDRESS,
    with: unasked,
    peers: { h3, h2: { handshakeMs: 20, transportMs: 7 } },
  });
  assert.deepEqual(starts(inTime), ['h3 127.0.0.1 0', 'h2 127.0.0.1 10']);
});

test('hedged QUIC: a sign of life after the hedged attempt starts no other', () => {
  const h3 = [{ handshakeMs: 2000, transportMs: 250 }, { handshakeMs: 2000 }];
  const run = play({ endpoints: FAMILIES.slice(1, 2), with: FRESH, peers: { h3 } });
  assert.deepEqual(starts(run), ['h3 127.0.0.1 0', 'h3 127.0.0.1 201']);
});

for (const mode of ['v3', 'naive', 'alt-svc', 'h2'] as const)
  test(`hedged QUIC: never in ${mode}, whatever is known or requested`, () => {
    for (const hedge of [null, true]) {
      const endpoints = ONE_ADDRESS.map((each) => ({ ...each, source: 'alt-svc' as const }));
      const plan = plainPlan({ mode, endpoints, ...ON_KNOWN_PATH, hedge, timeoutMs: TIMEOUT_MS });
      const { trial } = simulate({
        plan,
        lists: mode === 'v3' ? [{ atMs: 0, endpoints, final: true }] : [],
        behave: () => ({ handshakeMs: 900, transportMs: 20 }),
      });
      const tried = trial.attempts.map(({ protocol }) => protocol);
      assert.deepEqual(tried.toSorted(), mode === 'h2' ? ['h2'] : ['h2', 'h3']);
    }
  });

test('hedged QUIC: for HTTP/3 alone as well', () => {
  const run = play({
    endpoints: ONE_ADDRESS,
    with: { ...ON_KNOWN_PATH, mode: 'h3' },
    peers: { h3: [{ handshakeMs: 204, transportMs: 51 }, { handshakeMs: 44 }] },
  });
  assert.deepEqual(outcomes(run), ['h3 127.0.0.1 cancelled', 'h3 127.0.0.1 adopted']);
});

test('hedged QUIC: no sooner than the minimum delay after an attempt in progress (section 6 of the draft)', () => {
  const run = play({
    endpoints: ONE_ADDRESS,
    with: { hedge: true },
    peers: { h3: { handshakeMs: 900, transportMs: 1 }, h2: { handshakeMs: 900 } },
  });
  assert.deepEqual(starts(run), ['h3 127.0.0.1 0', 'h2 127.0.0.1 10', 'h3 127.0.0.1 20']);
});

test('hedged QUIC: the next address keeps the minimum delay after it as well', () => {
  const run = play({
    endpoints: FAMILIES.filter(({ transport }) => transport === 'h3'),
    with: { ...ON_KNOWN_PATH, tcpAttemptDelayMs: 5000, attemptDelayMs: 55 },
  });
  assert.deepEqual(starts(run), ['h3 ::1 0', 'h3 ::1 52', 'h3 127.0.0.1 62']);
});

test('hedged QUIC: the first of the two to be established is used, the other is ended', () => {
  const second = play({
    endpoints: FAMILIES.slice(1, 2),
    with: FRESH,
    peers: { h3: [{ handshakeMs: 1000 }, { handshakeMs: 50, answerMs: 9 }] },
  });
  assert.deepEqual(outcomes(second), ['h3 127.0.0.1 cancelled', 'h3 127.0.0.1 adopted']);
  const first = play({
    endpoints: FAMILIES.slice(1, 2),
    with: FRESH,
    peers: { h3: [{ handshakeMs: 230, transportMs: 229 }, { handshakeMs: 50 }] },
  });
  assert.deepEqual(outcomes(first), ['h3 127.0.0.1 adopted', 'h3 127.0.0.1 cancelled']);
});

test('hedged QUIC: if HTTP/3 breaks after either of the two, its endpoint gets no third attempt', () => {
  const broken = { handshakeMs: 50, answerMs: 9, answerFailure: 'h3-error' } as const;
  for (const h3 of [
    [{ handshakeMs: 1000 }, broken],
    [{ ...broken, handshakeMs: 230 }, SILENT],
  ]) {
    const run = play({ endpoints: ONE_ADDRESS, with: FRESH, peers: { h3, h2: { handshakeMs: 20 } } });
    assert.equal(starts(run).filter((start) => start.startsWith('h3')).length, 2);
    assert.equal(run.trial.adopted, 'h2');
  }
});

test('hedged QUIC: not started after a sign of life, a failure or an adoption of HTTP/3', () => {
  for (const h3 of [{ handshakeMs: 400, transportMs: 200 }, UDP_REFUSED, { handshakeMs: 150 }])
    assert.equal(play({ endpoints: FAMILIES.slice(1, 2), with: FRESH, peers: { h3 } }).starts.length, 1);
});

test('hedged QUIC: not beside a second address after the first has failed, beside TCP, or beyond a limit', () => {
  const refused = play({ endpoints: FAMILIES.slice(0, 2), with: FRESH, peers: { 'h3 ::1': UDP_REFUSED } });
  assert.deepEqual(starts(refused), ['h3 ::1 0', 'h3 127.0.0.1 1']);
  const tcp = play({ endpoints: FAMILIES.slice(3), with: FRESH });
  assert.deepEqual(starts(tcp), ['h2 127.0.0.1 0']);
  const limits = { ...TRIAL_LIMITS, attempts: 2 };
  assert.equal(play({ endpoints: ONE_ADDRESS, with: { hedge: true, limits } }).starts.length, 2);
});

test('hedged QUIC: an attempt that has failed does not delay it', () => {
  const run = play({
    endpoints: ONE_ADDRESS,
    with: { hedge: true, tcpAttemptDelayMs: 195 },
    peers: { h2: { handshakeMs: 1, refusal: 'tcp-refused' } },
  });
  assert.deepEqual(starts(run), ['h3 127.0.0.1 0', 'h2 127.0.0.1 195', 'h3 127.0.0.1 201']);
});

test('hedged QUIC: when TCP wins, HTTP/3 is learnt from the first attempt only', () => {
  const run = play({
    endpoints: FAMILIES.filter(({ address }) => address === '127.0.0.1'),
    with: { hedge: true },
    peers: { h2: { handshakeMs: 50 }, h3: [{ handshakeMs: 400 }, { handshakeMs: 30 }] },
  });
  assert.deepEqual(outcomes(run), ['h3 127.0.0.1 established-late', 'h2 127.0.0.1 adopted']);
  assert.equal(run.endedMs, 400);
});
