// Decides what becomes of attempts: one is sent a request, adopted, beaten or broken, with the consequences for all
// others. P2's rule 4 and section 6 of the Happy Eyeballs v3 draft; starting.ts decides what starts next.
import type { Attempt, AttemptError } from '@photofinish/shared/race/outcome';
import { type AttemptGroup, type AttemptState, waitedMs } from './attempt-group.ts';
import { answerDueMs, cutShort, isSilence, isTooShort } from './budget.ts';
import { drain, isSpent, open, openNext } from './starting.ts';
import { enter, notify, setPace, setTimer, type TrialState } from './trial-state.ts';

/** The only way in which we end an attempt ourselves. */
export function end(s: TrialState, attempt: AttemptState, outcome: Attempt['outcome'], nowMs: number): void {
  enter(s, attempt, 'over');
  attempt.outcome = outcome;
  const { winner } = attempt.group;
  // Beaten by the other QUIC attempt at the same endpoint, which represents both.
  const answeredFor = winner !== null && winner !== attempt && winner.endpoint === attempt.endpoint;
  if (outcome !== 'adopted' && !answeredFor) attempt.group.giveBack(attempt.endpoint);
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
export function ask(s: TrialState, attempt: AttemptState, nowMs: number): void {
  const alone = s.count.requested + s.count.overdue === 0;
  enter(s, attempt, 'requested');
  attempt.askedMs = nowMs;
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
export function beat(s: TrialState, attempt: AttemptState, nowMs: number): void {
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
    if (other.phase === 'connecting' && other !== attempt && other.startedMs > wonMs)
      other.needless = other.group === attempt.group || other.group.rules.whenBeaten === 'cancelled';
  beat(s, attempt, nowMs);
  if (attempt.phase === 'connecting') ask(s, attempt, nowMs);
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
  open(s, group, nowMs);
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
  if (s.expired) return;
  group.scheduleNow();
  if (wasAdopted) for (const each of s.groups) resume(s, each, nowMs);
  else if (wasWinner) resume(s, group, nowMs);
  else drain(s, group, nowMs);
  if (s.adopted === null && isSpent(group)) openNext(s, nowMs);
}
