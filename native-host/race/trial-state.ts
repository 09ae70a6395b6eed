// The state of a trial: its attempts, groups, decision, and the actions not yet returned; and the record extracted from
// it. Counters avoid scanning all attempts at every event.
import type { Progress } from '@photofinish/shared/port/wire';
import type { Trial } from '@photofinish/shared/race/outcome';
import { roundedMs } from '@photofinish/shared/race/statistics';
import { type Endpoint, endpointKey } from '../discover/discovering.ts';
import { AttemptGroup, type AttemptState, attemptOf, type Phase } from './attempt-group.ts';
import { isUsedUp } from './budget.ts';
import type { TimerName, TrialAction } from './events.ts';
import type { TrialPlan } from './plan.ts';
import { NO_TRAFFIC, type Traffic } from './transport.ts';

export interface TrialState {
  readonly plan: TrialPlan;
  readonly groups: readonly AttemptGroup[];
  /** Staggered groups that have not opened yet. */
  readonly staggered: AttemptGroup[];
  readonly attempts: AttemptState[];
  /** Keys of the endpoints counted towards the limits. */
  readonly visited: Set<string>;
  /** Endpoints that were due after the endpoint limit was reached. */
  readonly untried: Endpoint[];
  /** Number of attempts in each phase. */
  readonly count: Record<Phase, number>;
  /** Network cost of the attempts as reported so far. */
  traffic: Traffic;
  actions: TrialAction[];
  adopted: AttemptState | null;
  firstQuic: AttemptState | null;
  /** HTTP/3 was established after another protocol had been adopted. */
  lateH3: boolean;
  /** Number of answers whose alternatives are being followed. */
  following: number;
  /** The list of endpoints is complete. */
  listed: boolean;
  /** The deadline has passed, or the race was cancelled: nothing more is started. */
  expired: boolean;
  /** `done` was emitted. */
  finished: boolean;
}

/** The state before the first event. */
export function newTrial(plan: TrialPlan): TrialState {
  const groups = plan.groups.map(
    (rules, index) => new AttemptGroup(rules, index, plan.pacing.attemptDelayMs),
  );
  return {
    plan,
    groups,
    staggered: groups.filter((group) => group.rules.opens === 'staggered'),
    attempts: [],
    visited: new Set(plan.visited),
    untried: [],
    count: { connecting: 0, requested: 0, overdue: 0, held: 0, expiring: 0, over: 0 },
    traffic: NO_TRAFFIC,
    actions: [],
    adopted: null,
    firstQuic: null,
    lateH3: false,
    following: 0,
    listed: !plan.live,
    expired: false,
    finished: false,
  };
}

/** Whether the race is still open: nothing is adopted, or the adopted attempt does not answer. */
export function isOpen({ adopted }: TrialState): boolean {
  return adopted === null || adopted.phase === 'overdue';
}

/** Whether the trial may start no further attempt. */
export function isExhausted({ plan, attempts, traffic }: TrialState): boolean {
  return isUsedUp(plan.limits, attempts.length, traffic);
}

/** Whether an attempt may be made there; if so, counts it among the endpoints. */
export function visits({ visited, plan }: TrialState, endpoint: Endpoint): boolean {
  const key = endpointKey(endpoint);
  if (!visited.has(key) && visited.size >= plan.limits.endpoints) return false;
  visited.add(key);
  return true;
}

/** Has the listener called with what happened to an attempt. */
export function notify(s: TrialState, event: Progress['event'], attempt: AttemptState, atMs: number): void {
  s.actions.push({ type: 'notify', event, attempt: attempt.id, transport: attempt.endpoint.transport, atMs });
}

/** Sets a timer, replacing an earlier setting; null clears it. */
export function setTimer(s: TrialState, timer: TimerName, atMs: number | null): void {
  s.actions.push({ type: 'timer', timer, atMs });
}

/** Sets the timer of a group's pace, unless it is already set to that time. */
export function setPace(s: TrialState, group: AttemptGroup, atMs: number | null): void {
  if (group.timerMs === atMs) return;
  group.timerMs = atMs;
  setTimer(s, `group-${group.index}`, atMs);
}

/** Moves an attempt to another phase; the only way to do so. */
export function enter(s: TrialState, attempt: AttemptState, phase: Phase): void {
  s.count[attempt.phase] -= 1;
  s.count[phase] += 1;
  if (attempt.phase === 'connecting') attempt.group.connecting.delete(attempt);
  attempt.phase = phase;
}

/** Whether HTTP/3 failed somewhere but is not lost: the race was decided before its other endpoints were tried. */
function h3Undecided(s: TrialState): boolean {
  const h3 = s.attempts.filter((attempt) => attempt.endpoint.transport === 'h3');
  const proven = (attempt: AttemptState): boolean =>
    attempt.outcome === 'adopted' || attempt.outcome === 'established-late';
  if (s.expired || h3.some(proven) || !h3.some((attempt) => attempt.outcome === 'failed')) return false;
  const untried = s.untried.some(({ transport }) => transport === 'h3');
  // Another attempt there speaks for one that was ended: the first of two beside each other, or a later one after the
  // adopted protocol had failed.
  const failed = new Set(
    h3.filter(({ outcome }) => outcome === 'failed').map(({ endpoint }) => endpointKey(endpoint)),
  );
  const cutShort = h3.some(
    ({ outcome, endpoint }) => outcome === 'cancelled' && !failed.has(endpointKey(endpoint)),
  );
  return untried || cutShort || s.groups.some((group) => group.holds('h3'));
}

/** Addresses not tried because of a limit, and for no other reason. */
function untriedAddresses(s: TrialState): number {
  const left = isExhausted(s) && s.adopted === null ? s.groups.flatMap((group) => group.endpoints()) : [];
  const tried = new Set(s.attempts.map(({ endpoint }) => endpoint.address));
  const untried = [...s.untried, ...left].map(({ address }) => address);
  return new Set(untried.filter((address) => !tried.has(address))).size;
}

/** The record of the trial. */
export function trialOf(s: TrialState): Trial {
  const untried = untriedAddresses(s);
  return {
    adopted: s.adopted?.protocol ?? null,
    establishedMs: roundedMs(s.adopted?.establishedMs ?? null),
    firstByteMs: roundedMs(s.adopted?.firstByteMs ?? null),
    lateH3: s.lateH3,
    cacheHit: s.plan.cacheHit,
    ...(h3Undecided(s) && { h3Undecided: true }),
    ...(untried > 0 && { untried }),
    attempts: s.attempts
      .filter((attempt) => !attempt.needless)
      .map((attempt) => attemptOf(attempt, s.plan.host)),
  };
}
