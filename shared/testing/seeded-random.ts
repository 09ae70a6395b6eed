// Reproducible randomness: the same numbers in every run with one seed, which results mention.

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
