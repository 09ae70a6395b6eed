// `--fleet`: a command takes part in the fleet cache of the helper's settings, with the helper's own means.
import type { Origin } from '@photofinish/shared/web/origin';
import { recallOf } from '../cache/policy.ts';
import { type HostCache, openHostCache } from '../cache/store.ts';
import { systemClock } from '../clock.ts';
import { defaultConfigPath, type FleetSettings, loadSettings } from '../config.ts';
import { fleetKeys, readFleetSalt } from '../fleet/entry.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { Network } from '../network/watch.ts';
import type { RacingParts, RunRace } from '../racing.ts';
import { cachePath, helperSettings } from './caching.ts';
import type { Terminal } from './terminal.ts';
import { Complaint } from './usage.ts';

/** `fleet` of the settings. Throws a Complaint if they cannot be used, or have none. */
export function fleetSettings(): FleetSettings {
  const { fleet, source } = helperSettings();
  if (fleet !== null) return fleet;
  const file = source ?? defaultConfigPath();
  throw new Complaint('bad-config', `--fleet needs "fleet" in ${file}; see docs/fleet-cache.md`);
}

/**
 * Under which key the settings' fleet shares an origin, for a look at what is copied already; null for every origin if
 * they have none, or one that cannot be used, which is reported on stderr.
 */
export function copiedKeys(terminal: Pick<Terminal, 'error'>): (origin: Origin) => string | null {
  try {
    const { fleet } = loadSettings();
    return fleet === null ? () => null : fleetKeys(readFleetSalt(fleet.saltFile), fleet.network).keyOf;
  } catch (error) {
    terminal.error('fleet-unavailable', (error as Error).message);
    return () => null;
  }
}

/**
 * Joins, and waits until what the bucket holds is copied; without the server it goes on with what it has. Throws a
 * Complaint if the organisation's secret cannot be used.
 */
export async function joinFleet(
  settings: FleetSettings,
  cache: Pick<HostCache, 'shared' | 'fileShared'>,
  terminal: Pick<Terminal, 'error'>,
): Promise<Fleet> {
  const { openFleet } = await import('../fleet/fleet.ts');
  const log = (message: string, isTrouble: boolean): void => {
    if (isTrouble) terminal.error('fleet-unavailable', message);
  };
  try {
    const fleet = openFleet({ settings, cache, clock: systemClock, log });
    await fleet.ready();
    return fleet;
  } catch (error) {
    throw new Complaint('bad-config', `nothing can be shared: ${(error as Error).message}`);
  }
}

/** Races whose outcomes are shared, unless the machine has left their network. */
export function sharing(race: RunRace, fleet: Fleet, network: Pick<Network, 'isStill'>): RunRace {
  return async (spec) => {
    const raced = await race(spec);
    if (network.isStill(raced.network)) fleet.share(raced);
    return raced;
  };
}

/** What `joinForShared` opens. */
interface FleetMember {
  readonly fleet: Fleet;
  /** What other machines share, and nothing of this one's own. */
  readonly recall: RacingParts['cache']['recall'];
  close(): Promise<void>;
}

/** For races that remember nothing of their own. The copy is kept in the settings' host cache. Throws a Complaint. */
export async function joinForShared(terminal: Pick<Terminal, 'error'>): Promise<FleetMember> {
  const settings = fleetSettings();
  let fleet: Fleet | null = null;
  const cache = openHostCache({
    path: cachePath(null),
    clock: systemClock,
    log: (message) => terminal.error('cache-unavailable', message),
    sharedKey: (origin) => fleet?.keyOf(origin) ?? null,
  });
  try {
    const joined = await joinFleet(settings, cache, terminal);
    fleet = joined;
    return {
      fleet: joined,
      recall: (_, origin) => recallOf(null, null, [], systemClock.epochMs(), cache.shared(origin)),
      async close() {
        await joined.close();
        cache.close();
      },
    };
  } catch (error) {
    cache.close();
    throw error;
  }
}
