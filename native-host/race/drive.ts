// Between the engine and the world: carries out one trial's actions with real contenders, discovery and a clock, and
// feeds what happens back in. What can be prepared is prepared before the trial's time 0; between events it only passes.

import type { Progress } from '@photofinish/shared/port/wire';
import type { Names } from '@photofinish/shared/race/discovered';
import type { AltSvcSource, AttemptError, ContenderName, Trial } from '@photofinish/shared/race/outcome';
import { type Alternative, type AltSvc, h3Alternatives } from '@photofinish/shared/web/alt-svc';
import type { OriginParts } from '@photofinish/shared/web/origin';
import type { Clock } from '../clock.ts';
import type { Discovering, DiscoveryNews, DiscoveryQuery, LiveDiscovery } from '../discover/discovering.ts';
import type { Endpoint } from '../discover/endpoint.ts';
import type {
  Answered,
  AttemptFailure,
  Contender,
  Established,
  RunningAttempt,
  Traffic,
} from './contender.ts';
import { withLateness } from './disturbance.ts';
import { createTrial } from './engine.ts';
import type { TimerName, TrialAction, TrialEvent } from './events.ts';
import { type Lateness, NEVER_LATE, type WatchLateness } from './lateness.ts';
import { notInTime } from './look-up.ts';
import { nextPoll } from './next-poll.ts';
import type { TrialPlan } from './plan.ts';

/** An event can be handled after the deadline and before its timer; what it starts is then given no time at all. */
const LEAST_TIMEOUT_MS = 1;

/** Said outright, because without a reason every abort makes an exception with its stack. */
const OVER = new Error('the trial is over');

export type Contenders = Readonly<Record<ContenderName, Contender>>;

/** Told as it happens; `atMs` counts from the start of the trial. */
type TrialListener = (event: Progress['event'], contender: ContenderName, atMs: number) => void;

export interface Drive {
  readonly plan: TrialPlan;
  readonly origin: OriginParts;
  readonly discovery: Discovering;
  /** What a live plan asks of discovery, on the trial's time; null where the plan holds the endpoints. */
  readonly live: DiscoveryQuery | null;
  /** Whether an alternative that an answer names is worth following. */
  readonly believes: (alternative: Alternative) => boolean;
  readonly contenders: Contenders;
  readonly clock: Clock;
  /** Without it nothing counts as late. */
  readonly watchLateness: WatchLateness | null;
  readonly signal: AbortSignal | null;
  readonly listener: TrialListener | null;
}

/** An Alt-Svc value and how it came. */
interface HeardAltSvc {
  readonly value: AltSvc;
  readonly source: AltSvcSource;
}

/** A trial and what was learnt beside it. */
export interface DrivenTrial {
  readonly trial: Trial;
  /** Where attempts were begun, in order. */
  readonly started: readonly Endpoint[];
  /** What all attempts cost the network. */
  readonly traffic: Traffic;
  /** The last Alt-Svc value received, null when no answer carried one. */
  readonly altSvc: HeardAltSvc | null;
  /** Whether the chain ended in a publicly known root, by contender; null: no handshake finished. */
  readonly knownRoot: Readonly<Record<ContenderName, boolean | null>>;
  /** What the trial's own discovery gave; null without one. */
  readonly names: Names | null;
  /** What was asked to follow alternatives. */
  readonly followed: readonly Names[];
  /** Why the trial's own discovery led nowhere. */
  readonly undiscovered: AttemptError | null;
}

interface Entry {
  readonly running: RunningAttempt;
  readonly startedMs: number;
  /** Resolves once the engine knows how the attempt's handshake ended. */
  readonly told: Promise<void>;
  alternatives: readonly Alternative[];
}

function isH3At(endpoint: Endpoint, host: string, port: number): boolean {
  return endpoint.contender === 'h3' && endpoint.host === host && endpoint.port === port;
}

