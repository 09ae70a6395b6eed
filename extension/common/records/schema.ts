// The schema of the ledger in IndexedDB, in its newest version: stores, rows and limits.

import type { OriginRace } from '@photofinish/shared/race/outcome';
import type { VerdictCode } from '@photofinish/shared/race/verdict-schema';
import { type Adoption, NO_REQUESTS, type ProtocolCounts } from '@photofinish/shared/report/adoption';
import type { Observation, ObservationModes } from '@photofinish/shared/web/observation';
import type { Origin } from '@photofinish/shared/web/origin';
import type { Delivery, KnownProtocol, UnknownReason } from '@photofinish/shared/web/protocol';
import type { DBSchema } from 'idb';
import { MAX_RETENTION_DAYS } from '../settings.ts';

export type DeliveredCounts = Readonly<Record<Exclude<Delivery, 'network'>, number>>;
export const NOTHING_DELIVERED: DeliveredCounts = { 'http-cache': 0, 'service-worker': 0, prefetch: 0 };

/** What is counted of responses. */
export interface ResponseCounts {
  /** Network responses, and of them the top-level navigations. */
  readonly counts: ProtocolCounts;
  readonly navigations: ProtocolCounts;
  readonly delivered: DeliveredCounts;
  readonly bytes: number;
  /** The modes in which the counted responses were observed; absent in rows from before there was a second mode. */
  readonly modes?: ObservationModes;
}
export const NO_RESPONSES: Required<ResponseCounts> = {
  counts: NO_REQUESTS,
  navigations: NO_REQUESTS,
  delivered: NOTHING_DELIVERED,
  bytes: 0,
  modes: [],
};

/** What is counted of forecasts. */
interface ForecastCounts {
  /** Look-ups for pages of an origin, and how many found a fresh entry. */
  readonly lookups: number;
  readonly hits: number;
  /** Forecasts of the origin compared with what the browser used, and how many were right. */
  readonly scored: number;
  readonly right: number;
}
export const NO_FORECASTS: ForecastCounts = { lookups: 0, hits: 0, scored: 0, right: 0 };

/** Everything known about one origin as used by one site, since it was first seen. */
export interface OriginRecord extends ResponseCounts {
  readonly origin: Origin;
  readonly site: string;
  readonly firstSeenMs: number;
  readonly lastSeenMs: number;
  /** The protocol of the newest network response that revealed one. */
  readonly protocol: KnownProtocol | null;
  readonly protocolAtMs: number | null;
  /** Why the newest network response without a protocol had none. */
  readonly reason: UnknownReason | null;
  readonly address: string | null;
  /**
   * The browser has reached the origin over HTTP/3, on this site or another; rows from before this was recorded have
   * none.
   */
  readonly reachedOverH3?: boolean;
  /** When its first response over HTTP/3 came, or at the latest; rows from before this was recorded have none. */
  readonly h3SinceMs?: number;
  /** Start of the newest page that used it; absent: not known. */
  readonly newestPageMs?: number;
  /** The newest Alt-Svc value seen on a network response. */
  readonly altSvc: string | null;
  /** When that value was last seen, or at the latest; rows from before this was recorded have none. */
  readonly altSvcAtMs?: number;
  /** Light mode has read a stored response of it; if `altSvc` is null, that response had no Alt-Svc header. */
  readonly altSvcRead?: true;
  /** Since when it has advertised HTTP/3 without interruption; null: it does not. */
  readonly advertisedSinceMs: number | null;
  /**
   * Pages begun after that on which the browser used an older protocol, all on one network and all through a proxy or
   * none; using HTTP/3 resets it to 0, and a page that differs in either begins anew.
   */
  readonly visitsSinceAdvertised: number;
  /** The network of those pages; rows from before it was recorded have none. */
  readonly visitsNetwork?: string;
  /** Whether those pages came through a proxy; null or absent: the browser did not say. */
  readonly visitsProxied?: boolean | null;
  /** Whether the newest network response did. */
  readonly proxied?: boolean | null;
  /** Start of the page counted last, so that a page of many requests is one visit. */
  readonly visitedPageMs: number | null;
  /** The verdict as of its newest observation or of the newest race of its origin. */
  readonly verdict: VerdictCode;
}

/** One origin on one site on one UTC day over one network. */
export interface DayRow extends ResponseCounts, ForecastCounts {
  /** `2026-11-21`. */
  readonly day: string;
  readonly site: string;
  readonly origin: Origin;
  /** The helper's label of the network, NETWORK_UNKNOWN without a helper. */
  readonly network: string;
}

/** Everything of one UTC day over one network: the sum of that day's rows, kept after they are pruned. */
export interface DayTotal extends Omit<DayRow, 'site' | 'origin'> {
  /** Adoption by origin, where an origin counts once for each site (and day, and network) that used it. */
  readonly origins: Adoption;
}

export interface OutboxRow {
  readonly observations: readonly Observation[];
}

export interface LedgerSchema extends DBSchema {
  records: {
    key: [Origin, string];
    value: OriginRecord;
    indexes: { site: string; lastSeenMs: number };
  };
  days: { key: [string, string, Origin, string]; value: DayRow; indexes: { site: [string, string] } };
  totals: { key: [string, string]; value: DayTotal };
  races: { key: [Origin, number]; value: OriginRace; indexes: { atMs: number } };
  /** Observations the helper has not acknowledged yet. */
  outbox: { key: number; value: OutboxRow };
  /** Batches already counted. */
  batches: { key: string; value: { readonly key: string; readonly atMs: number }; indexes: { atMs: number } };
}

export const LEDGER_NAME = 'photofinish';

export const DAY_MS = 86_400_000;
/** The maximum retention: a year and a month, so that a month can be compared with the same month a year before. */
export const RETENTION_MS = MAX_RETENTION_DAYS * DAY_MS;
// Measured in Chromium 156: 120,000 records, 475,000 days and 4,000 races take 178 MB on disk, so a ledger at every
// limit takes about 220 MB.
export const MAX_RECORDS = 200_000;
export const MAX_DAYS = 500_000;
/** Forty networks a day over the longest retention. */
export const MAX_TOTALS = 16_000;
export const MAX_RACES = 10_000;
export const RACES_PER_ORIGIN = 20;
export const MAX_OUTBOX_ROWS = 2000;
export const MAX_BATCHES = 50_000;
/** A page frozen by the browser may send a batch again long afterwards; a week exceeds any freeze observed. */
export const BATCH_RETENTION_MS = 7 * DAY_MS;

/** The UTC day of an instant, used as a key of rows. */
export function dayOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}

/** Every UTC day in a range, both ends included; empty if the ends are reversed. */
export function daysBetween(fromDay: string, toDay: string): string[] {
  const days = [];
  for (let atMs = Date.parse(fromDay); atMs <= Date.parse(toDay); atMs += DAY_MS) days.push(dayOf(atMs));
  return days;
}
