// A world in virtual time for tests of the engine: scripted attempts, the engine's invariants checked at every action,
// and simultaneous events in the order chosen by the test.
import assert from 'node:assert/strict';
import type { Progress } from '@photofinish/shared/port/wire';
import type { AttemptError, Trial } from '@photofinish/shared/race/outcome';
import type { TransportName } from '@photofinish/shared/race/terms';
import type { KnownProtocol } from '@photofinish/shared/web/protocol';
import { type Endpoint, sameEndpoint } from '../discover/discoverer.ts';
import { createTrial, type TrialMachine } from '../race/engine.ts';
import type { TrialAction, TrialEvent } from '../race/events.ts';
import type { TrialPlan } from '../race/plan.ts';
import type { Traffic } from '../race/transport.ts';

/** Behaviour of an attempt; times count from its start (handshake) or its request (answer), null: never. */
export interface Behaviour {
  readonly handshakeMs: number | null;
  /** The handshake ends in this failure instead of success. */
  readonly refusal?: AttemptError['code'];
  readonly protocol?: KnownProtocol;
  /** Its network cost, reported with its failure or its answer. */
  readonly traffic?: Traffic;
  /** Sign of life from the peer, null: none; absent: at the end of the handshake. */
  readonly transportMs?: number | null;
  readonly answerMs?: number | null;
  /** The request ends in this failure instead of an answer. */
  readonly answerFailure?: AttemptError['code'];
  /** Endpoints of the alternatives in the answer; resolving them takes `followMs`. */
  readonly advertises?: readonly Endpoint[];
  readonly followMs?: number | null;
}

/** A list emitted by discovery during a trial; null: it has failed. */
export interface Listing {
  readonly atMs: number;
  readonly endpoints: readonly Endpoint[] | null;
  readonly final: boolean;
}

/** An endpoint of the origin itself, by default on 127.0.0.1 and port 443. */
export function endpoint(transport: TransportName, more: Partial<Endpoint> = {}): Endpoint {
  return { transport, address: '127.0.0.1', port: 443, host: 'a.test', source: 'origin', ...more };
}

interface ProgressEvent {
  readonly event: Progress['event'];
  readonly transport: TransportName;
  readonly attempt: number;
  readonly atMs: number;
}

export interface Simulation {
  readonly trial: Trial;
  readonly told: readonly ProgressEvent[];
  readonly starts: readonly { readonly endpoint: Endpoint; readonly atMs: number }[];
  /** Numbers of the attempts that sent a request, in order. */
  readonly requests: readonly number[];
  /** Time of `done`. */
  readonly endedMs: number;
}

export interface World {
  readonly plan: TrialPlan;
  /** The behaviour of the transport's nth attempt, from 0. */
  readonly behave: (transport: TransportName, nth: number, endpoint: Endpoint) => Behaviour;
  /** Lists from discovery during the trial. */
  readonly lists?: readonly Listing[];
  /** Which of `count` simultaneous events comes next; default: the first. */
  readonly choose?: (count: number) => number;
  readonly cancelAtMs?: number;
  /** How long a transport takes to report that it has ended; default 0. */
  readonly endLatencyMs?: number;
}

interface PendingEvent {
  readonly atMs: number;
  readonly event: TrialEvent;
  readonly owner: number | string;
}

interface Model {
  readonly endpoint: Endpoint;
  readonly group: number;
  readonly behaviour: Behaviour;
  readonly awaitsAnswer: boolean;
  readonly startedMs: number;
  established: boolean;
  asked: boolean;
  /** Other attempts may start although its answer is pending. */
  overdue: boolean;
  over: boolean;
}

/** The world of a trial: attempts in progress, events so far, and those to come. */
class SimulatedWorld {
  readonly #world: World;
  readonly #machine: TrialMachine;
  readonly #pending: PendingEvent[] = [];
  readonly #models: Model[] = [];
  readonly #told: ProgressEvent[] = [];
  readonly #requests: number[] = [];
  #nowMs = 0;
  #adopted: number | null = null;
  #brokenWinners = 0;
  #endedMs: number | null = null;

  constructor(world: World) {
    this.#world = world;
    this.#machine = createTrial(world.plan);
  }

