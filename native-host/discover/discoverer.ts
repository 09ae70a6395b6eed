// The interface between races and discovery. Behind it every address has passed the guard, and nothing in front of it
// ever resolves a name.
import type { DnsResults } from '@photofinish/shared/race/discovered';
import type { AttemptError } from '@photofinish/shared/race/outcome';
import type { TransportName } from '@photofinish/shared/race/terms';
import type { Alternative } from '@photofinish/shared/web/alt-svc';
import type { OriginParts } from '@photofinish/shared/web/origin';
import type { Family } from '../address/address-bytes.ts';

/**
 * A destination endpoint (Happy Eyeballs v3 draft, section 4): one address, one port, one transport, and its source.
 */
export interface Endpoint {
  readonly transport: TransportName;
  readonly address: string;
  readonly port: number;
  /** The name that the address belongs to: the origin's host, a record's TargetName, an alternative's host. */
  readonly host: string;
  readonly source: 'origin' | 'https-record' | 'alt-svc';
}

/** Endpoints per list: HTTP/3 and TCP at six addresses of each family, more than a trial of 3 s reaches. */
export const MAX_ENDPOINTS = 24;

/** Two endpoints have the same key if they have the same address, port and transport. */
export function endpointKey({ transport, address, port }: Endpoint): string {
  return `${transport} ${address} ${port}`;
}

/** Whether two endpoints have the same address, port and transport; their sources do not matter. */
export function sameEndpoint(a: Endpoint, b: Endpoint): boolean {
  return a.transport === b.transport && a.address === b.address && a.port === b.port;
}

export interface DiscoveryQuery {
  readonly origin: OriginParts;
  /** Unexpired HTTP/3 alternatives known beforehand. */
  readonly alternatives: readonly Alternative[];
  /** Try HTTP/3 at the origin's own port although nothing advertises it (P2); otherwise only where it is advertised. */
  readonly assumeH3: boolean;
  /** Smoothed round-trip times in milliseconds of addresses used before (section 5.3). */
  readonly history: ReadonlyMap<string, number>;
}

/** A completed discovery: at least one endpoint, in the draft's order. */
export type Discovery =
  | {
      readonly ok: true;
      readonly endpoints: readonly Endpoint[];
      readonly names: DnsResults;
      /** By which the network's NAT64 reaches IPv4, for example `2001:db8:64::/96`; null: none was needed or found. */
      readonly nat64Prefix: string | null;
    }
  | { readonly ok: false; readonly error: AttemptError; readonly names: DnsResults };

/** Always the whole sorted list; `final`: no further list will come. */
export type DiscoveryUpdate =
  | { readonly type: 'endpoints'; readonly endpoints: readonly Endpoint[]; readonly final: boolean }
  | { readonly type: 'failed'; readonly error: AttemptError };

export interface LiveDiscovery {
  /** What was learnt so far. */
  names(): DnsResults;
  /** No listener is called after this. */
  cancel(): void;
}

/** Endpoints of alternatives, and the questions asked to find them. */
export interface FollowedAlternatives {
  readonly endpoints: readonly Endpoint[];
  readonly names: DnsResults;
}

export interface Discoverer {
  /** Runs a discovery until every answer is in, or the resolution delay has passed. Never rejects. */
  settle(query: DiscoveryQuery, signal: AbortSignal): Promise<Discovery>;
  /** Starts a discovery whose answers arrive while connections are already attempted. */
  begin(query: DiscoveryQuery, listener: (update: DiscoveryUpdate) => void): LiveDiscovery;
  /**
   * The endpoints of alternatives named by an answer; those on the origin's own host need no look-up. Alternatives that
   * do not resolve or are forbidden give no endpoint; `names` then says why. Never rejects.
   */
  follow(
    origin: OriginParts,
    alternatives: readonly Alternative[],
    signal: AbortSignal,
  ): Promise<FollowedAlternatives>;
}

/**
 * A family that this machine cannot use is not queried (Happy Eyeballs v3 draft, section 4.1), so whether a name has
 * addresses of it is unknown.
 */
const FAMILY_NAMES = { ipv6: 'IPv6', ipv4: 'IPv4' } as const;
const RECORDS = { ipv6: 'AAAA', ipv4: 'A' } as const;

/** The error of a name for which the queries of these families, at least one, all had negative answers. */
export function noAddress(host: string, families: readonly Family[]) {
  const unusable = (['ipv6', 'ipv4'] as const).find((family) => !families.includes(family));
  const [queried] = families;
  const message =
    unusable === undefined || queried === undefined
      ? `${host} has no address`
      : `${host} has no ${RECORDS[queried]} record, and this machine cannot use ${FAMILY_NAMES[unusable]}`;
  return { code: 'no-address', message } as const;
}
