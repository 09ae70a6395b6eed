// Who sent a message from a page, in the browser's own words. What a page's process says of itself is believed only
// where the browser confirms it: one that was taken over must not tell of pages that it is not.
import { siteOfUrl } from '../../common/site.ts';

/** The sender of a message, as the browser vouches for it. Plain data, kept with what a page leaves behind. */
export interface Sender {
  readonly tabId: number;
  /** 0: the tab's own page. */
  readonly frameId: number;
  readonly documentId: string;
  /** The sending document's own. */
  readonly url: string;
  /** What its tab showed when the message came; null where the browser does not tell. */
  readonly tabUrl: string | null;
  readonly incognito: boolean;
}

/** Null for what is no document of a tab, and for a page rendered ahead of time, which is nobody's visit yet. */
export function senderOf(message: chrome.runtime.MessageSender, extensionId: string): Sender | null {
  const { id, tab, frameId, documentId, url, documentLifecycle } = message;
  if (id !== extensionId || tab?.id === undefined || frameId === undefined) return null;
  if (documentId === undefined || url === undefined || documentLifecycle === 'prerender') return null;
  return { tabId: tab.id, frameId, documentId, url, tabUrl: tab.url ?? null, incognito: tab.incognito };
}

/** What the browser knows beyond the message itself. */
export interface Vouchers {
  /** The origin of the page that a document is, or is a frame of; undefined where that was not seen. */
  pageOrigin(documentId: string): string | undefined;
  /** Whether a document is a tab's own page. */
  isPage(documentId: string): boolean;
  /** The address that a tab shows now, where its messages do not tell (pages that are not https). */
  tabUrl(tabId: number): Promise<string | null>;
}

/**
 * A frame's outermost page: `claimed` (an origin, `null` where the page hides it; of the tab's own page null) as far as
 * the browser confirms it. Undefined: it does not, so nothing may be recorded by this document's word.
 */
export async function confirmedTop(
  claimed: string | null,
  { tabId, frameId, documentId, tabUrl }: Sender,
  browser: Vouchers,
): Promise<string | null | undefined> {
  const own = frameId === 0 || browser.isPage(documentId);
  if (own || claimed === null) return own && claimed === null ? null : undefined;
  // Where the background has forgotten whose frame it is, the tab may have gone on since: then the two differ.
  const shown = browser.pageOrigin(documentId) ?? tabUrl ?? (await browser.tabUrl(tabId));
  const site = shown === null ? null : siteOfUrl(shown);
  if (shown === null || site === null) return undefined;
  return claimed === 'null' || siteOfUrl(claimed) === site ? new URL(shown).origin : undefined;
}
