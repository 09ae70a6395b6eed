// What a trial starts, and when: the endpoints of a group in order (Happy Eyeballs v3 draft, section 6), and the groups
// in order (P2, rule 1).
import type { Endpoint } from '../discover/discovering.ts';
import { type AttemptGroup, type AttemptState, newAttempt } from './attempt-group.ts';
import { establishingMs, LEAST_ATTEMPT_DELAY_MS } from './pacing.ts';
import { isExhausted, isOpen, notify, setPace, setTimer, type TrialState, visits } from './trial-state.ts';

function begin(
  s: TrialState,
  group: AttemptGroup,
  endpoint: Endpoint,
  nowMs: number,
  hedged: boolean,
): AttemptState {
  const attempt = newAttempt(s.attempts.length, group, endpoint, { hedged, startedMs: nowMs });
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
  const earliestMs = Math.max(...started) + LEAST_ATTEMPT_DELAY_MS;
  if (nowMs < earliestMs) {
    setTimer(s, 'hedge', earliestMs);
    return;
  }
  first.group.onHedged(begin(s, first.group, first.endpoint, nowMs, true));
  drain(s, first.group, nowMs);
}

/**
 * On an unknown path a sign of life shows how long a round trip takes, and so when a handshake is overdue: QUIC's own,
 * else old HTTP's. If the latter's handshake is overdue as well, silence does not mean a host without HTTP/3 but a path
 * that loses packets.
 */
export function onSignOfLife(s: TrialState, attempt: AttemptState, transportMs: number): void {
  if (s.plan.pacing.hedge?.bySignOfLife !== true) return;
  if (attempt !== s.firstQuic && s.firstQuic?.transportMs !== null) return;
  setTimer(s, 'hedge', transportMs + establishingMs(transportMs - attempt.startedMs));
}

function mayStart(s: TrialState, group: AttemptGroup): boolean {
  if (!group.opened || group.learnt || s.expired || group.winner !== null || isExhausted(s)) return false;
  return isOpen(s) || group.rules.whenBeaten === 'runs-on';
}

/** Starts what is due in a group and sets the timer for the rest; only attempts in progress delay the next. */
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

/** Opens a group and starts what is due in it. */
export function open(s: TrialState, group: AttemptGroup, nowMs: number): void {
  group.opened = true;
  drain(s, group, nowMs);
}

/** Whether all endpoints of a group have failed. */
export function isSpent(group: AttemptGroup): boolean {
  return group.winner === null && group.connecting.size === 0 && group.waiting() === 0;
}

/** Opens the next group that has an endpoint, and sets the timer for the one after it. */
export function openNext(s: TrialState, nowMs: number): void {
  if (s.staggered.length === 0) return;
  let group: AttemptGroup | undefined;
  do {
    group = s.staggered.shift();
    if (group !== undefined) open(s, group, nowMs);
  } while (group !== undefined && isSpent(group));
  setTimer(s, 'stagger', s.staggered.length > 0 ? nowMs + s.plan.pacing.groupDelayMs : null);
}

/** Opens the groups that open at time 0. */
export function openFirst(s: TrialState): void {
  for (const group of s.groups) if (group.rules.opens === 'at-once') open(s, group, 0);
  // With a timer of 0 ms a fast handshake could still finish first.
  if (s.plan.pacing.groupDelayMs === 0) while (s.staggered.length > 0) openNext(s, 0);
  else if (s.groups.some((group) => group.opened && isSpent(group))) openNext(s, 0);
  else if (s.staggered.length > 0) setTimer(s, 'stagger', s.plan.pacing.groupDelayMs);
}
