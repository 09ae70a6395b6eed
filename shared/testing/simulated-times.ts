// Times as connections have them, for tests of the rule of comparisons: skewed, and now and then far too late.

/** How far times stray: a lognormal share of the true time, and a Pareto tail on some of them. */
export interface Tail {
  /** Standard deviation of the logarithm. */
  readonly jitter: number;
  /** Share of times that are late, by at least so many milliseconds, and the exponent of how late: smaller is worse. */
  readonly late: number;
  readonly lateMs: number;
  readonly exponent: number;
}

export const TAILS = {
  none: { jitter: 0.05, late: 0, lateMs: 0, exponent: 1 },
  heavy: { jitter: 0.1, late: 0.05, lateMs: 5, exponent: 1.2 },
  /** One time in ten late by 20 ms and more, without a mean. */
  severe: { jitter: 0.1, late: 0.1, lateMs: 20, exponent: 1 },
} as const satisfies Record<string, Tail>;

/** One measured time, in milliseconds, of what truly takes `trueMs`. */
export function tailed(
  trueMs: number,
  { jitter, late, lateMs, exponent }: Tail,
  random: () => number,
): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const delayMs = random() < late ? lateMs / (1 - random()) ** (1 / exponent) : 0;
  return trueMs * Math.exp(jitter * normal) + delayMs;
}
