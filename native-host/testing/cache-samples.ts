// Observations and races for tests of the cache, each with only the relevant fields given.
import type { Attempt, OriginRace, Trial } from '@photofinish/shared/race/outcome';
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
  return {
    protocol,
    address: '192.0.2.1',
    port: 443,
    startedMs: 10,
    transportMs: 30,
    establishedMs: 50,
    outcome: 'adopted',
    ...facts,
  };
}

export function down(protocol: KnownProtocol, code: NonNullable<Attempt['error']>['code']): Attempt {
  const error = { code, message: code };
  return up(protocol, { transportMs: null, establishedMs: null, outcome: 'failed', error });
}

export function trial(...attempts: Attempt[]): Trial {
  const adopted = attempts.find((a) => a.outcome === 'adopted')?.protocol ?? null;
  return { adopted, establishedMs: null, firstByteMs: null, lateH3: false, cacheHit: false, attempts };
}

export function race(trials: Trial[], facts: Partial<OriginRace> = {}): Omit<OriginRace, 'verdict'> {
  return {
    origin: 'https://a.test' as Origin,
    network: 'home',
    mode: 'race',
    memory: 'full',
    startDelayMs: 10,
    atMs: 0,
    trials,
    summary: {
      trials: trials.length,
      adoption: { h3: 0, h2: 0, 'http/1.1': 0 },
      failed: 0,
      gainMs: null,
      establishedMs: null,
    },
    discovered: { altSvc: null, knownRoot: null },
    ...facts,
  };
}
