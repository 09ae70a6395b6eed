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

/** What waits for the browser to read, and how long it has read nothing. */
class PipeOutbox implements Outbox {
  readonly #pipe: Pipe;
  readonly #clock: OutboxParts['clock'];
  readonly #onStuck: OutboxParts['onStuck'];
  #waiting: Uint8Array[] = [];
  /** Of the first that waits. */
  #written = 0;
  #heldBytes = 0;
  #closed = false;
  #progressMs = 0;
  #retryMs = FIRST_RETRY_MS;
  #isRetrying = false;
  #listeners: (() => void)[] = [];

  constructor({ pipe, clock, onStuck }: OutboxParts) {
    this.#pipe = pipe;
    this.#clock = clock;
    this.#onStuck = onStuck;
  }

  send(bytes: Uint8Array): void {
    if (this.#closed) return;
    if (this.#waiting.length === 0) this.#progressMs = this.#clock.nowMs();
    this.#waiting.push(bytes);
    this.#heldBytes += bytes.length;
    this.#run();
  }

  empty(): Promise<void> {
    if (this.#closed || this.#waiting.length === 0) return Promise.resolve();
    return new Promise((resolve) => this.#listeners.push(resolve));
  }

  #settle(): void {
    const told = this.#listeners;
    this.#listeners = [];
    for (const listener of told) listener();
  }

  #close(): void {
    this.#closed = true;
    this.#waiting = [];
    this.#heldBytes = 0;
    this.#settle();
  }

  /** Writes what there is room for; whether any of it was taken. */
  #flush(): boolean {
    let took = false;
    for (let [first] = this.#waiting; first !== undefined; [first] = this.#waiting) {
      const count = this.#pipe.write(first, this.#written);
      if (count === 0) return took;
      took = true;
      this.#written += count;
      this.#heldBytes -= count;
      if (this.#written < first.length) continue;
      this.#waiting.shift();
      this.#written = 0;
    }
    this.#settle();
    return took;
  }

  #isStuck(): boolean {
    const isTooMuch = this.#heldBytes + this.#pipe.waitingBytes() > MAX_WAITING_BYTES;
    return isTooMuch || (this.#waiting.length > 0 && this.#clock.nowMs() - this.#progressMs >= PATIENCE_MS);
  }

  #run(): void {
    if (this.#closed) return;
    try {
      if (this.#flush()) {
        this.#progressMs = this.#clock.nowMs();
        this.#retryMs = FIRST_RETRY_MS;
      }
    } catch {
      // The end of stdin says as well that the browser has gone, and ends the helper in order.
      this.#close();
      return;
    }
    if (this.#isStuck()) {
      const bytes = this.#heldBytes + this.#pipe.waitingBytes();
      this.#close();
      this.#onStuck(bytes);
    } else if (this.#waiting.length > 0 && !this.#isRetrying) {
      this.#isRetrying = true;
      this.#clock.after(this.#retryMs, () => {
        this.#isRetrying = false;
        this.#run();
      });
      this.#retryMs = Math.min(this.#retryMs * 2, LAST_RETRY_MS);
    }
  }
}

export function createOutbox(parts: OutboxParts): Outbox {
  return new PipeOutbox(parts);
}
