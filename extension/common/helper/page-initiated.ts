// Visits without a user action: pages that navigate by themselves could trigger races without end, with a new name each
// time. One of these per hour is raced in each tab and for each site; those that are not are counted for the options
// page. They are kept in session storage, because the browser terminates the background more often than once an hour.
import type { SessionArea } from '../browser.ts';

export const PAGE_INITIATED_KEY = 'page-initiated-visits';
const HOUR_MS = 3_600_000;
/** Tabs and sites of one hour that are remembered; beyond this no visit without a user action is raced. */
const MAX_REMEMBERED = 500;

/** The state kept in session storage. */
export interface PageInitiatedVisits {
  /** When a tab or site was last raced, in milliseconds since the epoch. */
  readonly racedMs: Readonly<Record<string, number>>;
  /** Visits that were not raced since the browser started. */
  readonly heldBack: number;
}
const NOTHING: PageInitiatedVisits = { racedMs: {}, heldBack: 0 };

/** The stored state. */
export async function loadPageInitiated(area: Pick<SessionArea, 'get'>): Promise<PageInitiatedVisits> {
  return (
    ((await area.get(PAGE_INITIATED_KEY))[PAGE_INITIATED_KEY] as PageInitiatedVisits | undefined) ?? NOTHING
  );
}

/** Decides whether a visit without a user action may be raced, one at a time, and counts it. */
export function createPageInitiated(area: Pick<SessionArea, 'get' | 'set'>) {
  let turn: Promise<unknown> = Promise.resolve();
  return ({ tabId, site, atMs }: { tabId: number; site: string; atMs: number }): Promise<boolean> => {
    const decision = turn.then(async () => {
      const known = await loadPageInitiated(area);
      const recent = Object.entries(known.racedMs).filter(([, racedMs]) => atMs - racedMs < HOUR_MS);
      const keys = [`tab ${tabId}`, `site ${site}`];
      const mayRace = recent.length < MAX_REMEMBERED && !recent.some(([key]) => keys.includes(key));
      const raced = mayRace ? keys.map((key): [string, number] => [key, atMs]) : [];
      const racedMs = Object.fromEntries([...recent, ...raced]);
      const heldBack = known.heldBack + (mayRace ? 0 : 1);
      await area.set({ [PAGE_INITIATED_KEY]: { racedMs, heldBack } satisfies PageInitiatedVisits });
      return mayRace;
    });
    turn = decision.catch(() => {});
    return decision;
  };
}

/** The messages about a touch and about the navigation it started arrive by different routes. */
const TOUCH_LATE_MS = 1000;

/** Which tabs' pages the user touched, and which of their navigations resulted from that. */
export function createGestures(nowMs: () => number) {
  const touched = new Set<number>();
  const begun = new Map<
    number,
    { readonly atMs: number; readonly byUser: boolean; readonly committed: boolean }
  >();
  return {
    /** A page in the tab was clicked or typed into. */
    touch(tabId: number): void {
      const last = begun.get(tabId);
      const late = last !== undefined && !last.committed && nowMs() - last.atMs < TOUCH_LATE_MS;
      if (late) begun.set(tabId, { ...last, byUser: true });
      else touched.add(tabId);
    },
    /** A tab was opened from another one. */
    opened(tabId: number, openerTabId: number | undefined): void {
      if (openerTabId !== undefined && touched.has(openerTabId)) touched.add(tabId);
    },
    /** The tab's page is about to be left; touches of the next page are counted separately. */
    begun(tabId: number): void {
      begun.set(tabId, { atMs: nowMs(), byUser: touched.delete(tabId), committed: false });
    },
    /** The tab shows the requested page: touches now belong to that page. */
    committed(tabId: number): void {
      const last = begun.get(tabId);
      if (last !== undefined) begun.set(tabId, { ...last, committed: true });
    },
    /** Whether the tab's last navigation began on a page that had been touched. */
    had: (tabId: number): boolean => begun.get(tabId)?.byUser === true,
    removed(tabId: number): void {
      touched.delete(tabId);
      begun.delete(tabId);
    },
  };
}
export type Gestures = ReturnType<typeof createGestures>;
