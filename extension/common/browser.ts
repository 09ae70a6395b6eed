// Thin wrappers that give the browser's APIs the shapes that the rest of the extension uses: ports, timers, tabs,
// senders. They make no decisions.

import { HOST_NAME } from '@photofinish/shared/port/extension-id';
import { BROWSER } from './edition.ts';
import { epochOriginMs } from './timing.ts';

/** The part of `chrome.runtime.Port` that is used. */
export interface NativePort {
  postMessage(message: unknown): void;
  disconnect(): void;
  onMessage(listen: (message: unknown) => void): void;
  /** The browser's own message about why the port closed; null if it gives none. */
  onDisconnect(listen: (why: string | null) => void): void;
}

/** The part of a page's `chrome.runtime.Port` that the background listens to. */
export interface PagePort {
  readonly onMessage: { addListener(listen: (message: unknown) => void): void };
  readonly onDisconnect: { addListener(listen: () => void): void };
}

export interface Clock {
  /** Runs after `delayMs`; returns the function that cancels it. */
  later(delayMs: number, run: () => void): () => void;
}

/** The part of `storage.session` that is used: memory that outlives the background, and that no page can reach. */
export interface SessionArea {
  get(keys: string | string[] | null): Promise<Record<string, unknown>>;
  set(items: Record<string, unknown>): Promise<void>;
  remove(keys: string | string[]): Promise<void>;
}

/** What is known about a tab when the background starts. */
export interface KnownTab {
  readonly tabId: number;
  readonly incognito: boolean;
  /** Null if the browser does not say. */
  readonly url: string | null;
}

export const timers: Clock = {
  later(delayMs, run) {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
};

/** Runs `run` once, `delayMs` after the first of the calls that request it. */
export function soon(delayMs: number, run: () => void): () => void {
  let waiting = false;
  return () => {
    if (waiting) return;
    waiting = true;
    timers.later(delayMs, () => {
      waiting = false;
      run();
    });
  };
}

/** Milliseconds since the epoch with fractions. */
export function preciseNowMs(): number {
  return epochOriginMs() + performance.now();
}

/** Firefox reports on the port why it closed, Chromium in `lastError`. */
type ClosedPort = chrome.runtime.Port & { readonly error?: Error | null };

/** Starts the helper. A browser that cannot start it reports that by closing the port. */
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

/** Firefox only. */
type FirefoxRuntime = typeof chrome.runtime & { getBrowserInfo(): Promise<{ version: string }> };

interface Brands {
  readonly userAgentData?: {
    getHighEntropyValues(
      hints: string[],
    ): Promise<{ fullVersionList?: { brand: string; version: string }[] }>;
  };
}

/** The browser's full version; from the list of brands, that of Chromium. */
export async function browserVersion(): Promise<string> {
  if (BROWSER === 'firefox') return (await (chrome.runtime as FirefoxRuntime).getBrowserInfo()).version;
  const values = await (navigator as Navigator & Brands).userAgentData?.getHighEntropyValues([
    'fullVersionList',
  ]);
  return values?.fullVersionList?.find(({ brand }) => brand === 'Chromium')?.version ?? 'unknown';
}

/** The browser by name, and by version where that is known. */
export function browserLabel(version = 'unknown'): string {
  const name = BROWSER === 'firefox' ? 'Firefox' : 'Chromium';
  return version === 'unknown' ? name : `${name} ${version}`;
}

/** What a tab shows, according to the browser. */
export interface ShownDocument {
  /** Empty, as the URL, while the tab has yet to load its first page, or that which the browser unloaded. */
  readonly documentId: string;
  readonly url: string;
  /** Chromium marks a navigation that failed; Firefox does not. */
  readonly failed: boolean;
  readonly incognito: boolean;
}

/** What a tab shows; null if the browser does not say, or the tab does not exist. */
export async function documentOfTab(tabId: number): Promise<ShownDocument | null> {
  const [frame, tab] = await Promise.all([
    chrome.webNavigation.getFrame({ tabId, frameId: 0 }).catch(() => null),
    chrome.tabs.get(tabId).catch(() => null),
  ]);
  // Firefox gives the tab an empty document meanwhile.
  if (tab !== null && (!frame || frame.url === 'about:blank') && (tab.status !== 'complete' || tab.discarded))
    return { documentId: '', url: '', failed: false, incognito: tab.incognito };
  if (!frame) return null;
  const { documentId, errorOccurred } = frame;
  // When showing a page's source, the frame has the page's URL, and the tab has none, even with access to the page.
  const isSource = tab !== null && tab.url === undefined && frame.url.startsWith('https:');
  const url = isSource && (await hasAccess(frame.url)) ? `view-source:${frame.url}` : frame.url;
  return { documentId, url, failed: errorOccurred === true, incognito: tab?.incognito === true };
}

/**
 * Calls `loaded` whenever the tab has stopped loading, until the returned function is called: a download, or a response
 * without content, leaves the tab without a new document, which Firefox reports as nothing else.
 */
export function onLoaded(tabId: number, loaded: () => void): () => void {
  const listen = (updated: number, { status }: chrome.tabs.OnUpdatedInfo): void => {
    if (updated === tabId && status === 'complete') loaded();
  };
  chrome.tabs.onUpdated.addListener(listen);
  return () => chrome.tabs.onUpdated.removeListener(listen);
}

/** Whether the user lets the extension into a page; access to pages other than https is never requested. */
async function hasAccess(url: string): Promise<boolean> {
  if (!url.startsWith('https:')) return true;
  // Firefox does not support ports in match patterns.
  return chrome.permissions.contains({ origins: [`https://${new URL(url).hostname}/*`] });
}

/** The same in one tab, to which a click on the toolbar icon alone may have let it (Chromium, *On click*). */
export async function hasAccessInTab(tabId: number, url: string): Promise<boolean> {
  if (await hasAccess(url)) return true;
  // A batch that was left is of the page before.
  const shown = (await chrome.tabs.get(tabId).catch(() => null))?.url;
  return shown?.startsWith(`${new URL(url).origin}/`) === true;
}

/** The existing tabs; on request with what they show, which takes one query for each tab whose URL is withheld. */
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

/** Chromium only (Firefox 153 has no such lock). */
type LockableArea = { setAccessLevel?(access: { accessLevel: 'TRUSTED_CONTEXTS' }): Promise<void> };

/**
 * Keeps content scripts out of everything that the extension stores: a compromised page process can act as they do.
 * Session storage starts locked, the other areas do not.
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
 * Whether the sender is a page of the extension itself. Decided by its origin, which browsers take from the document;
 * whatever else they report about a sender may come from its process.
 */
export function isOwnPage(
  { id, origin }: Pick<chrome.runtime.MessageSender, 'id' | 'origin'>,
  extension: Pick<typeof chrome.runtime, 'id' | 'getURL'> = chrome.runtime,
): boolean {
  return id === extension.id && `${origin}/` === extension.getURL('');
}
