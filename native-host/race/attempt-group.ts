// One group of a trial: the endpoints still to be attempted, in order, and the pace at which they may be. Section 6 of the
// Happy Eyeballs v3 draft for a list that may change while it is worked through; no event costs a scan of the attempts.
import type { ContenderName } from '@photofinish/shared/race/outcome';
import { type Endpoint, endpointKey as keyOf } from '../discover/endpoint.ts';
import type { Run } from './attempt-run.ts';
import { establishingMs, LEAST_ATTEMPT_DELAY_MS } from './pacing.ts';
import type { PlannedGroup } from './plan.ts';

export interface AttemptGroup {
  readonly index: number;
  readonly rules: PlannedGroup;
  /** Attempts whose handshake is under way. */
  readonly connecting: Set<Run>;
  /** The attempt that was established and not beaten; nothing more is started beside it. */
  winner: Run | null;
  opened: boolean;
  /** HTTP/3 was established late: nothing is left to learn here. */
  learnt: boolean;
  /** When its timer is set to, null when it is not. */
  timerMs: number | null;
  /** How many endpoints wait. */
  waiting(): number;
  /** Those that wait. */
  endpoints(): readonly Endpoint[];
  /** Whether an endpoint of this contender waits. */
  holds(contender: ContenderName): boolean;
  /** Takes the first endpoint that waits. */
  take(): Endpoint | undefined;
  /**
   * Sets the endpoints that wait to those of the list that were not attempted yet, in its order; what has been started is
   * not touched. Gives whether the list held any endpoint unheard of.
   */
  relist(endpoints: readonly Endpoint[]): boolean;
  /** An attempt was ended for another's sake, so its endpoint may be attempted again should that other one break. */
  giveBack(endpoint: Endpoint): void;
  /** Puts the endpoints given back in front of those that wait. */
  requeue(): void;
  /** Puts this contender's endpoints behind all others: of one that does not answer another address is the last hope. */
  putLast(contender: ContenderName): void;
  /** When the next endpoint may be started beside what is under way. */
  dueMs(): number;
  /** An attempt was started: the next is paced after it. */
  onStart(run: Run): void;
  /** A hedged attempt was started beside another: the next endpoint waits no longer for it than the draft's least delay. */
  onHedged(run: Run): void;
  /** Progress before the end: the next waits for an estimate of the whole establishment (section 6.1). */
  onProgress(run: Run, nowMs: number): void;
  /** The next need not wait, but for an attempt under way that was started a moment ago. */
  scheduleNow(): void;
}

export function createAttemptGroup(
  rules: PlannedGroup,
  index: number,
  attemptDelayMs: Readonly<Record<ContenderName, number>>,
): AttemptGroup {
  // Last in front, so that taking the first is cheap.
  let queue: Endpoint[] = rules.endpoints.toReversed();
  const attempted = new Set<string>();
  let givenBack: Endpoint[] = [];
  let last: Run | null = null;
  let nextMs = 0;

  return {
    index,
    rules,
    connecting: new Set(),
    winner: null,
    opened: false,
    learnt: false,
    timerMs: null,
    waiting: () => queue.length,
    endpoints: () => queue,
    holds: (contender) => queue.some((endpoint) => endpoint.contender === contender),
    take() {
      const endpoint = queue.pop();
      if (endpoint !== undefined) attempted.add(keyOf(endpoint));
      return endpoint;
    },
    relist(endpoints) {
      const before = new Set(queue.map(keyOf));
      const seen = new Set<string>();
      let news = false;
      const next = endpoints.filter((endpoint) => {
        const key = keyOf(endpoint);
        if (!rules.contenders.includes(endpoint.contender) || attempted.has(key) || seen.has(key))
          return false;
        seen.add(key);
        news ||= !before.has(key);
        return true;
      });
      queue = next.reverse();
      return news;
    },
    giveBack(endpoint) {
      givenBack.push(endpoint);
    },
    requeue() {
      const waiting = new Set(queue.map(keyOf));
      for (const endpoint of givenBack.reverse()) {
        if (waiting.has(keyOf(endpoint))) continue;
        waiting.add(keyOf(endpoint));
        attempted.delete(keyOf(endpoint));
        queue.push(endpoint);
      }
      givenBack = [];
    },
    putLast(contender) {
      // Last in front.
      queue = [
        ...queue.filter((endpoint) => endpoint.contender === contender),
        ...queue.filter((endpoint) => endpoint.contender !== contender),
      ];
    },
    dueMs: () => nextMs,
    onStart(run) {
      last = run;
      nextMs = run.startedMs + attemptDelayMs[run.endpoint.contender];
    },
    onHedged(run) {
      last = run;
      nextMs = Math.max(nextMs, run.startedMs + LEAST_ATTEMPT_DELAY_MS);
    },
    onProgress(run, nowMs) {
      nextMs = Math.max(nextMs, nowMs + establishingMs(nowMs - run.startedMs));
    },
    scheduleNow() {
      if (last === null) return;
      const leastMs = last.phase === 'connecting' ? last.startedMs + LEAST_ATTEMPT_DELAY_MS : 0;
      nextMs = Math.min(nextMs, leastMs);
    },
  };
}
