// Observations and races for tests of the cache, each with only the relevant fields given.
import type { Attempt, OriginRace, Trial } from '@photofinish/shared/race/outcome';
import { attempt, originRace, trial as trialOf } from '@photofinish/shared/testing/race-samples';
import type { Observation } from '@photofinish/shared/web/observation';
import type { Origin } from '@photofinish/shared/web/origin';
import type { KnownProtocol } from '@photofinish/shared/web/protocol';

let serial = 0;

export function observation(facts: Partial<Observation>): Observation {
  serial += 1;
  return {
    id: `o${serial}`,
    origin: 'https://a.test' as Origin,
    site: 'a.test',
    kind: 'navigation',
    delivery: 'network',
    atMs: 0,
    bytes: null,
    protocol: 'h2',
    ...facts,
  };
}

export function up(protocol: KnownProtocol, facts: Partial<Attempt> = {}): Attempt {
  const times = { startedMs: 10, transportMs: 30, establishedMs: 50 };
  return attempt({ protocol, ...times, outcome: 'adopted', ...facts });
}

export function down(protocol: KnownProtocol, code: NonNullable<Attempt['error']>['code']): Attempt {
  const error = { code, message: code };
  return up(protocol, { transportMs: null, establishedMs: null, outcome: 'failed', error });
}

export function trial(...attempts: Attempt[]): Trial {
  return trialOf(attempts, attempts.find((a) => a.outcome === 'adopted')?.protocol ?? null);
}

export function race(trials: Trial[], facts: Partial<OriginRace> = {}): OriginRace {
  return originRace(trials, {
    origin: 'https://a.test' as Origin,
    network: 'home',
    memory: 'full',
    atMs: 0,
    discovered: { altSvc: null, knownRoot: null },
    ...facts,
  });
}
