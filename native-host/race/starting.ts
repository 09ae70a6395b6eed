// What a trial starts, and when: the places of a lane one after the other (Happy Eyeballs v3 draft, section 6), and the
// lanes one after the other (P2, rule 1).
import type { Endpoint } from '../discover/endpoint.ts';
import { newRun, type Run } from './attempt-run.ts';
import { establishingMs, LEAST_ATTEMPT_DELAY_MS } from './known-path.ts';
import type { Lane } from './lane.ts';
import { isExhausted, isOpen, setPace, setTimer, type TrialState, tell, visits } from './trial-state.ts';

function begin(s: TrialState, lane: Lane, endpoint: Endpoint, nowMs: number, fresh: boolean): Run {
  const run = newRun(s.runs.length, lane, endpoint, { fresh, startedMs: nowMs });
  s.runs.push(run);
  s.count.connecting += 1;
  lane.connecting.add(run);
  s.actions.push({ type: 'start', attempt: run.id, endpoint });
  tell(s, 'started', run, nowMs);
  return run;
}

function beginNext(s: TrialState, lane: Lane, nowMs: number): void {
  const endpoint = lane.take();
  if (endpoint === undefined) return;
  if (!visits(s, endpoint)) {
    s.untried.push(endpoint);
    return;
  }
  const run = begin(s, lane, endpoint, nowMs, false);
  lane.onStart(run);
  if (s.plan.freshQuic === null || s.firstQuic !== null || endpoint.contender !== 'h3') return;
  s.firstQuic = run;
  const { afterMs } = s.plan.freshQuic;
  if (afterMs !== null) setTimer(s, 'fresh', nowMs + afterMs);
}

/**
 * One fresh QUIC attempt beside the first, if the handshake of that is overdue and nothing is adopted yet: what is only
 * learnt can wait. Like any other it starts no sooner than the draft's least delay after an attempt under way.
 */
export function beginFresh(s: TrialState, nowMs: number): void {
  const first = s.firstQuic;
  if (first?.phase !== 'connecting' || s.adopted !== null || s.runs.some(({ fresh }) => fresh)) return;
  if (isExhausted(s)) return;
  const started = s.runs.filter((run) => run.phase === 'connecting').map((run) => run.startedMs);
  const earliestMs = Math.max(...started) + LEAST_ATTEMPT_DELAY_MS;
  if (nowMs < earliestMs) {
    setTimer(s, 'fresh', earliestMs);
    return;
  }
  first.lane.onFresh(begin(s, first.lane, first.endpoint, nowMs, true));
  drain(s, first.lane, nowMs);
}

/**
 * On an unknown path a sign of life says what a round trip takes, and so when a handshake is overdue: QUIC's own, else
 * old HTTP's. If its handshake is overdue as well, silence is not a host without HTTP/3 but a path that loses packets.
 */
export function heedLife(s: TrialState, run: Run, transportMs: number): void {
  if (s.plan.freshQuic?.heedsLife !== true) return;
  if (run !== s.firstQuic && s.firstQuic?.transportMs !== null) return;
  setTimer(s, 'fresh', transportMs + establishingMs(transportMs - run.startedMs));
}

function mayStart(s: TrialState, lane: Lane): boolean {
  if (!lane.opened || lane.learnt || s.expired || lane.winner !== null || isExhausted(s)) return false;
  return isOpen(s) || lane.rules.whenBeaten === 'runs-on';
}

/** Starts what is due in a lane and sets the timer for what is not: only attempts under way are waited for. */
export function drain(s: TrialState, lane: Lane, nowMs: number): void {
  while (mayStart(s, lane) && lane.waiting() > 0) {
    if (lane.connecting.size > 0 && nowMs < lane.dueMs()) {
      setPace(s, lane, lane.dueMs());
      return;
    }
    beginNext(s, lane, nowMs);
  }
  setPace(s, lane, null);
}

export function open(s: TrialState, lane: Lane, nowMs: number): void {
  lane.opened = true;
  drain(s, lane, nowMs);
}

/** Whether a lane has lost: all its places have failed. */
export function isSpent(lane: Lane): boolean {
  return lane.winner === null && lane.connecting.size === 0 && lane.waiting() === 0;
}

/** Opens the next lane that has a place, and paces the one after it. */
export function openNext(s: TrialState, nowMs: number): void {
  if (s.staggered.length === 0) return;
  let lane: Lane | undefined;
  do {
    lane = s.staggered.shift();
    if (lane !== undefined) open(s, lane, nowMs);
  } while (lane !== undefined && isSpent(lane));
  setTimer(s, 'stagger', s.staggered.length > 0 ? nowMs + s.plan.staggerMs : null);
}

/** The lanes that open with the trial, at time 0. */
export function openFirst(s: TrialState): void {
  for (const lane of s.lanes) if (lane.rules.opens === 'at-once') open(s, lane, 0);
  // A timer of 0 ms would still let a quick handshake finish first.
  if (s.plan.staggerMs === 0) while (s.staggered.length > 0) openNext(s, 0);
  else if (s.lanes.some((lane) => lane.opened && isSpent(lane))) openNext(s, 0);
  else if (s.staggered.length > 0) setTimer(s, 'stagger', s.plan.staggerMs);
}
