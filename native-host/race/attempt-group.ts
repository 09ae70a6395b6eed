// One group of a trial: the endpoints still to be attempted, in order, and the pace at which they may be. Section 6 of the
// Happy Eyeballs v3 draft for a list that may change while it is worked through; no event costs a scan of the attempts.
import type { ContenderName } from '@photofinish/shared/race/outcome';
import { type Endpoint, endpointKey as keyOf } from '../discover/endpoint.ts';
import type { Run } from './attempt-run.ts';
import { establishingMs, LEAST_ATTEMPT_DELAY_MS } from './pacing.ts';
import type { PlannedGroup } from './plan.ts';

export class AttemptGroup {
  readonly index: number;
  readonly rules: PlannedGroup;
  /** Attempts whose handshake is under way. */
  readonly connecting = new Set<Run>();
  /** The attempt that was established and not beaten; nothing more is started beside it. */
  winner: Run | null = null;
  opened = false;
  /** HTTP/3 was established late: nothing is left to learn here. */
  learnt = false;
  /** When its timer is set to, null when it is not. */
  timerMs: number | null = null;
  readonly #attemptDelayMs: Readonly<Record<ContenderName, number>>;
  /** Last in front, so that taking the first is cheap. */
  #queue: Endpoint[];
  readonly #attempted = new Set<string>();
  #givenBack: Endpoint[] = [];
  #last: Run | null = null;
  #nextMs = 0;

  constructor(rules: PlannedGroup, index: number, attemptDelayMs: Readonly<Record<ContenderName, number>>) {
    this.rules = rules;
    this.index = index;
    this.#attemptDelayMs = attemptDelayMs;
    this.#queue = rules.endpoints.toReversed();
  }

  /** How many endpoints wait. */
  waiting(): number {
    return this.#queue.length;
  }

  /** Those that wait. */
  endpoints(): readonly Endpoint[] {
    return this.#queue;
  }

  /** Whether an endpoint of this contender waits. */
  holds(contender: ContenderName): boolean {
    return this.#queue.some((endpoint) => endpoint.contender === contender);
  }

  /** Takes the first endpoint that waits. */
  take(): Endpoint | undefined {
    const endpoint = this.#queue.pop();
    if (endpoint !== undefined) this.#attempted.add(keyOf(endpoint));
    return endpoint;
  }

  /**
   * Sets the endpoints that wait to those of the list that were not attempted yet, in its order; what has been started is
   * not touched. Gives whether the list held any endpoint unheard of.
   */
  relist(endpoints: readonly Endpoint[]): boolean {
    const before = new Set(this.#queue.map(keyOf));
    const seen = new Set<string>();
    let news = false;
    const next = endpoints.filter((endpoint) => {
      const key = keyOf(endpoint);
      if (!this.rules.contenders.includes(endpoint.contender) || this.#attempted.has(key) || seen.has(key))
        return false;
      seen.add(key);
      news ||= !before.has(key);
      return true;
    });
    this.#queue = next.reverse();
    return news;
  }

  /** An attempt was ended for another's sake, so its endpoint may be attempted again should that other one break. */
  giveBack(endpoint: Endpoint): void {
    this.#givenBack.push(endpoint);
  }

  /** Puts the endpoints given back in front of those that wait. */
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

  /** Puts this contender's endpoints behind all others: of one that does not answer another address is the last hope. */
  putLast(contender: ContenderName): void {
    // Last in front.
    this.#queue = [
      ...this.#queue.filter((endpoint) => endpoint.contender === contender),
      ...this.#queue.filter((endpoint) => endpoint.contender !== contender),
    ];
  }

  /** When the next endpoint may be started beside what is under way. */
  dueMs(): number {
    return this.#nextMs;
  }

  /** An attempt was started: the next is paced after it. */
  onStart(run: Run): void {
    this.#last = run;
    this.#nextMs = run.startedMs + this.#attemptDelayMs[run.endpoint.contender];
  }

  /** A hedged attempt was started beside another: the next endpoint waits no longer for it than the draft's least delay. */
  onHedged(run: Run): void {
    this.#last = run;
    this.#nextMs = Math.max(this.#nextMs, run.startedMs + LEAST_ATTEMPT_DELAY_MS);
  }

  /** Progress before the end: the next waits for an estimate of the whole establishment (section 6.1). */
  onProgress(run: Run, nowMs: number): void {
    this.#nextMs = Math.max(this.#nextMs, nowMs + establishingMs(nowMs - run.startedMs));
  }

  /** The next need not wait, but for an attempt under way that was started a moment ago. */
  scheduleNow(): void {
    if (this.#last === null) return;
    const leastMs = this.#last.phase === 'connecting' ? this.#last.startedMs + LEAST_ATTEMPT_DELAY_MS : 0;
    this.#nextMs = Math.min(this.#nextMs, leastMs);
  }
}
