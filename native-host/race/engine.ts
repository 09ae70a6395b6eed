// The race's state machine, free of I/O: events with their time go in, actions come out. It runs ONE trial by a plan of
// groups: P2 ("Happy Eyeballs for HTTP/3") between groups, section 6 of the Happy Eyeballs v3 draft within each.
import type { Attempt, AttemptError, Trial } from '@photofinish/shared/race/outcome';
import type { Endpoint } from '../discover/endpoint.ts';
import type { AttemptGroup } from './attempt-group.ts';
import { expiredError, type Run, waitedMs } from './attempt-run.ts';
import type { Traffic } from './contender.ts';
import type { TimerName, TrialAction, TrialEvent } from './events.ts';
import type { TrialPlan } from './plan.ts';
import { beginFresh, drain, heedLife, isSpent, open, openFirst, openNext } from './starting.ts';
import { answerDueMs, cutShort, isSilence, isTooShort } from './trial-budget.ts';
import { trialOf } from './trial-record.ts';
import { enter, isExhausted, isOpen, newTrial, setPace, setTimer, tell } from './trial-state.ts';

export interface TrialMachine {
  /** The first actions; call it once, at time 0. */
  start(): TrialAction[];
  /** Takes an event in and gives the actions it causes; those of ended attempts cause none, but tell of packets. */
  handle(event: TrialEvent, nowMs: number): TrialAction[];
  /** The trial as far as it has come. */
  record(): Trial;
  /** What its attempts cost the network as far as they have told. */
  traffic(): Traffic;
}

type AttemptEvent = Extract<TrialEvent, { attempt: number }>;
type EventOf<Type extends TrialEvent['type']> = Extract<TrialEvent, { type: Type }>;

const USER_CANCELLED: AttemptError = { code: 'cancelled', message: 'the race was cancelled' };

/**
 * A machine for one trial of `plan`. Invariants, whatever the order of events: at most one attempt is adopted at any
 * time; the decision has fallen by `timeoutMs`; no attempt is left running at `done`; only an adopted attempt, one that
 * gives way, or one beside another's request while nothing is adopted or the answer to that is overdue, is asked to send
 * a request; an endpoint is attempted again only if it was ended for the sake of an attempt that then broke or did not
 * answer; the next endpoint of a group starts no sooner than 10 ms after one that is still under way; silence is held
 * against nobody who had too little time; no more attempts are made, and at no more endpoints, than the plan allows, and
 * none once those that have told of it took more bytes or packets.
 */
