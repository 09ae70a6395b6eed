// The one check before anything is kept, forecast or sent: private windows and the sites that the user excluded.
// Browsers report a private window per tab (Firefox also per request). Origins of an excluded site are rejected on
// other sites' pages too, but only after the join, because after a redirect only that knows which origin answered.
import type { Origin } from '@photofinish/shared/web/origin';
import type { KnownTab } from '../../common/browser.ts';
import { dropOldest } from '../../common/drop-oldest.ts';
import type { Settings } from '../../common/settings.ts';
import { siteOfUrl } from '../../common/site.ts';
import type { CommittedDocument } from './navigations.ts';
import type { EndedRequest } from './requests.ts';

/** `no-options`: they cannot be read, so it is unknown what is excluded. */
type Refusal = 'private' | 'excluded' | 'no-options';

type Rules = Pick<Settings, 'privateWindows' | 'neverRecord'>;

/** The subject of the question, as far as known: each part that is given can forbid it. */
interface RecordSubject {
  /** Its tab, and so its window. */
  readonly tabId?: number;
  /** The browser said so itself, of a sender whose tab may be closed by now. */
  readonly incognito?: boolean;
  /** URL of the outermost page, also for its frames. */
  readonly pageUrl?: string;
  readonly site?: string;
  /** The origin that responded, or that a forecast would be about, on any page. */
  readonly origin?: Origin;
  readonly request?: EndedRequest;
  /** It belongs to what its tab shows now, as a request that has just ended does. */
  readonly shownNow?: true;
}

type ArrivedBatch = Pick<Sender, 'tabId' | 'documentId' | 'incognito'> & { readonly pageUrl: string };

/** Documents of excluded pages whose requests may still end. */
const MAX_DOCUMENTS = 1000;
/** Closed tabs whose requests may still end. */
const MAX_CLOSED_TABS = 1000;

/** The check with nothing excluded yet, and private windows rejected. */
export class Recordable {
  #refusesAll = false;
  /** Whether the open tabs were judged by the current settings. */
  #begun = false;
  /** Whether it is known which tabs are private. */
  #tabsKnown = false;
  #privateWindows = false;
  #excludedSites: ReadonlySet<string> = new Set();
  readonly #privateTabs = new Set<number>();
  /** Closed tabs that were private, or were closed before it was known. */
  readonly #closedTabs = new Set<number>();
  readonly #excludedTabs = new Set<number>();
  readonly #excludedDocuments = new Set<string>();

  /** Whether it may be recorded, forecast, reported or sent. */
  mayRecord(subject: RecordSubject): boolean {
    return this.refusal(subject) === null;
  }

