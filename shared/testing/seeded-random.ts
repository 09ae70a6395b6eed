// Reproducible randomness: the same numbers in every run with one seed, which results mention; and times as connections
// have them, skewed and with occasional extreme outliers.

/** A number in [0, 1). */
export type Random = () => number;

/** Mulberry32: 32 bits of state, plenty for orders, resampling and generated rows. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The distribution of times: a lognormal share of the true time, and a Pareto tail on some of them. */
export interface Tail {
  /** Standard deviation of the logarithm. */
  readonly jitter: number;
  /** Share of late times, their minimum delay in milliseconds, and the exponent of the delay: smaller is worse. */
  readonly late: number;
  readonly lateMs: number;
  readonly exponent: number;
}

export const TAILS = {
  none: { jitter: 0.05, late: 0, lateMs: 0, exponent: 1 },
  heavy: { jitter: 0.1, late: 0.05, lateMs: 5, exponent: 1.2 },
  /** One time in ten late by 20 ms or more, with an infinite mean. */
  severe: { jitter: 0.1, late: 0.1, lateMs: 20, exponent: 1 },
} as const satisfies Record<string, Tail>;

/** One measured time, in milliseconds, with a true value of `trueMs`. */
export function tailed(
  trueMs: number,
  { jitter, late, lateMs, exponent }: Tail,
  random: () => number,
): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const delayMs = random() < late ? lateMs / (1 - random()) ** (1 / exponent) : 0;
  return trueMs * Math.exp(jitter * normal) + delayMs;
}
