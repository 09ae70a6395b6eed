// A world in virtual time for tests of the engine: attempts behave as told, every action is held against the engine's
// invariants the moment it is given, and events that fall on the same instant come in the order the test chooses.
import assert from 'node:assert/strict';
import type { Progress } from '@photofinish/shared/port/wire';
import type { AttemptError, ContenderName, Trial } from '@photofinish/shared/race/outcome';
import type { KnownProtocol } from '@photofinish/shared/web/protocol';
import { type Endpoint, sameEndpoint } from '../discover/endpoint.ts';
import type { Traffic } from '../race/contender.ts';
import { createTrial } from '../race/engine.ts';
import type { TrialAction, TrialEvent } from '../race/events.ts';
import type { TrialPlan } from '../race/plan.ts';

/** How an attempt behaves; times count from its start (handshake) or its request (answer), null: never. */
export interface Behaviour {
  readonly handshakeMs: number | null;
  /** The handshake ends in this failure instead of success. */
  readonly refusal?: AttemptError['code'];
  readonly protocol?: KnownProtocol;
  /** What it cost the network, told with its failure or its answer. */
  readonly traffic?: Traffic;
  /** Sign of life from the peer, null: none; left out: with the handshake's end. */
  readonly transportMs?: number | null;
  readonly answerMs?: number | null;
  /** The request ends in this failure instead of an answer. */
  readonly answerFailure?: AttemptError['code'];
  /** Where the alternatives are that the answer names; it takes `followMs` to find out. */
  readonly advertises?: readonly Endpoint[];
  readonly followMs?: number | null;
}

/** A list that discovery gives during a trial; null: it has failed. */
export interface Listing {
  readonly atMs: number;
  readonly endpoints: readonly Endpoint[] | null;
  readonly final: boolean;
}

/** An endpoint of the origin's own, on 127.0.0.1 and port 443 unless said. */
export function endpoint(contender: ContenderName, more: Partial<Endpoint> = {}): Endpoint {
  return { contender, address: '127.0.0.1', port: 443, host: 'a.test', source: 'origin', ...more };
}

interface ToldEvent {
  readonly event: Progress['event'];
  readonly contender: ContenderName;
  readonly attempt: number;
  readonly atMs: number;
}

export interface Simulation {
  readonly trial: Trial;
  readonly told: readonly ToldEvent[];
  readonly starts: readonly { readonly endpoint: Endpoint; readonly atMs: number }[];
  /** Numbers of the attempts that were asked to send a request, in order. */
  readonly requests: readonly number[];
  /** When `done` came. */
  readonly endedMs: number;
}

export interface World {
  readonly plan: TrialPlan;
  /** The behaviour of the contender's nth attempt, from 0. */
  readonly behave: (contender: ContenderName, nth: number, endpoint: Endpoint) => Behaviour;
  /** What discovery says during the trial. */
  readonly lists?: readonly Listing[];
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
  readonly endpoint: Endpoint;
  readonly group: number;
  readonly behaviour: Behaviour;
  readonly givesWay: boolean;
  readonly startedMs: number;
  established: boolean;
  asked: boolean;
  /** Its answer alone is not waited for any more. */
  overdue: boolean;
  over: boolean;
}

