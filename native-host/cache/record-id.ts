// Where a record is in the file. A forecast from a large cache waits for pages that are in no processor cache, so all
// records of an origin are adjacent, under an integer key that keeps the B-tree above them small.
import type { Browser } from '@photofinish/shared/web/observation';
import type { Origin } from '@photofinish/shared/web/origin';

/** FNV-1a, 32 bits: prime and offset basis. */
const FNV_PRIME = 0x01000193;
const FNV_BASIS = 0x811c9dc5;
/** A different basis gives a second, independent hash. */
const SECOND_BASIS = 0x9e3779b9;
const PART_BITS = 32n;

function fnv1a(text: string, basis: number): number {
  let hash = basis;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), FNV_PRIME);
  return hash >>> 0;
}

/** The first id that an origin's records may have; a row id is signed, so one bit stays unused. */
function firstId(origin: Origin): bigint {
  return BigInt(fnv1a(origin, FNV_BASIS) >>> 1) << PART_BITS;
}

/**
 * The row id of a host's record, or of a browser's use of it under a site. Two keys may collide, once in ten million
 * caches of a million origins: the newer record then replaces the older, and readers compare the key.
 */
export function recordId(origin: Origin, network: string, browser: Browser | '' = '', site = ''): bigint {
  return firstId(origin) | BigInt(fnv1a(`${origin}\n${network}\n${browser}\n${site}`, SECOND_BASIS));
}

/** The range of ids that contains all records of an origin, and possibly those of another. */
export function idsOf(origin: Origin): { first: bigint; last: bigint } {
  const first = firstId(origin);
  return { first, last: first | ((1n << PART_BITS) - 1n) };
}
