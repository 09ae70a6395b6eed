// The address policy: prevents web pages, messages and DNS answers from making the helper connect into the user's own
// network, or to ports where it would do harm.
import { BlockList, isIP } from 'node:net';
import type { AttemptError } from '@photofinish/shared/race/outcome';
import { portBlock, type TransportName } from '@photofinish/shared/race/terms';
import { addressBytes, addressText, withoutZone } from './address-bytes.ts';
import { nat64Of } from './nat64.ts';

/**
 * Purpose of an address (IANA special-purpose registries, RFC 6890 as updated). All but `public` must be allowed
 * explicitly.
 */
export type AddressClass =
  | 'public'
  | 'unspecified'
  | 'loopback'
  | 'private'
  | 'link-local'
  | 'shared'
  | 'unique-local'
  | 'multicast'
  | 'mapped'
  | 'documentation'
  | 'benchmarking'
  | 'reserved'
  | 'not-an-address';

type Range = readonly [addresses: BlockList, kind: AddressClass];

/** First match wins. */
const IPV4 = ranges([
  ['0.0.0.0/8', 'unspecified'], // RFC 791 section 3.2
  ['10.0.0.0/8', 'private'], // RFC 1918
  ['100.64.0.0/10', 'shared'], // RFC 6598, carrier-grade NAT
  ['127.0.0.0/8', 'loopback'], // RFC 1122 section 3.2.1.3
  ['169.254.0.0/16', 'link-local'], // RFC 3927
  ['172.16.0.0/12', 'private'], // RFC 1918
  ['192.0.0.0/24', 'reserved'], // RFC 6890, protocol assignments
  ['192.0.2.0/24', 'documentation'], // RFC 5737
  ['192.88.99.0/24', 'reserved'], // RFC 7526, withdrawn 6to4 relays
  ['192.168.0.0/16', 'private'], // RFC 1918
  ['198.18.0.0/15', 'benchmarking'], // RFC 2544
  ['198.51.100.0/24', 'documentation'], // RFC 5737
  ['203.0.113.0/24', 'documentation'], // RFC 5737
  ['224.0.0.0/4', 'multicast'], // RFC 5771
  ['240.0.0.0/4', 'reserved'], // RFC 1112 section 4, broadcast included
  ['0.0.0.0/0', 'public'],
]);

const IPV6 = ranges([
  ['::/128', 'unspecified'], // RFC 4291 section 2.5.2
  ['::1/128', 'loopback'], // RFC 4291 section 2.5.3
  ['2001::/23', 'reserved'], // RFC 2928: Teredo, ORCHID, benchmarking
  ['2001:db8::/32', 'documentation'], // RFC 3849
  ['3fff::/20', 'documentation'], // RFC 9637
  ['2000::/3', 'public'], // the only global unicast space IANA hands out
  ['fc00::/7', 'unique-local'], // RFC 4193
  ['fe80::/10', 'link-local'], // RFC 4291 section 2.5.6
  ['ff00::/8', 'multicast'], // RFC 4291 section 2.7
  ['::/0', 'reserved'],
]);

/** The prefix used by DNS64 on an IPv6-only network without a prefix of its own (RFC 6052 section 2.1). */
const WELL_KNOWN_NAT64 = nat64Of('64:ff9b::/96');
/** Non-public ranges from which a network may choose its own NAT64 prefix, and the well-known one. */
const NAT64_RANGES = blockList([
  '64:ff9b::/96',
  '64:ff9b:1::/48', // RFC 8215, for exactly this purpose
  'fc00::/7', // RFC 4193, used by small networks
]);
/** 6to4 (RFC 3056): the IPv4 address follows the first two bytes. */
const SIX_TO_FOUR = blockList(['2002::/16']);

