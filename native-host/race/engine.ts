// The race's state machine, free of I/O: events with their time go in, actions come out. It runs ONE trial by a plan of
// lanes: P2 ("Happy Eyeballs for HTTP/3") between lanes, section 6 of the Happy Eyeballs v3 draft within each.
import type { Attempt, AttemptError, Trial } from '@photofinish/shared/outcome';
import type { Endpoint } from '../discover/endpoint.ts';
import { attemptOf, expiredError, type Run, rounded } from './attempt-run.ts';
import type { TimerName, TrialAction, TrialEvent } from './events.ts';
import type { Lane } from './lane.ts';
import type { TrialPlan } from './plan.ts';
import { beginFresh, heedLife, isSpent, open, openFirst, openNext, pump } from './starting.ts';
import { enter, newTrial, setPace, setTimer, tell } from './trial-state.ts';

export interface TrialMachine {
  /** The first actions; call it once, at time 0. */
  start(): TrialAction[];
  /** Takes an event in and gives the actions it causes; those of ended attempts cause none, but tell of packets. */
  handle(event: TrialEvent, nowMs: number): TrialAction[];
  /** The trial as far as it has come. */
  record(): Trial;
}

type AttemptEvent = Extract<TrialEvent, { attempt: number }>;
type EventOf<Type extends TrialEvent['type']> = Extract<TrialEvent, { type: Type }>;

const USER_CANCELLED: AttemptError = { code: 'cancelled', message: 'the race was cancelled' };

/**
 * A machine for one trial of `plan`. Invariants, whatever the order of events: at most one attempt is adopted at any
 * time; the decision has fallen by `timeoutMs`; no attempt is left running at `done`; only an adopted attempt, or one
 * that gives way, is asked to send a request; a place is attempted again only if it was ended for the sake of an
 * attempt that then broke; the next place of a lane starts no sooner than 10 ms after one that is still under way.
 */
