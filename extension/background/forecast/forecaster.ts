// Asks the helper before each navigation which protocols the page's origins will use: first about the page's own origin
// alone, in the event handler (in Firefox after confirming the user's consent), so that nothing delays its answer; then
// about the origins that the site used before. A forecast belongs to the document that the navigation commits.
import { type Forecast, MAX_FORECAST_ORIGINS } from '@photofinish/shared/port/wire';
import { type Origin, originOfUrl } from '@photofinish/shared/web/origin';
import { dropOldest } from '../../common/drop-oldest.ts';
import { type Page, withForecasts } from '../../common/page/model.ts';
import { siteOfHost } from '../../common/site.ts';
import type { BackgroundLedger } from '../../ledger/ledger.ts';
import type { Steering } from '../steer/steering.ts';
import type { Pages } from '../tab/pages.ts';

export interface ForecasterDeps {
  readonly ask: (site: string, origins: readonly Origin[]) => Promise<readonly Forecast[]>;
  readonly originsOfSite: (site: string, limit: number) => Promise<readonly Origin[]>;
  /** Whether the helper may be asked about an origin that the site used: it may have been excluded since. */
  readonly mayAsk: (origin: Origin) => boolean;
  readonly onArrived: (navigation: Navigation) => void;
  /** Milliseconds since the epoch, with fractions. */
  readonly nowMs: () => number;
}

/** The forecasts of one navigation, while they arrive. */
export interface Navigation {
  readonly tabId: number;
  readonly frameId: number;
  readonly origin: Origin;
  readonly site: string;
  readonly askedAtMs: number;
  /** What has arrived: each message's answer with its time. */
  readonly arrived: { readonly forecasts: readonly Forecast[]; readonly atMs: number }[];
  /** The document that the navigation committed; null until then. */
  documentId: string | null;
  /** Resolves once it has committed one, failed, or was replaced by another one. */
  readonly ended: Promise<void>;
}

interface WaitingNavigation {
  readonly navigation: Navigation;
  readonly end: () => void;
}

const MAX_SITES_IN_MEMORY = 200;
const MAX_WAITING = 200;
/**
 * Firefox restarts a navigation when it moves it to another process, and sites redirect their visitors to themselves.
 */
const SAME_NAVIGATION_MS = 2000;

export function createForecaster({ ask, originsOfSite, mayAsk, onArrived, nowMs }: ForecasterDeps) {
  const sites = new Map<string, Set<Origin>>();
  const waiting = new Map<string, WaitingNavigation>();

  const send = (navigation: Navigation, origins: readonly Origin[]): Promise<void> =>
    ask(navigation.site, origins).then(
      (forecasts) => {
        navigation.arrived.push({ forecasts, atMs: nowMs() });
        onArrived(navigation);
      },
      // Without a helper, or with one that is too slow, the page has no forecast, and the popup shows the helper's
      // state.
      () => {},
    );

  const known = async (site: string): Promise<Iterable<Origin>> => {
    const inMemory = sites.get(site);
    if (inMemory !== undefined) return inMemory;
    const read = new Set(await originsOfSite(site, MAX_FORECAST_ORIGINS));
    sites.set(site, read);
    dropOldest(sites, MAX_SITES_IN_MEMORY);
    return read;
  };

  const sendRest = async (navigation: Navigation): Promise<void> => {
    const rest = [...(await known(navigation.site))].filter(
      (origin) => origin !== navigation.origin && mayAsk(origin),
    );
    if (rest.length > 0) await send(navigation, rest);
  };

  return {
    /** An outermost page is about to be requested. */
    navigate(tabId: number, frameId: number, url: string): void {
      const parts = originOfUrl(url);
      if (parts === null) return;
      const { origin, host } = parts;
      const key = `${tabId} ${frameId}`;
      const before = waiting.get(key);
      if (before?.navigation.origin === origin && nowMs() - before.navigation.askedAtMs < SAME_NAVIGATION_MS)
        return;
      before?.end();
      const { promise: ended, resolve: end } = Promise.withResolvers<void>();
      const navigation: Navigation = {
        tabId,
        frameId,
        origin,
        site: siteOfHost(host),
        askedAtMs: nowMs(),
        arrived: [],
        documentId: null,
        ended,
      };
      void send(navigation, [origin]);
      waiting.delete(key);
      waiting.set(key, { navigation, end });
      const [oldest] = waiting.values();
      if (waiting.size > MAX_WAITING) oldest?.end();
      dropOldest(waiting, MAX_WAITING);
      // A ledger that cannot be read costs only the additional forecasts.
      sendRest(navigation).catch(() => {});
    },

    /** The navigation committed this document; null when no forecast was requested for it. */
    commit(tabId: number, frameId: number, documentId: string): Navigation | null {
      const key = `${tabId} ${frameId}`;
      const found = waiting.get(key);
      if (found === undefined) return null;
      waiting.delete(key);
      found.navigation.documentId = documentId;
      found.end();
      return found.navigation;
    },

    /** The navigation failed or was cancelled: it may be that of a page whose successor is already begun. */
    fail: (tabId: number, frameId: number): void => waiting.get(`${tabId} ${frameId}`)?.end(),

    /** The site uses these origins: the next navigation includes them. */
    remember(site: string, origins: Iterable<Origin>): void {
      const inMemory = sites.get(site);
      if (inMemory === undefined) return;
      for (const origin of origins) if (inMemory.size < MAX_FORECAST_ORIGINS) inMemory.add(origin);
    },

    /** The tab was closed. */
    removed(tabId: number): void {
      for (const [key, { navigation, end }] of waiting)
        if (navigation.tabId === tabId) {
          waiting.delete(key);
          end();
        }
    },

    /** Forgets which origins sites use, the ledger is queried again, and navigations that have not ended. */
    forget(): void {
      sites.clear();
      // What has not ended is not counted any more.
      waiting.clear();
    },
  };
}

