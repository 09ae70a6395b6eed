// Turns of the event loop, for tests that work is interrupted by pauses.
import type { TestContext } from 'node:test';

/** Turns that one `nextPoll` takes. */
export const TURNS_OF_PAUSE = 2;

/** Returns the number of turns since the call, until the test ends. */
export function countTurns(t: TestContext): () => number {
  let turns = 0;
  let next: NodeJS.Immediate;
  const count = (): void => {
    turns += 1;
    next = setImmediate(count);
  };
  next = setImmediate(count);
  t.after(() => clearImmediate(next));
  return () => turns;
}
