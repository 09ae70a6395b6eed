// Puts grouped endpoints into the order of attempts (Happy Eyeballs v3 draft, sections 5.3 and 8.2): sorted by
// destination address (RFC 6724 section 6), interleaved so that a broken address family delays nothing else, and
// limited in number, so that a zone of thousands of addresses does not turn a race into a flood.
import { TRANSPORTS, type TransportName } from '@photofinish/shared/race/terms';
import { addressBytes, commonPrefixBits, type Family, familyOf } from '../address/address-bytes.ts';
import { nat64Of } from '../address/nat64.ts';
import { type Endpoint, endpointKey, MAX_ENDPOINTS } from './discoverer.ts';

/** A row of the default policy table (RFC 6724 section 2.1). */
interface Policy {
  readonly prefix: readonly number[];
  readonly bits: number;
  readonly precedence: number;
  readonly label: number;
}

function policy(prefix: string, bits: number, precedence: number, label: number): Policy {
  return { prefix: addressBytes(prefix), bits, precedence, label };
}

/** Longest prefix first, so that the first match applies. */
const POLICY_TABLE: readonly Policy[] = [
  policy('::1', 128, 50, 0),
  policy('::ffff:0:0', 96, 35, 4),
  policy('::', 96, 1, 3),
  policy('2001::', 32, 5, 5),
  policy('2002::', 16, 30, 2),
  policy('3ffe::', 16, 1, 12),
  policy('fec0::', 10, 1, 11),
  policy('fc00::', 7, 3, 13),
  policy('::', 0, 40, 1),
];
const IPV4_POLICY = policy('::ffff:0:0', 96, 35, 4);

/** Scopes (RFC 4007, RFC 6724 section 3.1); loopback and link-local IPv4 count as link-local (section 3.2). */
const LINK_LOCAL = 0x2;
const SITE_LOCAL = 0x5;
const GLOBAL = 0xe;

/**
 * Prefix length of source addresses (RFC 6724 section 2.2): 64 bits, and for IPv4, where only the system knows, the longest
 * common subnet prefix, so that rule 9 never overrides a server's order within one subnet.
 */
const SOURCE_PREFIX_BITS = { ipv6: 64, ipv4: 24 } as const;

function policyOf(bytes: readonly number[]): Policy {
  if (bytes.length === 4) return IPV4_POLICY;
  return POLICY_TABLE.find((row) => commonPrefixBits(row.prefix, bytes) >= row.bits) ?? IPV4_POLICY;
}

function scopeOf(bytes: readonly number[]): number {
  const [first = 0, second = 0] = bytes;
  if (bytes.length === 4) return first === 127 || (first === 169 && second === 254) ? LINK_LOCAL : GLOBAL;
  if (first === 0xff) return second & 0xf;
  if (first === 0xfe && (second & 0xc0) === 0x80) return LINK_LOCAL;
  if (first === 0xfe && (second & 0xc0) === 0xc0) return SITE_LOCAL;
  return bytes.every((byte, i) => byte === (i === 15 ? 1 : 0)) ? LINK_LOCAL : GLOBAL;
}

/** The properties of a destination used by the rules of RFC 6724, computed once. */
export interface Destination {
  readonly family: Family;
  /** Rule 1: there is a source address, and therefore a route. */
  readonly usable: boolean;
  /** Rule 2. */
  readonly matchesScope: boolean;
  /** Rule 5. */
  readonly matchesLabel: boolean;
  /** Rule 6. */
  readonly precedence: number;
  /** Rule 8. */
  readonly scope: number;
  /** The draft's rules between 8 and 9; infinite for an address never used. */
  readonly srttMs: number;
  /** Rule 9; 0 if source and destination are of different families. */
  readonly commonBits: number;
}

/** A source address, parsed once for all its destinations. */
export interface Source {
  readonly bytes: readonly number[];
  readonly scope: number;
  readonly label: number;
}

export function sourceOf(address: string): Source {
  const bytes = addressBytes(address);
  return { bytes, scope: scopeOf(bytes), label: policyOf(bytes).label };
}

/**
 * The properties of one destination. `source` is the address that the system would send from, null without a route;
 * `srttMs` null: the address was never used.
 */
export function destinationOf(address: string, source: Source | null, srttMs: number | null): Destination {
  const bytes = addressBytes(address);
  const family = familyOf(address);
  const { precedence, label } = policyOf(bytes);
  const scope = scopeOf(bytes);
  const sameFamily = source?.bytes.length === bytes.length;
  return {
    family,
    usable: source !== null,
    matchesScope: source?.scope === scope,
    matchesLabel: source?.label === label,
    precedence,
    scope,
    srttMs: srttMs ?? Number.POSITIVE_INFINITY,
    commonBits: sameFamily ? Math.min(commonPrefixBits(bytes, source.bytes), SOURCE_PREFIX_BITS[family]) : 0,
  };
}

/**
 * Negative: `a` is tried before `b`. 0 keeps their order (rule 10), given a stable sort. Rules 3 (deprecated), 4 (home)
 * and 7 (native transport) need information that an unprivileged process does not have, and are left out.
 */
