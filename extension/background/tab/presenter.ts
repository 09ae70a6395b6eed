// Shows pages as they change: the toolbar button of each tab, and the view for everything that watches the tab, first
// complete, then as changes. Changes come in bursts, so each tab is drawn at most once per REFRESH_MS.
import { verdictText } from '@photofinish/shared/verdict/verdict-text';
import type { ObservationMode } from '@photofinish/shared/web/observation';
import type { Origin } from '@photofinish/shared/web/origin';
import {
  MARK_LABELS,
  type Mark,
  markOf,
  type Protocol,
  protocolName,
} from '@photofinish/shared/web/protocol';
import { getMessage } from '../../common/catalog.ts';
import type { HelperState, PageView, PopupEvent } from '../../common/messages.ts';
import { deltaOf, same } from '../../common/page/delta.ts';
import type { Page } from '../../common/page/model.ts';
import { troubleText } from '../../ledger/database.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import {
  type Background,
  emptyView,
  failedOrigin,
  failedView,
  type History,
  isReported,
  pageView,
  stateOf,
  type TabDocument,
  usedOrigins,
} from './view.ts';

export interface PresenterDeps {
  readonly ledger: Pick<Ledger, 'recordsOf' | 'newestRaces'>;
  readonly shown: (tabId: number) => Page | undefined;
  /** What a tab shows, if the browser reveals it. */
  readonly documentOf: (tabId: number) => Promise<TabDocument | null>;
  readonly helperState: () => HelperState;
  /** How requests are observed at present. */
  readonly mode: () => ObservationMode;
  /** Why nothing can be recorded now; null if recording works. */
  readonly trouble: () => string | null;
  /** How many of a page's responses are not counted yet. */
  readonly pending: (page: Page) => number;
  readonly steer: Background['steer'];
  /** `verdict` is null if the page has none. */
  readonly setToolbar: (tabId: number, protocol: Protocol, verdict: string | null) => Promise<void>;
  /** Gives a tab's button back the default look. */
  readonly resetToolbar: (tabId: number) => Promise<void>;
  readonly later: (delayMs: number, run: () => void) => void;
}

export type Watcher = (event: Extract<PopupEvent, { readonly type: 'page' | 'page-delta' }>) => void;

interface WatcherState {
  readonly tell: Watcher;
  /** What the watcher has received. */
  sent: PageView | null;
}

/** What the ledger contains about the page that a tab shows. */
interface TabHistory {
  readonly documentId: string;
  readonly history: History;
}

const REFRESH_MS = 100;

/** The newly read values, except that unchanged ones keep their old objects, so that views of them stay valid. */
function renewed<Value>(
  before: ReadonlyMap<Origin, Value> | undefined,
  read: ReadonlyMap<Origin, Value>,
): ReadonlyMap<Origin, Value> {
  if (before === undefined) return read;
  const kept = [...read].map(([origin, value]): [Origin, Value] => {
    const old = before.get(origin);
    return [origin, old !== undefined && same(old, value) ? old : value];
  });
  return new Map(kept);
}

function send(watching: WatcherState, view: PageView): void {
  const { sent } = watching;
  watching.sent = view;
  if (sent === null) {
    watching.tell({ type: 'page', page: view });
    return;
  }
  const delta = deltaOf(sent, view);
  if (delta !== null) watching.tell({ type: 'page-delta', delta });
}

export class Presenter {
  readonly #deps: PresenterDeps;
  readonly #watchers = new Map<number, Set<WatcherState>>();
  readonly #due = new Set<number>();
  readonly #drawn = new Map<number, string>();
  readonly #recalled = new Map<number, TabHistory>();

  constructor(deps: PresenterDeps) {
    this.#deps = deps;
  }

