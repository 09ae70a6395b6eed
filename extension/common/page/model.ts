// What one page in a tab did, for the popup and the toolbar: plain data, kept in `storage.session`. A page lives from
// its document's commit (or its first batch, if the background was not running then) until its tab shows another
// document and MAX_PAGES newer ones exist. All functions are pure.

import type { Forecast } from '@photofinish/shared/port/wire';
import { countRequest, NO_REQUESTS, type ProtocolCounts } from '@photofinish/shared/report/adoption';
import type { Observation } from '@photofinish/shared/web/observation';
import type { Origin } from '@photofinish/shared/web/origin';
import {
  type Delivery,
  type KnownProtocol,
  PROTOCOLS,
  type Protocol,
  type UnknownReason,
} from '@photofinish/shared/web/protocol';
import type { Arrival } from '../messages.ts';
import { backfilledCounts, countDelivered } from '../records/fold.ts';
import { type DeliveredCounts, NOTHING_DELIVERED } from '../records/schema.ts';

export interface PageOrigin {
  readonly origin: Origin;
  /** Protocol of the newest network response that revealed one. */
  readonly protocol: KnownProtocol | null;
  readonly protocolAtMs: number;
  /** Why the newest response without a protocol had none. */
  readonly reason: UnknownReason | null;
  readonly counts: ProtocolCounts;
  readonly delivered: DeliveredCounts;
  readonly forecast: Forecast | null;
  /** When it arrived, milliseconds since the epoch: a forecast after the response predicts nothing. */
  readonly forecastAtMs: number | null;
  readonly right: boolean | null;
}

export interface Page {
  readonly documentId: string;
  readonly tabId: number;
  readonly origin: Origin;
  readonly site: string;
  /** When it was committed, milliseconds since the epoch. */
  readonly startedMs: number;
  /** The same when the navigation to it was begun, before its first request; null: not seen. */
  readonly begunMs: number | null;
  /** How the document itself was delivered; null until it has reported that. */
  readonly delivery: Delivery | null;
  /** The protocol of the document's own response: unknown unless that came over the network; null until reported. */
  readonly documentProtocol: Protocol | null;
  /** How its tab most recently came to show it. */
  readonly arrival: Arrival;
  /**
   * When the document's forecast was requested and arrived, and its first byte came; fractions of ms since the epoch.
   */
  readonly forecastAskedAtMs: number | null;
  readonly forecastAtMs: number | null;
  readonly firstByteAtMs: number | null;
  readonly counts: ProtocolCounts;
  readonly origins: Readonly<Record<Origin, PageOrigin>>;
  /** Keys of the newest batches applied, so that a batch sent twice is shown once. */
  readonly applied: readonly string[];
}

/** Origins kept for the view of one page; a page with more is still recorded completely in the ledger. */
export const MAX_PAGE_ORIGINS = 500;
/** Batches that may still be repeated: those of the last minutes. */
const MAX_APPLIED = 64;

export function newPage(
  identity: Pick<Page, 'documentId' | 'tabId' | 'origin' | 'site' | 'startedMs' | 'begunMs'>,
): Page {
  return {
    ...identity,
    delivery: null,
    documentProtocol: null,
    arrival: 'loaded',
    forecastAskedAtMs: null,
    forecastAtMs: null,
    firstByteAtMs: null,
    counts: NO_REQUESTS,
    origins: {},
    applied: [],
  };
}

function newPageOrigin(origin: Origin): PageOrigin {
  return {
    origin,
    protocol: null,
    protocolAtMs: 0,
    reason: null,
    counts: NO_REQUESTS,
    delivered: NOTHING_DELIVERED,
    forecast: null,
    forecastAtMs: null,
    right: null,
  };
}

/** Right or wrong, decided once: by the first network response with a known protocol after the forecast arrived. */
function scoreOf(row: PageOrigin, o: Observation): boolean | null {
  if (row.right !== null || o.protocol === 'unknown' || o.delivery !== 'network') return row.right;
  // An earlier response of this page already revealed it: nothing after that is a prediction.
  if (row.protocol !== null || row.forecast === null || row.forecastAtMs === null) return null;
  const { protocol } = row.forecast.expected;
  return protocol === 'unknown' || row.forecastAtMs > o.atMs ? null : protocol === o.protocol;
}

