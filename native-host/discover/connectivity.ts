// Which address families this machine can use (Happy Eyeballs v3 draft, section 4.1), and the prefix by which the
// network's NAT64 reaches IPv4 (section 8, RFC 7050): on an IPv6-only network to synthesise addresses, and wherever there
// is IPv6 for the guard.
import { networkInterfaces } from 'node:os';
import { familyOf } from '../address/address-bytes.ts';
import { type AddressClass, classifyAddress } from '../address/guard.ts';
import { NAT64_NAME, nat64PrefixOf } from '../address/nat64.ts';
import type { Clock } from '../clock.ts';
import { PUBLIC_ADDRESSES } from '../network/system.ts';
import type { Answer, DnsClient } from './answer.ts';
import type { Connectivity } from './resolution.ts';

/** Maximum wait of a race for the prefix: a network that has one answers from its own resolver. */
const NAT64_TIMEOUT_MS = 1000;
/** How long the absence of a prefix is cached: the TTL of a negative answer is not available. */
const NO_NAT64_LIFETIME_MS = 60_000;
/** A question that failed says nothing of the prefix, but the races of one moment need not repeat it. */
const FAILED_LIFETIME_MS = 1000;

export type SourceFor = (destination: string) => string | null;

/** Sources of connectivity information that send nothing. */
export interface Environment {
  /** The source address that the system would use, null without a route. */
  readonly sourceFor: SourceFor;
  /** The addresses of the machine's interfaces. */
  readonly addresses: () => readonly string[];
}

/** The current addresses of this machine. */
export function ownAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address));
}

/** Addresses that do not leave the machine or its link. */
const LEAD_NOWHERE: readonly AddressClass[] = ['loopback', 'link-local'];

function leadsOut(address: string | null): boolean {
  return address !== null && !LEAD_NOWHERE.includes(classifyAddress(address));
}

/**
 * The families with a default route; if there is none, those with an address beyond loopback and link-local. Both
 * false: there is only loopback. IPv6 is preferred unless only IPv4 has a route.
 */
export function familiesOf({ sourceFor, addresses }: Environment): Omit<Connectivity, 'nat64Prefix'> {
  const ipv6 = leadsOut(sourceFor(PUBLIC_ADDRESSES[6]));
  const ipv4 = leadsOut(sourceFor(PUBLIC_ADDRESSES[4]));
  if (ipv6 || ipv4) return { ipv6, ipv4, preferred: ipv6 ? 'ipv6' : 'ipv4' };
  const own = addresses().filter(leadsOut);
  const has6 = own.some((address) => familyOf(address) === 'ipv6');
  const has4 = own.some((address) => familyOf(address) === 'ipv4');
  return { ipv6: has6, ipv4: has4, preferred: has6 || !has4 ? 'ipv6' : 'ipv4' };
}

interface Lifetimes {
  goodUntilMs: number;
  /** For the guard alone. */
  guardUntilMs: number;
}

interface Prefix extends Lifetimes {
  /** The machine's own address when it was asked for. */
  readonly self: string;
  readonly prefix: Promise<string | null>;
}

function prefixIn(answer: Answer): string | null {
  return answer.ok && answer.kind === 'AAAA' ? nat64PrefixOf(answer.addresses.map((a) => a.address)) : null;
}

/** How long an answer about the prefix is valid, in milliseconds. */
function lifetimeMs(answer: Answer): number {
  if (!answer.ok) return FAILED_LIFETIME_MS;
  const ttls = answer.kind === 'AAAA' ? answer.addresses.map((a) => a.ttlSeconds) : [];
  return ttls.length === 0 ? NO_NAT64_LIFETIME_MS : Math.min(...ttls) * 1000;
}

export interface ConnectivityWatch {
  /** The current connectivity, with the prefix on IPv6-only networks. */
  connectivity(dns: DnsClient): Promise<Connectivity>;
  /** The network's NAT64 prefix, whether or not IPv4 also has a route; null: none was found. */
  nat64Prefix(dns: DnsClient): Promise<string | null>;
}

/**
 * Watches the connectivity. The prefix is queried only with an IPv6 route, once for as long as the answer is valid and
 * the machine's own address is unchanged. `openNetworkDns` opens the network's own resolver, which knows the prefix
 * whatever server the user chose (RFC 8880 section 7.1); null: that is the one that discoveries query.
 */
export function watchConnectivity(
  environment: Environment,
  clock: Pick<Clock, 'nowMs' | 'after'>,
  openNetworkDns: (() => DnsClient) | null = null,
): ConnectivityWatch {
  let last: Prefix | null = null;

  async function askPrefix(dns: DnsClient, entry: Lifetimes): Promise<string | null> {
    const timeout = new AbortController();
    const forget = clock.after(NAT64_TIMEOUT_MS, () => timeout.abort());
    const ask = (client: DnsClient): Promise<Answer> => client.ask(NAT64_NAME, 'AAAA', timeout.signal);
    const [queried, own] = await Promise.all([ask(dns), openNetworkDns && ask(openNetworkDns())]);
    forget();
    const network = own ?? queried;
    // The server that the user chose may be the DNS64.
    const answer = prefixIn(network) === null && prefixIn(queried) !== null ? queried : network;
    const nowMs = clock.nowMs();
    entry.goodUntilMs = nowMs + lifetimeMs(answer);
    // Where IPv4 also has a route, a resolver that stays silent would otherwise delay every race by the whole time-out.
    const isSilent = !answer.ok && timeout.signal.aborted;
    entry.guardUntilMs = isSilent ? nowMs + NO_NAT64_LIFETIME_MS : entry.goodUntilMs;
    return prefixIn(answer);
  }

  function prefixOf(dns: DnsClient, until: keyof Lifetimes): Promise<string | null> {
    const self = environment.sourceFor(PUBLIC_ADDRESSES[6]) ?? '';
    if (last?.self === self && clock.nowMs() < last[until]) return last.prefix;
    const entry = { goodUntilMs: Number.POSITIVE_INFINITY, guardUntilMs: Number.POSITIVE_INFINITY };
    last = Object.assign(entry, { self, prefix: askPrefix(dns, entry) });
    return last.prefix;
  }

  return {
    async connectivity(dns) {
      const families = familiesOf(environment);
      const nat64Prefix = families.ipv6 && !families.ipv4 ? await prefixOf(dns, 'goodUntilMs') : null;
      return { ...families, nat64Prefix };
    },
    nat64Prefix: async (dns) => (familiesOf(environment).ipv6 ? prefixOf(dns, 'guardUntilMs') : null),
  };
}
