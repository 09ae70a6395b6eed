// The browser's own interfaces in the shapes our rooms take them: ports, timers, tabs, who sends.
// Thin, no judgement.

import { HOST_NAME } from '@photofinish/shared/port/wire';
import { BROWSER } from './edition.ts';

/** What of `chrome.runtime.Port` is used. */
export interface NativePort {
  postMessage(message: unknown): void;
  disconnect(): void;
  onMessage(listen: (message: unknown) => void): void;
  /** The browser's own words for why the port closed; null when it gives none. */
  onDisconnect(listen: (why: string | null) => void): void;
}

export interface Clock {
  /** Runs after `delayMs`; gives the function that calls it off. */
  later(delayMs: number, run: () => void): () => void;
}

/** What is known of a tab when the background starts. */
export interface KnownTab {
  readonly tabId: number;
  readonly incognito: boolean;
  /** Null where the browser does not tell. */
  readonly url: string | null;
}

export const timers: Clock = {
  later(delayMs, run) {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
};

/** Milliseconds since the epoch with fractions, never running backwards within this service worker's life. */
export function preciseNowMs(): number {
  return performance.timeOrigin + performance.now();
}

/** Firefox tells at the port why it closed, Chromium in `lastError`. */
type ClosedPort = chrome.runtime.Port & { readonly error?: Error | null };

/** Starts the helper. A browser that cannot says so by closing the port. */
export function connectHelper(): NativePort {
  const port = chrome.runtime.connectNative(HOST_NAME);
  return {
    postMessage: (message) => port.postMessage(message),
    disconnect: () => port.disconnect(),
    onMessage: (listen) => port.onMessage.addListener(listen),
    onDisconnect: (listen) =>
      port.onDisconnect.addListener((closed: ClosedPort) =>
        listen((closed.error ?? chrome.runtime.lastError)?.message ?? null),
      ),
  };
}

/** Firefox's alone. */
type FirefoxRuntime = typeof chrome.runtime & { getBrowserInfo(): Promise<{ version: string }> };

interface Brands {
  readonly userAgentData?: {
    getHighEntropyValues(
      hints: string[],
    ): Promise<{ fullVersionList?: { brand: string; version: string }[] }>;
  };
}

/** The browser's whole version; of the brands it gives, Chromium's own. */
export async function browserVersion(): Promise<string> {
  if (BROWSER === 'firefox') return (await (chrome.runtime as FirefoxRuntime).getBrowserInfo()).version;
  const values = await (navigator as Navigator & Brands).userAgentData?.getHighEntropyValues([
    'fullVersionList',
  ]);
  return values?.fullVersionList?.find(({ brand }) => brand === 'Chromium')?.version ?? 'unknown';
}

/** What a tab shows, as the browser tells it. */
export interface ShownDocument {
  readonly documentId: string;
  readonly url: string;
  /** Chromium's word for a navigation that failed; Firefox has none. */
  readonly failed: boolean;
  readonly incognito: boolean;
}

/** What a tab shows; null when the browser does not tell, or there is no such tab. */
export async function documentOfTab(tabId: number): Promise<ShownDocument | null> {
  const [frame, tab] = await Promise.all([
    chrome.webNavigation.getFrame({ tabId, frameId: 0 }).catch(() => null),
    chrome.tabs.get(tabId).catch(() => null),
  ]);
  if (!frame) return null;
  const { documentId, errorOccurred } = frame;
  // Of a page's source the frame tells the page's address, and the tab none at all, not even to who may see the page.
  const isSource = tab !== null && tab.url === undefined && frame.url.startsWith('https:');
  const url = isSource && (await hasAccess(frame.url)) ? `view-source:${frame.url}` : frame.url;
  return { documentId, url, failed: errorOccurred === true, incognito: tab?.incognito === true };
}

/** Whether the user lets the extension into a page; into pages other than https it never asks to be let. */
export async function hasAccess(url: string): Promise<boolean> {
  if (!url.startsWith('https:')) return true;
  // Firefox takes no port in a match pattern.
  return chrome.permissions.contains({ origins: [`https://${new URL(url).hostname}/*`] });
}

/** The tabs there are; with what they show if asked, which takes a question for each whose address is kept back. */
export async function knownTabs(withUrls: boolean): Promise<KnownTab[]> {
  const tabs = await chrome.tabs.query({});
  return Promise.all(
    tabs
      .flatMap(({ id, incognito, url }) =>
        id === undefined ? [] : { tabId: id, incognito, url: url ?? null },
      )
      .map(async (tab) =>
        withUrls && tab.url === null ? { ...tab, url: (await documentOfTab(tab.tabId))?.url ?? null } : tab,
      ),
  );
}

/** Chromium's alone (153 of Firefox has no such lock). */
type LockableArea = { setAccessLevel?(access: { accessLevel: 'TRUSTED_CONTEXTS' }): Promise<void> };

/**
 * Keeps content scripts out of everything that the extension stores: a page's process that was taken over speaks as they
 * do. The session's storage begins that way, the others do not.
 */
export async function lockStorage(): Promise<void> {
  const { local, sync, managed, session } = chrome.storage as unknown as Record<
    string,
    LockableArea | undefined
  >;
  for (const area of [local, sync, managed, session])
    await area?.setAccessLevel?.({ accessLevel: 'TRUSTED_CONTEXTS' });
}

/**
 * Whether a page of the extension itself speaks. By its origin, which browsers take from the document: what else they tell
 * of a sender may be what its process said.
 */
export function isOwnPage(
  { id, origin }: Pick<chrome.runtime.MessageSender, 'id' | 'origin'>,
  extension: Pick<typeof chrome.runtime, 'id' | 'getURL'> = chrome.runtime,
): boolean {
  return id === extension.id && `${origin}/` === extension.getURL('');
}
