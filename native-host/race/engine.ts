// The race's state machine, free of I/O: timestamped events in, actions out. It runs ONE trial according to a plan of
// groups: P2 ("Happy Eyeballs for HTTP/3") between groups, section 6 of the Happy Eyeballs v3 draft within each.
// example.test.ts walks through a trial.
//
// In (TrialEvent, events.ts): progress of attempts (progressed, established, failed, answered), endpoints found by
// discovery or named by an answer during the trial, timers, and the user's cancellation.
//
// Out (TrialAction): start an attempt at an endpoint, send the request over it, follow what its answer advertises, end
// it; set a timer; notify listeners; done.
//
// Timers, one of each name: `deadline` ends the trial; `stagger` opens the staggered groups (pacing.ts: TCP's
// connection attempt delay); `group-N` starts the next endpoint of a group (the draft's Connection Attempt Delay);
// `hedge` starts a second QUIC attempt beside a first one that is overdue; `answer` starts other attempts beside the
// only request if it is not answered.
//
// Read next: modes.ts (the kinds of races), plan.ts (the plan of one trial), trial-rules.ts (what is attempted
// when, what is adopted, and what ends then), drive.ts (carries out the actions).
import type { AttemptError, Trial } from '@photofinish/shared/race/outcome';
import type { Endpoint } from '../discover/discoverer.ts';
import { type AttemptGroup, type AttemptState, expiredError, waitedMs } from './attempt-group.ts';
import type { TimerName, TrialAction, TrialEvent } from './events.ts';
import type { TrialPlan } from './plan.ts';
import type { Traffic } from './transport.ts';
import {
  adopt,
  beginHedged,
  cancelOthers,
  conclude,
  drain,
  end,
  endCutShort,
  enter,
  fail,
  hold,
  isExhausted,
  isOpen,
  notify,
  onSignOfLife,
  openFirst,
  openStaggered,
  resume,
  sendRequest,
  setPace,
  setTimer,
  stop,
  TrialState,
  trialOf,
} from './trial-rules.ts';

export interface TrialMachine {
  /** The first actions; called once, at time 0. */
  start(): TrialAction[];
  /** Returns the actions that an event causes. Events of ended attempts cause none, but update packet counts. */
  handle(event: TrialEvent, nowMs: number): TrialAction[];
  /** The record of the trial so far. */
  record(): Trial;
  /** Network cost of the attempts as reported so far. */
  traffic(): Traffic;
}

/**
 * Creates the state machine for one trial of `plan`. Invariants, for any order of events:
 * - At most one attempt is adopted at any time, and the decision is made by `timeoutMs`.
 * - No attempt is left running at `done`.
 * - A request is sent only over an adopted attempt, one in a group with `awaitsAnswer`, or beside another's request
 *   while nothing is adopted or that answer is overdue.
 * - An endpoint is attempted again only if it was ended in favour of an attempt that then broke or did not answer.
 * - The next endpoint of a group starts no sooner than 10 ms after an attempt still in progress.
 * - Silence does not count against an attempt that had too little time.
 * - The plan's limits on attempts and endpoints hold, and no attempt starts once the bytes or packets reported so far
 *   exceed the plan's.
 */
export function createTrial(plan: TrialPlan): TrialMachine {
  const s = new TrialState(plan);
  return {
    start() {
      setTimer(s, 'deadline', plan.timeoutMs);
      openFirst(s);
      settle(s, 0);
      return takeActions(s);
    },
    handle(event, nowMs) {
      if (s.finished) {
        if (event.type === 'failed' || event.type === 'established' || event.type === 'answered')
          dispatch(s, event, nowMs);
        return [];
      }
      if (event.type === 'timer') onTimer(s, event.timer, nowMs);
      else if (event.type === 'cancelled') onCancelled(s, nowMs);
      else if (event.type === 'endpoints') onList(s, event.endpoints, event.final, nowMs);
      else if (event.type === 'discovery-failed') onList(s, [], true, nowMs);
      else dispatch(s, event, nowMs);
      settle(s, nowMs);
      return takeActions(s);
    },
    record: () => trialOf(s),
    traffic: () => s.traffic,
  };
}

type AttemptEvent = Extract<TrialEvent, { attempt: number }>;
type EventOf<Type extends TrialEvent['type']> = Extract<TrialEvent, { type: Type }>;

function dispatch(s: TrialState, event: AttemptEvent, nowMs: number): void {
  const attempt = s.attempts[event.attempt];
  if (attempt === undefined) throw new RangeError(`no attempt ${event.attempt}`);
  if (event.type === 'progressed') onProgressed(s, attempt, event, nowMs);
  else if (event.type === 'established') onEstablished(s, attempt, event, nowMs);
  else if (event.type === 'failed') onFailed(s, attempt, event, nowMs);
  else if (event.type === 'answered') onAnswered(s, attempt, event, nowMs);
  else onAlternatives(s, attempt, event, nowMs);
}

