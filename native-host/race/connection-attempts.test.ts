// Section 6 of the Happy Eyeballs v3 draft ("Connection Attempts") and what sections 4 and 7 say about attempts, in
// virtual time; each test is named after the sentence that it checks. Neither resumption nor ECH is used here, so the
// sentences about them do not apply.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_HINTS, type PathHint } from '../cache/policy.ts';
import type { Endpoint } from '../discover/discoverer.ts';
import { type PlainInput, plainPlan } from '../testing/race.ts';
import { type Behaviour, endpoint, type Listing, type Simulation, simulate } from '../testing/simulation.ts';

const TIMEOUT_MS = 10_000;
const SILENT: Behaviour = { handshakeMs: null };
const REFUSED: Behaviour = { handshakeMs: 1, refusal: 'tcp-refused' };

/** `h3 6a`: HTTP/3 at an address of that name. */
function at(text: string, more: Partial<Endpoint> = {}): Endpoint {
  const [transport, address = ''] = text.split(' ');
  return endpoint(transport === 'h3' ? 'h3' : 'h2', { address, ...more });
}

const listed = (atMs: number, endpoints: readonly string[], final = true): Listing => ({
  atMs,
  endpoints: endpoints.map((text) => at(text)),
  final,
});

interface Testbed {
  readonly lists: readonly Listing[];
  /** By address; silent by default. */
  readonly peers?: Readonly<Record<string, Behaviour>>;
  readonly with?: Partial<PlainInput>;
}

function play({ lists, peers = {}, with: more }: Testbed): Simulation {
  const plan = plainPlan({ mode: 'v3', timeoutMs: TIMEOUT_MS, ...more });
  return simulate({ plan, lists, behave: (_transport, _nth, { address }) => peers[address] ?? SILENT });
}

const starts = ({ starts: all }: Simulation): string[] =>
  all.map(({ endpoint, atMs }) => `${endpoint.transport} ${endpoint.address} ${atMs}`);
const outcomes = ({ trial }: Simulation): string[] => trial.attempts.map((a) => `${a.address} ${a.outcome}`);

function known(srttMs: number, rttvarMs: number): PathHint {
  return { srttMs, rttvarMs, handshakeMs: null, lossRate: null };
}

test('section 6: "connection attempts SHOULD NOT be made simultaneously"', () => {
  const run = play({ lists: [listed(0, ['h3 6a', 'h3 4a', 'h2 6a', 'h2 4a'])] });
  assert.deepEqual(starts(run), ['h3 6a 0', 'h3 4a 250', 'h2 6a 500', 'h2 4a 750']);
});

test('section 6: "starting a new connection attempt does not affect previous attempts"', () => {
  const run = play({ lists: [listed(0, ['h3 6a', 'h2 4a'])], peers: { '6a': { handshakeMs: 900 } } });
  assert.deepEqual(starts(run), ['h3 6a 0', 'h2 4a 250']);
  assert.equal(run.trial.establishedMs, 900);
});

test('section 6: "all other connection attempts that have not yet succeeded SHOULD be canceled"', () => {
  const run = play({
    lists: [listed(0, ['h3 6a', 'h2 4a'])],
    peers: { '4a': { handshakeMs: 50, answerMs: 70 } },
  });
  assert.deepEqual(outcomes(run), ['6a cancelled', '4a adopted']);
  assert.equal(run.told.find(({ event }) => event === 'cancelled')?.atMs, 300);
});

test('section 6: "any endpoint that was not yet attempted as a connection SHOULD be ignored"', () => {
  const run = play({
    lists: [listed(0, ['h3 6a', 'h2 4a', 'h2 4b']), listed(310, ['h3 6a', 'h2 4a', 'h3 6b', 'h2 4b'])],
    peers: { '4a': { handshakeMs: 50, answerMs: 900 } },
  });
  assert.deepEqual(outcomes(run), ['6a cancelled', '4a adopted']);
  assert.equal(run.endedMs, 1200);
});

test('section 6: "the application SHOULD start with connection attempts to the most preferred option"', () => {
  const run = play({ lists: [listed(0, ['h2 4a', 'h3 6a'])], peers: { '4a': { handshakeMs: 9 } } });
  assert.deepEqual(starts(run), ['h2 4a 0']);
});

