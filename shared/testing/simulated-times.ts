// Times as connections have them, for tests of the rule of comparisons: skewed, with occasional extreme outliers.

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
