// The one gate before anything is kept: private windows and the sites that the user excluded. Asked before a request,
// a navigation or a batch gets any further, so that what is refused is neither stored nor foretold nor sent on.
// Browsers tell of a private window by tab (Firefox by request, too), and what a tab shows decides for all of its frames.
import type { KnownTab } from '../../common/browser.ts';
import { dropOldest } from '../../common/drop-oldest.ts';
import type { Settings } from '../../common/settings.ts';
import { siteOfUrl } from '../../common/site.ts';
import type { CommittedDocument } from './navigations.ts';
import type { EndedRequest } from './requests.ts';

/** `no-options`: they cannot be read, so that nobody knows what is excluded. */
type Refusal = 'private' | 'excluded' | 'no-options';

type Rules = Pick<Settings, 'privateWindows' | 'neverRecord'>;

export interface Recordable {
  /** Takes the settings, now or changed. */
  follow(rules: Rules): void;
  /** Refuses everything until settings are taken. */
  refuseAll(): void;
  /** Takes the tabs there are, once, before anything is judged for good. */
  begin(tabs: readonly KnownTab[]): void;
  tabCreated(tabId: number, incognito: boolean): void;
  tabRemoved(tabId: number): void;
  /** A tab has another document. Why nothing of it may be kept; null: it may. */
  committed(document: Pick<CommittedDocument, 'tabId' | 'documentId' | 'url' | 'prerender'>): Refusal | null;
  /** Why a page of this URL in this tab may not be kept. */
  ofPage(tabId: number, url: string): Refusal | null;
  /** Why a document's batch may not be kept: `pageUrl` is the outermost page's, the document may be a frame of it. */
  ofBatch(batch: {
    tabId: number;
    documentId: string;
    incognito: boolean;
    pageUrl: string | null;
  }): Refusal | null;
  ofSite(site: string): Refusal | null;
  /** Why nothing of what this tab shows may be kept. */
  ofTab(tabId: number): Refusal | null;
  /** Whether the tab is of a private window, recorded or not. */
  isPrivateTab(tabId: number): boolean;
  /** Why a request that ends just now may not be kept: its tab still shows the page it was for. */
  ofEnded(request: EndedRequest): Refusal | null;
  /** The same for one that ended a while ago, whose tab may show another page by now; `ofSite` judges its site. */
  ofRequest(request: EndedRequest): Refusal | null;
}

/** Documents of excluded pages whose requests may still end. */
const MAX_DOCUMENTS = 1000;

export function createRecordable(): Recordable {
  let refusesAll = false;
  let privateWindows = false;
  let excludedSites: ReadonlySet<string> = new Set();
  const privateTabs = new Set<number>();
  const excludedTabs = new Set<number>();
  const excludedDocuments = new Set<string>();

  const ofTab = (tabId: number): Refusal | null => {
    if (refusesAll) return 'no-options';
    return !privateWindows && privateTabs.has(tabId) ? 'private' : null;
  };

  const ofSite = (site: string | null): Refusal | null => {
    if (refusesAll) return 'no-options';
    return site !== null && excludedSites.has(site) ? 'excluded' : null;
  };

  const ofPage = (tabId: number, url: string): Refusal | null =>
    ofTab(tabId) ?? (excludedSites.size === 0 ? null : ofSite(siteOfUrl(url)));

  const exclude = (documentId: string): void => {
    excludedDocuments.add(documentId);
    dropOldest(excludedDocuments, MAX_DOCUMENTS);
  };

  const shows = (tabId: number, url: string): Refusal | null => {
    const refusal = ofPage(tabId, url);
    if (refusal === 'excluded') excludedTabs.add(tabId);
    else excludedTabs.delete(tabId);
    return refusal;
  };

  const isPrivate = ({ tabId, incognito }: EndedRequest): boolean => {
    if (incognito !== null) return incognito;
    // Chromium does not say whose worker asks; while a private window is open it may be that one's.
    return tabId < 0 ? privateTabs.size > 0 : privateTabs.has(tabId);
  };

  const ofRequest = (request: EndedRequest): Refusal | null => {
    if (refusesAll) return 'no-options';
    if (!privateWindows && isPrivate(request)) return 'private';
    if (excludedSites.size === 0) return null;
    const { kind, url, documentId } = request;
    // A navigation leads to a page of its own, wherever it began.
    if (kind === 'navigation') return ofSite(siteOfUrl(url));
    return documentId !== null && excludedDocuments.has(documentId) ? 'excluded' : null;
  };

  return {
    refuseAll() {
      refusesAll = true;
    },
    follow(rules) {
      refusesAll = false;
      privateWindows = rules.privateWindows;
      excludedSites = new Set(rules.neverRecord);
    },
    begin(tabs) {
      for (const { tabId, incognito, url } of tabs) {
        if (incognito) privateTabs.add(tabId);
        if (url !== null) shows(tabId, url);
      }
    },
    tabCreated(tabId, incognito) {
      if (incognito) privateTabs.add(tabId);
    },
    tabRemoved(tabId) {
      privateTabs.delete(tabId);
      excludedTabs.delete(tabId);
    },
    committed({ tabId, documentId, url, prerender }) {
      const refusal = prerender ? ofPage(tabId, url) : shows(tabId, url);
      if (refusal === 'excluded') exclude(documentId);
      return refusal;
    },
    ofPage,
    ofBatch({ tabId, documentId, incognito, pageUrl }) {
      if (incognito) privateTabs.add(tabId);
      const refusal = pageUrl === null ? ofTab(tabId) : ofPage(tabId, pageUrl);
      if (refusal === 'excluded') exclude(documentId);
      return refusal;
    },
    ofSite,
    ofTab: (tabId) => ofTab(tabId) ?? (excludedTabs.has(tabId) ? 'excluded' : null),
    isPrivateTab: (tabId) => privateTabs.has(tabId),
    ofEnded: (request) =>
      ofRequest(request) ??
      (request.kind !== 'navigation' && excludedTabs.has(request.tabId) ? 'excluded' : null),
    ofRequest,
  };
}
