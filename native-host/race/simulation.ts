// A world in virtual time for tests of the engine: attempts behave as told, every action is held against the engine's
// invariants the moment it is given, and events that fall on the same instant come in the order the test chooses.
import assert from 'node:assert/strict';
import type { AttemptError, ContenderName, Trial } from '@photofinish/shared/outcome';
import type { KnownProtocol } from '@photofinish/shared/protocol';
import type { Progress } from '@photofinish/shared/wire';
import { createTrial } from './engine.ts';
import type { TrialAction, TrialEvent } from './events.ts';
import type { TrialPlan } from './plan.ts';

/** How an attempt behaves; times count from its start (handshake) or its request (answer), null: never. */
export interface Behaviour {
  readonly handshakeMs: number | null;
  /** The handshake ends in this failure instead of success. */
  readonly refusal?: AttemptError['code'];
  readonly protocol?: KnownProtocol;
  /** Sign of life from the peer, null: none. */
  readonly transportMs?: number | null;
  readonly answerMs?: number | null;
  /** The request ends in this failure instead of an answer. */
  readonly answerFailure?: AttemptError['code'];
  readonly advertisedPort?: number | null;
}

export interface Told {
  readonly event: Progress['event'];
  readonly contender: ContenderName;
  readonly attempt: number;
  readonly atMs: number;
}

export interface Simulated {
  readonly trial: Trial;
  readonly told: readonly Told[];
  /** Numbers of the attempts that were asked to send a request, in order. */
  readonly requests: readonly number[];
  /** When `done` came. */
  readonly endedMs: number;
}

export interface World {
  readonly plan: TrialPlan;
  /** The behaviour of the contender's nth attempt, from 0. */
  readonly behave: (contender: ContenderName, nth: number) => Behaviour;
  /** Which of `count` simultaneous events comes next; the first unless said. */
  readonly choose?: (count: number) => number;
  readonly cancelAtMs?: number;
  /** What it takes a contender to say that it has ended; 0 unless said. */
  readonly endLatencyMs?: number;
}

interface Pending {
  readonly atMs: number;
  readonly event: TrialEvent;
  readonly owner: number | string;
}

interface Model {
  readonly contender: ContenderName;
  readonly behaviour: Behaviour;
  readonly givesWay: boolean;
  readonly startedMs: number;
  established: boolean;
  asked: boolean;
  over: boolean;
}