test('section 6: "all of the endpoints of the first group SHOULD be started before [...] the next group"', () => {
  const first = ['svc1-a', 'svc1-b'].map((address) => at(`h3 ${address}`, { host: 'svc1.test' }));
  const second = [at('h3 svc2-a', { host: 'svc2.test' })];
  const run = play({ lists: [{ atMs: 0, endpoints: [...first, ...second], final: true }] });
  assert.deepEqual(starts(run), ['h3 svc1-a 0', 'h3 svc1-b 250', 'h3 svc2-a 500']);
});

test('section 6: "attempts across service groups SHOULD be allowed to continue in parallel"', () => {
  const run = play({ lists: [listed(0, ['h3 svc1', 'h3 svc2'])], peers: { svc1: { handshakeMs: 700 } } });
  assert.deepEqual(outcomes(run), ['svc1 adopted', 'svc2 cancelled']);
});

test('section 6: "one recommended value for a default delay is 250 milliseconds"', () => {
  const run = play({ lists: [listed(0, ['h3 6a', 'h2 4a'])], peers: { '6a': { handshakeMs: 249 } } });
  assert.deepEqual(starts(run), ['h3 6a 0']);
});

test('section 6: "historical RTT data [...] to influence its delay", of each protocol on its own', () => {
  const hints = { ...NO_HINTS, h3: known(100, 20), h2: known(150, 25) };
  const run = play({ lists: [listed(0, ['h3 6a', 'h2 4a', 'h3 6b'])], with: { hints } });
  assert.deepEqual(starts(run), ['h3 6a 0', 'h2 4a 180', 'h3 6b 430']);
});

test('section 6: "approximate the time of the first handshake packet retransmission, and not any further"', () => {
  const hints = { ...NO_HINTS, h3: known(200, 0) };
  const run = play({ lists: [listed(0, ['h3 6a', 'h3 6b', 'h3 6c'])], with: { hints } });
  assert.deepEqual(starts(run), ['h3 6a 0', 'h3 6b 225', 'h3 6c 450']);
});

test('section 6: "a subsequent connection MUST NOT be started within 10 milliseconds" whatever is configured', () => {
  const run = play({ lists: [listed(0, ['h3 6a', 'h2 4a', 'h2 4b'])], with: { attemptDelayMs: 0 } });
  assert.deepEqual(starts(run), ['h3 6a 0', 'h2 4a 10', 'h2 4b 20']);
});

test('section 6: "a subsequent connection MUST NOT be started within 10 milliseconds" of one still under way', () => {
  // The first fails shortly after the second was started: the third must not follow at once.
  const run = play({
    lists: [listed(0, ['h3 6a', 'h2 4a', 'h2 4b'])],
    peers: { '6a': { handshakeMs: 253, refusal: 'tcp-refused' } },
  });
  assert.deepEqual(starts(run), ['h3 6a 0', 'h2 4a 250', 'h2 4b 260']);
});

test('section 6: "the recommended minimum value is 100 milliseconds" for a delay from historical data', () => {
  const hints = { ...NO_HINTS, h3: known(1, 0.5) };
  assert.deepEqual(starts(play({ lists: [listed(0, ['h3 6a', 'h3 4a'])], with: { hints } })), [
    'h3 6a 0',
    'h3 4a 100',
  ]);
});

test('section 6: "the Connection Attempt Delay SHOULD have an upper bound [...] 2 seconds"', () => {
  const hints = { ...NO_HINTS, h3: known(1500, 700) };
  const slow = play({ lists: [listed(0, ['h3 6a', 'h3 4a'])], with: { hints } });
  assert.deepEqual(starts(slow), ['h3 6a 0', 'h3 4a 2000']);
  const asked = play({ lists: [listed(0, ['h3 6a', 'h3 4a'])], with: { attemptDelayMs: 9000 } });
  assert.deepEqual(starts(asked), ['h3 6a 0', 'h3 4a 2000']);
});

test('section 6: "in the case of the end of the list being reached, is cancelled": no last-resort timer', () => {
  const run = play({ lists: [listed(0, ['h3 6a', 'h2 4a'])] });
  assert.deepEqual(starts(run), ['h3 6a 0', 'h2 4a 250']);
  assert.equal(run.endedMs, TIMEOUT_MS);
});

