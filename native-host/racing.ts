// A race as the helper and the command line run it: names resolved and guarded before the engine sees them, memory read
// before and written after. Loaded with the first race, because the transports behind it are heavy.
import type { OriginParts } from '@photofinish/shared/origin';
import type { AttemptError, Memory, Mode, OriginRace } from '@photofinish/shared/outcome';
import type { Progress } from '@photofinish/shared/wire';
import { CacheUnavailable } from './cache/database.ts';
import type { HostCache } from './cache/store.ts';
import type { AddressPolicy } from './guard.ts';
import type { Clock } from './race/clock.ts';
import type { Contenders } from './race/drive.ts';
import { h2Contender } from './race/h2.ts';
import { h3Contender } from './race/h3.ts';
import { type Known, raceOrigin } from './race/run.ts';
import { type Resolved, resolveOrigin } from './resolve.ts';
import { readTrust } from './trust.ts';

export interface RacingParts {
  /** PEM files with further trust anchors. */
  readonly ca: readonly string[];
  /** `host:port` to address. */
  readonly pins: ReadonlyMap<string, string>;
  /** `address:port` of the DNS server; null: the system's. */
  readonly resolver: string | null;
  readonly policy: AddressPolicy;
  readonly cache: Pick<HostCache, 'recall' | 'recordRace'>;
  readonly clock: Clock;
}

export interface RaceSpec {
  readonly origin: OriginParts;
  readonly network: string;
  readonly mode: Mode;
  readonly memory: Memory;
  readonly trials: number;
  /** Pairs of `compare`, which knows no other trials. */
  readonly pairs?: number;
  readonly startDelayMs: number;
  /** Budget of one trial, and of the look-up before the first. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: Omit<Progress, 'id' | 'type'>) => void;
}

/** Runs one race to its record; with memory `full` the outcome is in the cache when it resolves. */
export type Racing = (spec: RaceSpec) => Promise<OriginRace>;

async function lookUp(parts: RacingParts, spec: RaceSpec): Promise<Resolved> {
  const deadline = new AbortController();
  const forget = parts.clock.after(spec.timeoutMs, () => deadline.abort());
  const signal = spec.signal ? AbortSignal.any([spec.signal, deadline.signal]) : deadline.signal;
  const { pins, resolver, policy } = parts;
  const resolved = await resolveOrigin(spec.origin, { pins, resolver, policy, signal });
  forget();
  if (resolved.ok || spec.signal?.aborted || !deadline.signal.aborted) return resolved;
  const message = `${spec.origin.host} could not be looked up within ${spec.timeoutMs} ms`;
  return { ok: false, error: { code: 'dns-failed', message } };
}

function knownOf(parts: RacingParts, spec: RaceSpec): Known | null {
  const recall = spec.memory === 'full' ? parts.cache.recall(spec.network, spec.origin.origin) : null;
  if (recall === null) return null;
  const { decision, altSvc, altSvcAgeSeconds } = recall;
  return { decision, ageSeconds: altSvcAgeSeconds, ...(altSvc !== null && { altSvc }) };
}

/** A race cut short, or one that never began, proves nothing about the host. */
function remember(parts: RacingParts, race: OriginRace): void {
  if (race.memory !== 'full' || race.error !== undefined) return;
  try {
    parts.cache.recordRace(race);
  } catch (error) {
    // The answer is worth having even where it cannot be kept; the cache itself has told why.
    if (!(error instanceof CacheUnavailable)) throw error;
  }
}

/**
 * Prepares racing: reads the trust anchors. Throws with the reason when a CA file cannot be used; the returned function
 * rejects only when a transport cannot be loaded. A name that cannot be resolved or is forbidden gives a record with
 * `error` and without trials.
 */
export async function openRacing(parts: RacingParts): Promise<Racing> {
  const trust = await readTrust(parts.ca);
  if (!trust.ok) throw new Error(trust.message);
  const contenders: Contenders = { h3: h3Contender(trust.value), h2: h2Contender(trust.value) };
  return async (spec) => {
    const resolved = await lookUp(parts, spec);
    const error: AttemptError | null = resolved.ok ? null : resolved.error;
    const known = knownOf(parts, spec);
    const race = await raceOrigin({
      ...spec,
      addresses: resolved.ok ? resolved.addresses : [],
      ...(known !== null && { known }),
      contenders,
      clock: parts.clock,
    });
    if (error !== null) return { ...race, error };
    remember(parts, race);
    return race;
  };
}
