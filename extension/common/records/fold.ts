// How one observation changes a record and a day's row, and what changes in them once its protocol becomes known. Pure:
// the transaction that calls it owns the storage.
import { countRequest, type ProtocolCounts, requestsIn } from '@photofinish/shared/report/adoption';
import { h3Alternatives, isExpired, parseAltSvc } from '@photofinish/shared/web/alt-svc';
import type { Observation } from '@photofinish/shared/web/observation';
import type { Origin } from '@photofinish/shared/web/origin';
import { DELIVERIES, type Delivery, type KnownProtocol } from '@photofinish/shared/web/protocol';
import { isAhead } from '@photofinish/shared/web/untrusted';
import {
  type DayRow,
  type DeliveredCounts,
  NO_FORECASTS,
  NO_RESPONSES,
  type OriginRecord,
  type ResponseCounts,
} from './schema.ts';

export function emptyRecord(origin: Origin, site: string, atMs: number): OriginRecord {
  return {
    origin,
    site,
    firstSeenMs: atMs,
    lastSeenMs: atMs,
    protocol: null,
    protocolAtMs: null,
    reason: null,
    address: null,
    ...NO_RESPONSES,
    altSvc: null,
    advertisedSinceMs: null,
    visitsSinceAdvertised: 0,
    visitedPageMs: null,
    verdict: 'unknown',
  };
}

export function emptyDay(day: string, site: string, origin: Origin, network: string): DayRow {
  return { day, site, origin, network, ...NO_RESPONSES, ...NO_FORECASTS };
}

/** Counts a response that did not come over the network now; a network response leaves the counts unchanged. */
export function countDelivered(delivered: DeliveredCounts, { delivery }: Observation): DeliveredCounts {
  return delivery === 'network' ? delivered : { ...delivered, [delivery]: delivered[delivery] + 1 };
}

/** A row's counts after one more observation. */
export function countResponse<Row extends ResponseCounts>(row: Row, observation: Observation): Row {
  const { protocol, delivery, kind, bytes } = observation;
  return {
    ...row,
    counts: countRequest(row.counts, protocol, delivery),
    navigations: kind === 'navigation' ? countRequest(row.navigations, protocol, delivery) : row.navigations,
    delivered: countDelivered(row.delivered, observation),
    bytes: row.bytes + (bytes ?? 0),
  };
}

/** The newest advertisement that the browser received; null: there is none, or it had expired at that time. */
export function advertisementAt(record: OriginRecord, atMs: number): string | null {
  const { altSvc, altSvcAtMs, lastSeenMs } = record;
  return altSvc === null || isExpired(altSvc, atMs - (altSvcAtMs ?? lastSeenMs)) ? null : altSvc;
}

/** Whether the origin still advertised HTTP/3 when it was last seen. */
export function advertisesH3(record: OriginRecord): boolean {
  return record.advertisedSinceMs !== null && advertisementAt(record, record.lastSeenMs) !== null;
}

function withAdvertisement(record: OriginRecord, altSvc: string, atMs: number): OriginRecord {
  const advertises = h3Alternatives(parseAltSvc(altSvc)).length > 0;
  const goesOn = advertises && advertisementAt(record, atMs) !== null;
  return {
    ...record,
    altSvc,
    altSvcAtMs: atMs,
    advertisedSinceMs: advertises ? ((goesOn ? record.advertisedSinceMs : null) ?? atMs) : null,
    visitsSinceAdvertised: goesOn ? record.visitsSinceAdvertised : 0,
  };
}

/** How an observation was made. */
export interface PageContext {
  /** When the navigation to its page was begun, milliseconds since the epoch; null: not known. */
  readonly begunMs: number | null;
  /** The label of the network. */
  readonly network: string;
  /** Whether through a proxy; null: the browser does not say. */
  readonly proxied: boolean | null;
}

function withVisit(
  record: OriginRecord,
  { protocol }: Observation,
  { begunMs, network, proxied }: PageContext,
): OriginRecord {
  if (protocol === 'unknown') return record;
  if (protocol === 'h3') return { ...record, visitsSinceAdvertised: 0 };
  const { advertisedSinceMs, visitedPageMs } = record;
  // Only a page begun after the advertisement was seen shows whether the browser follows it.
  if (advertisedSinceMs === null || begunMs === null || advertisedSinceMs >= begunMs) return record;
  // Of pages that are open at the same time, each would otherwise count again after the other.
  if (visitedPageMs !== null && begunMs <= visitedPageMs) return record;
  // A browser forgets what has expired.
  if (advertisementAt(record, begunMs) === null) return record;
  const { visitsNetwork, visitsProxied = null } = record;
  const goesOn = visitsNetwork === network && visitsProxied === proxied;
  return {
    ...record,
    visitsSinceAdvertised: goesOn ? record.visitsSinceAdvertised + 1 : 1,
    visitsNetwork: network,
    visitsProxied: proxied,
    visitedPageMs: begunMs,
  };
}

/**
 * A record as of `atMs` if it was written while the clock was ahead of `nowMs`: until that time comes again, nothing
 * would be newer than it, and no visit would count.
 */
export function notAhead(record: OriginRecord, atMs: number, nowMs: number): OriginRecord {
  const corrected = {
    firstSeenMs: atMs,
    lastSeenMs: atMs,
    protocolAtMs: atMs,
    altSvcAtMs: atMs,
    advertisedSinceMs: atMs,
    // What was then was before any page that begins now.
    h3SinceMs: 0,
    newestPageMs: 0,
    visitedPageMs: null,
  } satisfies Partial<OriginRecord>;
  const wrong = (Object.keys(corrected) as (keyof typeof corrected)[]).filter((instant) =>
    isAhead(record[instant] ?? 0, nowMs),
  );
  if (wrong.length === 0) return record;
  return { ...record, ...Object.fromEntries(wrong.map((instant) => [instant, corrected[instant]])) };
}

