// Chance that can be repeated: a benchmark's order and its bootstrap come from a seed that the result names.

/** A number in [0, 1). */
export type Random = () => number;

/** Mulberry32: 32 bits of state, plenty for orders and resampling. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The values in an order of equal chance for all (Fisher and Yates). */
export function shuffled<T>(values: readonly T[], random: Random): T[] {
  const rest = [...values];
  const order: T[] = [];
  while (rest.length > 0) order.push(...rest.splice(Math.floor(random() * rest.length), 1));
  return order;
}
