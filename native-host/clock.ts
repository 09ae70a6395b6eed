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

/** So much earlier a timer is set; libuv's are no finer than a millisecond, and what is left is waited for by turns. */
const EARLIER_MS = 1;
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
      else if (fine) turn = setImmediate(wait);
      else timer = setTimeout(wait, leftMs);
    };
    if (delayMs <= 2 * EARLIER_MS) turn = setImmediate(wait);
    else timer = setTimeout(wait, fine ? delayMs - EARLIER_MS : delayMs);
    return () => {
      clearTimeout(timer);
      clearImmediate(turn);
    };
  },
};