  /** Why it may not; null: it may. */
  refusal({ tabId, incognito, pageUrl, site, origin, request, shownNow }: RecordSubject): Refusal | null {
    if (this.#refusesAll) return 'no-options';
    if (!this.#privateWindows && (incognito === true || this.#isPrivate(tabId, request))) return 'private';
    const excluded =
      (site !== undefined && this.#excludedSites.has(site)) ||
      (pageUrl !== undefined && this.#isExcludedUrl(pageUrl)) ||
      (origin !== undefined && this.#isExcludedUrl(origin)) ||
      (request !== undefined && this.#isOfExcludedPage(request)) ||
      (shownNow === true && this.#isShownByExcludedTab(tabId, request));
    return excluded ? 'excluded' : null;
  }

  /**
   * Whether the outcome of a race that a user requested may leave the machine: not while any page is open that must not
   * be recorded, because it may be that page's, and not while it is unknown which pages are open.
   */
  mayShare(origin: Origin): boolean {
    if (!this.#begun || this.#privateTabs.size > 0 || this.#excludedTabs.size > 0) return false;
    return this.refusal({ origin }) === null;
  }

  #isPrivate(tabId: number | undefined, request: EndedRequest | undefined): boolean {
    if (request === undefined) return tabId !== undefined && this.#isPrivateOrClosed(tabId);
    if (request.incognito !== null) return request.incognito;
    // Chromium does not say whose worker sent the request, or which closed tab: it may be that of a private window.
    if (request.tabId < 0) return this.#privateTabs.size > 0 || this.#closedTabs.size > 0;
    return this.#isPrivateOrClosed(request.tabId);
  }

  #isPrivateOrClosed(tabId: number): boolean {
    return this.#privateTabs.has(tabId) || this.#closedTabs.has(tabId);
  }

  #isExcludedUrl(url: string): boolean {
    if (this.#excludedSites.size === 0) return false;
    const site = siteOfUrl(url);
    return site !== null && this.#excludedSites.has(site);
  }

  #isOfExcludedPage({ kind, url, documentId }: EndedRequest): boolean {
    if (this.#excludedSites.size === 0) return false;
    // A navigation leads to a page of its own, wherever it began.
    if (kind === 'navigation') return this.#isExcludedUrl(url);
    return documentId !== null && this.#excludedDocuments.has(documentId);
  }

  #isShownByExcludedTab(tabId: number | undefined, request: EndedRequest | undefined): boolean {
    if (request === undefined) return tabId !== undefined && this.#excludedTabs.has(tabId);
    return request.kind !== 'navigation' && this.#excludedTabs.has(request.tabId);
  }

  /** Rejects everything until settings are set. */
  refuseAll(): void {
    this.#refusesAll = true;
  }

  /** Takes the settings, initially and whenever they change; `begin` must follow with the tabs as they are then. */
  follow(rules: Rules): void {
    this.#refusesAll = false;
    this.#privateWindows = rules.privateWindows;
    this.#excludedSites = new Set(rules.neverRecord);
    this.#begun = false;
    // Without excluded sites the tabs are taken without their addresses.
    if (this.#excludedSites.size === 0) this.#excludedTabs.clear();
  }

  /** Takes the existing tabs, before any final decision and again after each change of the settings. */
  begin(tabs: readonly KnownTab[]): void {
    for (const { tabId, incognito, url } of tabs) {
      this.tabCreated(tabId, incognito);
      if (url !== null) this.#shows(tabId, this.refusal({ tabId, pageUrl: url }));
    }
    this.#tabsKnown = true;
    this.#begun = true;
  }

  tabCreated(tabId: number, incognito: boolean): void {
    // A tab may be reported after it was closed: by a list of the tabs, or by a batch.
    if (incognito && !this.#closedTabs.has(tabId)) this.#privateTabs.add(tabId);
  }

  tabRemoved(tabId: number): void {
    if (this.#privateTabs.delete(tabId) || !this.#tabsKnown) {
      this.#closedTabs.add(tabId);
      dropOldest(this.#closedTabs, MAX_CLOSED_TABS);
    }
    this.#excludedTabs.delete(tabId);
  }

  /** A tab has another document. */
  committed(document: Pick<CommittedDocument, 'tabId' | 'documentId' | 'url' | 'prerender'>): void {
    const { tabId, documentId, url, prerender } = document;
    const refusal = this.refusal({ tabId, pageUrl: url });
    if (!prerender) this.#shows(tabId, refusal);
    if (refusal === 'excluded') this.#exclude(documentId);
  }

  /** A document in an open tab sent a batch: `pageUrl` is the outermost page's, the document may be a frame of it. */
  batchArrived({ tabId, documentId, incognito, pageUrl }: ArrivedBatch): void {
    this.tabCreated(tabId, incognito);
    if (this.refusal({ tabId, incognito, pageUrl }) === 'excluded') this.#exclude(documentId);
  }

  /** Whether the tab is in a private window, recorded or not. */
  isPrivateTab(tabId: number): boolean {
    return this.#privateTabs.has(tabId);
  }

  #shows(tabId: number, refusal: Refusal | null): void {
    if (refusal === 'excluded') this.#excludedTabs.add(tabId);
    else this.#excludedTabs.delete(tabId);
  }

  #exclude(documentId: string): void {
    this.#excludedDocuments.add(documentId);
    dropOldest(this.#excludedDocuments, MAX_DOCUMENTS);
  }
}

// The sender of a message from a page, according to the browser. What a page's process says about itself is used only
// if the browser confirms it: a compromised process must not report for pages other than its own.

/** The sender of a message, as confirmed by the browser. Plain data, stored with what a page leaves behind. */
export interface Sender {
  readonly tabId: number;
  /** 0: the tab's outermost page. */
  readonly frameId: number;
  readonly documentId: string;
  /** URL of the sending document. */
  readonly url: string;
  /** What its tab showed when the message arrived; null if the browser does not say. */
  readonly tabUrl: string | null;
  readonly incognito: boolean;
}

/** Null if it is not a document in a tab, or is a prerendered page, which is not a visit yet. */
export function senderOf(message: chrome.runtime.MessageSender, extensionId: string): Sender | null {
  const { id, tab, frameId, documentId, url, documentLifecycle } = message;
  if (id !== extensionId || tab?.id === undefined || frameId === undefined) return null;
  if (documentId === undefined || url === undefined || documentLifecycle === 'prerender') return null;
  return { tabId: tab.id, frameId, documentId, url, tabUrl: tab.url ?? null, incognito: tab.incognito };
}

/** What the browser knows beyond the message itself. */
export interface KnownDocuments {
  /** The origin of the page that a document is, or is a frame of; undefined if that was not seen. */
  pageOrigin(documentId: string): string | undefined;
  /** Whether a document is a tab's outermost page. */
  isPage(documentId: string): boolean;
  /** The address that a tab shows now, for tabs whose messages do not say (pages that are not https). */
  tabUrl(tabId: number): Promise<string | null>;
  /** Whether the user lets the extension into this page, or this frame, in this tab. */
  hasAccess(tabId: number, url: string): Promise<boolean>;
}

/**
 * A frame's outermost page: `claimed` (an origin, `null` where the page hides it; for the tab's outermost page null) as
 * far as the browser confirms it. Undefined: it does not, so nothing may be recorded on this document's word.
 */
export async function confirmedTop(
  claimed: string | null,
  { tabId, frameId, documentId, tabUrl }: Sender,
  browser: KnownDocuments,
): Promise<string | null | undefined> {
  const own = frameId === 0 || browser.isPage(documentId);
  if (own || claimed === null) return own && claimed === null ? null : undefined;
  // If the background no longer knows whose frame it is, the tab may have navigated since: then the two differ.
  const shown = browser.pageOrigin(documentId) ?? tabUrl ?? (await browser.tabUrl(tabId));
  const site = shown === null ? null : siteOfUrl(shown);
  if (shown === null || site === null) return undefined;
  return claimed === 'null' || siteOfUrl(claimed) === site ? new URL(shown).origin : undefined;
}
