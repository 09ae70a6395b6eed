// Destination Address Selection (RFC 6724 section 6) as far as an unprivileged process can implement it, with the two
// rules on history of the Happy Eyeballs v3 draft (section 5.3). Rules 3 (deprecated), 4 (home) and 7 (native
// transport) need information that such a process does not have, and are left out.
import { addressBytes, commonPrefixBits, type Family, familyOf } from './address-bytes.ts';

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
 * Prefix length of source addresses (section 2.2): 64 bits, and for IPv4, where only the system knows, the longest
 * common subnet prefix, so that rule 9 never overrides a server's order within one subnet.
 */
const SOURCE_PREFIX_BITS = { ipv6: 64, ipv4: 24 } as const;

function policyOf(bytes: readonly number[]): Policy {
  if (bytes.length === 4) return IPV4_POLICY;
  for (const row of POLICY_TABLE) if (commonPrefixBits(row.prefix, bytes) >= row.bits) return row;
  return IPV4_POLICY;
}

function scopeOf(bytes: readonly number[]): number {
  const [first = 0, second = 0] = bytes;
  if (bytes.length === 4) return first === 127 || (first === 169 && second === 254) ? LINK_LOCAL : GLOBAL;
  if (first === 0xff) return second & 0xf;
  if (first === 0xfe && (second & 0xc0) === 0x80) return LINK_LOCAL;
  if (first === 0xfe && (second & 0xc0) === 0xc0) return SITE_LOCAL;
  return bytes.every((byte, i) => byte === (i === 15 ? 1 : 0)) ? LINK_LOCAL : GLOBAL;
}

/** The properties of a destination used by the rules, computed once. */
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

/** Negative: `a` is tried before `b`. 0 keeps their order (rule 10), given a stable sort. */
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