  /** Draws the tab soon. */
  refresh(tabId: number): void {
    if (this.#due.has(tabId)) return;
    this.#due.add(tabId);
    this.#deps.later(REFRESH_MS, () => {
      this.#due.delete(tabId);
      this.#drawNow(tabId);
    });
  }

  /** The pages that these tabs showed were deleted, so nothing of them may stay on the buttons and in the views. */
  forget(tabIds: readonly number[]): void {
    for (const tabId of tabIds) {
      this.#drawn.delete(tabId);
      this.#recalled.delete(tabId);
      void this.#deps.resetToolbar(tabId);
      this.refresh(tabId);
    }
  }

  /** Draws every watched tab soon. */
  refreshWatched(): void {
    for (const tabId of this.#watchers.keys()) this.refresh(tabId);
  }

  /** Sends the tab's view at once, from memory, and then what changes; returns the function that stops it. */
  watch(tabId: number, tell: Watcher): () => void {
    const watching: WatcherState = { tell, sent: null };
    const others = this.#watchers.get(tabId) ?? new Set();
    this.#watchers.set(tabId, others.add(watching));
    const page = this.#deps.shown(tabId);
    if (page !== undefined) send(watching, this.#rememberedView(page));
    this.#drawNow(tabId);
    return () => {
      others.delete(watching);
      if (others.size === 0) this.#watchers.delete(tabId);
    };
  }

  async #read(origins: readonly Origin[], site: string): Promise<History> {
    const { ledger } = this.#deps;
    const [records, races] = await Promise.all([
      ledger.recordsOf(origins, site),
      ledger.newestRaces(origins),
    ]);
    return { records, races };
  }

  async #recall({ tabId, documentId, site }: Page, origins: readonly Origin[]): Promise<History> {
    const known = this.#recalled.get(tabId);
    const before = known?.documentId === documentId ? known.history : undefined;
    const { records, races } = await this.#read(origins, site);
    const history = { records: renewed(before?.records, records), races: renewed(before?.races, races) };
    this.#recalled.set(tabId, { documentId, history });
    return history;
  }

  #circumstances(): Pick<Background, 'helper' | 'mode'> {
    return { helper: this.#deps.helperState(), mode: this.#deps.mode() };
  }

  /** The view from what is in memory. */
  #rememberedView(page: Page): PageView {
    const known = this.#recalled.get(page.tabId);
    const history = known?.documentId === page.documentId ? known.history : null;
    return pageView(page, {
      history,
      ...this.#circumstances(),
      trouble: this.#deps.trouble(),
      pending: this.#deps.pending(page),
      steer: this.#deps.steer,
    });
  }

  /** The view from what is in the ledger; null if the tab shows another document by now. */
  async #viewOf(requested: Page, whole: boolean): Promise<PageView | null> {
    const { tabId, documentId } = requested;
    let trouble = this.#deps.trouble();
    let history: History = { records: new Map(), races: new Map() };
    try {
      history = await this.#recall(requested, whole ? usedOrigins(requested) : [requested.origin]);
    } catch (error) {
      // What this page did is in memory, whatever happens to the storage.
      trouble = troubleText(error);
    }
    const page = this.#deps.shown(tabId);
    if (page?.documentId !== documentId) return null;
    const view = pageView(page, {
      history,
      ...this.#circumstances(),
      trouble,
      // The toolbar does not show it, and all that waits is looked through for it.
      pending: whole ? this.#deps.pending(page) : 0,
      steer: this.#deps.steer,
    });
    // A page that must not be recorded would otherwise be loading forever, or be known by its request alone.
    if (view.reason !== 'missed') return view;
    const shown = await this.#deps.documentOf(tabId);
    const current = shown?.documentId === documentId ? stateOf(shown) : 'not-recorded';
    return current === 'not-recorded' ? view : { ...view, state: current, origins: [], verdict: null };
  }

  /** The view of a tab that shows no recorded page: it says why, and for a page that failed what a race found. */
  async #viewWithoutPage(tabId: number): Promise<PageView> {
    const shown = await this.#deps.documentOf(tabId);
    const failed = failedOrigin(shown);
    if (shown === null || failed === null) return emptyView(tabId, shown, this.#circumstances());
    let trouble = this.#deps.trouble();
    let history: History | null = null;
    try {
      history = await this.#read([failed.origin], failed.site);
    } catch (error) {
      trouble = troubleText(error);
    }
    return failedView(tabId, shown, failed, { history, ...this.#circumstances(), trouble });
  }

  async #drawToolbar(page: Page, view: PageView): Promise<void> {
    const verdict = view.verdict === null ? null : verdictText(view.verdict);
    // The browser resets a tab's button with each document, so the document is part of what was drawn.
    const mark = `${page.documentId} ${view.protocol} ${verdict}`;
    if (this.#drawn.get(page.tabId) === mark) return;
    this.#drawn.set(page.tabId, mark);
    await this.#deps.setToolbar(page.tabId, view.protocol, verdict);
  }

  async #draw(tabId: number): Promise<void> {
    const page = this.#deps.shown(tabId);
    if (page === undefined) {
      this.#drawn.delete(tabId);
      this.#recalled.delete(tabId);
      if (!this.#watchers.has(tabId)) return;
      const view = await this.#viewWithoutPage(tabId);
      if (this.#deps.shown(tabId) !== undefined) return;
      for (const watching of this.#watchers.get(tabId) ?? []) send(watching, view);
      return;
    }
    const watched = this.#watchers.has(tabId);
    if (!isReported(page)) {
      // Its document reset the button, so whatever comes next is drawn, even the page that was drawn last.
      this.#drawn.delete(tabId);
      if (!watched) return;
    }
    const view = await this.#viewOf(page, watched);
    // What the tab shows instead by now is drawn in its own turn.
    if (view === null) return;
    for (const watching of this.#watchers.get(tabId) ?? []) send(watching, view);
    if (view.state === 'recorded') await this.#drawToolbar(page, view);
  }

  #drawNow(tabId: number): void {
    this.#draw(tabId).catch((error) => console.error('a tab could not be drawn', error));
  }
}

// The toolbar button of a tab: the mark, the badge text and the verdict as a tooltip. Text and shape both show it,
// because not everyone can see the colour.

/** Shows a protocol on a tab's button, with the verdict as its tooltip. A tab that no longer exists is not an error. */
export async function setToolbar(tabId: number, protocol: Protocol, verdict: string | null): Promise<void> {
  const mark = markOf(protocol);
  const title = verdict ?? getMessage('popupToolbarProtocol', { protocol: protocolName(protocol) });
  await writeButton(tabId, mark, MARK_LABELS[mark], title);
}

/** The button as in the manifest: browsers differ in what an empty title means. */
export function resetToolbar(tabId: number): Promise<void> {
  return writeButton(tabId, 'unknown', '', getMessage('appName'));
}

async function writeButton(tabId: number, icon: Mark, badge: string, title: string): Promise<void> {
  const path = { 16: `/icons/${icon}-16.png`, 32: `/icons/${icon}-32.png` };
  await Promise.allSettled([
    chrome.action.setIcon({ tabId, path }),
    chrome.action.setBadgeText({ tabId, text: badge }),
    chrome.action.setTitle({ tabId, title }),
  ]);
}
