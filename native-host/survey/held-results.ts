// What a worker measured since its last good canary: released by the next good one, discarded when that fails or the
// network has changed. Pure: the worker owns the messages and the clock.

/** A result that waits, and what its release or discard means for the job. */
interface Held<Job, Result> {
  readonly job: Job;
  readonly result: Result;
  /** When its race ended, by the worker's monotonic clock. */
  readonly endedMs: number;
}

export interface HeldResults<Job, Result> {
  add(held: Held<Job, Result>): void;
  /** Those that ended before a good canary began: what came after it is not covered by it. */
  release(canaryBeganMs: number): readonly Held<Job, Result>[];
  /** All of them: a canary failed, so none is evidence of anything but this vantage. */
  discard(): readonly Held<Job, Result>[];
  size(): number;
}

export function heldResults<Job, Result>(): HeldResults<Job, Result> {
  let waiting: Held<Job, Result>[] = [];
  return {
    add: (held) => void waiting.push(held),
    release(canaryBeganMs) {
      const covered = waiting.filter(({ endedMs }) => endedMs <= canaryBeganMs);
      waiting = waiting.filter(({ endedMs }) => endedMs > canaryBeganMs);
      return covered;
    },
    discard() {
      const all = waiting;
      waiting = [];
      return all;
    },
    size: () => waiting.length,
  };
}
