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

/** What is left to wait when waiting for the loop's next turn begins; libuv's timers are no finer than a millisecond. */
const FINE_MS = 1;
/** Of a longer delay nobody notices a millisecond, and turning the loop costs processor time. */
const LONGEST_FINE_DELAY_MS = 100;

/** The machine's own clock. */
export const systemClock: Clock = {
  nowMs: monotonicMs,
  epochMs: () => Date.now(),
  after(delayMs, run) {
    const dueMs = monotonicMs() + delayMs;
    const fine = delayMs <= LONGEST_FINE_DELAY_MS;
    let timer: NodeJS.Timeout | undefined;
    let turn: NodeJS.Immediate | undefined;
    // libuv counts whole milliseconds from the start of its loop's turn, so a timer can fire up to one too early.
    const wait = (): void => {
      const leftMs = dueMs - monotonicMs();
      if (leftMs <= 0) run();
      else if (!fine) timer = setTimeout(wait, leftMs);
      else if (leftMs > 2 * FINE_MS) timer = setTimeout(wait, leftMs - FINE_MS);
      else turn = setImmediate(wait);
    };
    if (delayMs > 0) wait();
    else timer = setTimeout(wait, 0);
    return () => {
      clearTimeout(timer);
      clearImmediate(turn);
    };
  },
};