/** The addresses in any of the CIDRs; one without a prefix length is a single address. Throws for an invalid one. */
export function blockList(cidrs: readonly string[]): BlockList {
  const list = new BlockList();
  for (const cidr of cidrs) {
    const [address = '', prefix] = cidr.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return list;
}

function ranges(cidrs: readonly (readonly [string, AddressClass])[]): readonly Range[] {
  return cidrs.map(([cidr, kind]) => [blockList([cidr]), kind]);
}

/** In canonical form; `::ffff:101` is 255.255.1.1 behind `::`, not a mapped address. */
const MAPPED = /^::ffff:[0-9a-f]+:[0-9a-f]+$/;

/** The IPv4 address embedded in an IPv6 address, by NAT64 or as 6to4; null: none. */
export function carriedIpv4(address: string, nat64Prefix: string | null): string | null {
  if (SIX_TO_FOUR.check(address, 'ipv6')) return addressText(addressBytes(address).slice(2, 6));
  const local = nat64Prefix === null ? null : nat64Of(nat64Prefix).desynthesize(address);
  return local ?? WELL_KNOWN_NAT64.desynthesize(address);
}

function lookUp(list: readonly Range[], address: string, family: 'ipv4' | 'ipv6'): AddressClass {
  return list.find(([range]) => range.check(address, family))?.[1] ?? 'reserved';
}

/**
 * The class of an address literal. An IPv4 address embedded in IPv6 (NAT64, 6to4) has its own class, and behind the
 * network's own NAT64 prefix also that of the prefix; an IPv4-mapped one is `mapped`, whatever it maps to, because
 * legitimate DNS never returns it.
 */
export function classifyAddress(address: string, nat64Prefix: string | null = null): AddressClass {
  const bare = withoutZone(address);
  const family = isIP(bare);
  if (family === 0) return 'not-an-address';
  if (family === 4) return lookUp(IPV4, bare, 'ipv4');
  if (MAPPED.test(addressText(addressBytes(bare)))) return 'mapped';
  const own = lookUp(IPV6, bare, 'ipv6');
  const carried = carriedIpv4(bare, nat64Prefix);
  if (carried === null) return own;
  const kind = lookUp(IPV4, carried, 'ipv4');
  return kind !== 'public' || NAT64_RANGES.check(bare, 'ipv6') ? kind : own;
}

/** Whether packets to a host need not leave the local network; null: no address is known. */
export function isNear(addresses: readonly string[]): boolean | null {
  return addresses.length === 0 ? null : addresses.every((each) => classifyAddress(each) !== 'public');
}

export interface AddressPolicy {
  /** Why nothing may be sent to an address; null: it may. `nat64Prefix`: the network's own. */
  refusal(address: string, nat64Prefix?: string | null): AttemptError | null;
}

/** Why nothing may be sent to a port over this transport, whoever named it and whatever was allowed; null if it may. */
export function refusedPort(port: number, transport: TransportName): AttemptError | null {
  const block = portBlock(port, transport);
  if (block === null) return null;
  const why =
    block === 'browsers'
      ? 'is one to which browsers do not connect (Fetch Standard, section 2.9)'
      : 'belongs to a service that is used for reflection attacks over UDP (RFC 9308, section 8.1)';
  return { code: 'port-blocked', message: `port ${port} ${why}` };
}

/** Ranges that allow everything, for a command line on which the user requested that. */
export const ALLOW_EVERYTHING: readonly string[] = ['0.0.0.0/0', '::/0'];

/**
 * Never a destination (RFC 1122 section 3.2.1.3, RFC 4291 section 2.5.2), whatever is allowed: systems that accept them
 * connect to themselves.
 */
const NO_DESTINATION = blockList(['0.0.0.0', '::']);

function isIn(list: BlockList, address: string): boolean {
  const bare = withoutZone(address);
  return list.check(bare, isIP(bare) === 6 ? 'ipv6' : 'ipv4');
}

/** A policy that allows public addresses, and others only within `allowPrivate` (CIDRs). */
export function addressPolicy(allowPrivate: readonly string[]): AddressPolicy {
  const allowed = blockList(allowPrivate);
  // BlockList takes an IPv4 address for its mapped form, as systems do that connect to it: `::/0` would allow either.
  const allowedIpv4 = blockList(allowPrivate.filter((cidr) => !cidr.includes(':')));
  return {
    refusal(address, nat64Prefix = null) {
      const kind = classifyAddress(address, nat64Prefix);
      if (kind === 'public') return null;
      if (isIn(NO_DESTINATION, address)) {
        const message = `${address} is no destination; DNS servers that block a name answer with it`;
        return { code: 'no-address', message };
      }
      const isIpv4 = kind === 'mapped' || isIP(address) === 4;
      if (isIn(isIpv4 ? allowedIpv4 : allowed, address)) return null;
      const message = `${address} is ${kind}; the helper connects only to public addresses unless its settings allow it`;
      return { code: 'blocked', message };
    },
  };
}
