// Where a record lies in the file. A forecast of a large cache waits for pages that no processor cache holds, so all
// records of an origin are neighbours, under an integer that keeps the tree above them small.
import type { Browser } from '@photofinish/shared/web/observation';
import type { Origin } from '@photofinish/shared/web/origin';

/** FNV-1a, 32 bits: the prime, and the offset basis to begin with. */
const FNV_PRIME = 0x01000193;
const FNV_BASIS = 0x811c9dc5;
/** Any other beginning makes it another hash. */
const SECOND_BASIS = 0x9e3779b9;
const PART_BITS = 32n;

function fnv1a(text: string, basis: number): number {
  let hash = basis;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), FNV_PRIME);
  return hash >>> 0;
}

/** The first id that an origin's records may have; a row id is signed, so one bit stays free. */
function firstId(origin: Origin): bigint {
  return BigInt(fnv1a(origin, FNV_BASIS) >>> 1) << PART_BITS;
}

/**
 * The row id of a host's record, or of a browser's use of it under a site. Two keys may have the same one, once in ten
 * million caches of a million origins: the newer record then replaces the older, and whoever reads compares the key.
 */
export function recordId(origin: Origin, network: string, browser: Browser | '' = '', site = ''): bigint {
  return firstId(origin) | BigInt(fnv1a(`${origin}\n${network}\n${browser}\n${site}`, SECOND_BASIS));
}

/** The ids between which all records of an origin lie, and perhaps those of another. */
export function idsOf(origin: Origin): { first: bigint; last: bigint } {
  const first = firstId(origin);
  return { first, last: first | ((1n << PART_BITS) - 1n) };
}
