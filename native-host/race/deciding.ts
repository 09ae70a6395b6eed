// What the trial makes of its attempts: one is asked, adopted, beaten or broken, and what that means for all others.
// P2's rule 4 and section 6 of the Happy Eyeballs v3 draft; who starts after that is the business of starting.ts.
import type { Attempt, AttemptError } from '@photofinish/shared/race/outcome';
import type { AttemptGroup } from './attempt-group.ts';
import { type Run, waitedMs } from './attempt-run.ts';
import { drain, isSpent, open, openNext } from './starting.ts';
import { answerDueMs, cutShort, isSilence, isTooShort } from './trial-budget.ts';
import { enter, setPace, setTimer, type TrialState, tell } from './trial-state.ts';

/** The one way in which an attempt ends by our own will. */
export function end(s: TrialState, run: Run, outcome: Attempt['outcome'], nowMs: number): void {
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
export function stop(s: TrialState, group: AttemptGroup, nowMs: number): void {
  for (const run of group.connecting) end(s, run, 'cancelled', nowMs);
  setPace(s, group, null);
}

/** Sends the request over an established attempt, which is the winner of its group from now on. */
export function ask(s: TrialState, run: Run, nowMs: number): void {
  enter(s, run, 'asked');
  run.askedMs = nowMs;
  run.group.winner = run;
  s.actions.push({ type: 'request', attempt: run.id });
  stop(s, run.group, nowMs);
}

/** Ends what the other groups have under way, now that this attempt is the one. */
export function beat(s: TrialState, run: Run, nowMs: number): void {
  setTimer(s, 'stagger', null);
  for (const group of s.groups) {
    const { winner } = group;
    if (winner !== null && winner !== run) {
      if (winner.phase === 'asked' || winner.phase === 'held') end(s, winner, 'cancelled', nowMs);
      group.winner = null;
    }
    if (group === run.group) continue;
    if (group.rules.whenBeaten === 'cancelled') stop(s, group, nowMs);
  }
}

/** Settles the race on an attempt: its request is sent, unless it is answered already. */
export function adopt(s: TrialState, run: Run, nowMs: number): void {
  s.adopted = run;
  tell(s, 'adopted', run, nowMs);
  // Told late, after a timer had begun what was not needed any more.
  for (const other of s.runs)
    if (other.phase === 'connecting' && other !== run && other.startedMs > (run.establishedMs ?? nowMs))
      other.needless = other.group === run.group || other.group.rules.whenBeaten === 'cancelled';
  beat(s, run, nowMs);
  if (run.phase === 'connecting') {
    ask(s, run, nowMs);
    setTimer(s, 'answer', answerDueMs(nowMs, s.plan.timeoutMs));
  } else conclude(s, run, nowMs);
}

/** The adopted attempt has answered. */
export function conclude(s: TrialState, run: Run, nowMs: number): void {
  setTimer(s, 'answer', null);
  end(s, run, 'adopted', nowMs);
  stop(s, run.group, nowMs);
}

/** After a winner broke: a group goes on, with what was ended for the winner's sake. */
export function resume(s: TrialState, group: AttemptGroup, nowMs: number): void {
  group.requeue();
  group.learnt = false;
  open(s, group, nowMs);
}

/** An attempt ended otherwise than by our own will; what it kept from being attempted goes on. */
export function fail(s: TrialState, run: Run, error: AttemptError, nowMs: number): void {
  const { group } = run;
  const wasAdopted = s.adopted === run;
  const wasWinner = group.winner === run;
  const waited = waitedMs(run, Math.min(nowMs, s.plan.timeoutMs));
  const early = isSilence(error) && isTooShort(waited, s.plan.timeoutMs);
  enter(s, run, 'over');
  run.outcome = early ? 'cancelled' : 'failed';
  run.error = early ? cutShort(waited) : error;
  tell(s, run.outcome, run, nowMs);
  if (wasWinner) group.winner = null;
  // A handshake that leads to no answer is no success: the adoption falls back to whoever is left.
  if (wasAdopted) s.adopted = null;
  if (s.expired) return;
  group.scheduleNow();
  if (wasAdopted) for (const each of s.groups) resume(s, each, nowMs);
  else if (wasWinner) resume(s, group, nowMs);
  else drain(s, group, nowMs);
  if (s.adopted === null && isSpent(group)) openNext(s, nowMs);
}