/** Applies the consequences that depend on the state as a whole, not on a single event. */
function settle(s: TrialState, nowMs: number): void {
  const { count } = s;
  if (s.adopted === null && count.held > 0 && count.connecting + count.requested + s.following === 0) {
    const held = s.groups.find((group) => group.winner?.phase === 'held')?.winner;
    if (held) adopt(s, held, nowMs);
  }
  const { connecting, requested, overdue, held, expiring } = count;
  const busy = connecting + requested + overdue + held + expiring + s.following > 0;
  if (!busy && (s.adopted !== null || s.expired || s.listed || isExhausted(s))) finish(s);
}

function finish(s: TrialState): void {
  s.finished = true;
  for (const timer of ['stagger', 'hedge', 'answer', 'deadline'] as const) setTimer(s, timer, null);
  for (const group of s.groups) setPace(s, group, null);
  s.actions.push({ type: 'done' });
}

function takeActions(s: TrialState): TrialAction[] {
  const { actions } = s;
  s.actions = [];
  return actions;
}

const USER_CANCELLED: AttemptError = { code: 'cancelled', message: 'the race was cancelled' };

/** Also counts what an attempt sent that was ended while this event was in flight. */
function addCost(
  s: TrialState,
  attempt: AttemptState,
  { packets, traffic }: EventOf<'established' | 'failed' | 'answered'>,
): void {
  attempt.packets = packets ?? attempt.packets;
  if (traffic === undefined) return;
  s.traffic = {
    bytes: s.traffic.bytes + traffic.bytes - attempt.traffic.bytes,
    packets: s.traffic.packets + traffic.packets - attempt.traffic.packets,
  };
  attempt.traffic = traffic;
}

/** Records the header section of a response, if one was received. */
function recordResponse(
  attempt: AttemptState,
  { firstByteMs, status }: EventOf<'failed' | 'answered'>,
): void {
  attempt.firstByteMs = firstByteMs ?? null;
  attempt.status = status ?? null;
}

function onProgressed(
  s: TrialState,
  attempt: AttemptState,
  { transportMs }: EventOf<'progressed'>,
  nowMs: number,
): void {
  if (attempt.phase !== 'connecting' || attempt.transportMs !== null) return;
  attempt.transportMs = transportMs;
  attempt.group.onProgress(attempt, transportMs);
  onSignOfLife(s, attempt, transportMs);
  drain(s, attempt.group, nowMs);
}

function onEstablished(
  s: TrialState,
  attempt: AttemptState,
  event: EventOf<'established'>,
  nowMs: number,
): void {
  addCost(s, attempt, event);
  if (attempt.phase !== 'connecting' && attempt.phase !== 'expiring') return;
  attempt.transportMs = event.transportMs ?? attempt.transportMs;
  const tooLate = attempt.phase === 'expiring' && s.adopted === null;
  if (tooLate && event.establishedMs >= s.plan.timeoutMs) {
    fail(s, attempt, expiredError(attempt, s.plan.timeoutMs), nowMs);
    return;
  }
  attempt.protocol = event.protocol;
  attempt.establishedMs = event.establishedMs;
  attempt.rttMs = event.rttMs;
  notify(s, 'established', attempt, event.establishedMs);
  // Finished in time, but reported to us after the deadline had decided.
  if (tooLate) {
    endCutShort(s, attempt, s.plan.timeoutMs - event.establishedMs, nowMs);
    return;
  }
  if (!isOpen(s)) {
    if (attempt.endpoint.transport === 'h3') s.lateH3 = true;
    end(s, attempt, 'established-late', nowMs);
    attempt.group.learnt = true;
    stop(s, attempt.group, nowMs);
  } else if (attempt.group.rules.awaitsAnswer || s.count.requested + s.count.overdue > 0)
    sendRequest(s, attempt, nowMs);
  else adopt(s, attempt, nowMs);
}

function onFailed(s: TrialState, attempt: AttemptState, event: EventOf<'failed'>, nowMs: number): void {
  addCost(s, attempt, event);
  if (attempt.phase === 'over') return;
  attempt.transportMs = event.transportMs ?? attempt.transportMs;
  const ownCode = attempt.phase !== 'expiring' || event.error.code !== 'cancelled';
  fail(s, attempt, ownCode ? event.error : expiredError(attempt, s.plan.timeoutMs), nowMs);
  // The beginning of a response that was cut short is no evidence either.
  if (attempt.outcome === 'failed') recordResponse(attempt, event);
}

/** Groups whose endpoints can be named by an answer in another group. */
function learners(s: TrialState, answered: AttemptState): AttemptGroup[] {
  const learns = ({ rules, learnt, winner }: AttemptGroup): boolean =>
    rules.learns && rules.transports.length > 0 && !learnt && winner === null;
  return s.groups.filter((group) => group !== answered.group && learns(group));
}

