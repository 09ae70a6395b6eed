// Turns one authority (host and port) into groups of endpoints, from the answers so far; walking it asks the missing
// questions. The origin is one authority, each of its Alt-Svc alternatives another (RFC 9460 9.3).
import { isIP } from 'node:net';
import { httpsQueryName, type ServiceRecord } from '@photofinish/shared/race/discovered';
import type { TransportName } from '@photofinish/shared/race/terms';
import type { Family } from '../address/address-bytes.ts';
import type { Endpoint } from './discoverer.ts';
import type { Questions } from './questions.ts';
import { type Service, type ServiceAnswer, targetOf } from './service.ts';

export interface Authority {
  readonly host: string;
  readonly port: number;
  /** Transports that may be tried there at all: an alternative is for HTTP/3 alone. */
  readonly speaks: readonly TransportName[];
  readonly source: 'origin' | 'alt-svc';
}

/** The input of a walk besides the authority. */
export interface WalkInput {
  readonly questions: Questions;
  /** The families to query, in this order. */
  readonly families: readonly Family[];
  readonly readServices: (records: readonly ServiceRecord[]) => ServiceAnswer;
  /** Whether the addresses of a host are known without DNS, and used whatever their family. */
  readonly isKnownHost: (host: string) => boolean;
  /** The address that the user gave for this port of a host, whose other ports have others; null: none. */
  readonly pinAt: (host: string, port: number) => string | null;
}

export interface AuthorityEndpoints {
  /** Service information was received, or will not be: the draft's third condition (section 4.2). */
  readonly serviceKnown: boolean;
  /** An HTTPS record says that there is no such service. */
  readonly unavailable: boolean;
  /** A service names HTTP/3, whether or not its addresses are known. */
  readonly namesH3: boolean;
  /** The host of the best service, whether or not its addresses are known; null without a service. */
  readonly bestTarget: string | null;
  /** Groups of the services in their order (section 5.2), with addresses as received from DNS. */
  readonly services: readonly (readonly Endpoint[])[];
  /** The authority's own addresses, with which no service is associated. */
  readonly unassociated: readonly Endpoint[];
}

/** AliasMode records followed for one authority (RFC 9460 section 2.4.2 wants a limit, 10.2 warns beyond 8). */
const MAX_ALIASES = 8;

/** Of addresses that no question is about. */
const EITHER: readonly Family[] = ['ipv6', 'ipv4'];

type Hints = Pick<ServiceRecord, 'ipv4Hints' | 'ipv6Hints'>;
const NO_HINTS: Hints = { ipv4Hints: [], ipv6Hints: [] };

/**
 * The known addresses of a host; for each family its hints until that family is answered (RFC 9460 section 7.3). A
 * family that we cannot send from is not queried and has no addresses.
 */
function addressesOf(host: string, { questions, families, isKnownHost }: WalkInput, hints: Hints): string[] {
  if (isIP(host) !== 0) return [host];
  const addresses: string[] = [];
  for (const family of isKnownHost(host) ? EITHER : families) {
    const { answer } = questions.ask(host, family === 'ipv6' ? 'AAAA' : 'A');
    if (answer?.ok && answer.kind !== 'HTTPS')
      for (const { address } of answer.addresses) addresses.push(address);
    else addresses.push(...(family === 'ipv6' ? hints.ipv6Hints : hints.ipv4Hints));
  }
  return addresses;
}

const NO_SERVICES: readonly ServiceRecord[] = [];

function endpointsAt(
  target: Pick<Endpoint, 'host' | 'port' | 'source'>,
  transports: readonly TransportName[],
  walk: WalkInput,
  hints: Hints = NO_HINTS,
): Endpoint[] {
  const pin = walk.pinAt(target.host, target.port);
  const addresses = pin === null ? addressesOf(target.host, walk, hints) : [pin];
  return addresses.flatMap((address) => transports.map((transport) => ({ transport, address, ...target })));
}

/** The end of the alias chain: services, a name without services, nothing, or not known yet. */
type Chain =
  | { readonly end: 'pending' | 'unavailable' | 'broken' }
  | {
      readonly end: 'services';
      readonly services: readonly Service[];
      /** The name queried for them. */
      readonly name: string;
      /** The same, if it was reached through an alias. */
      readonly alias: string | null;
    };

/** Follows AliasMode records (RFC 9460 section 3), querying each target's addresses along with its HTTPS records. */
function followAliases({ host, port }: Authority, walk: WalkInput): Chain {
  let name = httpsQueryName(host, port);
  let alias: string | null = null;
  const seen = new Set<string>();
  while (seen.size <= MAX_ALIASES && !seen.has(name)) {
    seen.add(name);
    const { answer } = walk.questions.ask(name, 'HTTPS');
    addressesOf(alias ?? host, walk, NO_HINTS);
    if (answer === null) return { end: 'pending' };
    const read = walk.readServices(answer.ok && answer.kind === 'HTTPS' ? answer.services : NO_SERVICES);
    if (read.type === 'unavailable') return { end: 'unavailable' };
    if (read.type === 'services') return { end: 'services', services: read.services, name, alias };
    alias = read.target;
    name = read.target;
  }
  // Too long or a loop: as if the first record did not exist (section 3.1).
  return { end: 'broken' };
}

/**
 * Walks one authority. Its services come first, each with its own port, target, hints and ALPN set; then the end of an
 * alias chain, as a service without parameters (RFC 9460 section 3). The authority itself remains as the fallback of a
 * SVCB-optional client, unless its own record offers no protocol that may be tried there.
 */
export function walkAuthority(authority: Authority, walk: WalkInput): AuthorityEndpoints {
  const { host, port, speaks, source } = authority;
  const unassociated = (): Endpoint[] => endpointsAt({ host, port, source }, speaks, walk);
  const bare = { serviceKnown: true, unavailable: false, namesH3: false, bestTarget: null, services: [] };
  if (isIP(host) !== 0) return { ...bare, unassociated: unassociated() };
  const chain = followAliases(authority, walk);
  if (chain.end === 'unavailable') return { ...bare, unavailable: true, unassociated: [] };
  if (chain.end !== 'services')
    return { ...bare, serviceKnown: chain.end === 'broken', unassociated: unassociated() };

  const named = source === 'alt-svc' ? 'alt-svc' : 'https-record';
  const services: Endpoint[][] = [];
  let namesH3 = false;
  let bestTarget: string | null = null;
  let refusedHere = false;
  for (const { record, transports } of chain.services) {
    const target = { host: targetOf(record, chain.name), port: record.port ?? port, source: named } as const;
    const spoken = transports.filter((transport) => source === 'origin' || speaks.includes(transport));
    if (spoken.length > 0) services.push(endpointsAt(target, spoken, walk, record));
    else if (target.host === host && target.port === port) refusedHere = true;
    if (spoken.length > 0) bestTarget ??= target.host;
    if (spoken.includes('h3')) namesH3 = true;
  }
  // Without a usable record, a client acts as if there were none (section 8). For an alternative, however, the record
  // still contradicts what was advertised (section 9.3).
  const fallsBack = !refusedHere || (source === 'origin' && services.length === 0);
  if (chain.alias !== null) {
    services.push(endpointsAt({ host: chain.alias, port, source: named }, speaks, walk));
    bestTarget ??= chain.alias;
  }
  return { ...bare, namesH3, bestTarget, services, unassociated: fallsBack ? unassociated() : [] };
}