export function createTrial(plan: TrialPlan): TrialMachine {
  const s = newTrial(plan);
  let finished = false;

  /** The one way in which an attempt ends by our own will. */
  function end(run: Run, outcome: Attempt['outcome'], nowMs: number): void {
    enter(s, run, 'over');
    run.outcome = outcome;
    const { winner } = run.group;
    // Beaten by the other QUIC attempt at the same endpoint: that one answers for both.
    const answeredFor = winner !== null && winner !== run && winner.endpoint === run.endpoint;
    if (outcome !== 'adopted' && !answeredFor) run.group.giveBack(run.endpoint);
    s.actions.push({ type: 'end', attempt: run.id });
    if (outcome === 'cancelled') tell(s, 'cancelled', run, nowMs);
  }

  /** Ends what a group has under way; endpoints that wait stay, in case the winner breaks. */
  function stop(group: AttemptGroup, nowMs: number): void {
    for (const run of group.connecting) end(run, 'cancelled', nowMs);
    setPace(s, group, null);
  }

  function ask(run: Run, nowMs: number): void {
    enter(s, run, 'asked');
    run.askedMs = nowMs;
    run.group.winner = run;
    s.actions.push({ type: 'request', attempt: run.id });
    stop(run.group, nowMs);
  }

  /** Ends what the other groups have under way, now that this attempt is the one. */
  function beat(run: Run, nowMs: number): void {
    setTimer(s, 'stagger', null);
    for (const group of s.groups) {
      const { winner } = group;
      if (winner !== null && winner !== run) {
        if (winner.phase === 'asked' || winner.phase === 'held') end(winner, 'cancelled', nowMs);
        group.winner = null;
      }
      if (group === run.group) continue;
      if (group.rules.whenBeaten === 'cancelled') stop(group, nowMs);
    }
  }

  function adopt(run: Run, nowMs: number): void {
    s.adopted = run;
    tell(s, 'adopted', run, nowMs);
    // Told late, after a timer had begun what was not needed any more.
    for (const other of s.runs)
      if (other.phase === 'connecting' && other !== run && other.startedMs > (run.establishedMs ?? nowMs))
        other.needless = other.group === run.group || other.group.rules.whenBeaten === 'cancelled';
    beat(run, nowMs);
    if (run.phase === 'connecting') {
      ask(run, nowMs);
      setTimer(s, 'answer', answerDueMs(nowMs, plan.timeoutMs));
    } else conclude(run, nowMs);
  }

  /** The adopted attempt has answered. */
  function conclude(run: Run, nowMs: number): void {
    setTimer(s, 'answer', null);
    end(run, 'adopted', nowMs);
    stop(run.group, nowMs);
  }

  /** The answer is overdue: it is still waited for, and whoever answers first is what the race settles on. */
  function onOverdue(nowMs: number): void {
    const run = s.adopted;
    if (run?.phase !== 'asked' || s.expired) return;
    enter(s, run, 'overdue');
    run.group.winner = null;
    for (const group of s.groups) group.requeue();
    run.group.putLast(run.endpoint.contender);
    for (const group of s.groups) resume(group, nowMs);
  }

  /** After a winner broke: a group goes on, with what was ended for the winner's sake. */
  function resume(group: AttemptGroup, nowMs: number): void {
    group.requeue();
    group.learnt = false;
    open(s, group, nowMs);
  }

  function fail(run: Run, error: AttemptError, nowMs: number): void {
    const { group } = run;
    const wasAdopted = s.adopted === run;
    const wasWinner = group.winner === run;
    const waited = waitedMs(run, Math.min(nowMs, plan.timeoutMs));
    const early = isSilence(error) && isTooShort(waited, plan.timeoutMs);
    enter(s, run, 'over');
    run.outcome = early ? 'cancelled' : 'failed';
    run.error = early ? cutShort(waited) : error;
    tell(s, run.outcome, run, nowMs);
    if (wasWinner) group.winner = null;
    // A handshake that leads to no answer is no success: the adoption falls back to whoever is left.
    if (wasAdopted) s.adopted = null;
    if (s.expired) return;
    group.scheduleNow();
    if (wasAdopted) for (const each of s.groups) resume(each, nowMs);
    else if (wasWinner) resume(group, nowMs);
    else drain(s, group, nowMs);
    if (s.adopted === null && isSpent(group)) openNext(s, nowMs);
  }

  function onProgressed(run: Run, { transportMs }: EventOf<'progressed'>, nowMs: number): void {
    if (run.phase !== 'connecting' || run.transportMs !== null) return;
    run.transportMs = transportMs;
    run.group.onProgress(run, transportMs);
    heedLife(s, run, transportMs);
    drain(s, run.group, nowMs);
  }

  /** Also of an attempt that was ended while this was on its way: what it sent was sent. */
  function heedCost(run: Run, { packets, traffic }: EventOf<'established' | 'failed' | 'answered'>): void {
    run.packets = packets ?? run.packets;
    if (traffic === undefined) return;
    s.traffic = {
      bytes: s.traffic.bytes + traffic.bytes - run.traffic.bytes,
      packets: s.traffic.packets + traffic.packets - run.traffic.packets,
    };
    run.traffic = traffic;
  }

  function onEstablished(run: Run, event: EventOf<'established'>, nowMs: number): void {
    heedCost(run, event);
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
    if (!isOpen(s)) {
      if (run.endpoint.contender === 'h3') s.lateH3 = true;
      end(run, 'established-late', nowMs);
      run.group.learnt = true;
      stop(run.group, nowMs);
    } else if (run.group.rules.givesWay || s.count.asked + s.count.overdue > 0) ask(run, nowMs);
    else adopt(run, nowMs);
  }

  function onFailed(run: Run, event: EventOf<'failed'>, nowMs: number): void {
    heedCost(run, event);
    if (run.phase === 'over') return;
    run.transportMs = event.transportMs ?? run.transportMs;
    const ownCode = run.phase !== 'expiring' || event.error.code !== 'cancelled';
    fail(run, ownCode ? event.error : expiredError(run, plan.timeoutMs), nowMs);
  }

  /** Attempt groups for which an answer in another group can name endpoints. */
  function learners(answered: Run): AttemptGroup[] {
    const learns = ({ rules, learnt, winner }: AttemptGroup): boolean =>
      rules.learns && rules.contenders.length > 0 && !learnt && winner === null;
    return s.groups.filter((group) => group !== answered.group && learns(group));
  }

  function onAnswered(run: Run, event: EventOf<'answered'>, nowMs: number): void {
    heedCost(run, event);
    if (run.phase !== 'asked' && run.phase !== 'overdue' && run.phase !== 'expiring') return;
    if (run.phase === 'expiring' && run !== s.adopted) {
      fail(run, expiredError(run, plan.timeoutMs), nowMs);
      return;
    }
    if (event.repeated !== undefined) {
      run.protocol = event.repeated.protocol;
      run.establishedMs = event.repeated.establishedMs;
      run.http11Required = true;
    }
    run.firstByteMs = event.firstByteMs;
    tell(s, 'first-byte', run, event.firstByteMs);
    if (run === s.adopted) {
      if (run.phase === 'overdue') beat(run, nowMs);
      conclude(run, nowMs);
    } else if (run.phase === 'overdue') end(run, 'cancelled', nowMs);
    else if (run.group.rules.givesWay && s.adopted === null) enter(s, run, 'held');
    else adopt(run, nowMs);
    if (s.expired || !event.advertises || learners(run).length === 0) return;
    s.following += 1;
    s.actions.push({ type: 'follow', attempt: run.id });
  }

  function onAlternatives(run: Run, { endpoints }: EventOf<'alternatives'>, nowMs: number): void {
    if (s.expired) return;
    s.following -= 1;
    for (const group of learners(run)) {
      const own = endpoints.filter((e) => group.rules.contenders.includes(e.contender));
      if (own.length === 0) continue;
      // What is advertised need not wait for what was only assumed.
      if (group.relist(own)) group.scheduleNow();
      open(s, group, nowMs);
    }
  }

  function onList(endpoints: readonly Endpoint[], final: boolean, nowMs: number): void {
    s.listed = final;
    for (const group of s.groups) {
      group.relist(endpoints);
      drain(s, group, nowMs);
    }
  }

  function onDeadline(): void {
    s.expired = true;
    s.following = 0;
    for (const run of s.runs) {
      if (run.phase === 'over' || run.phase === 'held') continue;
      enter(s, run, 'expiring');
      s.actions.push({ type: 'end', attempt: run.id });
    }
  }

  function onTimer(timer: TimerName, nowMs: number): void {
    if (timer === 'deadline') onDeadline();
    else if (timer === 'answer') onOverdue(nowMs);
    else if (timer === 'fresh') {
      if (!s.expired) beginFresh(s, nowMs);
    } else if (timer === 'stagger') {
      if (s.adopted === null && !s.expired) openNext(s, nowMs);
    } else {
      const group = s.groups[Number(timer.slice('group-'.length))];
      if (group === undefined) return;
      group.timerMs = null;
      drain(s, group, nowMs);
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
      const held = s.groups.find((group) => group.winner?.phase === 'held')?.winner;
      if (held) adopt(held, nowMs);
    }
    const { connecting, asked, overdue, held, expiring } = count;
    const busy = connecting + asked + overdue + held + expiring + s.following > 0;
    if (!busy && (s.adopted !== null || s.expired || s.listed || isExhausted(s))) finish();
  }

  function finish(): void {
    finished = true;
    for (const timer of ['stagger', 'fresh', 'answer', 'deadline'] as const) setTimer(s, timer, null);
    for (const group of s.groups) setPace(s, group, null);
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
    record: () => trialOf(s),
    traffic: () => s.traffic,
  };
}
