// How a long piece of work lets others in: what has come in by now, a forecast's question above all, is handled first.
import { setImmediate } from 'node:timers/promises';

/** Resolves when the event loop has polled once more and everything found has been handled. */
export async function nextPoll(): Promise<void> {
  // The first turn may end the very poll that is under way, the second one makes another.
  await setImmediate();
  await setImmediate();
}