function onAnswered(s: TrialState, attempt: AttemptState, event: EventOf<'answered'>, nowMs: number): void {
  addCost(s, attempt, event);
  if (attempt.phase !== 'requested' && attempt.phase !== 'overdue' && attempt.phase !== 'expiring') return;
  if (attempt.phase === 'expiring' && attempt !== s.adopted) {
    const leftMs = s.plan.timeoutMs - event.firstByteMs;
    if (leftMs <= 0) fail(s, attempt, expiredError(attempt, s.plan.timeoutMs), nowMs);
    else {
      // Received in time, but reported to us after the deadline had decided.
      recordResponse(attempt, event);
      endCutShort(s, attempt, leftMs, nowMs);
    }
    return;
  }
  if (event.repeated !== undefined) {
    attempt.protocol = event.repeated.protocol;
    attempt.establishedMs = event.repeated.establishedMs;
    attempt.http11Required = true;
  }
  recordResponse(attempt, event);
  notify(s, 'first-byte', attempt, event.firstByteMs);
  if (attempt === s.adopted) {
    if (attempt.phase === 'overdue') cancelOthers(s, attempt, nowMs);
    conclude(s, attempt, nowMs);
  } else if (attempt.phase === 'overdue' && (s.adopted !== null || attempt.group.winner?.phase === 'held'))
    end(s, attempt, 'cancelled', nowMs);
  else if (attempt.group.rules.awaitsAnswer && s.adopted === null) hold(s, attempt, nowMs);
  else adopt(s, attempt, nowMs);
  if (s.expired || !event.advertises || learners(s, attempt).length === 0) return;
  s.following += 1;
  s.actions.push({ type: 'follow', attempt: attempt.id });
}

function onAlternatives(
  s: TrialState,
  attempt: AttemptState,
  { endpoints }: EventOf<'alternatives'>,
  nowMs: number,
): void {
  if (s.expired) return;
  s.following -= 1;
  if (endpoints.length === 0) return;
  for (const group of learners(s, attempt)) {
    // Advertised endpoints need not wait for endpoints that were only assumed.
    if (group.relist(endpoints)) group.scheduleNow();
    drain(s, group, nowMs);
  }
}

function onList(s: TrialState, endpoints: readonly Endpoint[], final: boolean, nowMs: number): void {
  s.listed = final;
  for (const group of s.groups) {
    group.relist(endpoints);
    drain(s, group, nowMs);
  }
}

/**
 * The answer to the only request is overdue: it is still awaited, and the race settles on the first attempt to answer.
 */
function onOverdue(s: TrialState, nowMs: number): void {
  const attempt = s.adopted ?? s.attempts.find(({ phase }) => phase === 'requested');
  if (attempt?.phase !== 'requested' || s.expired) return;
  enter(s, attempt, 'overdue');
  attempt.group.winner = null;
  const held = s.attempts.find(({ phase }) => phase === 'held');
  if (held !== undefined) {
    adopt(s, held, nowMs);
    return;
  }
  for (const group of s.groups) group.requeue();
  attempt.group.putLast(attempt.endpoint.transport);
  for (const group of s.groups) resume(s, group, nowMs);
}

function onDeadline(s: TrialState, nowMs: number): void {
  s.expired = true;
  s.following = 0;
  const held = s.attempts.find(({ phase }) => phase === 'held');
  if (held !== undefined && s.adopted !== null) {
    // Adopted too late for its answer to be overdue.
    const { adopted } = s;
    endCutShort(s, adopted, waitedMs(adopted, s.plan.timeoutMs), nowMs);
    s.adopted = null;
    adopt(s, held, nowMs);
  }
  for (const attempt of s.attempts) {
    if (attempt.phase === 'over' || attempt.phase === 'held') continue;
    enter(s, attempt, 'expiring');
    s.actions.push({ type: 'end', attempt: attempt.id });
  }
}

function onTimer(s: TrialState, timer: TimerName, nowMs: number): void {
  if (timer === 'deadline') onDeadline(s, nowMs);
  else if (timer === 'answer') onOverdue(s, nowMs);
  else if (timer === 'hedge') beginHedged(s, nowMs);
  else if (timer === 'stagger') openStaggered(s, nowMs);
  else {
    const group = s.groups[Number(timer.slice('group-'.length))];
    if (group === undefined) return;
    group.timerMs = null;
    drain(s, group, nowMs);
  }
}

function onCancelled(s: TrialState, nowMs: number): void {
  s.expired = true;
  s.following = 0;
  if (s.adopted?.phase !== 'over') s.adopted = null;
  for (const attempt of s.attempts) {
    if (attempt.phase === 'over') continue;
    end(s, attempt, 'cancelled', nowMs);
    attempt.error = USER_CANCELLED;
  }
}
