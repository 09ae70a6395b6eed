// Connects the engine to the outside: carries out one trial's actions with real transports, discovery and a clock, and
// feeds events back. Everything that can be prepared is prepared before the trial's time 0.
import type { Progress } from '@photofinish/shared/port/wire';
import type { DnsResults } from '@photofinish/shared/race/discovered';
import type { AltSvcSource, AttemptError, Trial } from '@photofinish/shared/race/outcome';
import type { TransportName } from '@photofinish/shared/race/terms';
import { type Alternative, type AltSvc, h3Alternatives } from '@photofinish/shared/web/alt-svc';
import { nextPoll } from '../clock.ts';
import type { DiscoveryQuery, DiscoveryUpdate, Endpoint, LiveDiscovery } from '../discover/discoverer.ts';
import { type Lateness, type LatenessWatch, NEVER_LATE, withLateness } from './disturbance.ts';
import { createTrial, type TrialMachine } from './engine.ts';
import type { TimerName, TrialAction, TrialEvent } from './events.ts';
import { notInTime } from './look-up.ts';
import type { TrialPlan } from './plan.ts';
import type { RaceOptions } from './run.ts';
import {
  type AttemptAnswer,
  later,
  type ResponseAltSvc,
  type RunningAttempt,
  type Traffic,
  type Transport,
} from './transport.ts';

/** For an event handled after the deadline and before its timer: the attempt that it starts gets this minimum time. */
const MIN_TIMEOUT_MS = 1;

/** A preallocated reason, because without one every abort creates an exception with a stack. */
const OVER = new Error('the trial is over');

export type Transports = Readonly<Record<TransportName, Transport>>;

/** Called as it happens; `atMs` counts from the start of the trial. */
type TrialListener = (event: Progress['event'], transport: TransportName, atMs: number) => void;

interface TrialOptions
  extends Pick<RaceOptions, 'origin' | 'discovery' | 'transports' | 'clock' | 'watchLateness' | 'signal'> {
  readonly plan: TrialPlan;
  /** What a live plan asks of discovery during the trial; null if the plan contains the endpoints. */
  readonly live: DiscoveryQuery | null;
  /** Whether an alternative named by an answer is worth following. */
  readonly isUsable: (alternative: Alternative) => boolean;
  /** Whether anything may be sent to the endpoint of an alternative; null: to all that discovery returns. */
  readonly mayFollow: ((endpoint: Endpoint) => boolean) | null;
  readonly listener: TrialListener | null;
}

/** An Alt-Svc value and where it was received. */
export interface ReceivedAltSvc {
  readonly value: AltSvc;
  readonly source: AltSvcSource;
}

/** By transport the last Alt-Svc value; null: no response over it had one, absent: there was no response over it. */
type AltSvcByTransport = Partial<Record<TransportName, ReceivedAltSvc | null>>;

/** A trial and what was learnt from it. */
export interface DrivenTrial {
  readonly trial: Trial;
  /** The endpoints of started attempts, in order. */
  readonly started: readonly Endpoint[];
  /** Network cost of all attempts. */
  readonly traffic: Traffic;
  /** The last Alt-Svc value received, null if no answer contained one. */
  readonly altSvc: ReceivedAltSvc | null;
  readonly altSvcOver: Readonly<AltSvcByTransport>;
  /** Whether the chain ended in a publicly known root, by transport; null: no handshake finished. */
  readonly knownRoot: Readonly<Record<TransportName, boolean | null>>;
  /** Result of the trial's own discovery; null without one. */
  readonly names: DnsResults | null;
  /** Look-ups made to follow alternatives. */
  readonly followed: readonly DnsResults[];
  /** Why the trial's own discovery found no endpoint. */
  readonly discoveryError: AttemptError | null;
}

/** Runs one trial to its end. Never rejects; an abort ends it at once, with its attempts `cancelled`. */
export function driveTrial(options: TrialOptions): Promise<DrivenTrial> {
  return new Promise((resolve) => new RunningTrial(options, resolve).begin());
}

interface Entry {
  readonly running: RunningAttempt;
  readonly transport: TransportName;
  readonly startedMs: number;
  /** Resolves once the engine knows how the attempt's handshake ended, and its request if it sent one. */
  handled: Promise<unknown>;
  alternatives: readonly Alternative[];
}

