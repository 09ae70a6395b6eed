// The content script's send queue: coalesces timings into numbered batches and keeps each until the background confirms
// that it is durable. The background's service worker may be terminated at any moment; then the batch is sent again.
import { dropOldest } from '../common/drop-oldest.ts';
import { MAX_BATCH_ENTRIES, MAX_LEFT_BATCHES, MAX_PAGE_ENTRIES, type Timing } from '../common/timing.ts';

export interface NumberedBatch {
  readonly seq: number;
  readonly entries: readonly Timing[];
}

export interface QueueDeps {
  /** Resolves to true once durable, to false (or rejects) if it should be sent again. */
  readonly send: (batch: NumberedBatch) => Promise<boolean>;
  readonly later: (delayMs: number, run: () => void) => void;
  /** The page is still loading, and every message now would slow it down. */
  readonly loading: () => boolean;
}

/** Long enough to collect a page's burst of resources into few messages, short enough for a responsive popup. */
export const COALESCE_MS = 250;
/** While the page loads, after the first message: rarely enough to have no measurable effect on its loading. */
export const LOADING_COALESCE_MS = 1000;
/** A background that is terminated just when a message is sent may leave the sender without an answer or an error. */
export const ANSWER_MS = 10_000;
const FIRST_RETRY_MS = 1000;
const LAST_RETRY_MS = 60_000;
const HOUR_MS = 3_600_000;
/** Unacknowledged batches that are kept; beyond this the oldest is dropped (webRequest still counts it). */
const MAX_UNANSWERED = MAX_LEFT_BATCHES;

// A closure instead of a class, despite its length: names of class fields are not minified, and every frame loads this.
export function createQueue({ send, later, loading }: QueueDeps) {
  let waiting: Timing[] = [];
  const unanswered = new Map<number, NumberedBatch>();
  const underWay = new Set<number>();
  let taken = 0;
  let seq = 0;
  let scheduled = false;
  let retryMs = FIRST_RETRY_MS;
  let retrying = false;
  let stopped = false;

  const post = (batch: NumberedBatch): void => {
    if (stopped || underWay.has(batch.seq)) return;
    underWay.add(batch.seq);
    let waits = true;
    const failed = (): void => {
      if (waits) {
        waits = false;
        underWay.delete(batch.seq);
        retryLater();
      }
    };
    later(ANSWER_MS, failed);
    send(batch)
      .catch(() => false)
      .then((durable) => {
        if (!durable) return failed();
        waits = false;
        underWay.delete(batch.seq);
        unanswered.delete(batch.seq);
        retryMs = FIRST_RETRY_MS;
      });
  };

  /** Sends everything unacknowledged again, after the page returns from the back/forward cache. */
  const resume = (): void => {
    for (const batch of unanswered.values()) post(batch);
  };

  const retryLater = (): void => {
    if (retrying || stopped) return;
    retrying = true;
    later(retryMs, () => {
      retrying = false;
      resume();
    });
    retryMs = Math.min(retryMs * 2, LAST_RETRY_MS);
  };

  /** Sends what is waiting now: the page is closing or going to the background. */
  const flush = (): void => {
    while (waiting.length > 0 && !stopped) {
      const entries = waiting.slice(0, MAX_BATCH_ENTRIES);
      waiting = waiting.slice(MAX_BATCH_ENTRIES);
      seq += 1;
      const batch = { seq, entries };
      unanswered.set(seq, batch);
      dropOldest(unanswered, MAX_UNANSWERED);
      post(batch);
    }
  };

  return {
    /** Takes timings; they are sent within COALESCE_MS, or LOADING_COALESCE_MS. */
    add(timings: readonly Timing[]): void {
      if (stopped) return;
      if (taken === 0 && timings.length > 0)
        later(HOUR_MS, () => {
          taken = 0;
        });
      const room = timings.slice(0, MAX_PAGE_ENTRIES - taken);
      taken += room.length;
      waiting.push(...room);
      if (scheduled || waiting.length === 0) return;
      scheduled = true;
      later(seq > 0 && loading() ? LOADING_COALESCE_MS : COALESCE_MS, () => {
        scheduled = false;
        flush();
      });
    },
    flush,
    /** What was sent and not acknowledged yet, oldest first. */
    unanswered: (): readonly NumberedBatch[] => [...unanswered.values()],
    resume,
    /** Discards everything and never sends again: the extension was reloaded. */
    stop(): void {
      stopped = true;
      waiting = [];
      unanswered.clear();
    },
  };
}
