// The race's state machine, free of I/O: events with their time go in, actions come out. It runs ONE trial by a plan
// and implements P2 ("Happy Eyeballs for HTTP/3") rule by rule; sockets, clocks and modes' names live elsewhere.
import type { Attempt, AttemptError, Trial } from '@photofinish/shared/outcome';
import type { KnownProtocol } from '@photofinish/shared/protocol';
import type { Progress } from '@photofinish/shared/wire';
import type { TimerName, TrialAction, TrialEvent } from './events.ts';
import type { Entrant, TrialPlan } from './plan.ts';

export interface TrialMachine {
  /** The first actions; call it once, at time 0. */
  start(): TrialAction[];
  /** Takes an event in and gives the actions it causes; events of ended attempts cause none. */
  handle(event: TrialEvent, nowMs: number): TrialAction[];
  /** The trial as far as it has come. */
  record(): Trial;
}

/**
 * connecting → asked → over is the winner's way; `held` waits, answered, for what its answer advertised;
 * `expiring` was told to end at the deadline and has not yet said how far it had come.
 */
type Phase = 'connecting' | 'asked' | 'held' | 'expiring' | 'over';

interface Run {
  readonly id: number;
  readonly entrant: Entrant;
  readonly startedMs: number;
  phase: Phase;
  protocol: KnownProtocol;
  transportMs: number | null;
  establishedMs: number | null;
  firstByteMs: number | null;
  outcome: Attempt['outcome'] | null;
  error: AttemptError | null;
}

const USER_CANCELLED: AttemptError = { code: 'cancelled', message: 'the race was cancelled' };

/** How an attempt failed that the deadline ended: by how far it had come. */
function expiredError(run: Run, timeoutMs: number): AttemptError {
  const within = `within ${timeoutMs} ms`;
  if (run.establishedMs !== null)
    return { code: 'response-timeout', message: `connected, but no complete answer came ${within}` };
  if (run.transportMs !== null)
    return { code: 'handshake-timeout', message: `the handshake did not finish ${within}` };
  return run.entrant.contender === 'h3'
    ? { code: 'udp-timeout', message: `nothing came back over UDP ${within}` }
    : { code: 'tcp-timeout', message: `TCP did not connect ${within}` };
}

/** Microseconds are all that the clocks behind the times are good for. */
function rounded(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms * 1000) / 1000;
}

function attemptOf(run: Run): Attempt {
  return {
    protocol: run.protocol,
    address: run.entrant.address,
    port: run.entrant.port,
    startedMs: rounded(run.startedMs) ?? 0,
    transportMs: rounded(run.transportMs),
    establishedMs: rounded(run.establishedMs),
    firstByteMs: rounded(run.firstByteMs),
    outcome: run.outcome ?? 'cancelled',
    ...(run.error !== null && { error: run.error }),
  };
}

function samePlace(a: Entrant, b: Entrant): boolean {
  return a.contender === b.contender && a.address === b.address && a.port === b.port;
}

/**
 * A machine for one trial of `plan`. Invariants, whatever the order of events: at most one attempt is adopted at any
 * time; the decision has fallen by `timeoutMs`; no attempt is left running at `done`; only an adopted attempt, or one
 * that gives way, is asked to send a request.
 */
