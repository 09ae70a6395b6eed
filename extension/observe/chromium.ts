// Chromium's own observer: turns webRequest events into ended requests. The listeners never block; all judgement is
// in `join`. Chromium's status line says HTTP/1.1 whatever carried the answer, so the protocol comes from timings.
import { altSvcOf, createChains, EVERY_PAGE, kindOf, type RequestSink } from './details.ts';
import { comparableUrl, type EndedRequest } from './requests.ts';

type Ended = chrome.webRequest.OnCompletedDetails | chrome.webRequest.OnErrorOccurredDetails;
type Hop = chrome.webRequest.OnBeforeRedirectDetails;

/** The extension's own traffic, and other extensions', is nobody's page. */
function isExtension(initiator: string | undefined): boolean {
  return initiator?.startsWith('chrome-extension:') === true;
}

/** Starts listening; must be called synchronously when the service worker starts, or events are lost. */
export function observeChromium(sink: RequestSink): void {
  const chains = createChains();

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
    firstUrl: chains.firstUrl(details.requestId, details.url),
    url: comparableUrl(details.url),
    atMs: details.timeStamp,
    answered,
    protocol: null,
    revalidated: false,
    fromCache: details.fromCache,
    address: details.ip ?? null,
    altSvc: altSvcOf(headers),
    prerender: details.documentLifecycle === 'prerender',
    initiator: details.initiator ?? null,
    incognito: null,
  });

  const finish = (details: Ended, answered: boolean, headers?: chrome.webRequest.HttpHeader[]): void => {
    if (!isExtension(details.initiator)) sink.ended(requestOf(details, false, answered, headers));
    chains.end(details.requestId);
    if (details.type !== 'main_frame' || !answered || details.fromCache) return;
    if (details.documentLifecycle === 'prerender') return;
    const { tabId, url, timeStamp: atMs } = details;
    sink.visited({ tabId, url, atMs, privateWindow: null, container: false, proxied: null });
  };

  chrome.webRequest.onCompleted.addListener((d) => finish(d, true, d.responseHeaders), EVERY_PAGE, [
    'responseHeaders',
  ]);
  // Cut off after the answer began, the address is known; before, there was no answer to record.
  chrome.webRequest.onErrorOccurred.addListener((d) => finish(d, d.ip !== undefined), EVERY_PAGE);
  chrome.webRequest.onBeforeRedirect.addListener(
    (d) => {
      if (isExtension(d.initiator)) return;
      chains.hop(d.requestId, d.url);
      // Without an address no server answered: the browser redirected by itself (HSTS, an extension).
      if (d.ip !== undefined) sink.ended(requestOf(d, true, true, d.responseHeaders));
      if (d.type === 'main_frame') sink.navigationRedirected(d.tabId, d.frameId, d.redirectUrl);
    },
    EVERY_PAGE,
    ['responseHeaders'],
  );
}
