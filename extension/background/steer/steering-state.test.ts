// The steps of steering: when it begins, what undoes it, and that every advertisement is withdrawn once.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Origin } from '@photofinish/shared/web/origin';
import fc from 'fast-check';
import {
  ADVERTISED_MS,
  advertisement,
  allUndone,
  CLEAR,
  expired,
  headerOf,
  isOurs,
  NOTHING_STEERED,
  onNetwork,
  reachOf,
  STEERED_MS,
  type SteerEvidence,
  type SteerState,
  steeringOf,
  withChoice,
  withEvidence,
  withResponse,
} from './steering-state.ts';

const A = 'https://a.test:8443' as Origin;
const B = 'https://b.test' as Origin;
const REACHED: SteerEvidence = { reach: 'h3', advertised: false, network: 'home', anew: false };
const BROKEN: SteerEvidence = { reach: 'older', advertised: true, network: 'home', anew: false };
const chosen = withChoice(NOTHING_STEERED, A, true, 0);
const active = withEvidence(chosen, A, REACHED, 0);
const heard = withResponse(active, answer({ altSvc: advertisement(A) }));

function answer(more: object = {}) {
  return { origin: A, h3: false, document: true, altSvc: null, atMs: 10, ...more };
}

test('only an origin that was chosen is steered, and only with evidence', () => {
  assert.equal(withEvidence(NOTHING_STEERED, A, REACHED, 0), NOTHING_STEERED);
  for (const evidence of [
    { ...REACHED, reach: 'unknown' },
    { ...REACHED, advertised: true },
    { ...BROKEN, advertised: false },
  ] as const)
    assert.equal(withEvidence(chosen, A, evidence, 0), chosen);
});

test('HTTP/3 that the server does not advertise is advertised, on the origin’s own port', () => {
  const steering = steeringOf(active, A);
  assert.ok(steering);
  assert.equal(headerOf(steering), 'h3=":8443"; ma=3600');
});

test('HTTP/3 that is broken here is withdrawn, and undoing that leaves nothing behind', () => {
  const withdrawn = withEvidence(chosen, A, BROKEN, 0);
  const steering = steeringOf(withdrawn, A);
  assert.ok(steering);
  assert.equal(headerOf(steering), CLEAR);
  assert.equal(steeringOf(withChoice(withdrawn, A, false, 1), A), undefined);
});

test('an advertisement that the browser saw is withdrawn by one clear; one never seen is simply dropped', () => {
  assert.equal(steeringOf(withChoice(active, A, false, 20), A), undefined);
  const undoing = withChoice(heard, A, false, 20);
  const steering = steeringOf(undoing, A);
  assert.ok(steering?.undoing);
  assert.equal(headerOf(steering), CLEAR);
  assert.equal(withResponse(undoing, answer({ altSvc: null })), undoing);
  assert.equal(steeringOf(withResponse(undoing, answer({ altSvc: CLEAR, h3: true })), A), undefined);
});

test('a clear that is never seen ends when the advertisement has expired in the browser', () => {
  const undoing = allUndone(heard, 100);
  assert.ok(steeringOf(expired(undoing, 99 + ADVERTISED_MS), A));
  assert.equal(steeringOf(expired(undoing, 100 + ADVERTISED_MS), A), undefined);
});

test('another network, a failed race, silence and a browser that does not follow all undo it', () => {
  assert.ok(steeringOf(onNetwork(heard, 'work', 20), A)?.undoing);
  assert.equal(onNetwork(heard, 'home', 20), heard);
  const elsewhere = withEvidence(heard, A, { ...REACHED, network: 'work' }, 20);
  assert.equal(elsewhere.undone[A], 'network');
  const failed = withEvidence(heard, A, { ...BROKEN, advertised: false }, 20);
  assert.ok(steeringOf(failed, A)?.undoing);
  assert.equal(failed.undone[A], 'failed');
  assert.ok(steeringOf(expired(heard, STEERED_MS), A)?.undoing);
  let stays: SteerState = heard;
  for (let visit = 0; visit < 4; visit += 1) stays = withResponse(stays, answer({ atMs: 20 + visit }));
  assert.equal(stays.undone[A], 'failed');
});

