// The state of a trial, its record, and the rules that change it: what is started when (Happy Eyeballs v3 draft,
// section 6, within a group; P2, rule 1, between groups), and what becomes of an attempt, with the consequences for all
// others (P2, rule 4).
import type { Progress } from '@photofinish/shared/port/wire';
import type { Attempt, AttemptError, Trial } from '@photofinish/shared/race/outcome';
import { roundedMs } from '@photofinish/shared/race/statistics';
import { type Endpoint, endpointKey } from '../discover/discoverer.ts';
import { AttemptGroup, AttemptState, attemptOf, type Phase, waitedMs } from './attempt-group.ts';
import { answerDueMs, cutShort, isSilence, isTooShort, isUsedUp } from './budget.ts';
import type { TimerName, TrialAction } from './events.ts';
import { ABSOLUTE_MIN_ATTEMPT_DELAY_MS, establishingMs } from './pacing.ts';
import type { TrialPlan } from './plan.ts';
import { NO_TRAFFIC } from './transport.ts';

/** Attempts, groups, the decision, and the actions not yet returned; counters avoid scans of all attempts. */
export class TrialState {
  readonly plan: TrialPlan;
  readonly groups: readonly AttemptGroup[];
  readonly staggered: readonly AttemptGroup[];
  readonly attempts: AttemptState[] = [];
  /** Keys of the endpoints counted towards the limits. */
  readonly visited: Set<string>;
  /** Endpoints that were due after the endpoint limit was reached. */
  readonly untried: Endpoint[] = [];
  /** Number of attempts in each phase. */
  readonly count: Record<Phase, number> = {
    connecting: 0,
    requested: 0,
    overdue: 0,
    held: 0,
    expiring: 0,
    over: 0,
  };
  /** Network cost of the attempts as reported so far. */
  traffic = NO_TRAFFIC;
  actions: TrialAction[] = [];
  adopted: AttemptState | null = null;
  firstQuic: AttemptState | null = null;
  /** HTTP/3 was established after another protocol had been adopted. */
  lateH3 = false;
  /** Number of answers whose alternatives are being followed. */
  following = 0;
  /** The list of endpoints is complete. */
  listed: boolean;
  /** The deadline has passed, or the race was cancelled: nothing more is started. */
  expired = false;
  /** `done` was emitted. */
  finished = false;

  constructor(plan: TrialPlan) {
    this.plan = plan;
    this.groups = plan.groups.map(
      (rules, index) => new AttemptGroup(rules, index, plan.pacing.attemptDelayMs),
    );
    this.staggered = this.groups.filter((group) => group.rules.opens === 'staggered');
    this.visited = new Set(plan.visited);
    this.listed = !plan.live;
  }
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
function visits({ visited, plan }: TrialState, endpoint: Endpoint): boolean {
  const key = endpointKey(endpoint);
  if (!visited.has(key) && visited.size >= plan.limits.endpoints) return false;
  visited.add(key);
  return true;
}

/** Notifies the listener of what happened to an attempt. */
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
  attempt.group.connecting.delete(attempt);
  attempt.phase = phase;
}

