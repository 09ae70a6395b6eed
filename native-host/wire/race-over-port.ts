// What a race requested over the port may do: the helper's limits apply, whatever the message says; and its result in
// words, for extensions that predate verdicts as data. Loaded with the first race, together with everything heavy.
import { originParts } from '@photofinish/shared/web/origin';
import { addressPolicy } from '../address/guard.ts';
import type { HostCache } from '../cache/store.ts';
import type { Clock } from '../clock.ts';
import type { Settings } from '../config.ts';
import { RACE_LIMITS } from '../race/budget.ts';
import { DEFAULT_TIMEOUT_MS, MAX_SERIES_MS, PACED_BY_PATH } from '../race/pacing.ts';
import { openRacer } from '../racer.ts';
import type { RaceRunner } from './session.ts';
import '@photofinish/shared/language/english';
import type { OriginRace } from '@photofinish/shared/race/outcome';
import type { VerdictAsText } from '@photofinish/shared/race/verdict-schema';
import { verdictAsText } from '@photofinish/shared/verdict/verdict-text';

interface PortRaceParts {
  readonly settings: Settings;
  readonly cache: HostCache;
  readonly clock: Clock;
}

/**
 * Returns the runner for the races of one port: memory `full`, as many pairs as `compare` needs, fixed limits on time
 * and attempts.
 */
export async function racesOverPort({ settings, cache, clock }: PortRaceParts): Promise<RaceRunner> {
  const { ca, resolve: pins, resolver, allowPrivate } = settings;
  const policy = addressPolicy(allowPrivate);
  const race = await openRacer({ ca, pins, resolver, policy, cache, clock });
  return ({ origin, startDelayMs, ...order }) =>
    race({
      ...order,
      origin: originParts(origin),
      pacing: { ...PACED_BY_PATH, tcpAttemptDelayMs: startDelayMs },
      memory: 'full',
      trials: 1,
      timeoutMs: DEFAULT_TIMEOUT_MS,
      seriesMs: MAX_SERIES_MS,
      limits: RACE_LIMITS,
    });
}

/** The race with its verdict in words. */
export function raceInText(race: OriginRace): Omit<OriginRace, 'verdict'> & { verdict: VerdictAsText } {
  return { ...race, verdict: verdictAsText(race.verdict) };
}