test('what failed restarts by a race or the user, not by earlier evidence', () => {
  let failed: SteerState = heard;
  for (let visit = 0; visit < 4; visit += 1) failed = withResponse(failed, answer({ atMs: 20 + visit }));
  assert.equal(withEvidence(failed, A, REACHED, 50), failed);
  const gone = withResponse(failed, answer({ altSvc: CLEAR }));
  assert.equal(withEvidence(gone, A, REACHED, 60), gone);
  const again = withEvidence(gone, A, { ...REACHED, anew: true }, 60);
  assert.equal(steeringOf(again, A)?.undoing, false);
  assert.equal(again.undone[A], undefined);
});

test('a clear seen by another site’s page does not count for the origin’s own page', () => {
  const undoing = withChoice(heard, A, false, 20);
  assert.equal(withResponse(undoing, answer({ altSvc: CLEAR, document: false })), undoing);
});

test('an origin that no rule can match exactly is not steered', () => {
  const wild = 'https://*.a.test' as Origin;
  const state = withChoice(NOTHING_STEERED, wild, true, 0);
  assert.equal(withEvidence(state, wild, REACHED, 0), state);
});

test('HTTP/3 in between, and resources over TCP, are no misses', () => {
  let state = heard;
  for (let visit = 0; visit < 20; visit += 1)
    state = withResponse(state, answer({ atMs: 20 + visit, h3: visit % 3 === 2 }));
  for (let i = 0; i < 20; i += 1) state = withResponse(state, answer({ document: false }));
  assert.equal(steeringOf(state, A)?.undoing, false);
});

test('evidence renews it, and evidence during withdrawal restarts it', () => {
  assert.equal(steeringOf(withEvidence(heard, A, REACHED, 500), A)?.untilMs, 500 + STEERED_MS);
  const again = withEvidence(onNetwork(heard, 'work', 20), A, { ...REACHED, network: 'work' }, 30);
  assert.equal(steeringOf(again, A)?.undoing, false);
  assert.equal(again.undone[A], undefined);
  const back = withChoice(again, A, false, 40);
  assert.ok(steeringOf(back, A)?.undoing, 'it was heard before, so it is still taken back');
});

test('our own headers are distinguished from the server’s', () => {
  assert.ok(isOurs(active, A, advertisement(A)));
  assert.ok(isOurs(active, A, CLEAR));
  assert.equal(isOurs(active, B, CLEAR), false);
  assert.equal(isOurs(active, A, 'h3=":8443"; ma=60'), false);
  assert.equal(
    isOurs(active, B, advertisement(B)),
    false,
    'a server may send the same where nothing is steered',
  );
  assert.equal(isOurs(active, A, 'h3=":8443"; ma=60; photofinish=1'), false);
});

test('for any events: rule ids are unique, only chosen origins begin, and everything expires', () => {
  const origins = [A, B, 'https://c.test' as Origin];
  const step = fc.record({
    what: fc.constantFrom('choose', 'evidence', 'network', 'answer', 'expire', 'off'),
    origin: fc.constantFrom(...origins),
    on: fc.boolean(),
    reach: fc.constantFrom('h3', 'older', 'unknown'),
    network: fc.constantFrom('home', 'work'),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      let state: SteerState = NOTHING_STEERED;
      let nowMs = 0;
      for (const { what, origin, on, reach, network } of steps) {
        nowMs += 60_000;
        const before = new Set(state.steerings.map((s) => s.origin));
        if (what === 'choose') state = withChoice(state, origin, on, nowMs);
        if (what === 'evidence')
          state = withEvidence(state, origin, { reach, advertised: on, network, anew: on }, nowMs);
        if (what === 'network') state = onNetwork(state, network, nowMs);
        if (what === 'expire') state = expired(state, nowMs);
        if (what === 'off') state = allUndone(state, nowMs);
        if (what === 'answer') {
          const current = steeringOf(state, origin);
          const altSvc = current ? headerOf(current) : null;
          state = withResponse(state, { origin, h3: on, document: true, altSvc, atMs: nowMs });
        }
        const ids = state.steerings.map((s) => s.ruleId);
        assert.equal(new Set(ids).size, ids.length);
        for (const s of state.steerings) assert.ok(before.has(s.origin) || state.chosen.includes(s.origin));
      }
      const later = expired(expired(state, nowMs + STEERED_MS), nowMs + STEERED_MS + ADVERTISED_MS);
      assert.deepEqual(later.steerings, []);
    }),
  );
});

test("only this machine's own races steer, not those of others", () => {
  const reach = { protocol: 'h3', ageMs: 0, fresh: true } as const;
  assert.equal(reachOf({ ...reach, basis: 'raced' }), 'h3');
  assert.equal(reachOf({ ...reach, basis: 'shared' }), 'unknown');
});
