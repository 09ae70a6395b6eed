// Chromium's own observer: turns webRequest events into ended requests. The listeners never block and do the least
// possible, because they run for every request of every page; all judgement is in `join`.
import { MAX_ALT_SVC_CHARS } from '@photofinish/shared/observation';
import { comparableUrl, type EndedRequest } from './requests.ts';

type Ended = chrome.webRequest.OnCompletedDetails | chrome.webRequest.OnErrorOccurredDetails;
type Hop = chrome.webRequest.OnBeforeRedirectDetails;

export interface RequestSink {
  /** A request ended: answered or failed. */
  ended(request: EndedRequest): void;
  /** The outermost page is about to be asked for at another URL. */
  navigationRedirected(tabId: number, frameId: number, url: string): void;
}

const EVERY_PAGE: chrome.webRequest.RequestFilter = { urls: ['https://*/*'] };
/** Redirect chains under way; browsers give up after 20 hops, and few chains run at once. */
const MAX_CHAINS = 1000;

function altSvcOf(headers: chrome.webRequest.HttpHeader[] | undefined): string | null {
  if (headers === undefined) return null;
  let value = '';
  for (const header of headers) {
    if (header.name.length !== 7 || header.name.toLowerCase() !== 'alt-svc') continue;
    value += value === '' ? (header.value ?? '') : `, ${header.value ?? ''}`;
  }
  return value === '' || value.length > MAX_ALT_SVC_CHARS ? null : value;
}

function kindOf(type: string): EndedRequest['kind'] {
  if (type === 'main_frame') return 'navigation';
  return type === 'sub_frame' ? 'frame' : 'resource';
}

/** The extension's own traffic, and other extensions', is nobody's page. */
function isExtension(initiator: string | undefined): boolean {
  return initiator?.startsWith('chrome-extension:') === true;
}

/** Starts listening; must be called synchronously when the service worker starts, or events are lost. */
export function observeChromium(sink: RequestSink): void {
  const firstUrls = new Map<string, string>();

  const requestOf = (
    details: Ended | Hop,
    hop: boolean,
    answered: boolean,
    headers?: chrome.webRequest.HttpHeader[],
  ): EndedRequest => ({
    id: details.requestId,
    tabId: details.tabId,
    documentId: details.documentId ?? null,
    kind: kindOf(details.type),
    hop,
    firstUrl: firstUrls.get(details.requestId) ?? comparableUrl(details.url),
    url: comparableUrl(details.url),
    atMs: details.timeStamp,
    answered,
    fromCache: details.fromCache,
    address: details.ip ?? null,
    altSvc: altSvcOf(headers),
    prerender: details.documentLifecycle === 'prerender',
    initiator: details.initiator ?? null,
  });

  const finish = (details: Ended, answered: boolean, headers?: chrome.webRequest.HttpHeader[]): void => {
    if (!isExtension(details.initiator)) sink.ended(requestOf(details, false, answered, headers));
    if (firstUrls.size > 0) firstUrls.delete(details.requestId);
  };

  chrome.webRequest.onCompleted.addListener((d) => finish(d, true, d.responseHeaders), EVERY_PAGE, [
    'responseHeaders',
  ]);
  // Cut off after the answer began, the address is known; before, there was no answer to record.
  chrome.webRequest.onErrorOccurred.addListener((d) => finish(d, d.ip !== undefined), EVERY_PAGE);
  chrome.webRequest.onBeforeRedirect.addListener(
    (d) => {
      if (isExtension(d.initiator)) return;
      if (!firstUrls.has(d.requestId) && firstUrls.size < MAX_CHAINS)
        firstUrls.set(d.requestId, comparableUrl(d.url));
      // Without an address no server answered: the browser redirected by itself (HSTS, an extension).
      if (d.ip !== undefined) sink.ended(requestOf(d, true, true, d.responseHeaders));
      if (d.type === 'main_frame') sink.navigationRedirected(d.tabId, d.frameId, d.redirectUrl);
    },
    EVERY_PAGE,
    ['responseHeaders'],
  );
}