/** Whether HTTP/3 failed somewhere but is not lost: the race was decided before its other endpoints were tried. */
function h3Undecided(s: TrialState): boolean {
  const h3 = s.attempts.filter((attempt) => attempt.endpoint.transport === 'h3');
  const proven = (attempt: AttemptState): boolean =>
    attempt.outcome === 'adopted' || attempt.outcome === 'established-late';
  if (s.expired || h3.some(proven) || !h3.some((attempt) => attempt.outcome === 'failed')) return false;
  const untried = s.untried.some(({ transport }) => transport === 'h3');
  // Another attempt at the endpoint counts for one that was ended: the first of a hedged pair, or a later one after the
  // adopted protocol had failed.
  const failed = new Set(
    h3.filter(({ outcome }) => outcome === 'failed').map(({ endpoint }) => endpointKey(endpoint)),
  );
  const cutShort = h3.some(({ endpoint }) => !failed.has(endpointKey(endpoint)));
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

function begin(
  s: TrialState,
  group: AttemptGroup,
  endpoint: Endpoint,
  nowMs: number,
  hedged: boolean,
): AttemptState {
  const attempt = new AttemptState(s.attempts.length, group, endpoint, nowMs, hedged);
  s.attempts.push(attempt);
  s.count.connecting += 1;
  group.connecting.add(attempt);
  s.actions.push({ type: 'start', attempt: attempt.id, endpoint });
  notify(s, 'started', attempt, nowMs);
  return attempt;
}

function beginNext(s: TrialState, group: AttemptGroup, nowMs: number): void {
  const endpoint = group.take();
  if (endpoint === undefined) return;
  if (!visits(s, endpoint)) {
    s.untried.push(endpoint);
    return;
  }
  const attempt = begin(s, group, endpoint, nowMs, false);
  group.onStart(attempt);
  if (s.plan.pacing.hedge === null || s.firstQuic !== null || endpoint.transport !== 'h3') return;
  s.firstQuic = attempt;
  const { afterMs } = s.plan.pacing.hedge;
  if (afterMs !== null) setTimer(s, 'hedge', nowMs + afterMs);
}

/**
 * Starts one hedged QUIC attempt beside the first if that one's handshake is overdue and nothing is adopted yet; after
 * an adoption, learning about HTTP/3 can wait. Like any other it starts no sooner than the draft's minimum delay after
 * an attempt in progress.
 */
export function beginHedged(s: TrialState, nowMs: number): void {
  const first = s.firstQuic;
  if (first?.phase !== 'connecting' || s.adopted !== null || s.attempts.some(({ hedged }) => hedged)) return;
  if (isExhausted(s)) return;
  const started = s.attempts
    .filter((attempt) => attempt.phase === 'connecting')
    .map((attempt) => attempt.startedMs);
  const earliestMs = Math.max(...started) + ABSOLUTE_MIN_ATTEMPT_DELAY_MS;
  if (nowMs < earliestMs) {
    setTimer(s, 'hedge', earliestMs);
    return;
  }
  first.group.onHedged(begin(s, first.group, first.endpoint, nowMs, true));
}

/**
 * On an unknown path a sign of life shows how long a round trip takes, and so when a handshake is overdue: QUIC's own,
 * else TCP's. If the latter's handshake is overdue as well, silence does not mean a host without HTTP/3 but a path
 * that loses packets.
 */
export function onSignOfLife(s: TrialState, attempt: AttemptState, transportMs: number): void {
  if (s.plan.pacing.hedge?.bySignOfLife !== true) return;
  if (attempt !== s.firstQuic && s.firstQuic?.transportMs !== null) return;
  setTimer(s, 'hedge', transportMs + establishingMs(transportMs - attempt.startedMs));
}

function mayStart(s: TrialState, group: AttemptGroup): boolean {
  if (group.learnt || s.expired || group.winner !== null || isExhausted(s)) return false;
  return isOpen(s) || group.rules.whenBeaten === 'runs-on';
}

/**
 * Starts what is due in a group, which this opens, and sets the timer for the rest; only attempts in progress delay the
 * next.
 */
export function drain(s: TrialState, group: AttemptGroup, nowMs: number): void {
  while (mayStart(s, group) && group.waiting() > 0) {
    if (group.connecting.size > 0 && nowMs < group.dueMs()) {
      setPace(s, group, group.dueMs());
      return;
    }
    beginNext(s, group, nowMs);
  }
  setPace(s, group, null);
}

/** Opens the groups that wait for the first. */
export function openStaggered(s: TrialState, nowMs: number): void {
  for (const group of s.staggered) drain(s, group, nowMs);
}

/** Opens the groups that open at time 0. */
export function openFirst(s: TrialState): void {
  const first = s.groups.filter((group) => group.rules.opens === 'at-once');
  for (const group of first) drain(s, group, 0);
  // With a timer of 0 ms a fast handshake could still finish first.
  if (s.plan.pacing.groupDelayMs === 0 || first.some((group) => group.connecting.size === 0))
    openStaggered(s, 0);
  else if (s.staggered.length > 0) setTimer(s, 'stagger', s.plan.pacing.groupDelayMs);
}

/** The only way in which we end an attempt ourselves. */
export function end(s: TrialState, attempt: AttemptState, outcome: Attempt['outcome'], nowMs: number): void {
  enter(s, attempt, 'over');
  attempt.outcome = outcome;
  const { winner } = attempt.group;
  // Beaten by the other QUIC attempt at the same endpoint, which represents both.
  const answeredFor = winner !== null && winner !== attempt && winner.endpoint === attempt.endpoint;
  if (!answeredFor) attempt.group.giveBack(attempt.endpoint);
  s.actions.push({ type: 'end', attempt: attempt.id });
  if (outcome === 'cancelled') notify(s, 'cancelled', attempt, nowMs);
}

/** Ends an attempt that had only this much time to prove anything. */
export function endCutShort(s: TrialState, attempt: AttemptState, hadMs: number, nowMs: number): void {
  end(s, attempt, 'cancelled', nowMs);
  attempt.error = cutShort(hadMs);
}

/** Ends the attempts in progress in a group; queued endpoints stay, in case the winner breaks. */
export function stop(s: TrialState, group: AttemptGroup, nowMs: number): void {
  for (const attempt of group.connecting) end(s, attempt, 'cancelled', nowMs);
  setPace(s, group, null);
}

/**
 * Sends the request over an established attempt, which becomes the winner of its group. Beside a request that is still
 * awaited it does not: then the first answer decides, and until it comes all other endpoints are attempted.
 */
export function sendRequest(s: TrialState, attempt: AttemptState, nowMs: number): void {
  const alone = s.count.requested + s.count.overdue === 0;
  enter(s, attempt, 'requested');
  attempt.requestedMs = nowMs;
  s.actions.push({ type: 'request', attempt: attempt.id });
  if (!alone) {
    // The other QUIC attempt at this endpoint would send the same request.
    for (const other of attempt.group.connecting)
      if (other.endpoint === attempt.endpoint) end(s, other, 'cancelled', nowMs);
    return;
  }
  attempt.group.winner = attempt;
  stop(s, attempt.group, nowMs);
  setTimer(s, 'answer', answerDueMs(nowMs, s.plan.timeoutMs));
}

/** An attempt has answered, but alternatives that it advertises take precedence. */
export function hold(s: TrialState, attempt: AttemptState, nowMs: number): void {
  setTimer(s, 'answer', null);
  enter(s, attempt, 'held');
  const { group } = attempt;
  group.winner = attempt;
  for (const other of s.attempts)
    if (other !== attempt && other.group === group && other.phase === 'requested')
      end(s, other, 'cancelled', nowMs);
  stop(s, group, nowMs);
}

/**
 * Ends the attempts in progress in the other groups after this attempt was adopted; one that has answered is held until
 * this one has answered, too.
 */
export function cancelOthers(s: TrialState, attempt: AttemptState, nowMs: number): void {
  setTimer(s, 'stagger', null);
  for (const other of s.attempts)
    if (other !== attempt && other.phase === 'requested') end(s, other, 'cancelled', nowMs);
  for (const group of s.groups) {
    if (group === attempt.group) continue;
    if (group.winner?.phase !== 'held') group.winner = null;
    if (group.rules.whenBeaten === 'cancelled') stop(s, group, nowMs);
  }
}

/** Settles the race on an attempt and sends its request, unless it is already answered. */
export function adopt(s: TrialState, attempt: AttemptState, nowMs: number): void {
  s.adopted = attempt;
  notify(s, 'adopted', attempt, nowMs);
  const wonMs = attempt.firstByteMs ?? attempt.establishedMs ?? nowMs;
  // This event was received late, after a timer had started attempts that were no longer needed.
  for (const other of s.attempts)
    if (other.phase === 'connecting' && other.startedMs > wonMs)
      other.needless = other.group === attempt.group || other.group.rules.whenBeaten === 'cancelled';
  cancelOthers(s, attempt, nowMs);
  if (attempt.phase === 'connecting') sendRequest(s, attempt, nowMs);
  else conclude(s, attempt, nowMs);
}

/** The adopted attempt has answered. */
export function conclude(s: TrialState, attempt: AttemptState, nowMs: number): void {
  setTimer(s, 'answer', null);
  for (const other of s.attempts)
    if (other !== attempt && other.phase === 'held') end(s, other, 'cancelled', nowMs);
  end(s, attempt, 'adopted', nowMs);
  attempt.group.winner = attempt;
  stop(s, attempt.group, nowMs);
}

/** Resumes a group after a winner broke, with the endpoints that were cancelled in its favour. */
export function resume(s: TrialState, group: AttemptGroup, nowMs: number): void {
  group.requeue();
  group.learnt = false;
  drain(s, group, nowMs);
}

/** Handles an attempt that was not ended by us, and continues with what it was holding back. */
export function fail(s: TrialState, attempt: AttemptState, error: AttemptError, nowMs: number): void {
  const { group } = attempt;
  const wasAdopted = s.adopted === attempt;
  const wasWinner = group.winner === attempt;
  const waited = waitedMs(attempt, Math.min(nowMs, s.plan.timeoutMs));
  const early = isSilence(error) && isTooShort(waited, s.plan.timeoutMs);
  enter(s, attempt, 'over');
  attempt.outcome = early ? 'cancelled' : 'failed';
  attempt.error = early ? cutShort(waited) : error;
  notify(s, attempt.outcome, attempt, nowMs);
  if (wasWinner) group.winner = null;
  // A handshake without an answer is no success: the adoption falls back to the remaining attempts.
  if (wasAdopted) s.adopted = null;
  group.scheduleNow();
  if (wasAdopted) for (const each of s.groups) resume(s, each, nowMs);
  else if (wasWinner) resume(s, group, nowMs);
  else drain(s, group, nowMs);
  if (s.adopted === null && group.connecting.size === 0) openStaggered(s, nowMs);
}