test('section 6: a failed attempt starts the next at once, because only attempts in progress are paced', () => {
  const run = play({
    lists: [listed(0, ['h3 6a', 'h3 4a', 'h2 6a', 'h2 4b'])],
    peers: { '6a': REFUSED, '4a': { handshakeMs: 30, refusal: 'tls-alert' }, '4b': { handshakeMs: 5 } },
  });
  assert.deepEqual(starts(run), ['h3 6a 0', 'h3 4a 1', 'h2 6a 31', 'h2 4b 32']);
  assert.equal(run.trial.establishedMs, 37);
});

test('section 6: after a failure the next delay counts from the attempt that followed it', () => {
  const run = play({ lists: [listed(0, ['h3 6a', 'h3 4a', 'h2 4b'])], peers: { '6a': REFUSED } });
  assert.deepEqual(starts(run), ['h3 6a 0', 'h3 4a 1', 'h2 4b 251']);
});

test('section 6: when all have failed and the list is complete, the trial has failed', () => {
  const run = play({ lists: [listed(0, ['h3 6a', 'h2 4a'])], peers: { '6a': REFUSED, '4a': REFUSED } });
  assert.equal(run.trial.adopted, null);
  assert.equal(run.endedMs, 2);
});

test('section 6.1: "clients SHOULD wait for the TLS handshake to successfully complete before cancelling"', () => {
  // A proxy accepts TCP at once and never lets TLS through.
  const run = play({
    lists: [listed(0, ['h2 6a', 'h2 4a'])],
    peers: { '6a': { handshakeMs: null, transportMs: 2 }, '4a': { handshakeMs: 40, transportMs: 20 } },
  });
  assert.deepEqual(outcomes(run), ['6a cancelled', '4a adopted']);
});

test('section 6.1: "the timer SHOULD be extended to a new value" once TCP is up and TLS is not', () => {
  // 200 ms for TCP: from then on TLS gets three times that, not only the 50 ms left of the 250.
  const slow = { handshakeMs: 420, transportMs: 200 };
  const run = play({ lists: [listed(0, ['h2 6a', 'h2 4a'])], peers: { '6a': slow } });
  assert.deepEqual(starts(run), ['h2 6a 0']);
  const stuck = play({
    lists: [listed(0, ['h2 6a', 'h2 4a'])],
    peers: { '6a': { ...slow, handshakeMs: null } },
  });
  assert.deepEqual(starts(stuck), ['h2 6a 0', 'h2 4a 800']);
});

test('section 6.1: "the timer SHOULD be extended", never brought forward', () => {
  const run = play({
    lists: [listed(0, ['h2 6a', 'h2 4a'])],
    peers: { '6a': { handshakeMs: null, transportMs: 5 } },
  });
  assert.deepEqual(starts(run), ['h2 6a 0', 'h2 4a 250']);
});

test('section 6.1: progress of any attempt extends the timer, QUIC as well', () => {
  const run = play({
    lists: [listed(0, ['h3 6a', 'h2 4a', 'h2 4b'])],
    peers: { '6a': { handshakeMs: null, transportMs: 400 } },
  });
  assert.deepEqual(starts(run), ['h3 6a 0', 'h2 4a 250', 'h2 4b 1600']);
});

test('section 6.1: an attempt that made progress and failed starts the next at once', () => {
  const run = play({
    lists: [listed(0, ['h2 6a', 'h2 4a'])],
    peers: { '6a': { handshakeMs: 210, transportMs: 200, refusal: 'certificate-invalid' } },
  });
  assert.deepEqual(starts(run), ['h2 6a 0', 'h2 4a 210']);
});

test('section 6.2: "SHOULD NOT attempt [...] protocols that the client" leaves out: broken HTTP/3 costs no UDP', () => {
  const hints = { ...NO_HINTS, h3Broken: { code: 'udp-timeout', untilMs: 1000 } as const };
  const testbed = { lists: [listed(0, ['h3 6a', 'h2 6a', 'h3 4a', 'h2 4a'])] };
  assert.deepEqual(starts(play({ ...testbed, with: { hints, epochMs: 999 } })), ['h2 6a 0', 'h2 4a 250']);
  assert.equal(starts(play({ ...testbed, with: { hints, epochMs: 1000 } }))[0], 'h3 6a 0');
});