/** Plays one trial to its end and gives what came of it. Throws when the engine breaks an invariant. */
export function simulate(world: World): Simulated {
  const { plan } = world;
  const machine = createTrial(plan);
  const pending: Pending[] = [];
  const models: Model[] = [];
  const told: Told[] = [];
  const requests: number[] = [];
  let nowMs = 0;
  let adopted: number | null = null;
  let endedMs: number | null = null;

  const modelOf = (attempt: number): Model => {
    const model = models[attempt];
    assert.ok(model, `attempt ${attempt} was never started`);
    return model;
  };
  const failure = (attempt: number, code: AttemptError['code'], transportMs: number | null): TrialEvent => ({
    type: 'failed',
    attempt,
    error: { code, message: code },
    transportMs,
  });

  function onStart(action: TrialAction & { type: 'start' }): void {
    const { attempt, contender } = action;
    assert.equal(attempt, models.length, 'attempts are numbered in order');
    const nth = models.filter((m) => m.contender === contender).length;
    const behaviour = world.behave(contender, nth);
    const givesWay = plan.entrants.some((e) => e.contender === contender && e.givesWay);
    models.push({
      contender,
      behaviour,
      givesWay,
      startedMs: nowMs,
      established: false,
      asked: false,
      over: false,
    });
    if (behaviour.handshakeMs === null) return;
    const atMs = nowMs + behaviour.handshakeMs;
    const seen = behaviour.transportMs === undefined ? behaviour.handshakeMs : behaviour.transportMs;
    const transportMs = seen === null ? null : nowMs + seen;
    const event: TrialEvent = behaviour.refusal
      ? failure(attempt, behaviour.refusal, transportMs)
      : {
          type: 'established',
          attempt,
          protocol: behaviour.protocol ?? contender,
          transportMs,
          establishedMs: atMs,
        };
    pending.push({ atMs, owner: attempt, event });
  }

  function onRequest(attempt: number): void {
    const model = modelOf(attempt);
    assert.ok(model.established && !model.over, 'only a live, established attempt is asked');
    assert.ok(!model.asked, 'an attempt is asked once');
    assert.ok(adopted === attempt || model.givesWay, 'a late or undecided attempt sends no request');
    model.asked = true;
    requests.push(attempt);
    const { answerMs = 0, answerFailure, advertisedPort = null } = model.behaviour;
    if (answerMs === null) return;
    const atMs = nowMs + answerMs;
    const event: TrialEvent = answerFailure
      ? failure(attempt, answerFailure, null)
      : { type: 'answered', attempt, firstByteMs: atMs, advertisedPort };
    pending.push({ atMs, owner: attempt, event });
  }

  /** The contender's promise resolves all the same: with `cancelled`, unless its real end was on its way already. */
  function onEnd(attempt: number): void {
    const model = modelOf(attempt);
    if (model.over) return;
    model.over = true;
    const due = pending.findIndex((p) => p.owner === attempt);
    if (due >= 0 && (pending[due]?.atMs ?? 0) <= nowMs) return;
    if (due >= 0) pending.splice(due, 1);
    const seen = model.behaviour.transportMs ?? null;
    const transportMs = seen !== null && model.startedMs + seen <= nowMs ? model.startedMs + seen : null;
    const atMs = nowMs + (world.endLatencyMs ?? 0);
    pending.push({ atMs, owner: attempt, event: failure(attempt, 'cancelled', transportMs) });
  }

  function onTimer(action: TrialAction & { type: 'timer' }): void {
    const old = pending.findIndex((p) => p.owner === action.timer);
    if (old >= 0) pending.splice(old, 1);
    if (action.atMs === null) return;
    assert.ok(action.atMs >= nowMs, 'no timer in the past');
    pending.push({ atMs: action.atMs, owner: action.timer, event: { type: 'timer', timer: action.timer } });
  }

  function onTell({ event, attempt, contender, atMs }: TrialAction & { type: 'tell' }): void {
    told.push({ event, contender, attempt, atMs });
    if (event === 'established') modelOf(attempt).established = true;
    if (event === 'failed') modelOf(attempt).over = true;
    if ((event === 'failed' || event === 'cancelled') && attempt === adopted) adopted = null;
    if (event !== 'adopted') return;
    assert.equal(adopted, null, 'never two adoptions');
    assert.ok(atMs <= plan.timeoutMs, 'the decision falls by the time-out');
    adopted = attempt;
  }

  function perform(actions: readonly TrialAction[]): void {
    for (const action of actions) {
      assert.equal(endedMs, null, 'nothing follows done');
      if (action.type === 'start') onStart(action);
      else if (action.type === 'request') onRequest(action.attempt);
      else if (action.type === 'end') onEnd(action.attempt);
      else if (action.type === 'timer') onTimer(action);
      else if (action.type === 'tell') onTell(action);
      else {
        endedMs = nowMs;
        assert.ok(
          models.every((m) => m.over),
          'no attempt is left running',
        );
      }
    }
  }

  if (world.cancelAtMs !== undefined)
    pending.push({ atMs: world.cancelAtMs, owner: 'user', event: { type: 'cancelled' } });
  perform(machine.start());
  while (endedMs === null) {
    const nextMs = Math.min(...pending.map((p) => p.atMs));
    assert.ok(Number.isFinite(nextMs), 'the trial hangs: nothing is pending and it is not done');
    const due = pending.filter((p) => p.atMs === nextMs);
    const next = due[world.choose?.(due.length) ?? 0];
    assert.ok(next);
    pending.splice(pending.indexOf(next), 1);
    nowMs = nextMs;
    perform(machine.handle(next.event, nowMs));
  }
  const trial = machine.record();
  checkRecord(trial, plan);
  return { trial, told, requests, endedMs };
}

/** What holds for every finished trial. */
function checkRecord(trial: Trial, plan: TrialPlan): void {
  const winners = trial.attempts.filter((a) => a.outcome === 'adopted');
  assert.equal(winners.length, trial.adopted === null ? 0 : 1, 'one winner, or none');
  assert.equal(winners[0]?.protocol ?? null, trial.adopted);
  assert.equal(winners[0]?.establishedMs ?? null, trial.establishedMs);
  for (const a of trial.attempts) {
    assert.ok(a.outcome !== 'failed' || a.error, 'a failure has a reason');
    if (a.outcome === 'adopted') assert.notEqual(a.firstByteMs, null);
    if (a.outcome === 'established-late') assert.equal(a.firstByteMs, null);
  }
  assert.equal(
    trial.lateH3,
    trial.attempts.some((a) => a.protocol === 'h3' && a.outcome === 'established-late'),
  );
  assert.equal(trial.cacheHit, plan.cacheHit);
}
