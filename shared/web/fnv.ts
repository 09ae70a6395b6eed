// FNV-1a (draft-eastlake-fnv) with 32 bits, for what is to be spread evenly and not kept secret. The host cache stores
// what comes of it.

const PRIME = 0x01000193;
/** The standard offset basis. */
export const FNV_BASIS = 0x811c9dc5;

/** The hash of a text's UTF-16 units, which for ASCII is the standard one; another basis gives an independent hash. */
export function fnv1a(text: string, basis: number): number {
  let hash = basis;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), PRIME);
  return hash >>> 0;
}