  play(): Simulation {
    if (this.#world.cancelAtMs !== undefined)
      this.#pending.push({ atMs: this.#world.cancelAtMs, owner: 'user', event: { type: 'cancelled' } });
    for (const { atMs, endpoints, final } of this.#world.lists ?? []) {
      const event: TrialEvent =
        endpoints === null ? { type: 'discovery-failed' } : { type: 'endpoints', endpoints, final };
      this.#pending.push({ atMs, owner: 'discovery', event });
    }
    this.#perform(this.#machine.start());
    while (this.#endedMs === null) {
      const nextMs = Math.min(...this.#pending.map((p) => p.atMs));
      assert.ok(Number.isFinite(nextMs), 'the trial hangs: nothing is pending and it is not done');
      const due = this.#pending.filter((p) => p.atMs === nextMs);
      const next = due[this.#world.choose?.(due.length) ?? 0];
      assert.ok(next);
      this.#pending.splice(this.#pending.indexOf(next), 1);
      this.#nowMs = nextMs;
      if (next.event.type === 'timer' && next.event.timer === 'answer') this.#onOverdue();
      this.#perform(this.#machine.handle(next.event, this.#nowMs));
    }
    const trial = this.#machine.record();
    checkRecord(trial, this.#world.plan);
    const starts = this.#models.map(({ endpoint, startedMs }) => ({ endpoint, atMs: startedMs }));
    return { trial, told: this.#told, starts, requests: this.#requests, endedMs: this.#endedMs };
  }

  #onOverdue(): void {
    const waiting =
      this.#adopted === null ? this.#models.find((m) => m.asked && !m.over) : this.#modelOf(this.#adopted);
    if (waiting === undefined) return;
    waiting.overdue = true;
    this.#brokenWinners += 1;
  }

  #modelOf(attempt: number): Model {
    const model = this.#models[attempt];
    assert.ok(model, `attempt ${attempt} was never started`);
    return model;
  }

  #costOf(attempt: number): { readonly traffic?: Traffic } {
    const { traffic } = this.#modelOf(attempt).behaviour;
    return traffic === undefined ? {} : { traffic };
  }

  #failure(attempt: number, code: AttemptError['code'], transportMs: number | null): TrialEvent {
    const error = { code, message: code };
    return { type: 'failed', attempt, error, transportMs, ...this.#costOf(attempt) };
  }

  /**
   * Endpoints are not attempted twice, unless a winner broke; only attempts in progress delay the next, except for 10
   * ms.
   */
  #checkStart(endpoint: Endpoint, group: number): void {
    const again = this.#models.filter((m) => sameEndpoint(m.endpoint, endpoint)).length;
    const hedges = this.#world.plan.pacing.hedge === null ? 0 : 1;
    if (this.#brokenWinners === 0) assert.ok(again <= hedges, 'no endpoint is attempted twice');
    for (const other of this.#models)
      if (other.group === group && !other.over && !other.established)
        assert.ok(this.#nowMs - other.startedMs >= 10 - 1e-9, 'a start within 10 ms of an attempt under way');
  }

  #onStart({ attempt, endpoint }: TrialAction & { type: 'start' }): void {
    assert.equal(attempt, this.#models.length, 'attempts are numbered in order');
    const { transport } = endpoint;
    const nth = this.#models.filter((m) => m.endpoint.transport === transport).length;
    const behaviour = this.#world.behave(transport, nth, endpoint);
    const group = this.#world.plan.groups.findIndex((l) => l.transports.includes(transport));
    assert.ok(group >= 0, 'only what a group holds is attempted');
    this.#checkStart(endpoint, group);
    const awaitsAnswer = this.#world.plan.groups[group]?.awaitsAnswer ?? false;
    const state = { startedMs: this.#nowMs, established: false, asked: false, overdue: false, over: false };
    this.#models.push({ endpoint, group, behaviour, awaitsAnswer, ...state });
    const { handshakeMs, transportMs: seen = handshakeMs } = behaviour;
    const transportMs = seen === null ? null : this.#nowMs + seen;
    if (transportMs !== null && seen !== handshakeMs && (handshakeMs === null || (seen ?? 0) < handshakeMs))
      this.#pending.push({
        atMs: transportMs,
        owner: `progress ${attempt}`,
        event: { type: 'progressed', attempt, transportMs },
      });
    if (handshakeMs === null) return;
    const atMs = this.#nowMs + handshakeMs;
    const event: TrialEvent = behaviour.refusal
      ? this.#failure(attempt, behaviour.refusal, transportMs)
      : {
          type: 'established',
          attempt,
          protocol: behaviour.protocol ?? transport,
          transportMs,
          establishedMs: atMs,
          rttMs: null,
        };
    this.#pending.push({ atMs, owner: attempt, event });
  }

  #onRequest(attempt: number): void {
    const model = this.#modelOf(attempt);
    assert.ok(model.established && !model.over, 'only a live, established attempt is asked');
    assert.ok(!model.asked, 'an attempt is asked once');
    // Requests sent beside an overdue one are still awaited when the overdue attempt breaks.
    const undecided = this.#adopted === null || this.#modelOf(this.#adopted).overdue;
    const beside = undecided && this.#models.some((m) => m.asked && !m.over);
    assert.ok(
      this.#adopted === attempt || model.awaitsAnswer || beside,
      'a late or undecided attempt sends no request',
    );
    model.asked = true;
    this.#requests.push(attempt);
    const { answerMs = 0, answerFailure, advertises } = model.behaviour;
    if (answerMs === null) return;
    const atMs = this.#nowMs + answerMs;
    const event: TrialEvent = answerFailure
      ? this.#failure(attempt, answerFailure, null)
      : {
          type: 'answered',
          attempt,
          firstByteMs: atMs,
          status: 200,
          ...this.#costOf(attempt),
          advertises: advertises !== undefined,
        };
    this.#pending.push({ atMs, owner: attempt, event });
  }

  #onFollow(attempt: number): void {
    const { advertises, followMs = 0 } = this.#modelOf(attempt).behaviour;
    assert.ok(advertises, 'only an advertisement is followed');
    if (followMs === null) return;
    this.#pending.push({
      atMs: this.#nowMs + followMs,
      owner: `follow ${attempt}`,
      event: { type: 'alternatives', attempt, endpoints: advertises },
    });
  }

  /** The transport's promise resolves nevertheless: with `cancelled`, unless its real end was already in flight. */
  #onEnd(attempt: number): void {
    const model = this.#modelOf(attempt);
    if (model.over) return;
    model.over = true;
    const progress = this.#pending.findIndex((p) => p.owner === `progress ${attempt}`);
    if (progress >= 0) this.#pending.splice(progress, 1);
    const due = this.#pending.findIndex((p) => p.owner === attempt);
    if (due >= 0 && (this.#pending[due]?.atMs ?? 0) <= this.#nowMs) return;
    if (due >= 0) this.#pending.splice(due, 1);
    const seen = model.behaviour.transportMs ?? null;
    const transportMs =
      seen !== null && model.startedMs + seen <= this.#nowMs ? model.startedMs + seen : null;
    const atMs = this.#nowMs + (this.#world.endLatencyMs ?? 0);
    this.#pending.push({ atMs, owner: attempt, event: this.#failure(attempt, 'cancelled', transportMs) });
  }

  #onTimer(action: TrialAction & { type: 'timer' }): void {
    const old = this.#pending.findIndex((p) => p.owner === action.timer);
    if (old >= 0) this.#pending.splice(old, 1);
    if (action.atMs === null) return;
    assert.ok(action.atMs >= this.#nowMs, 'no timer in the past');
    this.#pending.push({
      atMs: action.atMs,
      owner: action.timer,
      event: { type: 'timer', timer: action.timer },
    });
  }

  #onNotify({ event, attempt, transport, atMs }: TrialAction & { type: 'notify' }): void {
    this.#told.push({ event, transport, attempt, atMs });
    if (event === 'established') this.#modelOf(attempt).established = true;
    if (event === 'failed' || event === 'cancelled') {
      if (this.#modelOf(attempt).asked && !this.#modelOf(attempt).over) this.#brokenWinners += 1;
      this.#modelOf(attempt).over = true;
    }
    if ((event === 'failed' || event === 'cancelled') && attempt === this.#adopted) this.#adopted = null;
    if (event !== 'adopted') return;
    assert.ok(this.#adopted === null || this.#modelOf(this.#adopted).overdue, 'never two adoptions');
    assert.ok(atMs <= this.#world.plan.timeoutMs, 'the decision falls by the time-out');
    this.#adopted = attempt;
  }

  #perform(actions: readonly TrialAction[]): void {
    for (const action of actions) {
      assert.equal(this.#endedMs, null, 'nothing follows done');
      if (action.type === 'start') this.#onStart(action);
      else if (action.type === 'request') this.#onRequest(action.attempt);
      else if (action.type === 'follow') this.#onFollow(action.attempt);
      else if (action.type === 'end') this.#onEnd(action.attempt);
      else if (action.type === 'timer') this.#onTimer(action);
      else if (action.type === 'notify') this.#onNotify(action);
      else {
        this.#endedMs = this.#nowMs;
        assert.ok(
          this.#models.every((m) => m.over),
          'no attempt is left running',
        );
      }
    }
  }
}

/** Simulates one trial and returns the result. Throws when the engine violates an invariant. */
export function simulate(world: World): Simulation {
  return new SimulatedWorld(world).play();
}

/** Invariants of every finished trial. */
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
