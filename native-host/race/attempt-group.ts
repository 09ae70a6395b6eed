// An attempt within the race's state machine, with its progress and its record; and a group of them, with the endpoints
// not yet attempted and the pacing between attempts. A group implements section 6 of the Happy Eyeballs v3 draft for a
// list that may change during the trial; no event requires a scan of all attempts.
import type { Attempt, AttemptError } from '@photofinish/shared/race/outcome';
import { roundedMs } from '@photofinish/shared/race/statistics';
import type { TransportName } from '@photofinish/shared/race/terms';
import type { KnownProtocol } from '@photofinish/shared/web/protocol';
import { type Endpoint, endpointKey as keyOf } from '../discover/discoverer.ts';
import { ABSOLUTE_MIN_ATTEMPT_DELAY_MS, establishingMs } from './pacing.ts';
import type { PlannedGroup } from './plan.ts';
import { NO_TRAFFIC, type Packets } from './transport.ts';

/**
 * connecting → requested → over is the path of the winner. `overdue`: its answer is still awaited, but others are
 * attempted beside it. `held`: answered, and waiting for the alternatives its answer advertised. `expiring`: ended
 * by the deadline, and its progress not yet reported.
 */
export type Phase = 'connecting' | 'requested' | 'overdue' | 'held' | 'expiring' | 'over';

/** An attempt in a trial, numbered from 0. */
export class AttemptState {
  readonly id: number;
  readonly group: AttemptGroup;
  readonly endpoint: Endpoint;
  /** The second attempt beside an unanswered one at the same endpoint. */
  readonly hedged: boolean;
  readonly startedMs: number;
  /** Started only because we processed an event late that had already made it unnecessary. */
  needless = false;
  phase: Phase = 'connecting';
  protocol: KnownProtocol;
  transportMs: number | null = null;
  establishedMs: number | null = null;
  /** When its request was sent. */
  requestedMs: number | null = null;
  firstByteMs: number | null = null;
  /** Of that response. */
  status: number | null = null;
  rttMs: number | null = null;
  /** The server required HTTP/1.1 for the request. */
  http11Required = false;
  packets: Packets | null = null;
  traffic = NO_TRAFFIC;
  outcome: Attempt['outcome'] | null = null;
  error: AttemptError | null = null;

  constructor(id: number, group: AttemptGroup, endpoint: Endpoint, startedMs: number, hedged: boolean) {
    this.id = id;
    this.group = group;
    this.endpoint = endpoint;
    this.startedMs = startedMs;
    this.hedged = hedged;
    this.protocol = endpoint.transport;
  }
}

/** How long an attempt has waited for the end of its handshake or for an answer. */
export function waitedMs(attempt: AttemptState, nowMs: number): number {
  return nowMs - (attempt.requestedMs ?? attempt.startedMs);
}

/** The failure of an attempt ended by the deadline, by how far it had come. */
export function expiredError(attempt: AttemptState, timeoutMs: number): AttemptError {
  const within = `within ${Math.round(waitedMs(attempt, timeoutMs))} ms`;
  if (attempt.establishedMs !== null)
    return { code: 'response-timeout', message: `connected, but no complete response came ${within}` };
  if (attempt.transportMs !== null)
    return { code: 'handshake-timeout', message: `the handshake did not finish ${within}` };
  return attempt.endpoint.transport === 'h3'
    ? { code: 'udp-timeout', message: `nothing came back over UDP ${within}` }
    : { code: 'tcp-timeout', message: `TCP did not connect ${within}` };
}

/** The attempt's record; `originHost` is the host that is omitted from it. */
export function attemptOf(attempt: AttemptState, originHost: string): Attempt {
  const { host, source } = attempt.endpoint;
  return {
    protocol: attempt.protocol,
    address: attempt.endpoint.address,
    port: attempt.endpoint.port,
    ...(host !== originHost && { host }),
    ...(source !== 'origin' && { source }),
    ...(attempt.hedged && { fresh: true }),
    ...(attempt.http11Required && { http11Required: true }),
    startedMs: roundedMs(attempt.startedMs),
    transportMs: roundedMs(attempt.transportMs),
    establishedMs: roundedMs(attempt.establishedMs),
    firstByteMs: roundedMs(attempt.firstByteMs),
    ...(attempt.status !== null && { status: attempt.status }),
    ...(attempt.rttMs !== null && { rttMs: roundedMs(attempt.rttMs) }),
    ...(attempt.packets !== null && { packets: { sent: attempt.packets.sent, lost: attempt.packets.lost } }),
    outcome: attempt.outcome ?? 'cancelled',
    ...(attempt.error !== null && { error: attempt.error }),
  };
}

