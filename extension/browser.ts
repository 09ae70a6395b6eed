// The browser's own interfaces in the shapes our rooms take them: ports, timers, versions. Thin, no judgement.
import { HOST_NAME } from '@photofinish/shared/wire';
import type { Clock, NativePort } from './helper/port.ts';
import type { TabDocument } from './page/view.ts';

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

/** Starts the helper. A browser that cannot says so by closing the port. */
export function connectHelper(): NativePort {
  const port = chrome.runtime.connectNative(HOST_NAME);
  return {
    postMessage: (message) => port.postMessage(message),
    disconnect: () => port.disconnect(),
    onMessage: (listen) => port.onMessage.addListener(listen),
    onDisconnect: (listen) =>
      port.onDisconnect.addListener(() => listen(chrome.runtime.lastError?.message ?? null)),
  };
}

interface Brands {
  readonly userAgentData?: {
    getHighEntropyValues(
      hints: string[],
    ): Promise<{ fullVersionList?: { brand: string; version: string }[] }>;
  };
}

/** The browser's whole version; of the brands it gives, Chromium's own. */
export async function browserVersion(): Promise<string> {
  const values = await (navigator as Navigator & Brands).userAgentData?.getHighEntropyValues([
    'fullVersionList',
  ]);
  return values?.fullVersionList?.find(({ brand }) => brand === 'Chromium')?.version ?? 'unknown';
}

/** What a tab shows; null when the browser does not tell, or there is no such tab. */
export async function documentOfTab(tabId: number): Promise<TabDocument | null> {
  const frame = await chrome.webNavigation.getFrame({ tabId, frameId: 0 }).catch(() => null);
  return frame ? { documentId: frame.documentId, url: frame.url, failed: frame.errorOccurred } : null;
}
