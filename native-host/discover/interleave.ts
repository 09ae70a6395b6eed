// The last step of sorting (Happy Eyeballs v3 draft, section 5.3): address families alternate, so that a family whose
// path is broken delays nothing else.
import type { TransportName } from '@photofinish/shared/race/terms';
import type { Family } from '../address/address-bytes.ts';

interface InterleavedItem {
  readonly transport: TransportName;
  readonly family: Family;
}

/** Alternates two lists, beginning with `first`; the rest of the longer list follows. */
function alternate<T>(first: readonly T[], second: readonly T[]): T[] {
  const out: T[] = [];
  for (let i = 0; i < first.length || i < second.length; i += 1) {
    const a = first[i];
    const b = second[i];
    if (a !== undefined) out.push(a);
    if (b !== undefined) out.push(b);
  }
  return out;
}

/**
 * Interleaves one group that is already sorted. The family of its best endpoint begins, and families alternate one by
 * one (a Preferred Address Family Count of 1); within each family HTTP/3 and TCP alternate, HTTP/3 first, because the
 * draft favours QUIC (section 3) and puts both protocols in one group if neither is critical (section 5.1.1). Two
 * addresses a and b of each family thus give h3/v6a, h3/v4a, h2/v6a, h2/v4a, h3/v6b, and so on.
 */
export function interleave<T extends InterleavedItem>(sorted: readonly T[]): T[] {
  const lead = sorted[0]?.family;
  const turns = (led: boolean): T[] => {
    const family = sorted.filter((item) => (item.family === lead) === led);
    return alternate(
      family.filter((item) => item.transport === 'h3'),
      family.filter((item) => item.transport === 'h2'),
    );
  };
  return alternate(turns(true), turns(false));
}
