// The pairs of a `compare` race, and their result. Everything that reports a gain uses this, for stored races too, so
// that one rule applies to all: the gain stored in a record may predate the rule.

import type { KnownProtocol } from '../web/protocol.ts';
import { timedTrials } from './conclusive.ts';
import type { OriginRace, Trial } from './outcome.ts';
import { comparePairs, MOST_PAIRS, type PairedComparison, type PairMs } from './paired-comparison.ts';

/** The pairs of a `compare` series: trials 2n and 2n + 1, each of one protocol alone. */
function pairsOf(trials: readonly Trial[]): Trial[][] {
  return Array.from({ length: Math.floor(trials.length / 2) }, (_, i) => trials.slice(2 * i, 2 * i + 2));
}

/** The pairs in which both were established while this machine was not late. */
export function wholePairs(trials: readonly Trial[]): Trial[][] {
  return pairsOf(trials).filter(
    (pair) => timedTrials(pair).filter((trial) => trial.establishedMs !== null).length === 2,
  );
}

/** How many pairs are not whole because this machine was late, whatever else there was of them. */
export function latePairs(trials: readonly Trial[]): number {
  return pairsOf(trials).filter((pair) => timedTrials(pair).length < 2).length;
}

/** Times of the whole pairs in which each side was tried; `h2` is TCP and TLS, whatever ALPN then selected. */
function pairTimes(trials: readonly Trial[]): PairMs[] {
  return wholePairs(trials).flatMap((pair) => {
    const h3 = pair.find(({ adopted }) => adopted === 'h3')?.establishedMs;
    const h2 = pair.find(({ adopted }) => adopted !== 'h3')?.establishedMs;
    return h3 == null || h2 == null ? [] : [{ h3, h2 }];
  });
}

/** HTTP/2's time minus HTTP/3's in each whole pair, in milliseconds. */
export function pairGains(trials: readonly Trial[]): number[] {
  return pairTimes(trials).map(({ h3, h2 }) => h2 - h3);
}

/**
 * The result of the trials of a `compare` series; null for fewer than three whole pairs. `most` is the maximum number
 * of pairs in the series; pairs that are not whole are not repeated.
 */
export function compareTrials(trials: readonly Trial[], most?: number): PairedComparison | null {
  const pairs = pairTimes(trials);
  const lost = Math.floor(trials.length / 2) - pairs.length;
  return comparePairs(pairs, Math.max((most ?? Math.max(MOST_PAIRS, pairs.length)) - lost, pairs.length));
}

/** The result of a race's pairs, and which protocol HTTP/3 was compared with if that was not HTTP/2. */
export type RacedComparison = PairedComparison & { readonly old?: KnownProtocol };

/** The result of a race's pairs; null: it is not a comparison, or has fewer than three whole pairs. */
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