export function compareDestinations(a: Destination, b: Destination): number {
  if (a.usable !== b.usable) return a.usable ? -1 : 1;
  if (a.matchesScope !== b.matchesScope) return a.matchesScope ? -1 : 1;
  if (a.matchesLabel !== b.matchesLabel) return a.matchesLabel ? -1 : 1;
  if (a.precedence !== b.precedence) return b.precedence - a.precedence;
  if (a.scope !== b.scope) return a.scope - b.scope;
  // Only a used address has a round-trip time, so one comparison implements both of the draft's rules: faster, and used
  // at all.
  if (a.srttMs !== b.srttMs) return a.srttMs < b.srttMs ? -1 : 1;
  return a.family === b.family ? b.commonBits - a.commonBits : 0;
}

interface SortingOptions {
  readonly nat64Prefix: string | null;
  readonly history: ReadonlyMap<string, number>;
  readonly sourceFor: (destination: string) => string | null;
}

/** An address as received from DNS, the address to connect to, and its sort criteria. */
interface LocatedEndpoint {
  readonly address: string;
  readonly destination: Destination;
}

interface Candidate extends InterleavedItem {
  readonly destination: Destination;
  readonly endpoint: Endpoint;
}

/** Returns the facts of an address, computed once for all lists in which it appears. */
function locator({ nat64Prefix, history, sourceFor }: SortingOptions): (given: string) => LocatedEndpoint {
  const nat64 = nat64Prefix === null ? null : nat64Of(nat64Prefix);
  const known = new Map<string, LocatedEndpoint>();
  const sources = new Map<string, Source>();

  /** Many destinations share few sources. */
  function apart(address: string): Source {
    const source = sources.get(address) ?? sourceOf(address);
    sources.set(address, source);
    return source;
  }

  function locate(given: string): LocatedEndpoint {
    const bare = nat64?.desynthesize(given) ?? given;
    const direct = sourceFor(bare);
    // Only IPv4 addresses to which no IPv4 route applies are synthesised (section 8.3).
    const synthesized = direct === null ? nat64?.synthesize(bare) : undefined;
    const address = synthesized ?? bare;
    const source = address === bare ? direct : sourceFor(address);
    const srttMs = history.get(address) ?? null;
    return { address, destination: destinationOf(bare, source === null ? null : apart(source), srttMs) };
  }

  return (given) => {
    const located = known.get(given) ?? locate(given);
    known.set(given, located);
    return located;
  };
}

/**
 * Sorts groups, best first, into one list without duplicates, as far as a race tries it: O(n log n) in the endpoints.
 * Addresses without a route go to the end of their group and are not interleaved with the others, so that rule 1 of RFC
 * 6724 still holds after interleaving.
 */
export function createSorting(
  options: SortingOptions,
): (groups: readonly (readonly Endpoint[])[]) => Endpoint[] {
  const located = locator(options);
  const unsorted = locator({ ...options, sourceFor: () => null });
  return (groups) => {
    const seen = new Set<string>();
    const addresses = new Set(groups.flatMap((group) => group.map(({ address }) => address)));
    // One address needs no sorting, and querying the system for a source needs a socket.
    const locate = options.nat64Prefix === null && addresses.size === 1 ? unsorted : located;
    const sorted: Endpoint[] = [];
    for (const group of groups) {
      // Endpoints that a race does not reach need not be sorted, nor their sources queried.
      if (areEnough(sorted)) break;
      const candidates: Candidate[] = [];
      for (const given of group) {
        const { address, destination } = locate(given.address);
        const endpoint = address === given.address ? given : { ...given, address };
        const key = endpointKey(endpoint);
        if (seen.has(key)) continue;
        seen.add(key);
        const { transport } = endpoint;
        candidates.push({ transport, family: destination.family, destination, endpoint });
      }
      candidates.sort((a, b) => compareDestinations(a.destination, b.destination));
      for (const usable of [true, false]) {
        const alike = candidates.filter(({ destination }) => destination.usable === usable);
        for (const { endpoint } of interleave(alike)) sorted.push(endpoint);
      }
    }
    return sorted;
  };
}

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

/** Guaranteed to either transport if it has that many endpoints. */
const HALF = MAX_ENDPOINTS / 2;

/** Whether no later entry of their list could be among the first. */
export function areEnough(sorted: readonly Endpoint[]): boolean {
  return TRANSPORTS.every((name) => sorted.filter(({ transport }) => transport === name).length >= HALF);
}

/**
 * The first endpoints of a list in its order; `named` is everything it was made from, if that is more. Neither
 * transport gets more than half of the list while the other one can use them, because endpoints not tried must not
 * look as if they did not answer. `untried`: how many addresses are left without an endpoint.
 */
export function firstEndpoints(
  sorted: readonly Endpoint[],
  named: readonly (readonly Endpoint[])[] = [sorted],
): { readonly endpoints: readonly Endpoint[]; readonly untried: number } {
  const endpoints = sorted.length <= MAX_ENDPOINTS ? sorted : shared(sorted);
  const addresses = new Set(named.flatMap((group) => group.map(({ address }) => address)));
  const kept = new Set(endpoints.map(({ address }) => address));
  return { endpoints, untried: Math.max(0, addresses.size - kept.size) };
}

function shared(sorted: readonly Endpoint[]): Endpoint[] {
  const room = { h3: 0, h2: 0 };
  for (const { transport } of sorted) room[transport] += 1;
  const [h3, h2] = TRANSPORTS.map((name) => Math.min(room[name], HALF));
  room.h3 = Math.min(room.h3, MAX_ENDPOINTS - (h2 ?? 0));
  room.h2 = Math.min(room.h2, MAX_ENDPOINTS - (h3 ?? 0));
  return sorted.filter(({ transport }) => {
    room[transport] -= 1;
    return room[transport] >= 0;
  });
}
