// A walk through the race's state machine, to read before engine.ts: QUIC is slow, TCP starts beside it after its delay
// and is adopted, QUIC is established late. No clock and no socket: the caller supplies the events and carries out the
// actions.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plainPlan } from '../testing/race.ts';
import { endpoint } from '../testing/simulation.ts';
import { createTrial } from './engine.ts';
import type { TrialAction } from './events.ts';

/** The actions in words, without notifications to listeners. */
function words(actions: readonly TrialAction[]): string[] {
  return actions.flatMap((action) => {
    if (action.type === 'notify') return [];
    if (action.type === 'start') return [`start ${action.attempt}: ${action.endpoint.transport}`];
    if (action.type === 'timer') return [`${action.timer} at ${action.atMs ?? 'no time'}`];
    return ['attempt' in action ? `${action.type} ${action.attempt}` : action.type];
  });
}

test('a trial: timestamped events in, actions out', () => {
  const endpoints = [endpoint('h3'), endpoint('h2')];
  const trial = createTrial(plainPlan({ mode: 'race', endpoints, timeoutMs: 3000 }));

  // QUIC is attempted at once, and TCP's connection attempt delay of 10 ms begins.
  assert.deepEqual(words(trial.start()), ['deadline at 3000', 'start 0: h3', 'stagger at 10']);
  assert.deepEqual(words(trial.handle({ type: 'timer', timer: 'stagger' }, 10)), ['start 1: h2']);

  // The first attempt established is adopted: its request is sent, its answer has a time limit, and QUIC continues.
  const established = { transportMs: 20, rttMs: null } as const;
  const tcp = { type: 'established', attempt: 1, protocol: 'h2', establishedMs: 30, ...established } as const;
  assert.deepEqual(words(trial.handle(tcp, 30)), ['stagger at no time', 'request 1', 'answer at 1515']);
  const answered = {
    type: 'answered',
    attempt: 1,
    firstByteMs: 45,
    status: 200,
    advertises: false,
  } as const;
  assert.deepEqual(words(trial.handle(answered, 45)), ['answer at no time', 'end 1']);

  // HTTP/3 established late is learnt, not used; then the trial is done, and all timers are cleared.
  const quic = {
    type: 'established',
    attempt: 0,
    protocol: 'h3',
    establishedMs: 60,
    ...established,
  } as const;
  const last = words(trial.handle(quic, 60));
  assert.deepEqual([last[0], last.at(-1)], ['end 0', 'done']);
  const { adopted, lateH3, attempts } = trial.record();
  assert.deepEqual([adopted, lateH3], ['h2', true]);
  assert.deepEqual(
    attempts.map(({ outcome }) => outcome),
    ['established-late', 'adopted'],
  );
});
