// HTTP/3 adoption as counts, never as a bare ratio: a share without its denominator and its hidden part would be
// misleading.
import * as v from 'valibot';
import type { Delivery, Protocol } from '../web/protocol.ts';
import { count } from '../web/untrusted.ts';

/** `h3` of `known` network outcomes, plus `hidden` outcomes (protocol unknown, whatever the reason). */
export const adoptionSchema = v.object({ h3: count, known: count, hidden: count });
export type Adoption = v.InferOutput<typeof adoptionSchema>;

export const NO_ADOPTION: Adoption = { h3: 0, known: 0, hidden: 0 };

/** Requests by protocol, over the network only. */
export type ProtocolCounts = Readonly<Record<Protocol, number>>;
export const NO_REQUESTS: ProtocolCounts = { h3: 0, h2: 0, 'http/1.1': 0, 'http/1.0': 0, unknown: 0 };

/** Counts one more request; anything not delivered by the network leaves the counts unchanged. */
export function countRequest(counts: ProtocolCounts, protocol: Protocol, delivery: Delivery): ProtocolCounts {
  return delivery === 'network' ? { ...counts, [protocol]: counts[protocol] + 1 } : counts;
}

/** Sums two records of counts. */
export function addCounts(a: ProtocolCounts, b: ProtocolCounts): ProtocolCounts {
  return {
    h3: a.h3 + b.h3,
    h2: a.h2 + b.h2,
    'http/1.1': a['http/1.1'] + b['http/1.1'],
    'http/1.0': a['http/1.0'] + b['http/1.0'],
    unknown: a.unknown + b.unknown,
  };
}

/** All requests of these counts, hidden ones included. */
export function requestsIn(counts: ProtocolCounts): number {
  const { known, hidden } = adoptionByRequest(counts);
  return known + hidden;
}

/** Adoption by request. */
export function adoptionByRequest(counts: ProtocolCounts): Adoption {
  return {
    h3: counts.h3,
    known: counts.h3 + counts.h2 + counts['http/1.1'] + counts['http/1.0'],
    hidden: counts.unknown,
  };
}

/** Adoption by origin: an origin counts as HTTP/3 if any of its requests used it, as hidden if none is known. */
export function adoptionByOrigin(origins: Iterable<ProtocolCounts>): Adoption {
  let h3 = 0;
  let known = 0;
  let hidden = 0;
  for (const counts of origins) {
    const requests = adoptionByRequest(counts);
    if (requests.known > 0) known += 1;
    else if (requests.hidden > 0) hidden += 1;
    if (requests.h3 > 0) h3 += 1;
  }
  return { h3, known, hidden };
}

/** Sums adoptions, for totals over sites. */
export function addAdoption(a: Adoption, b: Adoption): Adoption {
  return { h3: a.h3 + b.h3, known: a.known + b.known, hidden: a.hidden + b.hidden };
}

/**
 * Integer percentage of a share of something, for display; 0 and 100 only if it is exactly that, else `< 1` and `> 99`.
 */
export function wholePercent(part: number, whole: number): string {
  const percent = Math.round((100 * part) / whole);
  if (part > 0 && percent === 0) return '< 1';
  return part < whole && percent === 100 ? '> 99' : String(percent);
}

/** The same of an adoption; `null` if nothing is known, because 0 % would claim knowledge. */
export function adoptionPercent(adoption: Adoption): string | null {
  return adoption.known === 0 ? null : wholePercent(adoption.h3, adoption.known);
}
