// NAT64 (Happy Eyeballs v3 draft, section 8): synthesises and de-synthesises IPv6 addresses with the network's prefix
// (RFC 6052), and derives that prefix from the addresses of ipv4only.arpa (RFC 7050).
import { addressBytes, addressText, commonPrefixBits, familyOf } from './address-bytes.ts';

/** Valid prefix lengths (RFC 6052 section 2.2). */
const PREFIX_BITS = [96, 64, 56, 48, 40, 32] as const;

/** The prefix that every network may use, except for private IPv4 addresses (RFC 6052 sections 2.1 and 3.1). */
const WELL_KNOWN_PREFIX = '64:ff9b::/96';

/** The name whose AAAA records a DNS64 synthesises (RFC 7050 section 2.2). */
export const NAT64_NAME = 'ipv4only.arpa';

/** Its A records. */
const WELL_KNOWN_ADDRESSES = ['192.0.0.170', '192.0.0.171'];

/** Scoped to the host or its link, so never behind a NAT64 (section 8.3). */
const UNSYNTHESIZED = ['0.0.0.0/8', '127.0.0.0/8', '169.254.0.0/16', '255.255.255.255/32'];
/** RFC 1918: not global, so never inside the well-known prefix. */
const PRIVATE = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'];

interface Prefix {
  readonly bytes: readonly number[];
  readonly bits: number;
}

function parsePrefix(cidr: string): Prefix {
  const [address = '', bits = ''] = cidr.split('/');
  return { bytes: addressBytes(address), bits: Number(bits) };
}

function covers(prefix: Prefix, bytes: readonly number[]): boolean {
  return bytes.length === prefix.bytes.length && commonPrefixBits(prefix.bytes, bytes) >= prefix.bits;
}

const UNSYNTHESIZED_PREFIXES = UNSYNTHESIZED.map(parsePrefix);
const PRIVATE_PREFIXES = PRIVATE.map(parsePrefix);

/** Offsets of the four IPv4 bytes after a prefix: byte 8 is always zero and skipped (RFC 6052 section 2.2). */
function ipv4Offsets(bits: number): number[] {
  const first = bits / 8;
  const offsets = [first, first + 1, first + 2, first + 3];
  return bits === 96 ? offsets : offsets.map((offset) => (offset >= 8 ? offset + 1 : offset));
}

/** The IPv4 bytes after a prefix of this length, null if the bytes that must be zero are not. */
function embedded(bytes: readonly number[], bits: number): number[] | null {
  const offsets = ipv4Offsets(bits);
  for (let i = bits / 8; i < 16; i += 1) if (!offsets.includes(i) && bytes[i] !== 0) return null;
  return offsets.map((offset) => bytes[offset] ?? 0);
}

export interface Nat64 {
  /** The IPv6 address by which the NAT64 reaches an IPv4 address; null if that must not be synthesised. */
  synthesize(ipv4: string): string | null;
  /** The IPv4 address embedded in an IPv6 address; null: it is a native one. */
  desynthesize(ipv6: string): string | null;
}

/**
 * Synthesis with one prefix, for example `64:ff9b::/96`; throws a TypeError if it is invalid (RFC 6052 section 2.2).
 */
export function nat64Of(cidr: string): Nat64 {
  const prefix = parsePrefix(cidr);
  if (prefix.bytes.length !== 16 || !PREFIX_BITS.some((bits) => bits === prefix.bits))
    throw new TypeError(`not a NAT64 prefix: ${cidr}`);
  const offsets = ipv4Offsets(prefix.bits);
  const wellKnown = `${addressText(prefix.bytes)}/${prefix.bits}` === WELL_KNOWN_PREFIX;
  const refused = wellKnown ? [...UNSYNTHESIZED_PREFIXES, ...PRIVATE_PREFIXES] : UNSYNTHESIZED_PREFIXES;
  return {
    synthesize(ipv4) {
      const bytes = addressBytes(ipv4);
      if (bytes.length !== 4 || refused.some((range) => covers(range, bytes))) return null;
      const made = prefix.bytes.map((byte, i) => (i < prefix.bits / 8 ? byte : 0));
      offsets.forEach((offset, i) => {
        made[offset] = bytes[i] ?? 0;
      });
      return addressText(made);
    },
    desynthesize(ipv6) {
      const bytes = addressBytes(ipv6);
      // Translators may ignore the bits that should be zero, so an address that sets them is no native one.
      return covers(prefix, bytes) ? addressText(offsets.map((offset) => bytes[offset] ?? 0)) : null;
    },
  };
}

/**
 * The network's NAT64 prefix, from the AAAA answer for `ipv4only.arpa`; null: there is no NAT64 (RFC 7050 section 3).
 * Because everything after the prefix except the well-known address must be zero, no address matches two prefix
 * lengths.
 */
export function nat64PrefixOf(addresses: readonly string[]): string | null {
  for (const address of addresses) {
    if (familyOf(address) !== 'ipv6') continue;
    const bytes = addressBytes(address);
    for (const bits of PREFIX_BITS) {
      const ipv4 = embedded(bytes, bits);
      if (ipv4 === null || !WELL_KNOWN_ADDRESSES.includes(addressText(ipv4))) continue;
      return `${addressText(bytes.map((byte, i) => (i < bits / 8 ? byte : 0)))}/${bits}`;
    }
  }
  return null;
}
