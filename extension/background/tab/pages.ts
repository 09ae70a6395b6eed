// Which page each tab shows, and which documents belong to it: the owner of all pages' state.
// Keyed by documentId, because a tab's frame 0 may be three documents at once (shown, rendered ahead, and kept for
// going back). Frames' documents point to their outermost one.
import { originOfUrl } from '@photofinish/shared/web/origin';
import { dropOldest } from '../../common/drop-oldest.ts';
import type { Arrival } from '../../common/messages.ts';
import { newPage, type Page } from '../../common/page/model.ts';
import { siteOfHost } from '../../common/site.ts';
import type { SavedMap } from './saved-map.ts';

/** Pages kept beyond those shown, for going back; a page is a few kilobytes and the session area holds 10 MB. */
const MAX_PAGES = 100;
const MAX_FRAMES = 5000;

export interface Pages {
  get(documentId: string): Page | undefined;
  /** The page the tab shows. */
  shown(tabId: number): Page | undefined;
  /** The page of a document, its own or its frame's. */
  of(documentId: string): Page | undefined;
  /** Notes an outermost document, new or come back; null when its URL is not https. */
  commit(document: { documentId: string; tabId: number; url: string; startedMs: number }): Page | null;
  commitFrame(documentId: string, parentDocumentId: string): void;
  /** The tab shows this document now; null: one that is not recorded. */
  show(tabId: number, documentId: string | null): void;
  update(page: Page): void;
  /** The tab shows a document that it did not load for this: it was kept in memory, or rendered ahead of time. */
  arrived(tabId: number, documentId: string, arrival: Arrival): void;
  removeTab(tabId: number): void;
  /** Forgets the pages that `which` picks; the tabs that showed one. */
  forget(which: (page: Page) => boolean): number[];
  /** Forgets every page. */
  clear(): void;
  saved(): Promise<void>;
}

export function createPages(
  pages: SavedMap<Page>,
  shown: SavedMap<string>,
  onChange: (page: Page) => void,
): Pages {
  const frames = new Map<string, string>();

  const forgetOldest = (): void => {
    if (pages.size <= MAX_PAGES) return;
    const inView = new Set([...shown.entries()].map(([, documentId]) => documentId));
    for (const [documentId] of pages.entries()) {
      if (inView.has(documentId)) continue;
      pages.delete(documentId);
      if (pages.size <= MAX_PAGES) return;
    }
  };

  const update = (page: Page): void => {
    pages.set(page.documentId, page);
    onChange(page);
  };

  const show = (tabId: number, documentId: string | null): void => {
    if (documentId === null) shown.delete(String(tabId));
    else if (shown.get(String(tabId)) !== documentId) {
      shown.set(String(tabId), documentId);
      const page = pages.get(documentId);
      if (page !== undefined) onChange(page);
    }
  };

  return {
    get: (documentId) => pages.get(documentId),
    shown(tabId) {
      const documentId = shown.get(String(tabId));
      return documentId === undefined ? undefined : pages.get(documentId);
    },
    of: (documentId) => pages.get(documentId) ?? pages.get(frames.get(documentId) ?? ''),
    commit({ documentId, tabId, url, startedMs }) {
      const known = pages.get(documentId);
      if (known !== undefined) return known;
      const parts = originOfUrl(url);
      if (parts === null) return null;
      const { origin, host } = parts;
      const page = newPage({ documentId, tabId, origin, site: siteOfHost(host), startedMs });
      update(page);
      forgetOldest();
      return page;
    },
    commitFrame(documentId, parentDocumentId) {
      frames.set(documentId, frames.get(parentDocumentId) ?? parentDocumentId);
      dropOldest(frames, MAX_FRAMES);
    },
    show,
    update,
    arrived(tabId, documentId, arrival) {
      const page = pages.get(documentId);
      if (page === undefined) return;
      update({ ...page, arrival });
      show(tabId, documentId);
    },
    removeTab(tabId) {
      shown.delete(String(tabId));
      const gone = [...pages.entries()].filter(([, page]) => page.tabId === tabId);
      for (const [documentId] of gone) pages.delete(documentId);
    },
    forget(which) {
      const gone = new Set([...pages.entries()].filter(([, page]) => which(page)).map(([id]) => id));
      const tabs = [...shown.entries()]
        .filter(([, documentId]) => gone.has(documentId))
        .map(([tabId]) => tabId);
      for (const documentId of gone) pages.delete(documentId);
      for (const tabId of tabs) shown.delete(tabId);
      return tabs.map(Number);
    },
    clear() {
      for (const [documentId] of [...pages.entries()]) pages.delete(documentId);
      for (const [tabId] of [...shown.entries()]) shown.delete(tabId);
      frames.clear();
    },
    async saved() {
      await Promise.all([pages.saved(), shown.saved()]);
    },
  };
}