/** Runs one trial to its end. Never rejects; an abort ends it at once, with its attempts `cancelled`. */
export function driveTrial(drive: Drive): Promise<DrivenTrial> {
  const { plan, origin, contenders, clock, discovery, signal } = drive;
  const machine = createTrial(plan);
  const authority = new URL(origin.origin).host;
  const attempts: Entry[] = [];
  const started: Endpoint[] = [];
  const timers = new Map<TimerName, () => void>();
  const knownRoot: Record<ContenderName, boolean | null> = { h3: null, h2: null };
  const over = new AbortController();
  const followed: Names[] = [];
  let arrived: { readonly event: TrialEvent; readonly atMs: number }[] = [];
  /** Handshakes of contenders whose results may be told late. */
  let lateUnderWay = 0;
  let altSvc: DrivenTrial['altSvc'] = null;
  let undiscovered: AttemptError | null = null;
  let heard = false;
  let live: LiveDiscovery | null = null;
  const late = drive.watchLateness?.() ?? NEVER_LATE;
  let lateAtAdoption: Lateness | null = null;

  return new Promise((resolve) => {
    const onAbort = (): void => feed({ type: 'cancelled' });
    signal?.addEventListener('abort', onAbort, { once: true });
    const zeroMs = clock.nowMs();
    const sinceStart = (): number => clock.nowMs() - zeroMs;

    function entryOf(attempt: number): Entry {
      const entry = attempts[attempt];
      if (entry === undefined) throw new RangeError(`no attempt ${attempt}`);
      return entry;
    }

    function failureEvent(attempt: number, failure: AttemptFailure, startedMs: number): TrialEvent {
      const transportMs = failure.transportMs === null ? null : startedMs + failure.transportMs;
      const packets = failure.packets ?? null;
      const { error, traffic } = failure;
      return { type: 'failed', attempt, error, transportMs, packets, ...(traffic && { traffic }) };
    }

    /**
     * One contender's results come from a thread of its own, and a busy event loop tells them late; the other's are made
     * as they are told. So the latter wait, while one of the former may be on its way, until everything that had happened
     * by then was told, and the contenders' own times decide.
     */
    async function handshakeOver(
      event: TrialEvent,
      atMs: number,
      { toldLate = false }: Contender,
    ): Promise<void> {
      arrived.push({ event, atMs });
      if (toldLate) {
        lateUnderWay -= 1;
        tellUntil(atMs);
        return;
      }
      if (lateUnderWay > 0) await nextPoll();
      tellUntil(Number.POSITIVE_INFINITY);
    }

    function tellUntil(lastMs: number): void {
      const due = arrived.filter(({ atMs }) => atMs <= lastMs).toSorted((a, b) => a.atMs - b.atMs);
      arrived = arrived.filter(({ atMs }) => atMs > lastMs);
      for (const one of due) feed(one.event);
    }

    function resultOf(
      { attempt, endpoint }: TrialAction & { type: 'start' },
      result: Established | AttemptFailure,
      startedMs: number,
    ): TrialEvent {
      if (!result.ok) return failureEvent(attempt, result, startedMs);
      knownRoot[endpoint.contender] = result.knownRoot;
      return {
        type: 'established',
        attempt,
        protocol: result.protocol,
        transportMs: result.transportMs === null ? null : startedMs + result.transportMs,
        establishedMs: startedMs + result.establishedMs,
        rttMs: result.rttMs,
        packets: result.packets ?? null,
        ...(result.traffic && { traffic: result.traffic }),
      };
    }

    function start(action: TrialAction & { type: 'start' }): void {
      const { attempt, endpoint } = action;
      started.push(endpoint);
      const startedMs = sinceStart();
      const contender = contenders[endpoint.contender];
      const running = contender.start({
        address: endpoint.address,
        port: endpoint.port,
        // Wherever the endpoint was learnt, it has to prove that it is the origin (RFC 7838 section 2.1, RFC 9460 section 9).
        host: origin.host,
        authority,
        initialRttMs: plan.pacing.initialRttMs,
        handshakeTimeoutMs: Math.max(LEAST_TIMEOUT_MS, plan.timeoutMs - startedMs),
        onTransport: () => feed({ type: 'progressed', attempt, transportMs: sinceStart() }),
      });
      const told = running.established.then((result) =>
        handshakeOver(
          resultOf(action, result, startedMs),
          startedMs + (result.ok ? result.establishedMs : result.atMs),
          contender,
        ),
      );
      if (contender.toldLate) lateUnderWay += 1;
      attempts[attempt] = { running, startedMs, told, alternatives: [] };
    }

    /** What the plan goes to anyway need not be followed. */
    function isPlanned({ host, port }: Alternative): boolean {
      const own = host === '' || host === origin.host;
      return own && plan.groups.some(({ endpoints }) => endpoints.some((p) => isH3At(p, origin.host, port)));
    }

    function answered(attempt: number, answer: Answered, entry: Entry): void {
      if (answer.altSvc !== null) {
        altSvc = { value: answer.altSvc, source: answer.altSvcSource ?? 'header' };
        entry.alternatives = h3Alternatives(answer.altSvc).filter((a) => drive.believes(a) && !isPlanned(a));
      }
      const { repeated } = answer;
      feed({
        type: 'answered',
        attempt,
        firstByteMs: entry.startedMs + answer.firstByteMs,
        packets: answer.packets ?? null,
        ...(answer.traffic && { traffic: answer.traffic }),
        advertises: entry.alternatives.length > 0,
        ...(repeated !== undefined && {
          repeated: { ...repeated, establishedMs: entry.startedMs + repeated.establishedMs },
        }),
      });
    }

    function request(attempt: number): void {
      const entry = entryOf(attempt);
      const patienceMs = Math.max(LEAST_TIMEOUT_MS, plan.timeoutMs - sinceStart());
      void entry.running.request(patienceMs).then((result) => {
        if (result.ok) answered(attempt, result, entry);
        else feed(failureEvent(attempt, result, entry.startedMs));
      });
    }

    function follow(attempt: number): void {
      const { alternatives } = entryOf(attempt);
      void discovery.follow(origin, alternatives, over.signal).then(({ endpoints, names }) => {
        followed.push(names);
        feed({ type: 'alternatives', attempt, endpoints });
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

    async function finish(): Promise<void> {
      signal?.removeEventListener('abort', onAbort);
      over.abort(OVER);
      live?.cancel();
      const ended = late.read();
      late.end();
      // Ended attempts still have to say how many packets they took.
      await Promise.all(attempts.map((entry) => entry.told));
      const names = live?.names() ?? null;
      if (names !== null && !heard) undiscovered = notInTime(origin.host, names, plan.timeoutMs, ended);
      const record = machine.record();
      const decided = record.adopted === null ? null : lateAtAdoption;
      const trial =
        drive.watchLateness === null
          ? record
          : withLateness(record, { decided: decided ?? ended, ended }, plan.timeoutMs);
      resolve({
        trial,
        traffic: machine.traffic(),
        started,
        altSvc,
        knownRoot,
        names,
        followed,
        undiscovered,
      });
    }

    function tell({ event, contender, atMs }: TrialAction & { type: 'tell' }): void {
      if (event === 'adopted') lateAtAdoption = late.read();
      drive.listener?.(event, contender, atMs);
    }

    function perform(action: TrialAction): void {
      if (action.type === 'start') start(action);
      else if (action.type === 'request') request(action.attempt);
      else if (action.type === 'follow') follow(action.attempt);
      else if (action.type === 'end') entryOf(action.attempt).running.cancel();
      else if (action.type === 'timer') setTimer(action.timer, action.atMs);
      else if (action.type === 'tell') tell(action);
      else void finish();
    }

    function feed(event: TrialEvent): void {
      for (const action of machine.handle(event, sinceStart())) perform(action);
    }

    function onNews(news: DiscoveryNews): void {
      heard = true;
      if (news.type === 'failed') undiscovered = news.error;
      feed(news.type === 'failed' ? { type: 'undiscovered' } : news);
    }

    for (const action of machine.start()) perform(action);
    if (drive.live !== null) live = discovery.begin(drive.live, onNews);
    if (over.signal.aborted) live?.cancel();
  });
}
