// Lets clients take turns on a path that is in place: small batches, in an order drawn anew for each round, so that
// a machine which slows down slows all of them.
import { shuffled } from '../../bench/random.ts';
import type { Client } from '../client.ts';
import type { Session } from './row.ts';

/** Sizes of the batches of that many trials, as equal as can be. */
export function batches(trials: number, most: number): number[] {
  const count = Math.ceil(trials / most);
  return Array.from({ length: count }, (_, index) => Math.ceil((trials - index) / count));
}

/** Gives every client that many trials. Those that learn have been prepared before. */
export async function takeTurns(
  { random, progress, record }: Pick<Session, 'random' | 'progress' | 'record'>,
  scenario: string,
  clients: readonly Client[],
  trials: number,
  mostABatch: number,
): Promise<void> {
  let done = 0;
  for (const [turn, batch] of batches(trials, mostABatch).entries()) {
    for (const client of shuffled(clients, random)) {
      progress(`${client.name}, ${done} of ${trials} trials`);
      const where = { scenario, turn };
      await record(where, client, () => client.run(batch));
    }
    done += batch;
  }
}

/** Lets those learn that do, on the path that is in place. */
export async function prepareAll(
  { progress }: Pick<Session, 'progress'>,
  clients: readonly Client[],
): Promise<void> {
  for (const client of clients) {
    progress(`${client.name} learns the path`);
    await client.prepare?.();
  }
}
