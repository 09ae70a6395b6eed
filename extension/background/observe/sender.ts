// The sender of a message from a page, according to the browser. What a page's process says about itself is used only
// if the browser confirms it: a compromised process must not report for pages other than its own.
import { siteOfUrl } from '../../common/site.ts';

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
