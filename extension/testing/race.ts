// A comparison's outcome for tests: one pair, HTTP/3 the faster, with any overrides.

import type { OriginRace } from '@photofinish/shared/race/outcome';
import { verdictSaying } from '@photofinish/shared/testing/verdicts';
import type { Origin } from '@photofinish/shared/web/origin';

export function aRace(more: Partial<OriginRace> = {}): OriginRace {
  return {
    origin: 'https://a.test' as Origin,
    network: 'home',
    mode: 'compare',
    memory: 'none',
    startDelayMs: 10,
    atMs: 1000,
    trials: [
      {
        adopted: 'h3',
        establishedMs: 10,
        firstByteMs: 12,
        lateH3: false,
        cacheHit: false,
        attempts: [
          {
            protocol: 'h3',
            address: '127.0.0.1',
            port: 443,
            startedMs: 0,
            establishedMs: 10,
            outcome: 'adopted',
          },
        ],
      },
      {
        adopted: 'h2',
        establishedMs: 31,
        firstByteMs: 35,
        lateH3: false,
        cacheHit: false,
        attempts: [
          {
            protocol: 'h2',
            address: '127.0.0.1',
            port: 443,
            startedMs: 0,
            establishedMs: 31,
            outcome: 'adopted',
          },
        ],
      },
    ],
    summary: {
      trials: 2,
      adoption: { h3: 1, h2: 1, 'http/1.1': 0 },
      failed: 0,
      gainMs: 21,
      establishedMs: { mean: 20.5, stdev: 14.8, median: 10, p90: 31, p95: 31, max: 31 },
    },
    discovered: { altSvc: 'h3=":443"; ma=86400', knownRoot: true },
    verdict: verdictSaying('h3-available', 'Supports HTTP/3 on this network.'),
    ...more,
  };
}

/** The same with enough pairs for a clear result. */
export function aClearRace(more: Partial<OriginRace> = {}): OriginRace {
  const pair = aRace().trials;
  return aRace({ trials: Array.from({ length: 8 }, () => pair).flat(), ...more });
}
