// Builds what the popup shows from a page, the ledger's records and the newest races. Pure.
import { adoptionByRequest } from '@photofinish/shared/adoption';
import type { Origin } from '@photofinish/shared/origin';
import type { OriginRace } from '@photofinish/shared/outcome';
import { DELIVERIES, type Delivery, type Protocol, type UnknownReason } from '@photofinish/shared/protocol';
import type { OriginRecord } from '../ledger/schema.ts';
import type { HelperState, OriginView, PageView } from '../messages.ts';
import { verdictOfOrigin } from '../verdict.ts';
import type { Page, PageOrigin } from './model.ts';

export interface Background {
  readonly records: ReadonlyMap<Origin, OriginRecord>;
  readonly races: ReadonlyMap<Origin, OriginRace>;
  readonly helper: HelperState;
  readonly trouble: string | null;
}

/** The document in a tab, as the browser names it. */
export interface TabDocument {
  readonly documentId: string;
  readonly url: string;
  /** Its navigation failed: it is the browser's error page, or the page before, which then stayed. */
  readonly failed: boolean;
}

function used(row: PageOrigin): boolean {
  const { known, hidden } = adoptionByRequest(row.counts);
  const elsewhere = Object.values(row.delivered).reduce((sum, n) => sum + n, 0);
  return known + hidden + elsewhere > 0;
}

/** Where an origin's answers came from when none came over the network. */
function elsewhereOf({ counts, delivered }: PageOrigin): Exclude<Delivery, 'network'> | null {
  const { known, hidden } = adoptionByRequest(counts);
  if (known + hidden > 0) return null;
  return DELIVERIES.filter((d) => d !== 'network').find((d) => delivered[d] > 0) ?? null;
}

/** The protocol an origin shows on the page, with the reason when there is none. */
export function shownProtocol(row: PageOrigin | undefined): {
  protocol: Protocol;
  reason: UnknownReason | null;
} {
  if (row?.protocol != null) return { protocol: row.protocol, reason: null };
  return { protocol: 'unknown', reason: row?.reason ?? 'missed' };
}

function originView(row: PageOrigin, { records, races }: Background): OriginView {
  const race = races.get(row.origin);
  const { protocol, reason } = shownProtocol(row);
  return {
    origin: row.origin,
    protocol,
    reason,
    counts: row.counts,
    delivered: row.delivered,
    forecast: row.forecast,
    forecastRight: row.right,
    race: race ?? null,
    verdict: verdictOfOrigin({
      origin: row.origin,
      protocol: row.protocol,
      reason,
      elsewhere: elsewhereOf(row),
      record: records.get(row.origin),
      race,
    }),
  };
}

function requests({ counts }: OriginView): number {
  const { known, hidden } = adoptionByRequest(counts);
  return known + hidden;
}

/** The origins a page has used so far. */
export function usedOrigins(page: Page): Origin[] {
  return Object.values(page.origins)
    .filter(used)
    .map((row) => row.origin);
}

/** The view of a recorded page; `loading` until its document has told how it came. */
export function pageView(page: Page, background: Background): PageView {
  const origins = Object.values(page.origins)
    .filter(used)
    .map((row) => originView(row, background))
    .sort((a, b) => {
      if (a.origin === page.origin || b.origin === page.origin) return a.origin === page.origin ? -1 : 1;
      return requests(b) - requests(a) || (a.origin < b.origin ? -1 : 1);
    });
  const main = origins.find((o) => o.origin === page.origin);
  const row = page.origins[page.origin];
  return {
    tabId: page.tabId,
    state: page.delivery === null && origins.length === 0 ? 'loading' : 'recorded',
    origin: page.origin,
    site: page.site,
    ...shownProtocol(row),
    delivery: page.delivery ?? 'network',
    verdict: main?.verdict ?? null,
    counts: page.counts,
    origins,
    helper: background.helper,
    trouble: background.trouble,
  };
}

function stateOf(shown: TabDocument | null): PageView['state'] {
  if (shown === null || !/^https?:/.test(shown.url)) return 'browser-page';
  if (shown.failed) return 'failed';
  return shown.url.startsWith('http:') ? 'not-https' : 'not-recorded';
}

/** The view of a tab without a record, by what it shows; null: the browser does not say. */
export function emptyView(tabId: number, shown: TabDocument | null, helper: HelperState): PageView {
  return {
    tabId,
    state: stateOf(shown),
    origin: null,
    site: null,
    protocol: 'unknown',
    reason: 'missed',
    delivery: 'network',
    verdict: null,
    counts: { h3: 0, h2: 0, 'http/1.1': 0, 'http/1.0': 0, unknown: 0 },
    origins: [],
    helper,
    trouble: null,
  };
}