/**
 * When it was first reached over HTTP/3, given one more time that it was, or none; one that does not say was by when it
 * was last seen.
 */
export function h3Since(record: OriginRecord, atMs: number | null): Pick<OriginRecord, 'h3SinceMs'> {
  const before = record.counts.h3 > 0 ? (record.h3SinceMs ?? record.lastSeenMs) : Number.POSITIVE_INFINITY;
  const h3SinceMs = Math.min(before, atMs ?? Number.POSITIVE_INFINITY);
  return Number.isFinite(h3SinceMs) ? { h3SinceMs } : {};
}

/** The record after one more observation. */
export function foldRecord(record: OriginRecord, o: Observation, page: PageContext): OriginRecord {
  const summed = countResponse(record, o);
  const seen = {
    ...summed,
    lastSeenMs: Math.max(record.lastSeenMs, o.atMs),
    ...(record.altSvc !== null && { altSvcAtMs: record.altSvcAtMs ?? record.lastSeenMs }),
    ...h3Since(record, o.protocol === 'h3' && o.delivery === 'network' ? o.atMs : null),
    ...(page.begunMs !== null && { newestPageMs: Math.max(record.newestPageMs ?? 0, page.begunMs) }),
  };
  if (o.delivery !== 'network') return seen;
  const visited = withVisit({ ...seen, proxied: page.proxied }, o, page);
  const heard = o.altSvc === undefined ? visited : withAdvertisement(visited, o.altSvc, o.atMs);
  const read = o.altSvcRead === undefined ? heard : { ...heard, altSvcRead: o.altSvcRead };
  const placed = o.address === undefined ? read : { ...read, address: o.address };
  if (o.protocol === 'unknown') return { ...placed, reason: o.reason ?? null };
  // Frames report out of order; an older response never replaces a newer protocol.
  if ((record.protocolAtMs ?? 0) > o.atMs) return placed;
  return { ...placed, protocol: o.protocol, protocolAtMs: o.atMs };
}

// Protocols that became known later: the browser's developer tools reveal them for requests that were counted as
// unknown. Pure: moves counts, never below zero, and never more than was unknown.

/** Requests of one origin on one site whose protocol became known. */
export interface Backfill {
  readonly origin: Origin;
  readonly site: string;
  /** When they were made, milliseconds since the epoch. */
  readonly atMs: number;
  readonly kind: Observation['kind'];
  readonly protocol: KnownProtocol;
  readonly count: number;
}

export interface BackfillBatch {
  /** Identifies the batch across retries. */
  readonly key: string;
  readonly backfills: readonly Backfill[];
  readonly nowMs: number;
}

type RequestCounts = Pick<ResponseCounts, 'counts' | 'navigations'>;

/** How many of the backfill's kind are still unknown. */
export function hiddenOf({ counts, navigations }: RequestCounts, kind: Backfill['kind']): number {
  return kind === 'navigation' ? navigations.unknown : counts.unknown - navigations.unknown;
}

/** Counts with `count` of the unknown now known; `count` is at most what is unknown. */
export function backfilledCounts(
  counts: ProtocolCounts,
  protocol: KnownProtocol,
  count: number,
): ProtocolCounts {
  return { ...counts, [protocol]: counts[protocol] + count, unknown: counts.unknown - count };
}

/** A row with `count` of its unknown requests now known; `count` is at most what `hiddenOf` returns. */
export function backfilledRow<Row extends RequestCounts>(
  row: Row,
  { kind, protocol }: Backfill,
  count: number,
): Row {
  return {
    ...row,
    counts: backfilledCounts(row.counts, protocol, count),
    navigations: kind === 'navigation' ? backfilledCounts(row.navigations, protocol, count) : row.navigations,
  };
}

/** A record with `count` of its unknown requests now known, and the resulting newest protocol. */
export function backfilledRecord(record: OriginRecord, backfill: Backfill, count: number): OriginRecord {
  const row = backfilledRow(record, backfill, count);
  const since = h3Since(record, backfill.protocol === 'h3' ? backfill.atMs : null);
  const known = { ...row, ...since, reason: row.counts.unknown === 0 ? null : row.reason };
  if ((record.protocolAtMs ?? 0) > backfill.atMs) return known;
  return {
    ...known,
    protocol: backfill.protocol,
    protocolAtMs: backfill.atMs,
    visitsSinceAdvertised: backfill.protocol === 'h3' ? 0 : row.visitsSinceAdvertised,
  };
}

// Whether an origin answered, and from where if not over the network: one rule for a page, a record and a day.

type Responses = Pick<ResponseCounts, 'counts' | 'delivered'>;

/** Whether anything answered, from wherever. */
export function hasResponses(responses: Responses): boolean {
  return Object.values(responses.delivered).reduce((sum, n) => sum + n, requestsIn(responses.counts)) > 0;
}

/** Where an origin's responses came from if none came over the network. */
export function elsewhereOf(responses: Responses): Exclude<Delivery, 'network'> | null {
  if (requestsIn(responses.counts) > 0) return null;
  return DELIVERIES.filter((d) => d !== 'network').find((d) => responses.delivered[d] > 0) ?? null;
}
