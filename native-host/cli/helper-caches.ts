// What commands share with the helper: its settings, its host cache with the salt beside it, and, with `--fleet`, its
// fleet cache.
import { resolve } from 'node:path';
import type { Origin } from '@photofinish/shared/web/origin';
import { CacheUnavailable } from '../cache/database.ts';
import { recallOf } from '../cache/policy.ts';
import { whyForeign } from '../cache/schema.ts';
import { cacheSalt, type HostCache, type HostCacheOptions, openHostCache } from '../cache/store.ts';
import { systemClock } from '../clock.ts';
import {
  defaultConfigPath,
  type FleetSettings,
  loadSettings,
  type Settings,
  SettingsError,
} from '../config.ts';
import { fleetKeys, readFleetSalt } from '../fleet/entry.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { Network } from '../network/watch.ts';
import type { RacerParts, RunRace } from '../racer.ts';
import type { Terminal } from './terminal.ts';
import { Complaint, EXIT_FAILED } from './usage.ts';

/** The helper's settings. Throws a Complaint if they cannot be used. */
export function helperSettings(path: string | null = null): Settings {
  try {
    return loadSettings(path);
  } catch (error) {
    if (error instanceof SettingsError) throw new Complaint('bad-config', error.message);
    throw error;
  }
}

/** The given file, or the one in the helper's settings. */
export function cachePath(path: string | null): string {
  if (path === '') throw new Complaint('bad-file', '--cache takes a file');
  return path === null ? helperSettings().cachePath : resolve(path);
}

/** The salt beside a cache, created if necessary; reports one that was unusable and has been replaced. */
export function networkSalt(cachePath: string, terminal: Pick<Terminal, 'error'>): Uint8Array {
  return cacheSalt(cachePath, (message) => terminal.error('salt-damaged', message));
}

/** How a cache that goes on in memory, or was damaged, is reported. */
export function cacheComplaints(
  terminal: Pick<Terminal, 'error'>,
): Required<Pick<HostCacheOptions, 'log' | 'damaged'>> {
  return {
    log(message, isTrouble) {
      if (isTrouble) terminal.error('cache-unavailable', message);
    },
    damaged: (message) => terminal.error('cache-damaged', message),
  };
}

/**
 * The cache in that file; reports one that was damaged and has been set aside. Throws a Complaint if it cannot be used;
 * files of other programs are not touched.
 */
export function openCache(path: string, terminal: Pick<Terminal, 'error'>): HostCache {
  const { damaged } = cacheComplaints(terminal);
  const cache = openHostCache({ path, clock: systemClock, damaged });
  const { store, storeReason } = cache.store();
  if (store === 'sqlite') return cache;
  cache.close();
  const foreign = whyForeign(path);
  if (foreign !== null)
    throw new Complaint(
      'not-a-cache',
      `${path} is not a host cache and was left alone: ${foreign}`,
      EXIT_FAILED,
    );
  throw new Complaint('cache-unavailable', `${path} cannot be used: ${storeReason}`, EXIT_FAILED);
}

/** Changes the cache in that file, and closes it. Throws a Complaint if it cannot be used or written. */
export async function changing<T>(
  path: string,
  terminal: Pick<Terminal, 'error'>,
  change: (cache: HostCache) => T | Promise<T>,
): Promise<T> {
  const cache = openCache(path, terminal);
  try {
    return await change(cache);
  } catch (error) {
    if (!(error instanceof CacheUnavailable)) throw error;
    throw new Complaint('cache-unavailable', `${path}: ${error.message}`, EXIT_FAILED);
  } finally {
    cache.close();
  }
}

/** `fleet` of the settings. Throws a Complaint if they cannot be used, or have none. */
export function fleetSettings(): FleetSettings {
  const { fleet, source } = helperSettings();
  if (fleet !== null) return fleet;
  const file = source ?? defaultConfigPath();
  throw new Complaint('bad-config', `--fleet needs "fleet" in ${file}; see docs/fleet-cache.md`);
}

/**
 * Maps an origin to its key in the fleet cache, to read what is copied already; null for every origin without a usable
 * fleet in the settings. One that cannot be used is reported on stderr.
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
 * Joins the fleet and waits until its bucket is copied; without the server it uses the existing copy. Throws a
 * Complaint if the organisation's secret cannot be used.
 */
export async function joinFleet(
  settings: FleetSettings,
  cache: Pick<HostCache, 'shared' | 'recordShared'>,
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

/**
 * A cache for races that remember nothing themselves but use what other machines share; its copy is kept in the
 * settings' host cache. Throws a Complaint.
 */
export async function joinForShared(terminal: Pick<Terminal, 'error'>) {
  const settings = fleetSettings();
  let fleet: Fleet | null = null;
  const cache = openHostCache({
    path: cachePath(null),
    clock: systemClock,
    ...cacheComplaints(terminal),
    sharedKey: (origin) => fleet?.keyOf(origin) ?? null,
  });
  try {
    const joined = await joinFleet(settings, cache, terminal);
    fleet = joined;
    const recall: RacerParts['cache']['recall'] = (_, origin) =>
      recallOf(null, null, [], systemClock.epochMs(), cache.shared(origin));
    const close = async (): Promise<void> => {
      await joined.close();
      cache.close();
    };
    return { fleet: joined, recall, close };
  } catch (error) {
    cache.close();
    throw error;
  }
}
