// What was learnt about an origin besides reachability, and from which source: DNS answers, HTTPS records,
// alternatives. Contained in outcomes, shown by `explain`, evaluated by verdicts.
import * as v from 'valibot';
import { DEFAULT_HTTPS_PORT, type OriginParts } from '../web/origin.ts';
import {
  count,
  list,
  MAX_ADDRESS_CHARS,
  MAX_ADDRESSES,
  MAX_ALPN_CHARS,
  MAX_ALPNS,
  MAX_DNS_NAME_CHARS,
  MAX_HINTS,
  MAX_LOOKUPS,
  MAX_MESSAGE_CHARS,
  MAX_SERVICES,
  ms,
  text,
} from '../web/untrusted.ts';

const seconds = v.pipe(v.number(), v.finite(), v.minValue(0));
const portFrom = (least: number) => v.pipe(v.number(), v.integer(), v.minValue(least), v.maxValue(65535));
const port = portFrom(1);

/** The source of an address; `hint`: an HTTPS record, `nat64`: synthesised from an IPv4 address (RFC 6052). */
export const ADDRESS_SOURCES = ['a', 'aaaa', 'hint', 'pin', 'literal', 'nat64'] as const;
export type AddressSource = (typeof ADDRESS_SOURCES)[number];

export const discoveredAddressSchema = v.object({
  /** The name that the address belongs to. */
  host: text(MAX_DNS_NAME_CHARS),
  address: text(MAX_ADDRESS_CHARS),
  source: v.picklist(ADDRESS_SOURCES),
  /** Null if nothing expires: pins and literals. */
  ttlSeconds: v.nullable(seconds),
});
export type DiscoveredAddress = v.InferOutput<typeof discoveredAddressSchema>;

/** An HTTPS record (RFC 9460); priority 0 is AliasMode and contains nothing but its target. */
export const serviceRecordSchema = v.object({
  /** The name that was queried for it; in an answer, from which races start, the name that has it. */
  owner: text(MAX_DNS_NAME_CHARS),
  /** The name that has it, to which CNAMEs led from the one queried; absent: none did. */
  canonical: v.optional(text(MAX_DNS_NAME_CHARS)),
  priority: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(65535)),
  /** The TargetName; in ServiceMode `.` is replaced by the owner's name. In older records of AliasMode too. */
  target: text(MAX_DNS_NAME_CHARS),
  alpn: list(text(MAX_ALPN_CHARS), MAX_ALPNS),
  noDefaultAlpn: v.boolean(),
  /** A record of port 0 is incompatible, and still kept as it is. */
  port: v.nullable(portFrom(0)),
  ipv4Hints: list(text(MAX_ADDRESS_CHARS), MAX_HINTS),
  ipv6Hints: list(text(MAX_ADDRESS_CHARS), MAX_HINTS),
  /** Whether it carries an ECH configuration. */
  ech: v.boolean(),
  /**
   * It must be ignored: it has a mandatory key that we do not support (RFC 9460 section 8), contradicts itself, or a
   * record of its set is malformed.
   */
  incompatible: v.boolean(),
  ttlSeconds: seconds,
});
export type ServiceRecord = v.InferOutput<typeof serviceRecordSchema>;

/** An alternative service (RFC 7838 section 2) and its source. */
export const discoveredAlternativeSchema = v.object({
  alpn: text(MAX_ALPN_CHARS),
  /** Empty: the origin's own host. */
  host: text(MAX_DNS_NAME_CHARS),
  port,
  persist: v.boolean(),
  /** Its remaining lifetime when it was used or received. */
  expiresInSeconds: seconds,
  /** `answer`: a header of this race; `frame`: an ALTSVC frame of it (RFC 7838 section 4); `memory`: the host cache. */
  source: v.picklist(['answer', 'frame', 'memory']),
});
export type DiscoveredAlternative = v.InferOutput<typeof discoveredAlternativeSchema>;

/** One DNS query and its result. */
export const lookupSchema = v.object({
  name: text(MAX_DNS_NAME_CHARS),
  kind: v.picklist(['A', 'AAAA', 'HTTPS']),
  tookMs: ms,
  outcome: v.picklist(['answered', 'empty', 'failed']),
  records: count,
  /** With `failed`: why. */
  message: v.optional(text(MAX_MESSAGE_CHARS)),
  /** With `failed`: the race was over before there was an answer. */
  unanswered: v.optional(v.boolean()),
  /** With `failed`: DNS was not asked, because the hosts file has the name. */
  unasked: v.optional(v.boolean()),
});
export type Lookup = v.InferOutput<typeof lookupSchema>;

/** What DNS returned, in order of arrival. */
export const namesSchema = v.object({
  addresses: list(discoveredAddressSchema, MAX_ADDRESSES),
  services: list(serviceRecordSchema, MAX_SERVICES),
  lookups: list(lookupSchema, MAX_LOOKUPS),
  /** Addresses and names from DNS and alternatives beyond the limit of what a race tries; absent: none. */
  untried: v.optional(count),
});
export type DnsResults = v.InferOutput<typeof namesSchema>;

/**
 * Whether both A and AAAA records were queried for a name. A family that the machine cannot use is not queried, and the
 * name may have addresses of it.
 */
export function isQueriedForBoth(name: string, lookups: readonly Lookup[]): boolean {
  return (['A', 'AAAA'] as const).every((kind) =>
    lookups.some((lookup) => lookup.name === name && lookup.kind === kind),
  );
}

/** A name as DNS compares it: its case means nothing (RFC 4343), nor does a final dot. */
export function comparableName(name: string): string {
  return name.replace(/\.$/, '').toLowerCase();
}

/** The name to query for an authority's HTTPS records (RFC 9460 section 9.1). */
export function httpsQueryName(host: string, port: number): string {
  return port === DEFAULT_HTTPS_PORT ? host : `_${port}._https.${host}`;
}

/** The host of an HTTPS record's name, which for another port is `_PORT._https.HOST` (RFC 9460 section 9.1). */
export function hostOfHttpsName(name: string): string {
  return name.replace(/^_[0-9]+\._https\./, '');
}

/**
 * The HTTPS records of the origin itself, and the queries for them, along its aliases. Those that were queried for an
 * Alt-Svc alternative are about another authority (RFC 9460 section 9.3), and those beside an alias void (section 2.4.1).
 */
export function ownRecords(
  { services, lookups }: DnsResults,
  { host, port }: Omit<OriginParts, 'origin'>,
): Pick<DnsResults, 'services' | 'lookups'> {
  const queries = lookups.filter(({ kind }) => kind === 'HTTPS');
  const own = new Set([httpsQueryName(host, port)]);
  // A set also yields what is added meanwhile: an alias may lead to another.
  const aliases = services.filter(({ priority, incompatible }) => priority === 0 && !incompatible);
  for (const name of own) for (const { owner, target } of aliases) if (owner === name) own.add(target);
  // Older records have the canonical name to which CNAMEs led, and which was not queried.
  const isOther = (name: string) => !own.has(name) && queries.some((query) => query.name === name);
  const isVoid = ({ owner, priority }: ServiceRecord) =>
    priority > 0 && aliases.some((alias) => alias.owner === owner);
  return {
    services: services.filter((service) => !isOther(service.owner) && !isVoid(service)),
    lookups: queries.filter(({ name }) => own.has(name)),
  };
}