/** One trial in progress, from `begin` until its promise resolves. */
class RunningTrial {
  readonly #options: TrialOptions;
  readonly #machine: TrialMachine;
  readonly #resolve: (driven: DrivenTrial) => void;
  /** Host and port as attempts send them. */
  readonly #authority: string;
  readonly #late: LatenessWatch;
  readonly #zeroMs: number;
  readonly #attempts: Entry[] = [];
  readonly #started: Endpoint[] = [];
  readonly #timers = new Map<TimerName, () => void>();
  readonly #knownRoot: Record<TransportName, boolean | null> = { h3: null, h2: null };
  readonly #over = new AbortController();
  readonly #followed: DnsResults[] = [];
  /** Ends of handshakes not yet passed to the engine. */
  #arrived: { readonly event: TrialEvent; readonly atMs: number }[] = [];
  /** Handshakes in progress of transports whose results may be received late. */
  #lateUnderWay = 0;
  #altSvc: ReceivedAltSvc | null = null;
  readonly #altSvcOver: AltSvcByTransport = {};
  #discoveryError: AttemptError | null = null;
  /** Discovery has reported endpoints or its failure. */
  #hasUpdate = false;
  #live: LiveDiscovery | null = null;
  #lateAtAdoption: Lateness | null = null;

  constructor(options: TrialOptions, resolve: (driven: DrivenTrial) => void) {
    this.#options = options;
    this.#resolve = resolve;
    this.#machine = createTrial(options.plan);
    this.#authority = new URL(options.origin.origin).host;
    this.#late = options.watchLateness?.() ?? NEVER_LATE;
    options.signal?.addEventListener('abort', this.#onAbort, { once: true });
    this.#zeroMs = options.clock.nowMs();
  }

  begin(): void {
    const { discovery, live } = this.#options;
    this.#performAll(this.#machine.start());
    if (live !== null) this.#live = discovery.begin(live, (update) => this.#onUpdate(update));
    if (this.#over.signal.aborted) this.#live?.cancel();
  }

  readonly #onAbort = (): void => this.#feed({ type: 'cancelled' });

  #sinceStart(): number {
    return this.#options.clock.nowMs() - this.#zeroMs;
  }

  #feed(event: TrialEvent): void {
    this.#performAll(this.#machine.handle(event, this.#sinceStart()));
  }

