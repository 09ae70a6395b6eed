// Time as an input: the engine's driver and the cache take a clock, so that tests run on virtual time. And a pause, for
// work that would hold up what is waiting.

export interface Clock {
  /** Monotonic milliseconds, for durations. */
  nowMs(): number;
  /** Milliseconds since the epoch, for records. */
  epochMs(): number;
  /** Calls `run` after `delayMs`, never earlier; the returned function cancels it. */
  after(delayMs: number, run: () => void): () => void;
}

/** The clock behind `performance`, which would cost a starting helper a millisecond to load. */
function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}

/**
 * Timers are set this much earlier, because libuv's granularity is a millisecond; the rest is spent in turns of the
 * event loop.
 */
const EARLIER_MS = 1;
/** For longer delays a millisecond does not matter, and turning the loop costs processor time. */
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
    // libuv counts whole milliseconds from the start of the loop's turn, so a timer can fire up to one too early.
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

/** Waits for `work`, at most that long. Rejects with its error. */
export async function within(clock: Pick<Clock, 'after'>, ms: number, work: Promise<unknown>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const forget = clock.after(ms, resolve);
  await Promise.race([work, promise]).finally(forget);
}

/**
 * Lets long-running work yield, so that pending input, above all a forecast's request, is handled first: resolves after
 * the event loop has polled again and handled everything found.
 */
export async function nextPoll(): Promise<void> {
  // The first turn may end the poll in progress; the second completes another one. Without node:timers/promises, which
  // a starting helper does not load.
  await new Promise<void>((resolve) => void setImmediate(resolve));
  await new Promise<void>((resolve) => void setImmediate(resolve));
}
