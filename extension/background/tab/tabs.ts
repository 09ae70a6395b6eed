// What tabs show: documents committed to them, navigations that failed, and what the browser says if no recorded page
// is in view.
import { documentOfTab, hasAccess } from '../../common/browser.ts';
import { attachForecasts, type Forecaster } from '../forecast/forecaster.ts';
import type { CommittedDocument, Failure } from '../observe/navigations.ts';
import type { Recordable } from '../observe/recordable.ts';
import type { Pages, SavedMap } from './pages.ts';
import type { Presenter } from './presenter.ts';
import type { FailedNavigation, TabDocument } from './view.ts';

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

export interface Tabs {
  committed(document: CommittedDocument, started: StartedParts): void;
  /** An error page belongs to no site. A navigation that was only cancelled leaves the previous page in view. */
  failed(tabId: number, failure: Failure, started: StartedParts): Promise<void>;
  removed(tabId: number, started: StartedParts): void;
  /** What a tab shows and, if none of it is recorded, why. */
  shownDocument(tabId: number, failures: StartedParts['failures']): Promise<TabDocument | null>;
}

export function createTabs({ recordable, forecaster }: TabDeps): Tabs {
  return {
    committed(document, { pages, presenter }) {
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

    async failed(tabId, { errorPage, error, atMs }, { pages, presenter, failures }) {
      let documentId = errorPage;
      if (documentId === null) {
        const shown = await documentOfTab(tabId);
        if (shown === null || !shown.failed || pages.get(shown.documentId) !== undefined) return;
        documentId = shown.documentId;
      } else pages.forget((page) => page.documentId === errorPage);
      failures.set(String(tabId), { documentId, error, atMs });
      pages.show(tabId, null);
      presenter.refresh(tabId);
    },

    removed(tabId, { pages, presenter, failures }) {
      failures.delete(String(tabId));
      pages.removeTab(tabId);
      presenter.refresh(tabId);
    },

    async shownDocument(tabId, failures) {
      const shown = await documentOfTab(tabId);
      if (shown === null) return null;
      const { documentId, url, failed } = shown;
      const refusal = recordable.refusal({ tabId, pageUrl: url });
      const withheld = refusal ?? ((await hasAccess(url)) ? null : 'no-access');
      const known = failures.get(String(tabId));
      const failure = known?.documentId === documentId ? known : null;
      return { documentId, url, failed: failed || failure !== null, failure, withheld };
    },
  };
}