export class AttemptGroup {
  readonly index: number;
  readonly rules: PlannedGroup;
  /** Attempts whose handshake is in progress. */
  readonly connecting = new Set<AttemptState>();
  /** The established attempt, unless it was beaten; while it is set, no further attempt starts. */
  winner: AttemptState | null = null;
  /** HTTP/3 was established late: there is nothing left to learn. */
  learnt = false;
  /** When the group's timer fires; null if it is not set. */
  timerMs: number | null = null;
  readonly #attemptDelayMs: Readonly<Record<TransportName, number>>;
  /** In reverse order, so that taking the first endpoint is cheap. */
  #queue: Endpoint[];
  readonly #attempted = new Set<string>();
  #givenBack: Endpoint[] = [];
  #last: AttemptState | null = null;
  #nextMs = 0;

  constructor(rules: PlannedGroup, index: number, attemptDelayMs: Readonly<Record<TransportName, number>>) {
    this.rules = rules;
    this.index = index;
    this.#attemptDelayMs = attemptDelayMs;
    this.#queue = rules.endpoints.toReversed();
  }

  /** Number of queued endpoints. */
  waiting(): number {
    return this.#queue.length;
  }

  /** The queued endpoints. */
  endpoints(): readonly Endpoint[] {
    return this.#queue;
  }

  /** Whether an endpoint of this transport is queued. */
  holds(transport: TransportName): boolean {
    return this.#queue.some((endpoint) => endpoint.transport === transport);
  }

  /** Removes and returns the first queued endpoint. */
  take(): Endpoint | undefined {
    const endpoint = this.#queue.pop();
    if (endpoint !== undefined) this.#attempted.add(keyOf(endpoint));
    return endpoint;
  }

  /**
   * Replaces the queue with those endpoints of the list that have not been attempted yet, in its order; running
   * attempts are not affected. Returns whether the list contained a previously unknown endpoint.
   */
  relist(endpoints: readonly Endpoint[]): boolean {
    const before = new Set(this.#queue.map(keyOf));
    const seen = new Set<string>();
    let hasNew = false;
    const next = endpoints.filter((endpoint) => {
      const key = keyOf(endpoint);
      if (!this.rules.transports.includes(endpoint.transport) || this.#attempted.has(key) || seen.has(key))
        return false;
      seen.add(key);
      hasNew ||= !before.has(key);
      return true;
    });
    this.#queue = next.reverse();
    return hasNew;
  }

  /**
   * Marks the endpoint of an attempt cancelled in favour of another as eligible again, in case that other attempt
   * breaks.
   */
  giveBack(endpoint: Endpoint): void {
    this.#givenBack.push(endpoint);
  }

  /** Puts the endpoints given back at the front of the queue. */
  requeue(): void {
    const waiting = new Set(this.#queue.map(keyOf));
    for (const endpoint of this.#givenBack.reverse()) {
      if (waiting.has(keyOf(endpoint))) continue;
      waiting.add(keyOf(endpoint));
      this.#attempted.delete(keyOf(endpoint));
      this.#queue.push(endpoint);
    }
    this.#givenBack = [];
  }

  /**
   * Moves this transport's endpoints to the end: if it does not answer at one address, its other addresses are tried
   * last.
   */
  putLast(transport: TransportName): void {
    // The queue is in reverse order.
    this.#queue = [
      ...this.#queue.filter((endpoint) => endpoint.transport === transport),
      ...this.#queue.filter((endpoint) => endpoint.transport !== transport),
    ];
  }

  /** When the next endpoint may start while attempts are in progress. */
  dueMs(): number {
    return this.#nextMs;
  }

  /** Records the start of an attempt and paces the next one after it. */
  onStart(attempt: AttemptState): void {
    this.#last = attempt;
    this.#nextMs = attempt.startedMs + this.#attemptDelayMs[attempt.endpoint.transport];
  }

  /** A hedged attempt was started: the next endpoint waits only the draft's minimum delay after it. */
  onHedged(attempt: AttemptState): void {
    this.#last = attempt;
    this.#nextMs = Math.max(this.#nextMs, attempt.startedMs + ABSOLUTE_MIN_ATTEMPT_DELAY_MS);
  }

  /** An attempt made progress: extends the timer by an estimate of the rest of its handshake (section 6.1). */
  onProgress(attempt: AttemptState, nowMs: number): void {
    this.#nextMs = Math.max(this.#nextMs, nowMs + establishingMs(nowMs - attempt.startedMs));
  }

  /** Makes the next endpoint due now, subject to the minimum delay after the last attempt in progress. */
  scheduleNow(): void {
    if (this.#last === null) return;
    const leastMs =
      this.#last.phase === 'connecting' ? this.#last.startedMs + ABSOLUTE_MIN_ATTEMPT_DELAY_MS : 0;
    this.#nextMs = Math.min(this.#nextMs, leastMs);
  }
}
