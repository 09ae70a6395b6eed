// Time as an input: the engine's driver and the cache take a clock, so tests run on virtual time.

export interface Clock {
  /** Monotonic milliseconds, for durations. */
  nowMs(): number;
  /** Milliseconds since the epoch, for records. */
  epochMs(): number;
  /** Calls `run` after `delayMs`; the returned function forgets it. */
  after(delayMs: number, run: () => void): () => void;
}

/** The machine's own clock. */
export const systemClock: Clock = {
  nowMs: () => performance.now(),
  epochMs: () => Date.now(),
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
};
