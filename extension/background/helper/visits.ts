// Which of the documents answered by servers are visits that may trigger a race: documents of recorded pages, together
// with what the browser reports about window, container and proxy.
import { type Origin, originOfUrl } from '@photofinish/shared/web/origin';
import { dropOldest } from '../../common/drop-oldest.ts';
import { BROWSER } from '../../common/edition.ts';
import type { Gestures } from '../../common/helper/page-initiated.ts';
import { proxyMode } from '../../common/permissions.ts';
import type { Settings } from '../../common/settings.ts';
import { siteOfHost } from '../../common/site.ts';
import type { BackgroundLedger } from '../../ledger/keeping.ts';
import type { DocumentVisit } from '../observe/details.ts';
import type { Recordable } from '../observe/recordable.ts';
import type { RaceOrder } from './helper.ts';

export interface VisitDeps extends Omit<FirstVisitDeps, 'known'> {
  readonly gestures: Pick<Gestures, 'had'>;
  readonly recordable: Recordable;
  readonly ledger: () => Promise<Pick<BackgroundLedger, 'recordsOf' | 'newestRaces'>>;
}

/** A page is requested at most this long before its answer, so an older record belongs to an earlier visit. */
const FIRST_VISIT_MS = 60_000;

/** Returns the function to call for each document that was answered. Rejects when the ledger cannot be read. */
export function createVisits({
  recordable,
  ledger,
  gestures,
  ...deps
}: VisitDeps): (visited: DocumentVisit) => Promise<void> {
  const firstVisit = createFirstVisitRaces({
    ...deps,
    known: async ({ origin, site, startedMs }) => {
      const { recordsOf, newestRaces } = await ledger();
      const [records, raced] = await Promise.all([recordsOf([origin], site), newestRaces([origin])]);
      return (
        raced.has(origin) || (records.get(origin)?.firstSeenMs ?? startedMs) < startedMs - FIRST_VISIT_MS
      );
    },
  });

  return async ({ tabId, url, atMs, byPage, privateWindow, container, proxied }) => {
    const parts = originOfUrl(url);
    if (parts === null || deps.settings().raceWhen !== 'first-visit') return;
    if (!recordable.mayRecord({ tabId, pageUrl: url })) return;
    const { origin, host } = parts;
    const pageInitiated = byPage && !gestures.had(tabId);
    await firstVisit({
      origin,
      site: siteOfHost(host),
      startedMs: atMs,
      tabId,
      pageInitiated,
      privateWindow: privateWindow ?? recordable.isPrivateTab(tabId),
      container,
      // Chromium reports the proxy for the whole browser, not per request.
      proxied: proxied ?? (BROWSER === 'chromium' ? (await proxyMode()) !== 'direct' : null),
    });
  };
}

// Races that nobody clicked for: one for each top-level origin, on its first visit, and only if the user enabled them.
// A race bypasses the browser's proxy and is outside its private windows and containers, so any of these, and any doubt
// about them, forbids it.

/** A top-level document that came over the network. */
export interface Visit {
  readonly origin: Origin;
  readonly site: string;
  /** When its page began, milliseconds since the epoch. */
  readonly startedMs: number;
  readonly tabId: number;
  /** A page navigated there by itself, without a user action. */
  readonly pageInitiated: boolean;
  readonly privateWindow: boolean;
  /** In a container tab, which keeps its identity separate (Firefox). */
  readonly container: boolean;
  /** Whether it went through a proxy; null: the browser does not say. */
  readonly proxied: boolean | null;
}

export interface FirstVisitDeps {
  readonly settings: () => Settings;
  /** Whether the helper answers, once that is known: waits for a connection that is being opened. */
  readonly helperReady: () => Promise<boolean>;
  /** Whether the origin was raced, or visited before this page began. */
  readonly known: (visit: Visit) => Promise<boolean>;
  /** Whether a visit without a user action may be raced; each call counts against the limit. */
  readonly mayRacePageInitiated: (visit: { tabId: number; site: string; atMs: number }) => Promise<boolean>;
  readonly race: (order: RaceOrder) => void;
}

/** Origins that need not be looked up again while this background lives. */
const MAX_REMEMBERED = 1000;

/**
 * Returns the function to call for each visit; it races the origin on a first one. Rejects when the ledger cannot be
 * read.
 */
export function createFirstVisitRaces(deps: FirstVisitDeps): (visit: Visit) => Promise<void> {
  const seen = new Set<Origin>();

  return async (visit) => {
    const { origin, privateWindow, container, proxied } = visit;
    const wanted = () => deps.settings().raceWhen === 'first-visit';
    if (!wanted() || privateWindow || container || proxied !== false || seen.has(origin)) return;
    seen.add(origin);
    dropOldest(seen, MAX_REMEMBERED);
    if (await deps.known(visit)) return;
    const ready = await deps.helperReady();
    // At a later visit the helper may be available.
    if (!ready) seen.delete(origin);
    if (!ready || !wanted()) return;
    const { tabId, site, startedMs: atMs, pageInitiated } = visit;
    if (pageInitiated && !(await deps.mayRacePageInitiated({ tabId, site, atMs }))) {
      // The user may still visit it.
      seen.delete(origin);
      return;
    }
    const { raceMode: mode, startDelayMs } = deps.settings();
    deps.race({ origin, mode, reason: 'navigation', startDelayMs, share: true });
  };
}
