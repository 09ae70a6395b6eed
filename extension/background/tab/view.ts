// Builds what the popup shows from a page, the ledger's records and the newest races. Pure.

import type { OriginRace } from '@photofinish/shared/race/outcome';
import { NO_REQUESTS, requestsIn } from '@photofinish/shared/report/adoption';
import { isRecognisable } from '@photofinish/shared/web/network-name';
import type { ObservationMode } from '@photofinish/shared/web/observation';
import { type Origin, originOfUrl, originParts } from '@photofinish/shared/web/origin';
import type { KnownProtocol } from '@photofinish/shared/web/protocol';
import type {
  HelperState,
  OriginView,
  PageState,
  PageView,
  SteerView,
  Visits,
} from '../../common/messages.ts';
import { areOtherNetworks } from '../../common/network-names.ts';
import { byUse } from '../../common/page/delta.ts';
import type { Page, PageOrigin } from '../../common/page/model.ts';
import { advertisesH3, elsewhereOf, hasResponses } from '../../common/records/fold.ts';
import { NOTHING_DELIVERED, type OriginRecord } from '../../common/records/schema.ts';
import { siteOfHost } from '../../common/site.ts';
import { type NewestRaces, verdictOfOrigin, verdictOfRace } from '../../common/verdict.ts';
import type { Failure } from '../observe/navigations.ts';

/** What the ledger knows about a page's origins. */
export interface History {
  readonly records: ReadonlyMap<Origin, OriginRecord>;
  readonly races: ReadonlyMap<Origin, NewestRaces>;
}

export interface Background {
  /** Null: the ledger has not been queried yet. */
  readonly history: History | null;
  readonly helper: HelperState;
  readonly mode: ObservationMode;
  readonly trouble: string | null;
  /** How many of the page's responses are not counted yet. */
  readonly pending: number;
  /** How an origin is steered, given whether its server advertises HTTP/3; null if steering is not supported. */
  readonly steer: ((origin: Origin, advertised: boolean) => SteerView) | null;
}

/** A navigation of a tab that failed, and the error page that the tab shows for it. */
export interface FailedNavigation extends Pick<Failure, 'error' | 'atMs'> {
  readonly documentId: string;
}

/** The document in a tab, according to the browser. */
export interface TabDocument {
  readonly documentId: string;
  readonly url: string;
  /** Its navigation failed: it is the browser's error page, or the previous page, which then remained. */
  readonly failed: boolean;
  /** What is known about the failure. */
  readonly failure: FailedNavigation | null;
  /** Why an https page in this tab is not recorded; null: it is. */
  readonly withheld: Extract<PageState, 'private' | 'excluded' | 'no-options' | 'no-access'> | null;
}

/**
 * Hosts on which browsers allow no extension: Chromium's web store (`kWebstoreBaseURL` and its successor) and Firefox's
 * `extensions.webextensions.restrictedDomains`.
 */
const GUARDED_HOSTS: ReadonlySet<string> = new Set([
  'chromewebstore.google.com',
  'accounts-static.cdn.mozilla.net',
  'accounts.firefox.com',
  'addons.cdn.mozilla.net',
  'addons.mozilla.org',
  'api.accounts.firefox.com',
  'content.cdn.mozilla.net',
  'discovery.addons.mozilla.org',
  'install.mozilla.org',
  'oauth.accounts.firefox.com',
  'profile.accounts.firefox.com',
  'support.mozilla.org',
  'sync.services.mozilla.com',
]);
const NO_HISTORY: History = { records: new Map(), races: new Map() };

/** The protocol that an origin shows on the page: the document's own, where it is known, or the newest there. */
function knownProtocol(
  { documentProtocol, origin }: Page,
  row: PageOrigin | undefined,
): KnownProtocol | null {
  const isOwn = row === undefined || row.origin === origin;
  return isOwn && documentProtocol !== null && documentProtocol !== 'unknown'
    ? documentProtocol
    : (row?.protocol ?? null);
}

/** The same, with the reason if there is none; undefined: the page's own origin has not answered yet. */
function shownProtocol(page: Page, row: PageOrigin | undefined): Pick<OriginView, 'protocol' | 'reason'> {
  const known = knownProtocol(page, row);
  if (known !== null) return { protocol: known, reason: null };
  return { protocol: 'unknown', reason: row?.reason ?? 'missed' };
}

