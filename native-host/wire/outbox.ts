// Replies on their way to a browser that may read late or never: written at once where there is room, else kept in their
// order within a bound. A helper that waited in a write would not even hear its browser go.
import type { Clock } from '../clock.ts';

/** Four of the largest replies; a browser that is this far behind reads no more. */
export const MAX_WAITING_BYTES = 16 * 1024 * 1024;
/** A browser's own thread reads the pipe, so even a busy one takes something within seconds. */
export const PATIENCE_MS = 60_000;
/** A pipe holds 64 KiB and tells nobody when it has room again. */
const FIRST_RETRY_MS = 5;
const LAST_RETRY_MS = 50;

export interface Pipe {
  /** Writes bytes from an index on and gives how many it took; 0: there is no room. Throws when nobody reads any more. */
  write(bytes: Uint8Array, at: number): number;
  /** Bytes that it took and has not passed on yet. */
  waitingBytes(): number;
}

export interface OutboxParts {
  readonly pipe: Pipe;
  readonly clock: Pick<Clock, 'nowMs' | 'after'>;
  /** Told once when too much waits, or for too long; nothing is sent any more. */
  readonly onStuck: (waitingBytes: number) => void;
}

export interface Outbox {
  /** Sends bytes after all that wait. Never throws; where nobody reads any more it does nothing. */
  send(bytes: Uint8Array): void;
  /** Resolves once nothing waits, or nothing can be sent any more. */
  empty(): Promise<void>;
}

export function createOutbox({ pipe, clock, onStuck }: OutboxParts): Outbox {
  let waiting: Uint8Array[] = [];
  let written = 0;
  let heldBytes = 0;
  let closed = false;
  let progressMs = 0;
  let retryMs = FIRST_RETRY_MS;
  let isRetrying = false;
  let listeners: (() => void)[] = [];

  function settle(): void {
    const told = listeners;
    listeners = [];
    for (const listener of told) listener();
  }

  function close(): void {
    closed = true;
    waiting = [];
    heldBytes = 0;
    settle();
  }

  /** Writes what there is room for; whether any of it was taken. */
  function flush(): boolean {
    let took = false;
    for (let [first] = waiting; first !== undefined; [first] = waiting) {
      const count = pipe.write(first, written);
      if (count === 0) return took;
      took = true;
      written += count;
      heldBytes -= count;
      if (written < first.length) continue;
      waiting.shift();
      written = 0;
    }
    settle();
    return took;
  }

  function isStuck(): boolean {
    const isTooMuch = heldBytes + pipe.waitingBytes() > MAX_WAITING_BYTES;
    return isTooMuch || (waiting.length > 0 && clock.nowMs() - progressMs >= PATIENCE_MS);
  }

  function run(): void {
    if (closed) return;
    try {
      if (flush()) {
        progressMs = clock.nowMs();
        retryMs = FIRST_RETRY_MS;
      }
    } catch {
      // The end of stdin says as well that the browser has gone, and ends the helper in order.
      close();
      return;
    }
    if (isStuck()) {
      const bytes = heldBytes + pipe.waitingBytes();
      close();
      onStuck(bytes);
    } else if (waiting.length > 0 && !isRetrying) {
      isRetrying = true;
      clock.after(retryMs, () => {
        isRetrying = false;
        run();
      });
      retryMs = Math.min(retryMs * 2, LAST_RETRY_MS);
    }
  }

  return {
    send(bytes) {
      if (closed) return;
      if (waiting.length === 0) progressMs = clock.nowMs();
      waiting.push(bytes);
      heldBytes += bytes.length;
      run();
    },
    empty: () =>
      closed || waiting.length === 0 ? Promise.resolve() : new Promise((resolve) => listeners.push(resolve)),
  };
}