export type Forecaster = ReturnType<typeof createForecaster>;

// What happens with a navigation's forecasts once they arrive: steering acts on them, the page shows them, the ledger
// counts the look-ups.

interface UseForecastsDeps {
  readonly ledger: Pick<BackgroundLedger, 'countLookups'>;
  readonly pages: Pages;
  readonly steering: Pick<Steering, 'forecast'> | null;
  /** The settings may have changed, and data been deleted, since the navigation began. */
  readonly mayRecord: (navigation: Navigation) => boolean;
}

/** The page that the navigation committed, if it has committed one yet. */
function pageOf(pages: Pages, { documentId }: Navigation): Page | undefined {
  return documentId === null ? undefined : pages.get(documentId);
}

/**
 * Whether a page has forecasts of an earlier navigation. A prerendered page is navigated to again when it is shown, and
 * a page in memory when it is restored: what is forecast then is no prediction, and its first forecasts stand.
 */
function hasEarlierForecasts(page: Page | undefined, { askedAtMs }: Navigation): boolean {
  return (page?.forecastAskedAtMs ?? askedAtMs) !== askedAtMs;
}

/** Adds what has arrived to the origins of the page that the navigation committed, if it has committed one yet. */
export function attachForecasts(pages: Pages, navigation: Navigation): void {
  const page = pageOf(pages, navigation);
  if (page === undefined || hasEarlierForecasts(page, navigation)) return;
  const { askedAtMs, arrived } = navigation;
  const asked: Page = { ...page, forecastAskedAtMs: askedAtMs };
  pages.update(arrived.reduce((p, { forecasts, atMs }) => withForecasts(p, forecasts, atMs), asked));
}

/** Uses the newest answer of a navigation, and counts it once that has ended. Rejects if rules or ledger fail. */
export async function useForecasts(
  navigation: Navigation,
  { ledger, pages, steering, mayRecord }: UseForecastsDeps,
  network: string,
): Promise<void> {
  const newest = navigation.arrived.at(-1);
  if (newest === undefined) return;
  // First of all, because a rule must be in force for the response that is on its way.
  await steering?.forecast(newest.forecasts, network, false);
  attachForecasts(pages, navigation);
  await navigation.ended;
  if (hasEarlierForecasts(pageOf(pages, navigation), navigation) || !mayRecord(navigation)) return;
  await ledger.countLookups(navigation.origin, navigation.site, newest.forecasts, network, Date.now());
}