type Where = 'here' | 'elsewhere' | 'unknown';

/** Whether a race ran on the network that the helper sees now, as far as it tells networks apart. */
function whereRaced(race: OriginRace, helper: HelperState): Where {
  if (helper.state !== 'ready') return 'unknown';
  if (race.network === helper.network) return isRecognisable(race.network) ? 'here' : 'unknown';
  return areOtherNetworks(race.network, helper.network) ? 'elsewhere' : 'unknown';
}

interface JudgedOrigin {
  readonly record: OriginRecord | undefined;
  readonly races: NewestRaces | undefined;
  /** Of the newest race and of the one that is judged; null: there is none. */
  readonly where: Where | null;
  readonly whereJudged: Where | null;
  readonly view: OriginView;
}

/** The newest view of each row: while a page loads, most rows stay unchanged, and so should their verdicts. */
const drawn = new WeakMap<PageOrigin, JudgedOrigin>();

function originView(page: Page, row: PageOrigin, history: History, helper: HelperState): OriginView {
  const races = history.races.get(row.origin);
  const where = races === undefined ? null : whereRaced(races.newest, helper);
  const whereJudged = races === undefined ? null : whereRaced(races.judged, helper);
  const record = history.records.get(row.origin);
  const before = drawn.get(row);
  const { protocol, reason } = shownProtocol(page, row);
  if (
    before !== undefined &&
    before.record === record &&
    before.races === races &&
    before.where === where &&
    before.whereJudged === whereJudged &&
    before.view.protocol === protocol
  )
    return before.view;
  const judged = whereJudged === 'elsewhere' ? undefined : races?.judged;
  const view: OriginView = {
    origin: row.origin,
    site: siteOfHost(originParts(row.origin).host),
    protocol,
    reason,
    hiddenReason: row.reason,
    counts: row.counts,
    delivered: row.delivered,
    forecast: row.forecast,
    forecastRight: row.right,
    race: where === 'elsewhere' ? null : (races?.newest ?? null),
    verdict: verdictOfOrigin({
      origin: row.origin,
      protocol: knownProtocol(page, row),
      reason,
      page: {
        begunMs: page.begunMs ?? page.startedMs,
        newest: row.protocol,
        usedH3: row.counts.h3 > 0,
      },
      elsewhere: elsewhereOf(row),
      record,
      race: judged,
      racedElsewhere: judged === undefined && where === 'elsewhere',
      readElsewhere: whereJudged === 'unknown',
    }),
  };
  drawn.set(row, { record, races, where, whereJudged, view });
  return view;
}

function visitsOf(record: OriginRecord | undefined): Visits | null {
  if (record === undefined || requestsIn(record.navigations) === 0) return null;
  return { navigations: record.navigations, sinceMs: record.firstSeenMs };
}

/** The origins a page has used so far. */
export function usedOrigins(page: Page): Origin[] {
  return Object.values(page.origins)
    .filter(hasResponses)
    .map((row) => row.origin);
}

/** Whether anything has been reported about the page: how its document arrived, or a response to a request. */
export function isReported(page: Page): boolean {
  return page.delivery !== null || Object.values(page.origins).some(hasResponses);
}

/** Steering does not help where the browser refuses QUIC, which it does not if it has used HTTP/3 there. */
function steerView(
  view: SteerView,
  race: OriginView['race'] | undefined,
  own: OriginRecord | undefined,
): SteerView {
  const isPrivate = race?.discovered.knownRoot === false && own?.reachedOverH3 !== true;
  return isPrivate ? { ...view, privateRoot: true } : view;
}