function withObservation(row: PageOrigin, o: Observation): PageOrigin {
  const known = o.protocol !== 'unknown' && o.delivery === 'network' && o.atMs >= row.protocolAtMs;
  return {
    ...row,
    counts: countRequest(row.counts, o.protocol, o.delivery),
    delivered: countDelivered(row.delivered, o),
    right: scoreOf(row, o),
    ...(known && { protocol: o.protocol as KnownProtocol, protocolAtMs: o.atMs }),
    ...(o.reason !== undefined && { reason: o.reason }),
  };
}

/** The page's responses by the protocol they show, and the forecasts that this batch decided. */
export interface PageChange {
  readonly page: Page;
  readonly scores: readonly { readonly origin: Origin; readonly right: boolean }[];
}

/** Folds a batch in; a batch applied before changes nothing. `firstByteMs` refers to the document itself. */
export function applyBatch(
  page: Page,
  key: string,
  observations: readonly Observation[],
  firstByteMs: number | null,
): PageChange {
  if (page.applied.includes(key)) return { page, scores: [] };
  const origins: Record<Origin, PageOrigin> = { ...page.origins };
  let size = Object.keys(origins).length;
  let { counts, delivery, documentProtocol } = page;
  const scores: { origin: Origin; right: boolean }[] = [];
  for (const o of observations) {
    counts = countRequest(counts, o.protocol, o.delivery);
    if (o.kind === 'navigation') {
      delivery = o.delivery;
      documentProtocol = o.delivery === 'network' ? o.protocol : 'unknown';
    }
    const before = origins[o.origin];
    if (before === undefined && size >= MAX_PAGE_ORIGINS) continue;
    const after = withObservation(before ?? newPageOrigin(o.origin), o);
    if (before === undefined) size += 1;
    origins[o.origin] = after;
    if (after.right !== null && after.right !== (before?.right ?? null))
      scores.push({ origin: o.origin, right: after.right });
  }
  return {
    page: {
      ...page,
      counts,
      delivery,
      documentProtocol,
      origins,
      firstByteAtMs: firstByteMs ?? page.firstByteAtMs,
      applied: [...page.applied, key].slice(-MAX_APPLIED),
    },
    scores,
  };
}

/** The page after the protocol of one of its responses became known. */
export function withBackfill(
  before: Page,
  { origin, atMs, kind }: Observation,
  protocol: KnownProtocol,
): Page {
  if (before.counts.unknown === 0) return before;
  const page = kind === 'navigation' ? { ...before, documentProtocol: protocol } : before;
  const row = page.origins[origin];
  const counts = backfilledCounts(page.counts, protocol, 1);
  // For an origin beyond the view's limit only the page's total was kept.
  if (row === undefined || row.counts.unknown === 0) return { ...page, counts };
  const ofOrigin = backfilledCounts(row.counts, protocol, 1);
  const backfilled: PageOrigin = {
    ...row,
    counts: ofOrigin,
    reason: ofOrigin.unknown === 0 ? null : row.reason,
    ...(atMs >= row.protocolAtMs && { protocol, protocolAtMs: atMs }),
  };
  return { ...page, counts, origins: { ...page.origins, [origin]: backfilled } };
}

/** The page without these origins, and without their responses in its counts. */
export function withoutOrigins(page: Page, isGone: (origin: Origin) => boolean): Page {
  const rows = Object.values(page.origins);
  const gone = rows.filter(({ origin }) => isGone(origin));
  if (gone.length === 0) return page;
  const counts = { ...page.counts };
  for (const row of gone) for (const protocol of PROTOCOLS) counts[protocol] -= row.counts[protocol];
  const kept = rows.filter((row) => !gone.includes(row));
  return { ...page, counts, origins: Object.fromEntries(kept.map((row) => [row.origin, row])) };
}

/** Adds forecasts to the origins they are for. Origins the page has not used wait with no requests. */
export function withForecasts(page: Page, forecasts: readonly Forecast[], atMs: number): Page {
  const origins: Record<Origin, PageOrigin> = { ...page.origins };
  let size = Object.keys(origins).length;
  for (const forecast of forecasts) {
    const known = origins[forecast.origin];
    if (known === undefined && size >= MAX_PAGE_ORIGINS) continue;
    if (known === undefined) size += 1;
    origins[forecast.origin] = {
      ...(known ?? newPageOrigin(forecast.origin)),
      forecast,
      forecastAtMs: atMs,
    };
  }
  const own = forecasts.some(({ origin }) => origin === page.origin);
  return { ...page, origins, ...(own && { forecastAtMs: atMs }) };
}
