// Requests on the port that wait for their reply: found by id, failed by time-out or by the end of the connection.
import { type Reply, replySchema } from '@photofinish/shared/wire';
import * as v from 'valibot';
import type { Reassembled } from './chunks.ts';
import { HelperError } from './failure.ts';
import type { Answer, AskOptions, Clock } from './port.ts';

type Chunk = Extract<Reply, { type: 'chunk' }>;

interface Waiter {
  readonly options: AskOptions;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: HelperError) => void;
  callOff: () => void;
  reassemble: ((chunk: Chunk) => Reassembled) | null;
}

export interface PendingReplies {
  /** The reply to `id`; rejects with a HelperError. */
  expect(id: number, options: AskOptions): Promise<Answer>;
  /** Takes a message in; a string says how it broke the wire. A reply that nobody waits for any more is dropped. */
  take(reply: Reply): string | null;
  rejectAll(error: HelperError): void;
}

export function createPendingReplies(
  clock: Clock,
  newReassembly: () => (chunk: Chunk) => Reassembled,
): PendingReplies {
  const waiters = new Map<number, Waiter>();

  const startTimer = (id: number, timeoutMs: number): (() => void) =>
    clock.later(timeoutMs, () => {
      const waiter = waiters.get(id);
      waiters.delete(id);
      waiter?.reject(
        new HelperError('helper-timeout', `the helper did not respond within ${timeoutMs / 1000} s`),
      );
    });

  const finish = (id: number): void => {
    waiters.get(id)?.callOff();
    waiters.delete(id);
  };

  const takeChunk = (waiter: Waiter, chunk: Chunk): string | null => {
    waiter.reassemble ??= newReassembly();
    const result = waiter.reassemble(chunk);
    if (result.state === 'more') return null;
    if (result.state === 'broken') return result.why;
    const whole = v.safeParse(replySchema, result.message);
    if (!whole.success || whole.output.type === 'chunk') return 'the helper sent chunks that make no reply';
    return take(whole.output);
  };

  const take = (reply: Reply): string | null => {
    const waiter = waiters.get(reply.id);
    if (waiter === undefined) {
      // Id 0 names no request of ours after hello: the helper could not read what we sent.
      return reply.type === 'error' && reply.id === 0 ? reply.message : null;
    }
    if (reply.type === 'chunk') return takeChunk(waiter, reply);
    if (reply.type === 'progress') {
      waiter.callOff();
      waiter.callOff = startTimer(reply.id, waiter.options.timeoutMs);
      waiter.options.onProgress?.(reply);
      return null;
    }
    finish(reply.id);
    if (reply.type === 'error') waiter.reject(new HelperError(reply.code, reply.message));
    else waiter.resolve(reply);
    return null;
  };

  return {
    expect(id, options) {
      return new Promise<Answer>((resolve, reject) => {
        waiters.set(id, {
          options,
          resolve,
          reject,
          callOff: startTimer(id, options.timeoutMs),
          reassemble: null,
        });
      });
    },
    take,
    rejectAll(error) {
      const all = [...waiters.values()];
      waiters.clear();
      for (const waiter of all) {
        waiter.callOff();
        waiter.reject(error);
      }
    },
  };
}
