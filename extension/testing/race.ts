// A comparison's outcome for tests: one pair, HTTP/3 the faster, with any overrides.

import type { OriginRace } from '@photofinish/shared/race/outcome';
import { attempt, originRace, trial } from '@photofinish/shared/testing/race-samples';
import type { Origin } from '@photofinish/shared/web/origin';

const PAIR = [
  trial([attempt({ protocol: 'h3', outcome: 'adopted', establishedMs: 10, firstByteMs: 12 })]),
  trial([attempt({ protocol: 'h2', outcome: 'adopted', establishedMs: 31, firstByteMs: 35 })], 'h2'),
];

export function aRace(more: Partial<OriginRace> = {}): OriginRace {
  const race = originRace(PAIR, {
    origin: 'https://a.test' as Origin,
    network: 'home',
    mode: 'compare',
    discovered: { altSvc: 'h3=":443"; ma=86400', knownRoot: true },
  });
  return { ...race, summary: { ...race.summary, gainMs: 21 }, ...more };
}

/** The same with enough pairs for a clear result. */
export function aClearRace(more: Partial<OriginRace> = {}): OriginRace {
  return aRace({ trials: Array.from({ length: 8 }, () => PAIR).flat(), ...more });
}
