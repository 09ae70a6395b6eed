// Replies to a browser that may read late or never: written at once if there is space, otherwise queued within a limit.
// A helper that blocked in a write would not even notice that the browser has gone.
import type { Clock } from '../clock.ts';

/** Four of the largest replies; a browser this far behind is no longer reading. */
export const MAX_WAITING_BYTES = 16 * 1024 * 1024;
/** The browser reads the pipe in a thread of its own, so even a busy one reads something within seconds. */
export const STALLED_MS = 60_000;
/** A pipe buffers 64 KiB, and there is no notification when it has space again. */
const FIRST_RETRY_MS = 5;
const LAST_RETRY_MS = 50;

export interface Pipe {
  /** Writes bytes from an index on and returns how many were accepted; 0: no space. Throws when the reader is gone. */
  write(bytes: Uint8Array, at: number): number;
  /** Bytes accepted and not yet passed on. */
  waitingBytes(): number;
}

interface OutboxParts {
  readonly pipe: Pipe;
  readonly clock: Pick<Clock, 'nowMs' | 'after'>;
  /** Called once when too much is queued, or for too long; nothing is sent any more. */
  readonly onStuck: (waitingBytes: number) => void;
}

/** The queued bytes, and how long the browser has not read any. Nothing is written before the first `send`. */
export class Outbox {
  readonly #parts: OutboxParts;
  #waiting: Uint8Array[] = [];
  /** Bytes already written of the first queue entry. */
  #written = 0;
  #heldBytes = 0;
  #closed = false;
  #progressMs = 0;
  #retryMs = FIRST_RETRY_MS;
  #isRetrying = false;
  #emptied = Promise.withResolvers<void>();

  constructor(parts: OutboxParts) {
    this.#parts = parts;
  }

  /** Sends bytes after everything queued. Never throws; does nothing once the reader is gone. */
  send(bytes: Uint8Array): void {
    if (this.#closed) return;
    if (this.#waiting.length === 0) this.#progressMs = this.#parts.clock.nowMs();
    this.#waiting.push(bytes);
    this.#heldBytes += bytes.length;
    this.#run();
  }

  /** Resolves once nothing is queued, or nothing can be sent any more. */
  empty(): Promise<void> {
    return this.#waiting.length === 0 ? Promise.resolve() : this.#emptied.promise;
  }

  #settle(): void {
    this.#emptied.resolve();
    this.#emptied = Promise.withResolvers();
  }

  #close(): void {
    this.#closed = true;
    this.#waiting = [];
    this.#heldBytes = 0;
    this.#settle();
  }

  /** Writes as much as there is space for; returns whether anything was written. */
  #flush(): boolean {
    let took = false;
    for (let [first] = this.#waiting; first !== undefined; [first] = this.#waiting) {
      const count = this.#parts.pipe.write(first, this.#written);
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

  #run(): void {
    if (this.#closed) return;
    try {
      if (this.#flush()) {
        this.#progressMs = this.#parts.clock.nowMs();
        this.#retryMs = FIRST_RETRY_MS;
      }
    } catch {
      // The end of stdin also signals that the browser has gone, and ends the helper in an orderly way.
      this.#close();
      return;
    }
    const isWaiting = this.#waiting.length > 0;
    const isStalled = isWaiting && this.#parts.clock.nowMs() - this.#progressMs >= STALLED_MS;
    const bytes = this.#heldBytes + this.#parts.pipe.waitingBytes();
    if (isStalled || bytes > MAX_WAITING_BYTES) {
      this.#close();
      this.#parts.onStuck(bytes);
    } else if (isWaiting && !this.#isRetrying) {
      this.#isRetrying = true;
      this.#parts.clock.after(this.#retryMs, () => {
        this.#isRetrying = false;
        this.#run();
      });
      this.#retryMs = Math.min(this.#retryMs * 2, LAST_RETRY_MS);
    }
  }
}
