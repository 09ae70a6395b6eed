// Which page each tab shows, and which documents belong to it: the owner of all pages' state. Keyed by documentId,
// because a tab's frame 0 may be three documents at once (shown, prerendered, and kept for going back). Frames'
// documents point to their outermost one.
import { type Origin, originOfUrl } from '@photofinish/shared/web/origin';
import { documentOfTab, hasAccessInTab, type SessionArea } from '../../common/browser.ts';
import { dropOldest } from '../../common/drop-oldest.ts';
import type { Arrival } from '../../common/messages.ts';
import { newPage, type Page, withoutOrigins } from '../../common/page/model.ts';
import { siteOfHost } from '../../common/site.ts';
import { attachForecasts, type Forecaster } from '../forecast/forecaster.ts';
import type { CommittedDocument, Failure } from '../observe/navigations.ts';
import type { Recordable } from '../observe/recordable.ts';
import type { Presenter } from './presenter.ts';
import type { FailedNavigation, TabDocument } from './view.ts';

/** Pages kept beyond those shown, for going back; a page takes a few kilobytes and the session area holds 10 MB. */
const MAX_PAGES = 100;
const MAX_FRAMES = 5000;
/** Closed tabs whose batches may still arrive. */
const MAX_CLOSED_TABS = 1000;

export class Pages {
  readonly #pages: SavedMap<Page>;
  readonly #shown: SavedMap<string>;
  readonly #onChange: (page: Page) => void;
  readonly #frames = new Map<string, string>();
  readonly #closedTabs = new Set<number>();

  constructor(pages: SavedMap<Page>, shown: SavedMap<string>, onChange: (page: Page) => void) {
    this.#pages = pages;
    this.#shown = shown;
    this.#onChange = onChange;
  }

  get(documentId: string): Page | undefined {
    return this.#pages.get(documentId);
  }

  /** The page the tab shows. */
  shown(tabId: number): Page | undefined {
    const documentId = this.#shown.get(String(tabId));
    return documentId === undefined ? undefined : this.#pages.get(documentId);
  }

  /** The page of a document, whether the document is the page itself or one of its frames. */
  of(documentId: string): Page | undefined {
    return this.#pages.get(documentId) ?? this.#pages.get(this.#frames.get(documentId) ?? '');
  }

