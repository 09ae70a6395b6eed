// Time as an input: the engine's driver and the cache take a clock, so tests run on virtual time.

export interface Clock {
  /** Monotonic milliseconds, for durations. */
  nowMs(): number;
  /** Milliseconds since the epoch, for records. */
  epochMs(): number;
  /** Calls `run` after `delayMs`, never earlier; the returned function forgets it. */
  after(delayMs: number, run: () => void): () => void;
}

/** The clock behind `performance`, which would cost a helper that starts a millisecond to load. */
function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}

/** The machine's own clock. */
export const systemClock: Clock = {
  nowMs: monotonicMs,
  epochMs: () => Date.now(),
  after(delayMs, run) {
    const dueMs = monotonicMs() + delayMs;
    // libuv counts whole milliseconds from the start of its loop's turn, so a timer can fire up to one too early.
    const fire = (): void => {
      const leftMs = dueMs - monotonicMs();
      if (leftMs <= 0) run();
      else timer = setTimeout(fire, leftMs);
    };
    let timer = setTimeout(fire, delayMs);
    return () => clearTimeout(timer);
  },
};
