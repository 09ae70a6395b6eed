// The pairs of a `compare` race, and what they show. Everything that tells a gain asks here, of stored races too, so
// that one rule judges them all: what a record says of its gain may be from before the rule.

import type { KnownProtocol } from '../web/protocol.ts';
import { timedTrials } from './conclusive.ts';
import type { OriginRace, Trial } from './outcome.ts';
import { comparePairs, MOST_PAIRS, type PairedComparison, type PairMs } from './paired-comparison.ts';

/**
 * The pairs of a `compare` series in which both were established while this machine was not late: trials 2n and 2n + 1,
 * each of one protocol alone.
 */
export function wholePairs(trials: readonly Trial[]): Trial[][] {
  const pairs = Array.from({ length: Math.floor(trials.length / 2) }, (_, i) =>
    trials.slice(2 * i, 2 * i + 2),
  );
  return pairs.filter(
    (pair) => timedTrials(pair).filter((trial) => trial.establishedMs !== null).length === 2,
  );
}

/** Times of the whole pairs in which each side had its turn; `h2` is TCP and TLS, whatever ALPN then gave. */
function pairTimes(trials: readonly Trial[]): PairMs[] {
  return wholePairs(trials).flatMap((pair) => {
    const h3 = pair.find(({ adopted }) => adopted === 'h3')?.establishedMs;
    const h2 = pair.find(({ adopted }) => adopted !== 'h3')?.establishedMs;
    return h3 == null || h2 == null ? [] : [{ h3, h2 }];
  });
}

/** HTTP/2's time less HTTP/3's in each whole pair, in milliseconds. */
export function pairGains(trials: readonly Trial[]): number[] {
  return pairTimes(trials).map(({ h3, h2 }) => h2 - h3);
}

/**
 * What the trials of a `compare` series show; null for fewer than three whole pairs. `most` is how many pairs the series
 * may have; pairs that are not whole will not come again.
 */
export function compareTrials(trials: readonly Trial[], most?: number): PairedComparison | null {
  const pairs = pairTimes(trials);
  const lost = Math.floor(trials.length / 2) - pairs.length;
  return comparePairs(pairs, Math.max((most ?? Math.max(MOST_PAIRS, pairs.length)) - lost, pairs.length));
}

/** What a race's pairs show, and what spoke against HTTP/3 in them where that was not HTTP/2. */
export type RacedComparison = PairedComparison & { readonly old?: KnownProtocol };

/** What a race's pairs show; null: it compares nothing, or has fewer than three whole pairs. */
export function comparisonOf({
  mode,
  trials,
  summary,
}: Pick<OriginRace, 'mode' | 'trials' | 'summary'>): RacedComparison | null {
  const comparison = mode === 'compare' ? compareTrials(trials, summary.comparison?.most) : null;
  if (comparison === null) return null;
  const old = wholePairs(trials)
    .flat()
    .find(({ adopted }) => adopted !== 'h3')?.adopted;
  return old == null || old === 'h2' ? comparison : { ...comparison, old };
}
