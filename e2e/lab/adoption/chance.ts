// Bounds for counts that chance decides: what is outside of them is no bad luck.

/** A bound that chance passes less often than this accuses nobody wrongly in practice. */
export const ONE_IN_A_MILLION = 1e-6;

/** The chances of 0 to `trials` successes (binomial distribution), each by its logarithm, so that none underflows early. */
function chances(trials: number, share: number): number[] {
  let log = trials * Math.log1p(-share);
  return Array.from({ length: trials + 1 }, (_, count) => {
    if (count > 0) log += Math.log((trials - count + 1) / count) + Math.log(share) - Math.log1p(-share);
    return Math.exp(log);
  });
}

export interface Bounds {
  readonly least: number;
  readonly most: number;
}

/**
 * The narrowest counts of successes that chance undercuts, and that it exceeds, each less often than `risk`; `share` is
 * one trial's chance, strictly between 0 and 1.
 */
export function countBounds(trials: number, share: number, risk = ONE_IN_A_MILLION): Bounds {
  if (!(share > 0 && share < 1)) throw new RangeError(`a chance of ${share} needs no bounds`);
  const all = chances(trials, share);
  const firstAtRisk = (ordered: readonly number[]) => {
    let sum = 0;
    return ordered.findIndex((chance) => {
      sum += chance;
      return sum >= risk;
    });
  };
  return { least: firstAtRisk(all), most: trials - firstAtRisk(all.toReversed()) };
}
