// Requests on the port that wait for their reply: found by id, failed by time-out or by the end of the connection.

import { type Reply, replySchema } from '@photofinish/shared/port/reply';
import { MAX_WHOLE_REPLY_BYTES } from '@photofinish/shared/port/wire';
import * as v from 'valibot';
import type { Clock } from '../../common/browser.ts';
import { HelperError } from '../../common/helper/state.ts';
import type { Answer, AskOptions } from './port.ts';

type Chunk = Extract<Reply, { type: 'chunk' }>;

interface Waiter {
  readonly options: AskOptions;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: HelperError) => void;
  callOff: () => void;
  reassemble: ((chunk: Chunk) => ReassemblyState) | null;
}

/** The request that a malformed message answers; null if it does not say. */
function idOf(message: unknown): number | null {
  const id = typeof message === 'object' && message !== null && 'id' in message ? message.id : null;
  return typeof id === 'number' && Number.isSafeInteger(id) && id >= 0 ? id : null;
}

export class PendingReplies {
  readonly #clock: Clock;
  readonly #waiters = new Map<number, Waiter>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The reply to `id`; rejects with a HelperError. */
  expect(id: number, options: AskOptions): Promise<Answer> {
    return new Promise<Answer>((resolve, reject) => {
      this.#waiters.set(id, {
        options,
        resolve,
        reject,
        callOff: this.#startTimer(id, options.timeoutMs),
        reassemble: null,
      });
    });
  }

  /**
   * Processes a message; returns a string if the wire itself is broken. A malformed reply fails only its own request;
   * one that no longer has a pending request is dropped.
   */
  take(message: unknown): string | null {
    const parsed = v.safeParse(replySchema, message);
    if (parsed.success) return this.#takeReply(parsed.output);
    const id = idOf(message);
    if (id === null) return 'the helper sent an invalid message';
    this.#fail(id, 'the helper sent an invalid reply');
    return null;
  }

  rejectAll(error: HelperError): void {
    const all = [...this.#waiters.values()];
    this.#waiters.clear();
    for (const waiter of all) {
      waiter.callOff();
      waiter.reject(error);
    }
  }

  #startTimer(id: number, timeoutMs: number): () => void {
    return this.#clock.later(timeoutMs, () => {
      const waiter = this.#waiters.get(id);
      this.#waiters.delete(id);
      waiter?.reject(
        new HelperError('helper-timeout', `the helper did not respond within ${timeoutMs / 1000} s`),
      );
    });
  }

  #finish(id: number): void {
    this.#waiters.get(id)?.callOff();
    this.#waiters.delete(id);
  }

  #fail(id: number, why: string): void {
    const waiter = this.#waiters.get(id);
    this.#finish(id);
    waiter?.reject(new HelperError('helper-bad-reply', why));
  }

  #takeChunk(waiter: Waiter, chunk: Chunk): null {
    waiter.reassemble ??= createReassembly();
    const result = waiter.reassemble(chunk);
    if (result.state === 'more') return null;
    if (result.state === 'broken') {
      this.#fail(chunk.id, result.why);
      return null;
    }
    const whole = v.safeParse(replySchema, result.message);
    if (whole.success && whole.output.type !== 'chunk' && whole.output.id === chunk.id)
      this.#takeReply(whole.output);
    else this.#fail(chunk.id, 'the helper sent chunks that make no reply');
    return null;
  }

  #takeReply(reply: Reply): string | null {
    const waiter = this.#waiters.get(reply.id);
    if (waiter === undefined) {
      // Id 0 is no request of ours after hello: the helper could not read what we sent.
      return reply.type === 'error' && reply.id === 0 ? reply.message : null;
    }
    if (reply.type === 'chunk') return this.#takeChunk(waiter, reply);
    if (reply.type === 'progress') {
      waiter.callOff();
      waiter.callOff = this.#startTimer(reply.id, waiter.options.timeoutMs);
      waiter.options.onProgress?.(reply);
      return null;
    }
    this.#finish(reply.id);
    if (reply.type === 'error') waiter.reject(new HelperError(reply.code, reply.message));
    else waiter.resolve(reply);
    return null;
  }
}

// Reassembles long replies, which the helper splits because browsers limit the size of one message.

type ReassemblyState =
  | { readonly state: 'more' }
  | { readonly state: 'whole'; readonly message: unknown }
  | { readonly state: 'broken'; readonly why: string };

/** The chunks of one request, in order; a gap, a wrong end or too much data breaks the reply. */
function createReassembly(): (chunk: Chunk) => ReassemblyState {
  const parts: string[] = [];
  let chars = 0;
  return ({ seq, last, data }) => {
    if (seq !== parts.length)
      return { state: 'broken', why: `received chunk ${seq} instead of ${parts.length}` };
    // A character is at least one byte.
    chars += data.length;
    if (chars > MAX_WHOLE_REPLY_BYTES) return { state: 'broken', why: 'the reply is too long' };
    parts.push(data);
    if (!last) return { state: 'more' };
    try {
      return { state: 'whole', message: JSON.parse(parts.join('')) };
    } catch {
      return { state: 'broken', why: 'the chunks do not make a JSON text' };
    }
  };
}