test('section 4.3: "any newly received endpoints are incorporated" while none is established', () => {
  const run = play({
    lists: [listed(0, ['h3 6a'], false), listed(40, ['h3 6a', 'h2 4a'])],
    peers: { '4a': { handshakeMs: 5 } },
  });
  assert.deepEqual(starts(run), ['h3 6a 0', 'h2 4a 250']);
  assert.equal(run.trial.adopted, 'h2');
});

test('section 4.4: "the client will not cancel those ongoing attempts when the answers expire"', () => {
  const run = play({
    lists: [listed(0, ['h3 6a', 'h2 4a'], false), listed(300, ['h2 4b'])],
    peers: { '6a': { handshakeMs: 400 } },
  });
  assert.deepEqual(outcomes(run), ['6a adopted', '4a cancelled']);
});

test('section 7: a removed endpoint with an attempt started: "SHOULD NOT be canceled"', () => {
  const run = play({
    lists: [listed(0, ['h3 6a']), listed(10, ['h2 4a'])],
    peers: { '6a': { handshakeMs: 90 } },
  });
  assert.deepEqual(outcomes(run), ['6a adopted']);
});

test('section 7: a removed endpoint not yet started: "it SHOULD be removed from the list"', () => {
  const run = play({ lists: [listed(0, ['h3 6a', 'h3 6b', 'h2 4a']), listed(10, ['h3 6a', 'h2 4a'])] });
  assert.deepEqual(starts(run), ['h3 6a 0', 'h2 4a 250']);
});

test('section 7: endpoints of address hints "SHOULD be removed" with the answers that lack them', () => {
  const run = play({ lists: [listed(0, ['h3 hint', 'h3 hint2'], false), listed(20, ['h3 6a', 'h2 6a'])] });
  assert.deepEqual(starts(run), ['h3 hint 0', 'h3 6a 250', 'h2 6a 500']);
});

test('section 7: an added endpoint\'s "position SHOULD be determined by applying the sorting rules"', () => {
  const run = play({
    lists: [listed(0, ['h3 6a', 'h3 6b', 'h3 6c'], false), listed(60, ['h3 6a', 'h3 4a', 'h3 6b', 'h3 6c'])],
  });
  assert.deepEqual(starts(run).slice(0, 3), ['h3 6a 0', 'h3 4a 250', 'h3 6b 500']);
});

test('section 7: "a DNS update alone does not justify rescheduling the timer"', () => {
  const run = play({
    lists: [listed(0, ['h3 6a', 'h2 4a'], false), listed(240, ['h3 6a', 'h2 4b', 'h2 4a'])],
  });
  assert.deepEqual(starts(run).slice(0, 2), ['h3 6a 0', 'h2 4b 250']);
});

test('section 7: an update after the end of the list starts its endpoint when the delay is over', () => {
  const early = play({ lists: [listed(0, ['h3 6a'], false), listed(100, ['h3 6a', 'h2 4a'])] });
  assert.deepEqual(starts(early), ['h3 6a 0', 'h2 4a 250']);
  const late = play({ lists: [listed(0, ['h3 6a'], false), listed(400, ['h3 6a', 'h2 4a'])] });
  assert.deepEqual(starts(late), ['h3 6a 0', 'h2 4a 400']);
});

test('section 7: an update after everything failed starts its endpoint at once', () => {
  const run = play({
    lists: [listed(0, ['h3 6a'], false), listed(35, ['h3 6a', 'h2 4a'])],
    peers: { '6a': REFUSED, '4a': { handshakeMs: 5 } },
  });
  assert.deepEqual(starts(run), ['h3 6a 0', 'h2 4a 35']);
  assert.equal(run.trial.establishedMs, 40);
});

test('section 7: an endpoint is never attempted twice, in whatever list and from whatever source it comes back', () => {
  const again = at('h3 6a', { source: 'https-record', host: 'svc.test' });
  const run = play({
    lists: [listed(0, ['h3 6a'], false), { atMs: 50, endpoints: [again, again, at('h2 4a')], final: true }],
    peers: { '6a': REFUSED, '4a': REFUSED },
  });
  assert.deepEqual(starts(run), ['h3 6a 0', 'h2 4a 50']);
});