/** Plays one trial to its end and gives what came of it. Throws when the engine breaks an invariant. */
export function simulate(world: World): Simulation {
  const { plan } = world;
  const machine = createTrial(plan);
  const pending: Pending[] = [];
  const models: Model[] = [];
  const told: ToldEvent[] = [];
  const requests: number[] = [];
  let nowMs = 0;
  let adopted: number | null = null;
  let brokenWinners = 0;
  let endedMs: number | null = null;

  const modelOf = (attempt: number): Model => {
    const model = models[attempt];
    assert.ok(model, `attempt ${attempt} was never started`);
    return model;
  };
  const costOf = (attempt: number): { readonly traffic?: Traffic } => {
    const { traffic } = modelOf(attempt).behaviour;
    return traffic === undefined ? {} : { traffic };
  };
  const failure = (attempt: number, code: AttemptError['code'], transportMs: number | null): TrialEvent => ({
    type: 'failed',
    attempt,
    error: { code, message: code },
    transportMs,
    packets: null,
    ...costOf(attempt),
  });

  /** Endpoints are not attempted twice, unless a winner broke; only what is under way is waited for, but for 10 ms. */
  function checkStart(endpoint: Endpoint, group: number): void {
    const again = models.filter((m) => sameEndpoint(m.endpoint, endpoint)).length;
    const hedges = plan.pacing.hedge === null ? 0 : 1;
    if (brokenWinners === 0) assert.ok(again <= hedges, 'no endpoint is attempted twice');
    for (const other of models)
      if (other.group === group && !other.over && !other.established)
        assert.ok(nowMs - other.startedMs >= 10 - 1e-9, 'a start within 10 ms of an attempt under way');
  }

  function onStart({ attempt, endpoint }: TrialAction & { type: 'start' }): void {
    assert.equal(attempt, models.length, 'attempts are numbered in order');
    const { contender } = endpoint;
    const nth = models.filter((m) => m.endpoint.contender === contender).length;
    const behaviour = world.behave(contender, nth, endpoint);
    const group = plan.groups.findIndex((l) => l.contenders.includes(contender));
    assert.ok(group >= 0, 'only what a group holds is attempted');
    checkStart(endpoint, group);
    const givesWay = plan.groups[group]?.givesWay ?? false;
    const state = { startedMs: nowMs, established: false, asked: false, overdue: false, over: false };
    models.push({ endpoint, group, behaviour, givesWay, ...state });
    const { handshakeMs, transportMs: seen = handshakeMs } = behaviour;
    const transportMs = seen === null ? null : nowMs + seen;
    if (transportMs !== null && seen !== handshakeMs && (handshakeMs === null || (seen ?? 0) < handshakeMs))
      pending.push({
        atMs: transportMs,
        owner: `progress ${attempt}`,
        event: { type: 'progressed', attempt, transportMs },
      });
    if (handshakeMs === null) return;
    const atMs = nowMs + handshakeMs;
    const event: TrialEvent = behaviour.refusal
      ? failure(attempt, behaviour.refusal, transportMs)
      : {
          type: 'established',
          attempt,
          protocol: behaviour.protocol ?? contender,
          transportMs,
          establishedMs: atMs,
          rttMs: null,
          packets: null,
        };
    pending.push({ atMs, owner: attempt, event });
  }

  function onRequest(attempt: number): void {
    const model = modelOf(attempt);
    assert.ok(model.established && !model.over, 'only a live, established attempt is asked');
    assert.ok(!model.asked, 'an attempt is asked once');
    // What is asked beside an overdue answer is still waited for when the overdue attempt breaks.
    const undecided = adopted === null || modelOf(adopted).overdue;
    const beside = undecided && models.some((m) => m.asked && !m.over);
    assert.ok(
      adopted === attempt || model.givesWay || beside,
      'a late or undecided attempt sends no request',
    );
    model.asked = true;
    requests.push(attempt);
    const { answerMs = 0, answerFailure, advertises } = model.behaviour;
    if (answerMs === null) return;
    const atMs = nowMs + answerMs;
    const event: TrialEvent = answerFailure
      ? failure(attempt, answerFailure, null)
      : {
          type: 'answered',
          attempt,
          firstByteMs: atMs,
          packets: null,
          ...costOf(attempt),
          advertises: advertises !== undefined,
        };
    pending.push({ atMs, owner: attempt, event });
  }

  function onFollow(attempt: number): void {
    const { advertises, followMs = 0 } = modelOf(attempt).behaviour;
    assert.ok(advertises, 'only an advertisement is followed');
    if (followMs === null) return;
    pending.push({
      atMs: nowMs + followMs,
      owner: `follow ${attempt}`,
      event: { type: 'alternatives', attempt, endpoints: advertises },
    });
  }

  /** The contender's promise resolves all the same: with `cancelled`, unless its real end was on its way already. */
  function onEnd(attempt: number): void {
    const model = modelOf(attempt);
    if (model.over) return;
    model.over = true;
    const progress = pending.findIndex((p) => p.owner === `progress ${attempt}`);
    if (progress >= 0) pending.splice(progress, 1);
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
    if (event === 'failed' || event === 'cancelled') {
      if (modelOf(attempt).asked && !modelOf(attempt).over) brokenWinners += 1;
      modelOf(attempt).over = true;
    }
    if ((event === 'failed' || event === 'cancelled') && attempt === adopted) adopted = null;
    if (event !== 'adopted') return;
    assert.ok(adopted === null || modelOf(adopted).overdue, 'never two adoptions');
    assert.ok(atMs <= plan.timeoutMs, 'the decision falls by the time-out');
    adopted = attempt;
  }

  function perform(actions: readonly TrialAction[]): void {
    for (const action of actions) {
      assert.equal(endedMs, null, 'nothing follows done');
      if (action.type === 'start') onStart(action);
      else if (action.type === 'request') onRequest(action.attempt);
      else if (action.type === 'follow') onFollow(action.attempt);
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
  for (const { atMs, endpoints, final } of world.lists ?? []) {
    const event: TrialEvent =
      endpoints === null ? { type: 'undiscovered' } : { type: 'endpoints', endpoints, final };
    pending.push({ atMs, owner: 'discovery', event });
  }
  perform(machine.start());
  while (endedMs === null) {
    const nextMs = Math.min(...pending.map((p) => p.atMs));
    assert.ok(Number.isFinite(nextMs), 'the trial hangs: nothing is pending and it is not done');
    const due = pending.filter((p) => p.atMs === nextMs);
    const next = due[world.choose?.(due.length) ?? 0];
    assert.ok(next);
    pending.splice(pending.indexOf(next), 1);
    nowMs = nextMs;
    if (next.event.type === 'timer' && next.event.timer === 'answer' && adopted !== null) {
      modelOf(adopted).overdue = true;
      brokenWinners += 1;
    }
    perform(machine.handle(next.event, nowMs));
  }
  const trial = machine.record();
  checkRecord(trial, plan);
  const starts = models.map(({ endpoint, startedMs }) => ({ endpoint, atMs: startedMs }));
  return { trial, told, starts, requests, endedMs };
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
