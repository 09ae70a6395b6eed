// Prevents what was learnt on one network from being stored for another.
import type { Network } from './watch.ts';

interface Recorder<Race> {
  recordRace(race: Race): void;
}

/** The same cache, except that a race is not recorded if the machine has left its network in the meantime. */
export function recordOnlyOn<Race extends { readonly network: string }, Cache extends Recorder<Race>>(
  network: Pick<Network, 'isStill'>,
  cache: Cache & Recorder<Race>,
): Cache {
  return {
    ...cache,
    recordRace(race: Race) {
      if (network.isStill(race.network)) cache.recordRace(race);
    },
  };
}