test('an empty list ends the trial as soon as it is complete', () => {
  const failed = play({ lists: [{ atMs: 30, endpoints: null, final: true }] });
  assert.deepEqual([failed.trial.adopted, failed.endedMs], [null, 30]);
  const over = play({
    lists: [listed(0, ['h3 6a'], false), listed(35, ['h3 6a'])],
    peers: { '6a': REFUSED },
  });
  assert.deepEqual([over.trial.adopted, over.endedMs], [null, 35]);
});

test('no list in time: the trial ends at its deadline', () => {
  const run = play({ lists: [] });
  assert.deepEqual([run.trial.attempts.length, run.endedMs], [0, TIMEOUT_MS]);
});

test('a 421 from an alternative fails that endpoint, and the endpoints of the origin are tried', () => {
  const alternative = at('h3 6a', { source: 'alt-svc', host: 'b.test', port: 8443 });
  const run = play({
    lists: [{ atMs: 0, endpoints: [alternative, at('h2 6a'), at('h2 4a')], final: true }],
    peers: {
      '6a': { handshakeMs: 20, answerMs: 20, answerFailure: 'misdirected' },
      '4a': { handshakeMs: 9 },
    },
  });
  // The origin's own 6a answers like its alternative.
  assert.deepEqual(starts(run), ['h3 6a 0', 'h2 6a 40', 'h2 4a 80']);
  assert.equal(run.trial.attempts[0]?.error?.code, 'misdirected');
  assert.deepEqual([run.trial.attempts[0]?.host, run.trial.attempts[0]?.source], ['b.test', 'alt-svc']);
  assert.equal(run.trial.establishedMs, 89);
});

test('when the adopted attempt breaks, endpoints cancelled in its favour are attempted again, paced as before', () => {
  const run = play({
    lists: [listed(0, ['h2 6a', 'h2 6b', 'h3 4a'])],
    peers: { '4a': { handshakeMs: 30, answerMs: 10, answerFailure: 'h3-error' }, '6b': { handshakeMs: 600 } },
  });
  assert.deepEqual(starts(run), ['h2 6a 0', 'h2 6b 250', 'h3 4a 500', 'h2 6a 540', 'h2 6b 790']);
  assert.equal(run.trial.establishedMs, 1390);
});

test('endpoints brought back by a broken adoption are not lost when a new list arrives', () => {
  const peers = {
    '4a': { handshakeMs: 30, answerMs: 10, answerFailure: 'h3-error' as const },
    '6b': { handshakeMs: 600 },
  };
  const endpoints = ['h2 6a', 'h2 6b', 'h3 4a'];
  const run = play({ lists: [listed(0, endpoints, false), listed(600, endpoints)], peers });
  assert.deepEqual(starts(run), ['h2 6a 0', 'h2 6b 250', 'h3 4a 500', 'h2 6a 540', 'h2 6b 790']);
  assert.equal(run.trial.establishedMs, 1390);
  const removed = play({ lists: [listed(0, endpoints, false), listed(600, ['h2 6a', 'h3 4a'])], peers });
  assert.deepEqual(starts(removed).slice(3), ['h2 6a 540']);
});

test('HTTP/3 that failed on one family and was never tried on the other is undecided, not lost', () => {
  const refused: Behaviour = { handshakeMs: 1, refusal: 'udp-refused' };
  const peers = { '6a': refused, '4a': { handshakeMs: 20 }, '4b': { handshakeMs: 400 } };
  const untried = play({ lists: [listed(0, ['h3 6a', 'h2 4a', 'h3 4b'])], peers });
  assert.equal(untried.trial.h3Undecided, true);
  const cancelled = play({ lists: [listed(0, ['h3 6a', 'h3 4b', 'h2 4a'])], peers });
  assert.equal(cancelled.trial.h3Undecided, true);
  const beaten = play({ lists: [listed(0, ['h3 6b', 'h2 4a', 'h3 4b'])], peers });
  assert.equal(beaten.trial.h3Undecided, undefined, 'it did not fail');
  assert.equal(beaten.trial.untried, undefined, 'no limit was reached');
  const lost = play({ lists: [listed(0, ['h3 6a', 'h2 4a'])], peers });
  assert.equal(lost.trial.h3Undecided, undefined);
  const won = play({ lists: [listed(0, ['h3 6a', 'h3 4a', 'h3 4b'])], peers });
  assert.equal(won.trial.h3Undecided, undefined);
});
