// Lets long-running work yield, so that pending input, above all a forecast's request, is handled first.
import { setImmediate } from 'node:timers/promises';

/** Resolves after the event loop has polled again and handled everything found. */
export async function nextPoll(): Promise<void> {
  // The first turn may end the poll in progress; the second completes another one.
  await setImmediate();
  await setImmediate();
}