/** The view of a page; `loading` until its document has reported how it arrived. */
export function pageView(
  page: Page,
  { history, helper, mode, trouble, pending, steer }: Background,
): PageView {
  const known = history ?? NO_HISTORY;
  const rows = Object.values(page.origins).filter(hasResponses);
  const origins = rows.map((row) => originView(page, row, known, helper)).sort(byUse(page.origin));
  const main = origins.find((o) => o.origin === page.origin);
  const own = known.records.get(page.origin);
  const unreported = GUARDED_HOSTS.has(originParts(page.origin).host) ? 'guarded' : 'loading';
  return {
    tabId: page.tabId,
    state: isReported(page) ? 'recorded' : unreported,
    origin: page.origin,
    site: page.site,
    ...shownProtocol(page, page.origins[page.origin]),
    delivery: page.delivery ?? 'network',
    documentProtocol: page.documentProtocol,
    arrival: page.arrival,
    verdict: main?.verdict ?? null,
    counts: page.counts,
    pending,
    visits: visitsOf(own),
    complete: history !== null,
    origins,
    steer:
      steer === null
        ? null
        : steerView(steer(page.origin, own !== undefined && advertisesH3(own)), main?.race, own),
    error: null,
    helper,
    mode,
    trouble,
  };
}

/** What a tab without a record shows, and thus why it has none. */
export function stateOf(shown: TabDocument | null): PageState {
  if (shown === null) return 'browser-page';
  const { url, failed, withheld } = shown;
  if (url === '') return 'loading';
  if (url.startsWith('view-source:')) return 'source';
  if (url.startsWith('file:')) return 'file';
  if (!/^https?:/.test(url)) return 'browser-page';
  // Nothing is shown of a private window's pages, failed or not, and nothing is raced; the same holds for excluded
  // sites.
  if (failed) return withheld === null || withheld === 'no-access' ? 'failed' : withheld;
  if (url.startsWith('http:')) return 'not-https';
  const { host, pathname } = new URL(url);
  // Chromium's older store shares its host with pages that are recorded.
  if (GUARDED_HOSTS.has(host) || (host === 'chrome.google.com' && pathname.startsWith('/webstore')))
    return 'guarded';
  return withheld ?? 'not-recorded';
}

/** The view of a tab without a record, from what it shows; null: the browser does not say. */
export function emptyView(
  tabId: number,
  shown: TabDocument | null,
  { helper, mode }: Pick<Background, 'helper' | 'mode'>,
): PageView {
  return {
    tabId,
    state: stateOf(shown),
    origin: null,
    site: null,
    protocol: 'unknown',
    reason: 'missed',
    delivery: 'network',
    documentProtocol: null,
    arrival: 'loaded',
    verdict: null,
    counts: NO_REQUESTS,
    pending: 0,
    visits: null,
    complete: true,
    origins: [],
    steer: null,
    error: shown?.failure?.error ?? null,
    helper,
    mode,
    trouble: null,
  };
}

/** The origin whose page failed to load in a tab, with its site; null if there is none to race. */
export function failedOrigin(shown: TabDocument | null): { origin: Origin; site: string } | null {
  if (shown === null || stateOf(shown) !== 'failed') return null;
  const parts = originOfUrl(shown.url);
  return parts === null ? null : { origin: parts.origin, site: siteOfHost(parts.host) };
}

/**
 * The view of a tab whose page failed to load. It has no protocol, whatever earlier visits had; only a race since then
 * shows what answers there.
 */
export function failedView(
  tabId: number,
  shown: TabDocument,
  { origin, site }: { origin: Origin; site: string },
  { history, helper, mode, trouble }: Omit<Background, 'steer' | 'pending'>,
): PageView {
  const { records, races } = history ?? NO_HISTORY;
  const newest = races.get(origin)?.newest;
  const since = newest !== undefined && newest.atMs >= (shown.failure?.atMs ?? 0);
  const race = since && whereRaced(newest, helper) !== 'elsewhere' ? newest : null;
  const record = records.get(origin);
  const verdict = race === null ? null : verdictOfRace(origin, race, record);
  const view: OriginView = {
    origin,
    site,
    protocol: 'unknown',
    reason: null,
    hiddenReason: null,
    counts: NO_REQUESTS,
    delivered: NOTHING_DELIVERED,
    forecast: null,
    forecastRight: null,
    race,
    verdict: verdict ?? { code: 'unknown', findings: [] },
  };
  return {
    ...emptyView(tabId, shown, { helper, mode }),
    origin,
    site,
    verdict,
    visits: visitsOf(record),
    complete: history !== null,
    origins: [view],
    trouble,
  };
}
