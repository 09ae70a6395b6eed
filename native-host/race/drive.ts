// Between the engine and the world: carries out one trial's actions with real contenders and a clock, and feeds what
// happens back in. Everything that can be prepared is prepared before the trial's time 0; between events it only passes.
import { ownH3Alternative, parseAltSvc } from '@photofinish/shared/alt-svc';
import type { ContenderName, Trial } from '@photofinish/shared/outcome';
import type { Progress } from '@photofinish/shared/wire';
import type { Clock } from './clock.ts';
import type { Answered, AttemptFailure, AttemptTarget, Contender, RunningAttempt } from './contender.ts';
import { createTrial } from './engine.ts';
import type { TimerName, TrialAction, TrialEvent } from './events.ts';
import type { TrialPlan } from './plan.ts';

/** An event can be handled after the deadline and before its timer; what it starts is then given no time at all. */
const LEAST_PATIENCE_MS = 1;

export type Contenders = Readonly<Record<ContenderName, Contender>>;

/** Told as it happens; `atMs` counts from the start of the trial. */
export type TrialListener = (event: Progress['event'], contender: ContenderName, atMs: number) => void;

export interface Drive {
  readonly plan: TrialPlan;
  /** What is the same for every attempt of the trial. */
  readonly target: Pick<AttemptTarget, 'host' | 'authority' | 'initialRttMs'>;
  readonly contenders: Contenders;
  readonly clock: Clock;
  readonly signal: AbortSignal | null;
  readonly listener: TrialListener | null;
}

/** A trial and what its answers said beside it. */
export interface DrivenTrial {
  readonly trial: Trial;
  /** The last Alt-Svc value received, null when no answer carried one. */
  readonly altSvc: { readonly value: string; readonly ageSeconds: number } | null;
  /** Whether the chain ended in a publicly known root, by contender; null: no handshake finished. */
  readonly knownRoot: Readonly<Record<ContenderName, boolean | null>>;
}

/** The port of the first unexpired HTTP/3 alternative on the origin's own host, null without one. */
export function alternativePort(host: string, altSvc: string, ageSeconds: number): number | null {
  return ownH3Alternative(parseAltSvc(altSvc, ageSeconds), host)?.port ?? null;
}

/** Runs one trial to its end. Never rejects; an abort ends it at once, with its attempts `cancelled`. */
export function driveTrial(drive: Drive): Promise<DrivenTrial> {
  const { plan, target, contenders, clock, signal } = drive;
  const machine = createTrial(plan);
  const attempts: { readonly running: RunningAttempt; readonly startedMs: number }[] = [];
  const timers = new Map<TimerName, () => void>();
  const knownRoot: Record<ContenderName, boolean | null> = { h3: null, h2: null };
  let altSvc: DrivenTrial['altSvc'] = null;

  return new Promise((resolve) => {
    const onAbort = (): void => feed({ type: 'cancelled' });
    signal?.addEventListener('abort', onAbort, { once: true });
    const zeroMs = clock.nowMs();
    const sinceStart = (): number => clock.nowMs() - zeroMs;

    function failed(attempt: number, failure: AttemptFailure, startedMs: number): void {
      const transportMs = failure.transportMs === null ? null : startedMs + failure.transportMs;
      feed({ type: 'failed', attempt, error: failure.error, transportMs });
    }

    function start(action: TrialAction & { type: 'start' }): void {
      const startedMs = sinceStart();
      const running = contenders[action.contender].start({
        ...target,
        address: action.address,
        port: action.port,
        handshakeTimeoutMs: Math.max(LEAST_PATIENCE_MS, plan.timeoutMs - startedMs),
      });
      attempts[action.attempt] = { running, startedMs };
      void running.established.then((result) => {
        if (!result.ok) return failed(action.attempt, result, startedMs);
        knownRoot[action.contender] = result.knownRoot;
        feed({
          type: 'established',
          attempt: action.attempt,
          protocol: result.protocol,
          transportMs: result.transportMs === null ? null : startedMs + result.transportMs,
          establishedMs: startedMs + result.establishedMs,
        });
      });
    }

    function answered(attempt: number, answer: Answered, startedMs: number): void {
      if (answer.altSvc !== null) altSvc = { value: answer.altSvc, ageSeconds: answer.ageSeconds };
      feed({
        type: 'answered',
        attempt,
        firstByteMs: startedMs + answer.firstByteMs,
        advertisedPort:
          answer.altSvc === null ? null : alternativePort(target.host, answer.altSvc, answer.ageSeconds),
      });
    }

    function request(attempt: number): void {
      const entry = attempts[attempt];
      if (entry === undefined) throw new RangeError(`no attempt ${attempt}`);
      const patienceMs = Math.max(LEAST_PATIENCE_MS, plan.timeoutMs - sinceStart());
      void entry.running.request('GET', patienceMs).then((result) => {
        if (result.ok) answered(attempt, result, entry.startedMs);
        else failed(attempt, result, entry.startedMs);
      });
    }

    function setTimer(name: TimerName, atMs: number | null): void {
      timers.get(name)?.();
      timers.delete(name);
      if (atMs === null) return;
      const forget = clock.after(Math.max(0, atMs - sinceStart()), () =>
        feed({ type: 'timer', timer: name }),
      );
      timers.set(name, forget);
    }

    function perform(action: TrialAction): void {
      if (action.type === 'start') start(action);
      else if (action.type === 'request') request(action.attempt);
      else if (action.type === 'end') attempts[action.attempt]?.running.cancel();
      else if (action.type === 'timer') setTimer(action.timer, action.atMs);
      else if (action.type === 'tell') drive.listener?.(action.event, action.contender, action.atMs);
      else {
        signal?.removeEventListener('abort', onAbort);
        resolve({ trial: machine.record(), altSvc, knownRoot });
      }
    }

    function feed(event: TrialEvent): void {
      for (const action of machine.handle(event, sinceStart())) perform(action);
    }

    for (const action of machine.start()) perform(action);
  });
}
