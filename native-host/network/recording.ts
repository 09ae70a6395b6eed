// Keeps what was learnt on one network from being remembered of another.
import type { Network } from './watch.ts';

interface Recorder<Race> {
  recordRace(race: Race): void;
}

/** The same cache, except that a race whose network the machine has left by now is not recorded at all. */
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