export function createTrial(plan: TrialPlan): TrialMachine {
  const runs: Run[] = [];
  const waiting: Entrant[] = plan.entrants.filter((e) => e.starts === 'staggered');
  let actions: TrialAction[] = [];
  let adopted: Run | null = null;
  let lateH3 = false;
  let expired = false;
  let finished = false;

  function tell(event: Progress['event'], run: Run, atMs: number): void {
    actions.push({ type: 'tell', event, attempt: run.id, contender: run.entrant.contender, atMs });
  }

  function begin(entrant: Entrant, nowMs: number): void {
    const { contender, address, port } = entrant;
    const run: Run = {
      id: runs.length,
      entrant,
      startedMs: nowMs,
      phase: 'connecting',
      protocol: contender,
      transportMs: null,
      establishedMs: null,
      firstByteMs: null,
      outcome: null,
      error: null,
    };
    runs.push(run);
    actions.push({ type: 'start', attempt: run.id, contender, address, port });
    tell('started', run, nowMs);
  }

  /** Starts the next staggered lane now and paces the one after it. */
  function beginNext(nowMs: number): void {
    const next = waiting.shift();
    if (next === undefined) return;
    begin(next, nowMs);
    const atMs = waiting.length > 0 ? nowMs + plan.staggerMs : null;
    actions.push({ type: 'timer', timer: 'stagger', atMs });
  }

  /** The one way in which an attempt ends by our own will. */
  function end(run: Run, outcome: Attempt['outcome'], nowMs: number): void {
    run.phase = 'over';
    run.outcome = outcome;
    actions.push({ type: 'end', attempt: run.id });
    if (outcome === 'cancelled') tell('cancelled', run, nowMs);
  }

  function adopt(run: Run, nowMs: number): void {
    adopted = run;
    tell('adopted', run, nowMs);
    actions.push({ type: 'timer', timer: 'stagger', atMs: null });
    for (const other of runs) {
      if (other === run || other.phase === 'over' || other.phase === 'expiring') continue;
      const mayRunOn = other.entrant.whenBeaten === 'runs-on' && other.phase === 'connecting';
      if (!mayRunOn) end(other, 'cancelled', nowMs);
    }
    if (run.phase === 'connecting') {
      run.phase = 'asked';
      actions.push({ type: 'request', attempt: run.id });
    } else end(run, 'adopted', nowMs);
  }

  function fail(run: Run, error: AttemptError, nowMs: number): void {
    run.phase = 'over';
    run.outcome = 'failed';
    run.error = error;
    tell('failed', run, nowMs);
    // A handshake that leads to no answer is no success: the adoption falls back to whoever is left.
    if (adopted === run) adopted = null;
    if (adopted === null && !expired) beginNext(nowMs);
  }

  function onEstablished(run: Run, event: TrialEvent & { type: 'established' }, nowMs: number): void {
    if (run.phase !== 'connecting' && run.phase !== 'expiring') return;
    run.transportMs = event.transportMs;
    // The deadline had already decided when this handshake's end came in.
    if (run.phase === 'expiring' && adopted === null) {
      fail(run, expiredError(run, plan.timeoutMs), nowMs);
      return;
    }
    run.protocol = event.protocol;
    run.establishedMs = event.establishedMs;
    tell('established', run, event.establishedMs);
    if (adopted !== null) {
      if (run.entrant.contender === 'h3') lateH3 = true;
      end(run, 'established-late', nowMs);
    } else if (run.entrant.givesWay) {
      run.phase = 'asked';
      actions.push({ type: 'request', attempt: run.id });
    } else adopt(run, nowMs);
  }

  function onFailed(run: Run, event: TrialEvent & { type: 'failed' }, nowMs: number): void {
    if (run.phase === 'over') return;
    run.transportMs ??= event.transportMs;
    const ownCode = run.phase !== 'expiring' || event.error.code !== 'cancelled';
    fail(run, ownCode ? event.error : expiredError(run, plan.timeoutMs), nowMs);
  }

  /** Tries what an answer advertises, unless that contender has been there or is known to work already. */
  function followAdvertisement(answered: Run, port: number, nowMs: number): void {
    for (const lane of plan.entrants) {
      if (lane.starts !== 'advertised' || lane.contender === answered.entrant.contender) continue;
      const entrant = { ...lane, port };
      const known = runs.some(
        (r) =>
          samePlace(r.entrant, entrant) ||
          (r.entrant.contender === lane.contender && r.outcome === 'established-late'),
      );
      if (!known) begin(entrant, nowMs);
    }
  }

  function onAnswered(run: Run, event: TrialEvent & { type: 'answered' }, nowMs: number): void {
    if (run.phase !== 'asked' && run.phase !== 'expiring') return;
    if (run.phase === 'expiring' && run !== adopted) {
      fail(run, expiredError(run, plan.timeoutMs), nowMs);
      return;
    }
    run.firstByteMs = event.firstByteMs;
    tell('first-byte', run, event.firstByteMs);
    if (run === adopted) end(run, 'adopted', nowMs);
    else run.phase = 'held';
    if (!expired && event.advertisedPort !== null) followAdvertisement(run, event.advertisedPort, nowMs);
  }

  function onTimer(timer: TimerName, nowMs: number): void {
    if (timer === 'stagger') {
      if (adopted === null && !expired) beginNext(nowMs);
      return;
    }
    expired = true;
    for (const run of runs) {
      if (run.phase !== 'connecting' && run.phase !== 'asked') continue;
      run.phase = 'expiring';
      actions.push({ type: 'end', attempt: run.id });
    }
  }

  function onCancelled(nowMs: number): void {
    expired = true;
    for (const run of runs) {
      if (run.phase === 'over') continue;
      if (run === adopted) adopted = null;
      end(run, 'cancelled', nowMs);
      run.error = USER_CANCELLED;
    }
  }

  /** After an adoption was withdrawn: whoever was ended for its sake, and never failed, gets a fresh attempt. */
  function revive(nowMs: number): void {
    const ended = runs.filter((r) => r.outcome === 'cancelled' || r.outcome === 'established-late');
    for (const run of ended) {
      const last = runs.findLast((r) => samePlace(r.entrant, run.entrant));
      if (last === run) begin(run.entrant, nowMs);
    }
  }

  /** Draws the conclusions that no single event holds. */
  function settle(nowMs: number): void {
    const busy = (run: Run): boolean => run.phase === 'connecting' || run.phase === 'asked';
    if (adopted === null && !runs.some(busy)) {
      const held = runs.find((run) => run.phase === 'held');
      if (held !== undefined) adopt(held, nowMs);
      else if (!expired) {
        beginNext(nowMs);
        if (!runs.some(busy)) revive(nowMs);
      }
    }
    if (runs.every((run) => run.phase === 'over')) finish();
  }

  function finish(): void {
    finished = true;
    actions.push({ type: 'timer', timer: 'stagger', atMs: null });
    actions.push({ type: 'timer', timer: 'deadline', atMs: null });
    actions.push({ type: 'done' });
  }

  function taken(): TrialAction[] {
    const out = actions;
    actions = [];
    return out;
  }

  function dispatch(event: Exclude<TrialEvent, { type: 'timer' | 'cancelled' }>, nowMs: number): void {
    const run = runs[event.attempt];
    if (run === undefined) throw new RangeError(`no attempt ${event.attempt}`);
    if (event.type === 'established') onEstablished(run, event, nowMs);
    else if (event.type === 'failed') onFailed(run, event, nowMs);
    else onAnswered(run, event, nowMs);
  }

  return {
    start() {
      actions.push({ type: 'timer', timer: 'deadline', atMs: plan.timeoutMs });
      for (const entrant of plan.entrants) if (entrant.starts === 'at-once') begin(entrant, 0);
      // A timer of 0 ms would still let a quick handshake finish first.
      if (plan.staggerMs === 0) while (waiting.length > 0) beginNext(0);
      else if (waiting.length > 0) actions.push({ type: 'timer', timer: 'stagger', atMs: plan.staggerMs });
      return taken();
    },
    handle(event, nowMs) {
      if (finished) return [];
      if (event.type === 'timer') onTimer(event.timer, nowMs);
      else if (event.type === 'cancelled') onCancelled(nowMs);
      else dispatch(event, nowMs);
      settle(nowMs);
      return taken();
    },
    record: () => ({
      adopted: adopted?.protocol ?? null,
      establishedMs: rounded(adopted?.establishedMs ?? null),
      firstByteMs: rounded(adopted?.firstByteMs ?? null),
      lateH3,
      cacheHit: plan.cacheHit,
      attempts: runs.map(attemptOf),
    }),
  };
}
