// Which of the documents that servers answered are visits that a race may follow: those of pages that are recorded, with
// what the browser says of window, container and proxy.
import { originOfUrl } from '@photofinish/shared/web/origin';
import { BROWSER } from '../../common/edition.ts';
import type { Gestures } from '../../common/helper/unasked.ts';
import { proxyMode } from '../../common/proxy-mode.ts';
import { siteOfHost } from '../../common/site.ts';
import type { KeptLedger } from '../../ledger/keeping.ts';
import type { Visited } from '../observe/details.ts';
import type { Recordable } from '../observe/recordable.ts';
import { createFirstVisitRaces, type FirstVisitDeps } from './first-visit.ts';

export interface VisitDeps extends Omit<FirstVisitDeps, 'known'> {
  readonly gestures: Pick<Gestures, 'had'>;
  readonly recordable: Recordable;
  readonly ledger: () => Promise<Pick<KeptLedger, 'recordsOf' | 'newestRaces'>>;
}

/** A page is asked for at most this long before its answer, so an older record is of an earlier visit. */
const FIRST_VISIT_MS = 60_000;

/** Gives what is told of each document that was answered. Rejects when the ledger cannot be read. */
export function createVisits({
  recordable,
  ledger,
  gestures,
  ...deps
}: VisitDeps): (visited: Visited) => Promise<void> {
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
    const unasked = byPage && !gestures.had(tabId);
    await firstVisit({
      origin,
      site: siteOfHost(host),
      startedMs: atMs,
      tabId,
      unasked,
      privateWindow: privateWindow ?? recordable.isPrivateTab(tabId),
      container,
      // Chromium says it of the browser, not of a request.
      proxied: proxied ?? (BROWSER === 'chromium' ? (await proxyMode()) !== 'direct' : null),
    });
  };
}