  /** Registers an outermost document, new or restored; null if its URL is not https or its tab is closed. */
  commit(
    document: Pick<Page, 'documentId' | 'tabId' | 'startedMs' | 'begunMs'> & { url: string },
  ): Page | null {
    const { url, ...identity } = document;
    const { documentId, tabId } = identity;
    const known = this.#pages.get(documentId);
    if (known !== undefined) return known;
    const parts = originOfUrl(url);
    // The last batch of a closed tab may arrive after its end, and nothing would ever remove what it added.
    if (parts === null || this.#closedTabs.has(tabId)) return null;
    const { origin, host } = parts;
    const page = newPage({ ...identity, origin, site: siteOfHost(host) });
    this.update(page);
    this.#forgetOldest(documentId);
    return page;
  }

  commitFrame(documentId: string, parentDocumentId: string): void {
    this.#frames.set(documentId, this.#frames.get(parentDocumentId) ?? parentDocumentId);
    dropOldest(this.#frames, MAX_FRAMES);
  }

  /** The tab shows this document now; null: one that is not recorded. */
  show(tabId: number, documentId: string | null): void {
    if (documentId === null) this.#shown.delete(String(tabId));
    else if (!this.#closedTabs.has(tabId) && this.#shown.get(String(tabId)) !== documentId) {
      this.#shown.set(String(tabId), documentId);
      const page = this.#pages.get(documentId);
      if (page !== undefined) this.#onChange(page);
    }
  }

  update(page: Page): void {
    this.#pages.set(page.documentId, page);
    this.#onChange(page);
  }

  /** The tab shows a document that was not loaded just now: restored from memory, or prerendered. */
  arrived(tabId: number, documentId: string, arrival: Arrival): void {
    const page = this.#pages.get(documentId);
    if (page === undefined) return;
    this.update({ ...page, arrival });
    this.show(tabId, documentId);
  }

  removeTab(tabId: number): void {
    this.#closedTabs.add(tabId);
    dropOldest(this.#closedTabs, MAX_CLOSED_TABS);
    this.#shown.delete(String(tabId));
    this.forget((page) => page.tabId === tabId);
  }

  /** Forgets the pages that `which` selects; returns the tabs that showed one. */
  forget(which: (page: Page) => boolean): number[] {
    const gone = new Set([...this.#pages.entries()].filter(([, page]) => which(page)).map(([id]) => id));
    const tabs = [...this.#shown.entries()]
      .filter(([, documentId]) => gone.has(documentId))
      .map(([tabId]) => tabId);
    for (const documentId of gone) this.#pages.delete(documentId);
    for (const tabId of tabs) this.#shown.delete(tabId);
    return tabs.map(Number);
  }

  /** Forgets what every page loaded from these origins. */
  forgetOrigins(which: (origin: Origin) => boolean): void {
    for (const [, page] of [...this.#pages.entries()]) {
      const rest = withoutOrigins(page, which);
      if (rest !== page) this.update(rest);
    }
  }

  /** Forgets every page; returns the tabs that showed one. */
  clear(): number[] {
    this.#frames.clear();
    return this.forget(() => true);
  }

  async saved(): Promise<void> {
    await Promise.all([this.#pages.saved(), this.#shown.saved()]);
  }

  /** `committed` comes into view only after this, or later if it is prerendered. */
  #forgetOldest(committed: string): void {
    if (this.#pages.size <= MAX_PAGES) return;
    const kept = new Set([...this.#shown.entries()].map(([, documentId]) => documentId)).add(committed);
    const others = [...this.#pages.entries()].map(([documentId]) => documentId).filter((id) => !kept.has(id));
    for (const documentId of others.slice(0, Math.max(others.length - MAX_PAGES, 0)))
      this.#pages.delete(documentId);
  }
}

// A map in `storage.session` that outlives the service worker. Reads are from memory; writes are coalesced per key,
// with at most one write of a key in flight, so that an older value can never overwrite a newer one.

/** Everything in the area; nothing if it cannot be read. */
export function savedIn(area: SessionArea): Promise<Readonly<Record<string, unknown>>> {
  return area.get(null).catch(() => ({}));
}

/**
 * Loads what an earlier service worker saved under `prefix`; several maps can share one reading of the area. Values are
 * stored as JSON: of objects, Chromium counts four times as many bytes towards its limit for the area.
 */
export async function loadSavedMap<Value>(area: SessionArea, prefix: string, saved = savedIn(area)) {
  const map = new Map<string, Value>();
  for (const [key, value] of Object.entries(await saved))
    if (key.startsWith(prefix) && typeof value === 'string')
      map.set(key.slice(prefix.length), JSON.parse(value));

  const dirty = new Set<string>();
  let writing: Promise<void> | null = null;

  const writeAll = async (): Promise<void> => {
    // One turn of the event loop collects everything that a batch of events changed.
    await Promise.resolve();
    while (dirty.size > 0) {
      const keys = [...dirty];
      dirty.clear();
      const gone = keys.filter((key) => !map.has(key)).map((key) => prefix + key);
      const items = keys
        .filter((key) => map.has(key))
        .map((key) => [prefix + key, JSON.stringify(map.get(key))]);
      if (gone.length > 0) await area.remove(gone);
      if (items.length > 0)
        await area.set(Object.fromEntries(items)).catch(async (error) => {
          // After a restart, nothing is better than what was true earlier.
          await area.remove(keys.map((key) => prefix + key));
          throw error;
        });
    }
  };

  const touch = (key: string): void => {
    dirty.add(key);
    writing ??= writeAll().finally(() => {
      writing = null;
    });
    // A full or failing storage costs the view after a restart, never the record; `saved` still reports it.
    writing.catch(() => {});
  };

  return {
    get: (key: string): Value | undefined => map.get(key),
    set(key: string, value: Value): void {
      map.set(key, value);
      touch(key);
    },
    delete(key: string): boolean {
      const known = map.delete(key);
      if (known) touch(key);
      return known;
    },
    keys: () => map.keys(),
    entries: () => map.entries(),
    get size() {
      return map.size;
    },
    /** Resolves once everything set so far is in storage. */
    saved: (): Promise<void> => writing ?? Promise.resolve(),
  };
}

type SavedMap<Value> = Awaited<ReturnType<typeof loadSavedMap<Value>>>;

// What tabs show: documents committed to them, navigations that failed, and what the browser says if no recorded page
// is in view.

interface StartedParts {
  readonly pages: Pages;
  readonly presenter: Pick<Presenter, 'refresh'>;
  /** What failed in each tab, by tab id. */
  readonly failures: SavedMap<FailedNavigation>;
}

export interface TabDeps {
  readonly recordable: Recordable;
  readonly forecaster: Pick<Forecaster, 'commit'>;
}

export function createTabs({ recordable, forecaster }: TabDeps) {
  return {
    committed(document: CommittedDocument, { pages, presenter }: StartedParts): void {
      const { documentId, tabId, frameId, url, atMs, begunAtMs, parentDocumentId, prerender } = document;
      if (parentDocumentId !== null) {
        pages.commitFrame(documentId, parentDocumentId);
        return;
      }
      const navigation = forecaster.commit(tabId, frameId, documentId);
      recordable.committed(document);
      const kept = recordable.mayRecord({ tabId, pageUrl: url });
      const page = kept
        ? pages.commit({ documentId, tabId, url, startedMs: atMs, begunMs: begunAtMs })
        : null;
      if (navigation !== null) attachForecasts(pages, navigation);
      // A prerendered page becomes visible when it says so itself, with its first batch.
      if (prerender) return;
      pages.show(tabId, page === null ? null : documentId);
      presenter.refresh(tabId);
    },

    /** An error page belongs to no site. A navigation that was only cancelled leaves the previous page in view. */
    async failed(tabId: number, { errorPage, error, atMs }: Failure, started: StartedParts): Promise<void> {
      const { pages, presenter, failures } = started;
      let documentId = errorPage;
      if (documentId === null) {
        const shown = await documentOfTab(tabId);
        if (shown === null || !shown.failed || pages.get(shown.documentId) !== undefined) {
          // A tab that was to load its first page shows none now.
          presenter.refresh(tabId);
          return;
        }
        documentId = shown.documentId;
      } else pages.forget((page) => page.documentId === errorPage);
      failures.set(String(tabId), { documentId, error, atMs });
      pages.show(tabId, null);
      presenter.refresh(tabId);
    },

    removed(tabId: number, { pages, presenter, failures }: StartedParts): void {
      failures.delete(String(tabId));
      pages.removeTab(tabId);
      presenter.refresh(tabId);
    },

    /** What a tab shows and, if none of it is recorded, why. */
    async shownDocument(tabId: number, failures: StartedParts['failures']): Promise<TabDocument | null> {
      const shown = await documentOfTab(tabId);
      if (shown === null) return null;
      const { documentId, url, failed } = shown;
      const refusal = recordable.refusal({ tabId, pageUrl: url });
      const withheld = refusal ?? ((await hasAccessInTab(tabId, url)) ? null : 'no-access');
      const known = failures.get(String(tabId));
      const failure = known?.documentId === documentId ? known : null;
      return { documentId, url, failed: failed || failure !== null, failure, withheld };
    },
  };
}
