// What the panel shows, as pure functions: filtering requests, grouping by origin, sorting, and the totals.
import { median } from '@photofinish/shared/race/statistics';
import { type Origin, originOfUrl } from '@photofinish/shared/web/origin';
import { type Mark, markOf, PROTOCOLS, type Protocol } from '@photofinish/shared/web/protocol';
import type { InspectedRequest } from '../../common/inspected-request.ts';
import { type SortOrder, sortBy } from '../ui/sorting.ts';

export interface Filter {
  /** Part of host or path, lower case; empty: all. */
  readonly query: string;
  /** Only what crossed the network over another protocol. */
  readonly notH3: boolean;
}

/** The requests of one origin. */
export interface Group {
  readonly origin: Origin;
  readonly requests: readonly InspectedRequest[];
  /** Network responses by protocol, the newest protocol first. */
  readonly protocols: readonly { readonly protocol: Protocol; readonly count: number }[];
  /** Of the newest network response with a protocol. */
  readonly mark: Mark;
  readonly bytes: number;
  /** Median of network responses; null without any. */
  readonly medianMs: number | null;
}

/** Responses over the network, with and without a known protocol, and all others. */
export interface Sum {
  readonly h3: number;
  readonly known: number;
  readonly unknown: number;
  readonly elsewhere: number;
}

export const SORT_KEYS = ['origin', 'protocols', 'requests', 'bytes', 'time'] as const;
export type SortKey = (typeof SORT_KEYS)[number];
/** Columns of numbers, in which the highest are of interest. */
export const NUMBER_KEYS: readonly SortKey[] = ['requests', 'bytes', 'time'];

/** The protocol of a network response; null for what did not cross the network. */
export function protocolOf({ delivery, protocol }: InspectedRequest): Protocol | null {
  return delivery === 'network' ? (protocol ?? 'unknown') : null;
}

export function passes(request: InspectedRequest, { query, notH3 }: Filter): boolean {
  const protocol = protocolOf(request);
  if (notH3 && (protocol === null || protocol === 'h3')) return false;
  if (query === '') return true;
  // The query of a URL may contain any host.
  const [address = ''] = request.url.split('?', 1);
  return address.toLowerCase().includes(query);
}

export function sumOf(requests: readonly InspectedRequest[]): Sum {
  const sum = { h3: 0, known: 0, unknown: 0, elsewhere: 0 };
  for (const request of requests) {
    const protocol = protocolOf(request);
    if (protocol === null) sum.elsewhere += 1;
    else if (protocol === 'unknown') sum.unknown += 1;
    else sum.known += 1;
    if (protocol === 'h3') sum.h3 += 1;
  }
  return sum;
}

function groupOf(origin: Origin, requests: readonly InspectedRequest[]): Group {
  const network = requests.filter(({ delivery }) => delivery === 'network');
  const byProtocol = Map.groupBy(network, ({ protocol }) => protocol ?? 'unknown');
  return {
    origin,
    requests,
    protocols: PROTOCOLS.flatMap((protocol) => {
      const count = byProtocol.get(protocol)?.length ?? 0;
      return count === 0 ? [] : [{ protocol, count }];
    }),
    mark: markOf(network.findLast(({ protocol }) => protocol !== null)?.protocol ?? 'unknown'),
    bytes: network.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0),
    medianMs: median(network.map(({ tookMs }) => tookMs)),
  };
}

/**
 * The requests by origin, in the order in which the page first used each origin, and each origin's requests by start
 * time: browsers report them as they end.
 */
export function groupsOf(requests: readonly InspectedRequest[]): Group[] {
  const ordered = requests.toSorted((a, b) => a.startMs - b.startMs);
  const lists = Map.groupBy(ordered, ({ url }) => originOfUrl(url)?.origin);
  return [...lists].flatMap(([origin, list]) => (origin === undefined ? [] : [groupOf(origin, list)]));
}

function rank(group: Group, key: SortKey): number | string {
  switch (key) {
    case 'origin':
      return group.origin;
    case 'protocols':
      // Origins without network responses come after all others.
      return group.protocols[0] === undefined
        ? PROTOCOLS.length
        : PROTOCOLS.indexOf(group.protocols[0].protocol);
    case 'requests':
      return group.requests.length;
    case 'bytes':
      return group.bytes;
    case 'time':
      return group.medianMs ?? -1;
  }
}

/** Groups in the requested order; by default the page's own first, then by number of requests. */
export function sortGroups(
  groups: readonly Group[],
  sorting: SortOrder<SortKey> | null,
  own: Origin | null,
): Group[] {
  if (sorting === null)
    return groups.toSorted(
      (a, b) => Number(b.origin === own) - Number(a.origin === own) || b.requests.length - a.requests.length,
    );
  return sortBy(groups, sorting, rank);
}

function requestRank(request: InspectedRequest, key: SortKey): number | string {
  switch (key) {
    case 'origin':
      return request.url;
    case 'protocols': {
      const protocol = protocolOf(request);
      return protocol === null ? PROTOCOLS.length : PROTOCOLS.indexOf(protocol);
    }
    case 'requests':
      // This column shows a request's method and status.
      return request.status;
    case 'bytes':
      return request.bytes ?? -1;
    case 'time':
      return request.tookMs;
  }
}

/** An origin's requests in the requested order; by default, and where they are equal, by start time. */
export function sortRequests(
  requests: readonly InspectedRequest[],
  sorting: SortOrder<SortKey> | null,
): readonly InspectedRequest[] {
  return sorting === null ? requests : sortBy(requests, sorting, requestRank);
}