  #performAll(actions: readonly TrialAction[]): void {
    for (const action of actions) this.#perform(action);
  }

  #perform(action: TrialAction): void {
    if (action.type === 'start') this.#start(action);
    else if (action.type === 'request') this.#request(action.attempt);
    else if (action.type === 'follow') this.#follow(action.attempt);
    else if (action.type === 'end') this.#entryOf(action.attempt).running.cancel();
    else if (action.type === 'timer') this.#setTimer(action.timer, action.atMs);
    else if (action.type === 'notify') this.#notify(action);
    else void this.#finish();
  }

  #entryOf(attempt: number): Entry {
    const entry = this.#attempts[attempt];
    if (entry === undefined) throw new RangeError(`no attempt ${attempt}`);
    return entry;
  }

  #start({ attempt, endpoint }: TrialAction & { type: 'start' }): void {
    const { plan, origin, transports } = this.#options;
    this.#started.push(endpoint);
    const startedMs = this.#sinceStart();
    const transport = transports[endpoint.transport];
    const running = transport.start({
      address: endpoint.address,
      port: endpoint.port,
      // Wherever the endpoint was learnt, it must authenticate as the origin (RFC 7838 section 2.1, RFC 9460 section
      // 9).
      host: origin.host,
      authority: this.#authority,
      initialRttMs: plan.pacing.initialRttMs,
      handshakeTimeoutMs: Math.max(MIN_TIMEOUT_MS, plan.timeoutMs - startedMs),
      onTransport: () => this.#feed({ type: 'progressed', attempt, transportMs: this.#sinceStart() }),
    });
    const handled = running.established.then((handshake) => {
      const result = later(handshake, startedMs);
      if (!result.ok)
        return this.#onHandshakeOver({ type: 'failed', attempt, ...result }, result.atMs, transport);
      this.#knownRoot[endpoint.transport] = result.knownRoot;
      return this.#onHandshakeOver(
        { type: 'established', attempt, ...result },
        result.establishedMs,
        transport,
      );
    });
    if (transport.reportsLate) this.#lateUnderWay += 1;
    this.#attempts[attempt] = {
      running,
      transport: endpoint.transport,
      startedMs,
      handled,
      alternatives: [],
    };
  }

  /**
   * One transport's results come from a separate thread, so a busy event loop receives them late, while the other's are
   * produced when they are received. Therefore the latter wait while one of the former may be in flight, until
   * everything that had happened by then has been received, and the transports' own timestamps decide.
   */
  async #onHandshakeOver(event: TrialEvent, atMs: number, { reportsLate = false }: Transport): Promise<void> {
    this.#arrived.push({ event, atMs });
    if (reportsLate) {
      this.#lateUnderWay -= 1;
      this.#feedUntil(atMs);
      return;
    }
    if (this.#lateUnderWay > 0) await nextPoll();
    this.#feedUntil(Number.POSITIVE_INFINITY);
  }

  #feedUntil(lastMs: number): void {
    const due = this.#arrived.filter(({ atMs }) => atMs <= lastMs).toSorted((a, b) => a.atMs - b.atMs);
    this.#arrived = this.#arrived.filter(({ atMs }) => atMs > lastMs);
    for (const one of due) this.#feed(one.event);
  }

  #request(attempt: number): void {
    const entry = this.#entryOf(attempt);
    const timeoutMs = Math.max(MIN_TIMEOUT_MS, this.#options.plan.timeoutMs - this.#sinceStart());
    entry.handled = entry.running.request(timeoutMs).then((result) => {
      if (result.ok) return this.#onAnswered(attempt, result, entry);
      if (result.receivedAltSvc !== undefined) this.#recordAltSvc(entry, result.receivedAltSvc);
      this.#feed({ type: 'failed', attempt, ...later(result, entry.startedMs) });
    });
  }

  #recordAltSvc({ transport }: Entry, { altSvc, altSvcSource = 'header' }: ResponseAltSvc): void {
    this.#altSvcOver[transport] ??= null;
    if (altSvc === null) return;
    this.#altSvc = { value: altSvc, source: altSvcSource };
    this.#altSvcOver[transport] = this.#altSvc;
  }

  #onAnswered(attempt: number, answer: AttemptAnswer, entry: Entry): void {
    this.#recordAltSvc(entry, answer);
    if (answer.altSvc !== null)
      entry.alternatives = h3Alternatives(answer.altSvc).filter(
        (a) => this.#options.isUsable(a) && !this.#isPlanned(a),
      );
    const advertises = entry.alternatives.length > 0;
    const { repeated, ...once } = later(answer, entry.startedMs);
    this.#feed({
      type: 'answered',
      attempt,
      advertises,
      ...once,
      ...(repeated && { repeated: later(repeated, entry.startedMs) }),
    });
  }

  /** Alternatives at endpoints already in the plan need not be followed. */
  #isPlanned({ host, port }: Alternative): boolean {
    const { origin, plan } = this.#options;
    const own = host === '' || host === origin.host;
    const isSame = (endpoint: Endpoint): boolean =>
      endpoint.transport === 'h3' && endpoint.host === origin.host && endpoint.port === port;
    return own && plan.groups.some(({ endpoints }) => endpoints.some(isSame));
  }

  #follow(attempt: number): void {
    const { discovery, origin, mayFollow } = this.#options;
    const { alternatives } = this.#entryOf(attempt);
    void discovery.follow(origin, alternatives, this.#over.signal).then(({ endpoints, names }) => {
      this.#followed.push(names);
      const open = mayFollow === null ? endpoints : endpoints.filter(mayFollow);
      this.#feed({ type: 'alternatives', attempt, endpoints: open });
    });
  }

  #setTimer(name: TimerName, atMs: number | null): void {
    this.#timers.get(name)?.();
    this.#timers.delete(name);
    if (atMs === null) return;
    const delayMs = Math.max(0, atMs - this.#sinceStart());
    const forget = this.#options.clock.after(delayMs, () => this.#feed({ type: 'timer', timer: name }));
    this.#timers.set(name, forget);
  }

  #notify({ event, transport, atMs }: TrialAction & { type: 'notify' }): void {
    if (event === 'adopted') this.#lateAtAdoption = this.#late.read();
    this.#options.listener?.(event, transport, atMs);
  }

  #onUpdate(update: DiscoveryUpdate): void {
    this.#hasUpdate = true;
    if (update.type === 'failed') this.#discoveryError = update.error;
    this.#feed(update.type === 'failed' ? { type: 'discovery-failed' } : update);
  }

  async #finish(): Promise<void> {
    const { signal, origin, plan } = this.#options;
    signal?.removeEventListener('abort', this.#onAbort);
    this.#over.abort(OVER);
    this.#live?.cancel();
    const ended = this.#late.read();
    this.#late.end();
    // Ended attempts still report their packet counts.
    await Promise.all(this.#attempts.map((entry) => entry.handled));
    const names = this.#live?.names() ?? null;
    if (names !== null && !this.#hasUpdate)
      this.#discoveryError = notInTime(origin.host, names, plan.timeoutMs, ended);
    this.#resolve({
      trial: this.#recordWith(ended),
      traffic: this.#machine.traffic(),
      started: this.#started,
      altSvc: this.#altSvc,
      altSvcOver: this.#altSvcOver,
      knownRoot: this.#knownRoot,
      names,
      followed: this.#followed,
      discoveryError: this.#discoveryError,
    });
  }

  /** The trial's record, including how late this machine was. */
  #recordWith(ended: Lateness): Trial {
    const record = this.#machine.record();
    if (this.#options.watchLateness === undefined) return record;
    const decided = record.adopted === null ? ended : (this.#lateAtAdoption ?? ended);
    return withLateness(record, { decided, ended }, this.#options.plan.timeoutMs);
  }
}
