// A race as run by the helper and the command line: names are resolved and pass the guard before the engine sees them;
// memory is read before and written after. Loaded with the first race, because its transports are heavy.
import { setFlagsFromString } from 'node:v8';
import { isAllDisturbed, soundTrials } from '@photofinish/shared/race/conclusive';
import type { NetworkEvidence, OriginRace } from '@photofinish/shared/race/outcome';
import { evidenceOfRace, isFailed, isH3, isUnanswered, reachOf } from '@photofinish/shared/verdict/evidence';
import type { AddressPolicy } from './address/guard.ts';
import { CacheUnavailable } from './cache/database.ts';
import type { HostCache } from './cache/store.ts';
import { type Clock, nextPoll } from './clock.ts';
import { ownAddresses, watchConnectivity } from './discover/connectivity.ts';
import type { Discoverer } from './discover/discoverer.ts';
import { openDiscoverer } from './discover/discovery.ts';
import { openDns } from './discover/dns.ts';
import { loadQuicAddon } from './quic/addon.ts';
import { watchEventLoop } from './race/disturbance.ts';
import type { Transports } from './race/drive.ts';
import { h2Transport } from './race/h2.ts';
import { h3Transport } from './race/h3.ts';
import { withVerdict } from './race/race-record.ts';
import { type RaceOptions, raceOrigin } from './race/run.ts';
import { readTrust } from './trust.ts';

export interface RacerParts {
  /** PEM files with additional trust anchors. */
  readonly ca: readonly string[];
  /** `host:port` to address. */
  readonly pins: ReadonlyMap<string, string>;
  /** `address:port` of the DNS server; null: the system's. */
  readonly resolver: string | null;
  /** Whether both transports offer ML-KEM key shares; default true. */
  readonly postQuantum?: boolean;
  /** The User-Agent of every request; default: the program's name and version. */
  readonly userAgent?: string;
  readonly policy: AddressPolicy;
  readonly cache: Pick<HostCache, 'recall' | 'recordRace' | 'udpEvidence'>;
  readonly clock: Clock;
}

/** The options of one race; how it is run, and what is remembered, is decided here. */
export type RaceSpec = Omit<RaceOptions, 'discovery' | 'known' | 'transports' | 'clock' | 'watchLateness'>;

/** Runs one race to its record; with memory `full` the outcome is in the cache when it resolves. */
export type RunRace = (spec: RaceSpec) => Promise<OriginRace>;

/** Without the addon no source address is known; the HTTP/3 transport reports the missing addon. */
function sourceFor(destination: string): string | null {
  try {
    return loadQuicAddon().sourceAddressFor(destination);
  } catch {
    return null;
  }
}

function discoveryOf({ pins, resolver, policy, clock }: RacerParts): Discoverer {
  const openNetworkDns = resolver === null ? null : () => openDns({ server: null });
  return openDiscoverer({
    ...{ pins, policy, clock, sourceFor },
    openDns: () => openDns({ server: resolver }),
    ...watchConnectivity({ sourceFor, addresses: ownAddresses }, clock, openNetworkDns),
    random: Math.random,
  });
}

/**
 * Stores an outcome, but not of a race that was aborted or never began, nor trials disturbed by this machine's own
 * lateness: they prove nothing about the host.
 */
export function storeOutcome(cache: Pick<HostCache, 'recordRace'>, race: OriginRace): void {
  if (race.error !== undefined || isAllDisturbed(race.trials)) return;
  try {
    cache.recordRace({ ...race, trials: [...soundTrials(race.trials)] });
  } catch (error) {
    // The result is useful even if it cannot be stored; the cache itself has reported why.
    if (!(error instanceof CacheUnavailable)) throw error;
  }
}

/**
 * Adds evidence of other hosts about UDP on this network, for the verdict, if either the host or the network may be
 * responsible.
 */
export function withOtherHosts(race: OriginRace, others: () => NetworkEvidence): OriginRace {
  const h3 = reachOf(evidenceOfRace(race).attempts.filter(isH3));
  if (!isFailed(h3) || !isUnanswered(h3)) return race;
  return withVerdict({ ...race, otherHosts: others() });
}

/**
 * Keeps V8's young generation at its initial size. Races produce much garbage and little else; V8 would double it with
 * each burst up to 32 MiB per half and never shrink it, using 100 MiB without collecting any faster.
 */
function keepYoungGenerationSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
}

/**
 * Prepares racing: reads the trust anchors. Throws with the reason when a CA file cannot be used; the returned function
 * rejects only when a transport cannot be loaded. A name that cannot be resolved or is forbidden gives a record with
 * `error` and without trials.
 */
export async function openRacer(parts: RacerParts): Promise<RunRace> {
  keepYoungGenerationSmall();
  const trust = await readTrust(parts.ca, parts.postQuantum);
  const transports: Transports = {
    h3: h3Transport(trust, parts.userAgent),
    h2: h2Transport(trust, parts.userAgent),
  };
  const discovery = discoveryOf(parts);
  return async (spec) => {
    const known = spec.memory === 'none' ? null : parts.cache.recall(spec.network, spec.origin.origin);
    const raced = await raceOrigin({
      ...spec,
      discovery,
      known,
      transports,
      clock: parts.clock,
      watchLateness: watchEventLoop,
    });
    // Otherwise the end of the race would be one long block of work.
    await nextPoll();
    // Everything may have been deleted meanwhile, which ends races.
    if (raced.memory === 'full' && spec.signal?.aborted !== true) storeOutcome(parts.cache, raced);
    await nextPoll();
    const reported =
      raced.memory === 'full'
        ? withOtherHosts(raced, () => parts.cache.udpEvidence(raced.network, raced.origin))
        : raced;
    await nextPoll();
    return reported;
  };
}