export function createTrial(plan: TrialPlan): TrialMachine {
  const s = newTrial(plan);
  let lateH3 = false;
  let finished = false;

  /** The one way in which an attempt ends by our own will. */
  function end(run: Run, outcome: Attempt['outcome'], nowMs: number): void {
    enter(s, run, 'over');
    run.outcome = outcome;
    const { winner } = run.lane;
    // Beaten by the other QUIC attempt at the same place: that one answers for both.
    const answeredFor = winner !== null && winner !== run && winner.endpoint === run.endpoint;
    if (outcome !== 'adopted' && !answeredFor) run.lane.giveBack(run.endpoint);
    s.actions.push({ type: 'end', attempt: run.id });
    if (outcome === 'cancelled') tell(s, 'cancelled', run, nowMs);
  }

  /** Ends what a lane has under way; places that wait stay, in case the winner breaks. */
  function stop(lane: Lane, nowMs: number): void {
    for (const run of lane.connecting) end(run, 'cancelled', nowMs);
    setPace(s, lane, null);
  }

  function ask(run: Run, nowMs: number): void {
    enter(s, run, 'asked');
    run.lane.winner = run;
    s.actions.push({ type: 'request', attempt: run.id });
    stop(run.lane, nowMs);
  }

  function adopt(run: Run, nowMs: number): void {
    s.adopted = run;
    tell(s, 'adopted', run, nowMs);
    setTimer(s, 'stagger', null);
    for (const lane of s.lanes) {
      if (lane === run.lane) continue;
      if (lane.winner?.phase === 'asked' || lane.winner?.phase === 'held')
        end(lane.winner, 'cancelled', nowMs);
      lane.winner = null;
      if (lane.rules.whenBeaten === 'cancelled') stop(lane, nowMs);
    }
    if (run.phase === 'connecting') ask(run, nowMs);
    else end(run, 'adopted', nowMs);
  }

  /** After a winner broke: a lane goes on, with what was ended for the winner's sake. */
  function resume(lane: Lane, nowMs: number): void {
    lane.requeue();
    lane.learnt = false;
    open(s, lane, nowMs);
  }

  function fail(run: Run, error: AttemptError, nowMs: number): void {
    const { lane } = run;
    const wasAdopted = s.adopted === run;
    const wasWinner = lane.winner === run;
    enter(s, run, 'over');
    run.outcome = 'failed';
    run.error = error;
    tell(s, 'failed', run, nowMs);
    if (wasWinner) lane.winner = null;
    // A handshake that leads to no answer is no success: the adoption falls back to whoever is left.
    if (wasAdopted) s.adopted = null;
    if (s.expired) return;
    lane.hurry();
    if (wasAdopted) for (const each of s.lanes) resume(each, nowMs);
    else if (wasWinner) resume(lane, nowMs);
    else pump(s, lane, nowMs);
    if (s.adopted === null && isSpent(lane)) openNext(s, nowMs);
  }

  function onProgressed(run: Run, { transportMs }: EventOf<'progressed'>, nowMs: number): void {
    if (run.phase !== 'connecting' || run.transportMs !== null) return;
    run.transportMs = transportMs;
    run.lane.onProgress(run, transportMs);
    heedLife(s, run, transportMs);
    pump(s, run.lane, nowMs);
  }

  function onEstablished(run: Run, event: EventOf<'established'>, nowMs: number): void {
    // Also of an attempt that was ended while this was on its way: what it sent was sent.
    run.packets = event.packets ?? run.packets;
    if (run.phase !== 'connecting' && run.phase !== 'expiring') return;
    run.transportMs = event.transportMs ?? run.transportMs;
    // The deadline had already decided when this handshake's end came in.
    if (run.phase === 'expiring' && s.adopted === null) {
      fail(run, expiredError(run, plan.timeoutMs), nowMs);
      return;
    }
    run.protocol = event.protocol;
    run.establishedMs = event.establishedMs;
    run.rttMs = event.rttMs;
    tell(s, 'established', run, event.establishedMs);
    if (s.adopted !== null) {
      if (run.endpoint.contender === 'h3') lateH3 = true;
      end(run, 'established-late', nowMs);
      run.lane.learnt = true;
      stop(run.lane, nowMs);
    } else if (run.lane.rules.givesWay) ask(run, nowMs);
    else adopt(run, nowMs);
  }

  function onFailed(run: Run, event: EventOf<'failed'>, nowMs: number): void {
    run.packets = event.packets ?? run.packets;
    if (run.phase === 'over') return;
    run.transportMs = event.transportMs ?? run.transportMs;
    const ownCode = run.phase !== 'expiring' || event.error.code !== 'cancelled';
    fail(run, ownCode ? event.error : expiredError(run, plan.timeoutMs), nowMs);
  }

  /** Lanes for which an answer in another lane can name places. */
  function learners(answered: Run): Lane[] {
    const learns = ({ rules, learnt, winner }: Lane): boolean =>
      rules.learns && rules.contenders.length > 0 && !learnt && winner === null;
    return s.lanes.filter((lane) => lane !== answered.lane && learns(lane));
  }

  function onAnswered(run: Run, event: EventOf<'answered'>, nowMs: number): void {
    run.packets = event.packets ?? run.packets;
    if (run.phase !== 'asked' && run.phase !== 'expiring') return;
    if (run.phase === 'expiring' && run !== s.adopted) {
      fail(run, expiredError(run, plan.timeoutMs), nowMs);
      return;
    }
    run.firstByteMs = event.firstByteMs;
    tell(s, 'first-byte', run, event.firstByteMs);
    if (run === s.adopted) end(run, 'adopted', nowMs);
    else enter(s, run, 'held');
    if (s.expired || !event.advertises || learners(run).length === 0) return;
    s.following += 1;
    s.actions.push({ type: 'follow', attempt: run.id });
  }

  function onAlternatives(run: Run, { endpoints }: EventOf<'alternatives'>, nowMs: number): void {
    if (s.expired) return;
    s.following -= 1;
    for (const lane of learners(run)) {
      const own = endpoints.filter((e) => lane.rules.contenders.includes(e.contender));
      if (own.length === 0) continue;
      // What is advertised need not wait for what was only assumed.
      if (lane.relist(own)) lane.hurry();
      open(s, lane, nowMs);
    }
  }

  function onList(endpoints: readonly Endpoint[], final: boolean, nowMs: number): void {
    s.listed = final;
    for (const lane of s.lanes) {
      lane.relist(endpoints);
      pump(s, lane, nowMs);
    }
  }

  function onDeadline(): void {
    s.expired = true;
    s.following = 0;
    for (const run of s.runs) {
      if (run.phase !== 'connecting' && run.phase !== 'asked') continue;
      enter(s, run, 'expiring');
      s.actions.push({ type: 'end', attempt: run.id });
    }
  }

  function onTimer(timer: TimerName, nowMs: number): void {
    if (timer === 'deadline') onDeadline();
    else if (timer === 'fresh') {
      if (!s.expired) beginFresh(s, nowMs);
    } else if (timer === 'stagger') {
      if (s.adopted === null && !s.expired) openNext(s, nowMs);
    } else {
      const lane = s.lanes[Number(timer.slice('lane-'.length))];
      if (lane === undefined) return;
      lane.timerMs = null;
      pump(s, lane, nowMs);
    }
  }

  function onCancelled(nowMs: number): void {
    s.expired = true;
    s.following = 0;
    if (s.adopted?.phase !== 'over') s.adopted = null;
    for (const run of s.runs) {
      if (run.phase === 'over') continue;
      end(run, 'cancelled', nowMs);
      run.error = USER_CANCELLED;
    }
  }

  /** Draws the conclusions that no single event holds. */
  function settle(nowMs: number): void {
    const { count } = s;
    if (s.adopted === null && count.held > 0 && count.connecting + count.asked + s.following === 0) {
      const held = s.lanes.find((lane) => lane.winner?.phase === 'held')?.winner;
      if (held) adopt(held, nowMs);
    }
    const busy = count.connecting + count.asked + count.held + count.expiring + s.following > 0;
    if (!busy && (s.adopted !== null || s.expired || s.listed)) finish();
  }

  /** Whether HTTP/3 failed somewhere and yet is not lost: the race was decided before its other places were. */
  function h3Undecided(): boolean {
    const h3 = s.runs.filter((run) => run.endpoint.contender === 'h3');
    const proven = (run: Run): boolean => run.outcome === 'adopted' || run.outcome === 'established-late';
    if (s.expired || h3.some(proven) || !h3.some((run) => run.outcome === 'failed')) return false;
    return h3.some((run) => run.outcome === 'cancelled') || s.lanes.some((lane) => lane.holds('h3'));
  }

  function finish(): void {
    finished = true;
    for (const timer of ['stagger', 'fresh', 'deadline'] as const) setTimer(s, timer, null);
    for (const lane of s.lanes) setPace(s, lane, null);
    s.actions.push({ type: 'done' });
  }

  function taken(): TrialAction[] {
    const { actions } = s;
    s.actions = [];
    return actions;
  }

  function dispatch(event: AttemptEvent, nowMs: number): void {
    const run = s.runs[event.attempt];
    if (run === undefined) throw new RangeError(`no attempt ${event.attempt}`);
    if (event.type === 'progressed') onProgressed(run, event, nowMs);
    else if (event.type === 'established') onEstablished(run, event, nowMs);
    else if (event.type === 'failed') onFailed(run, event, nowMs);
    else if (event.type === 'answered') onAnswered(run, event, nowMs);
    else onAlternatives(run, event, nowMs);
  }

  return {
    start() {
      setTimer(s, 'deadline', plan.timeoutMs);
      openFirst(s);
      settle(0);
      return taken();
    },
    handle(event, nowMs) {
      if (finished) {
        if (event.type === 'failed' || event.type === 'established') dispatch(event, nowMs);
        return [];
      }
      if (event.type === 'timer') onTimer(event.timer, nowMs);
      else if (event.type === 'cancelled') onCancelled(nowMs);
      else if (event.type === 'endpoints') onList(event.endpoints, event.final, nowMs);
      else if (event.type === 'undiscovered') onList([], true, nowMs);
      else dispatch(event, nowMs);
      settle(nowMs);
      return taken();
    },
    record: () => ({
      adopted: s.adopted?.protocol ?? null,
      establishedMs: rounded(s.adopted?.establishedMs ?? null),
      firstByteMs: rounded(s.adopted?.firstByteMs ?? null),
      lateH3,
      cacheHit: plan.cacheHit,
      ...(h3Undecided() && { h3Undecided: true }),
      attempts: s.runs.map((run) => attemptOf(run, plan.host)),
    }),
  };
}
