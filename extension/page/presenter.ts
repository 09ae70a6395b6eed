// Shows pages as they change: the toolbar button of each tab, and the whole view to whoever watches the tab.
// Changes come in bursts, so each tab is drawn at most once in REFRESH_MS.

import type { Protocol } from '@photofinish/shared/protocol';
import { PROTOCOL_NAMES } from '@photofinish/shared/protocol';
import type { Ledger } from '../ledger/ledger.ts';
import { troubleWords } from '../ledger/trouble.ts';
import type { HelperState, PageView } from '../messages.ts';
import type { Page } from './model.ts';
import { emptyView, pageView, type TabDocument, usedOrigins } from './view.ts';

export interface PresenterDeps {
  readonly ledger: Pick<Ledger, 'recordsOf' | 'newestRaces'>;
  readonly shown: (tabId: number) => Page | undefined;
  /** What a tab shows, where the browser tells it. */
  readonly documentOf: (tabId: number) => Promise<TabDocument | null>;
  readonly helperState: () => HelperState;
  /** Why nothing can be recorded now; null when all is well. */
  readonly trouble: () => string | null;
  readonly setToolbar: (tabId: number, protocol: Protocol, title: string) => Promise<void>;
  readonly later: (delayMs: number, run: () => void) => void;
}

export type Watcher = (view: PageView) => void;

export interface Presenter {
  /** Draws the tab soon. */
  refresh(tabId: number): void;
  /** Draws every watched tab soon. */
  refreshWatched(): void;
  /** Sends the tab's view now and after each change; gives the function that ends it. */
  watch(tabId: number, watcher: Watcher): () => void;
}

const REFRESH_MS = 100;

export function createPresenter(deps: PresenterDeps): Presenter {
  const watchers = new Map<number, Set<Watcher>>();
  const due = new Set<number>();
  const drawn = new Map<number, string>();

  const viewOf = async (page: Page, whole: boolean): Promise<PageView> => {
    const origins = whole ? usedOrigins(page) : [page.origin];
    const helper = deps.helperState();
    try {
      const [records, races] = await Promise.all([
        deps.ledger.recordsOf(origins, page.site),
        deps.ledger.newestRaces(origins),
      ]);
      return pageView(page, { records, races, helper, trouble: deps.trouble() });
    } catch (error) {
      // What this page did is in memory, whatever becomes of the storage.
      return pageView(page, { records: new Map(), races: new Map(), helper, trouble: troubleWords(error) });
    }
  };

  const drawToolbar = async (page: Page, view: PageView): Promise<void> => {
    const title = view.verdict?.text ?? `Protocol ${PROTOCOL_NAMES[view.protocol]}`;
    // The browser clears a tab's button with each document, so the document is part of what was drawn.
    const mark = `${page.documentId} ${view.protocol} ${title}`;
    if (drawn.get(page.tabId) === mark) return;
    drawn.set(page.tabId, mark);
    await deps.setToolbar(page.tabId, view.protocol, title);
  };

  const draw = async (tabId: number): Promise<void> => {
    const watching = watchers.get(tabId);
    const page = deps.shown(tabId);
    if (page === undefined) {
      drawn.delete(tabId);
      if (watching === undefined) return;
      const view = emptyView(tabId, await deps.documentOf(tabId), deps.helperState());
      for (const watcher of watching) watcher(view);
      return;
    }
    const view = await viewOf(page, watching !== undefined);
    for (const watcher of watching ?? []) watcher(view);
    if (view.state === 'recorded') await drawToolbar(page, view);
  };

  const refresh = (tabId: number): void => {
    if (due.has(tabId)) return;
    due.add(tabId);
    deps.later(REFRESH_MS, () => {
      due.delete(tabId);
      draw(tabId).catch((error) => console.error('a tab could not be drawn', error));
    });
  };

  return {
    refresh,
    refreshWatched() {
      for (const tabId of watchers.keys()) refresh(tabId);
    },
    watch(tabId, watcher) {
      const watching = watchers.get(tabId) ?? new Set();
      watchers.set(tabId, watching.add(watcher));
      draw(tabId).catch((error) => console.error('a tab could not be drawn', error));
      return () => {
        watching.delete(watcher);
        if (watching.size === 0) watchers.delete(tabId);
      };
    },
  };
}
