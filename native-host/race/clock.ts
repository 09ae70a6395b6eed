// Time as an input: the engine's driver and the cache take a clock, so tests run on virtual time.

export interface Clock {
  /** Monotonic milliseconds, for durations. */
  nowMs(): number;
  /** Milliseconds since the epoch, for records. */
  epochMs(): number;
  /** Calls `run` after `delayMs`, never earlier; the returned function forgets it. */
  after(delayMs: number, run: () => void): () => void;
}

/** The machine's own clock. */
export const systemClock: Clock = {
  nowMs: () => performance.now(),
  epochMs: () => Date.now(),
  after(delayMs, run) {
    const dueMs = performance.now() + delayMs;
    // libuv counts whole milliseconds from the start of its loop's turn, so a timer can fire up to one too early.
    const fire = (): void => {
      const leftMs = dueMs - performance.now();
      if (leftMs <= 0) run();
      else timer = setTimeout(fire, leftMs);
    };
    let timer = setTimeout(fire, delayMs);
    return () => clearTimeout(timer);
  },
};
