// The order of a survey: a keyed permutation of its list, as in ZMap, so that neighbours in the list, which often share
// a network, are not neighbours in time. It is computed per index: no list of ten million numbers is shuffled or stored.
import { createHash } from 'node:crypto';

/** The halves of an index are then below 2^20, and all arithmetic is exact. */
export const MAX_PERMUTED = 2 ** 40;
/** SHA-256 yields eight keys of 32 bits. */
const ROUNDS = 8;

/** A keyed hash of 32 bits: MurmurHash3's finaliser between two additions of the key. */
function mixed(half: number, key: number): number {
  let hash = (half + key) | 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) + key) >>> 0;
}

/**
 * A bijection on the whole numbers from 0 to `size` - 1, at most 2^40, the same on every machine for the same seed. The
 * order looks random but is not secret. Throws a RangeError for another size, and for an index outside the range.
 *
 * A Feistel network over two halves whose ranges have about the square root of `size` (Black and Rogaway, Ciphers with
 * Arbitrary Finite Domains, 2002); the few results beyond the range are permuted again until they are within it.
 */
export function permutation(size: number, seed: string): (index: number) => number {
  if (!Number.isInteger(size) || size < 0 || size > MAX_PERMUTED)
    throw new RangeError(`a permutation has 0 to 2^40 elements, not ${size}`);
  const digest = createHash('sha256').update(seed).digest();
  const keys = Array.from({ length: ROUNDS }, (_, round) => digest.readInt32LE(4 * round));
  const lows = Math.max(1, Math.ceil(Math.sqrt(size)));
  const highs = Math.ceil(size / lows);

  function permuted(index: number): number {
    let low = index % lows;
    let high = (index - low) / lows;
    for (const [round, key] of keys.entries())
      if (round % 2 === 0) low = (low + mixed(high, key)) % lows;
      else high = (high + mixed(low, key)) % highs;
    return high * lows + low;
  }

  return (index) => {
    if (!Number.isInteger(index) || index < 0 || index >= size)
      throw new RangeError(`${index} is not an index below ${size}`);
    let place = permuted(index);
    while (place >= size) place = permuted(place);
    return place;
  };
}
