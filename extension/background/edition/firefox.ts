// Firefox's implementation of the edition: its status lines name the protocol of every response, cross-origin too
// (`HTTP/3.0 200 `), so nothing is hidden here. It listens for the headers of a response, which arrive before a page
// can report it: only then is the revalidation of a stored copy (304) visible as such.

import type { KnownProtocol } from '@photofinish/shared/web/protocol';
import { protocolOfVersion } from '../../common/inspected-request.ts';
import type { EndedRequest } from '../observe/requests.ts';
import * as steering from '../steer/steering.ts';
import {
  type Chains,
  createChains,
  type DocumentVisit,
  type EditionModule,
  EVERY_PAGE,
  type RequestDetails,
  type RequestSink,
  requestFields,
} from './edition.ts';

/** What Firefox reports about a request, as far as it is used; the types of `chrome.webRequest` cover only Chromium. */
export interface FirefoxDetails extends RequestDetails {
  /** The requesting document; absent for pages that the user asked for. */
  readonly originUrl?: string;
  readonly frameId: number;
  readonly incognito: boolean;
  /** Null: no server was contacted. */
  readonly ip: string | null;
  readonly statusCode?: number;
  readonly statusLine?: string;
  readonly redirectUrl?: string;
  /** Null: no proxy. */
  readonly proxyInfo?: { readonly type: string } | null;
  readonly cookieStoreId?: string;
}

/** Status codes that redirect the browser if there is a Location (RFC 9110 section 15.4). */
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** The protocol that a status line names; null when it names none. */
export function protocolOfStatusLine(line: string | undefined): KnownProtocol | null {
  const version = line === undefined ? undefined : /^HTTP\/\d(?:\.\d)?(?= )/.exec(line)?.[0];
  return version === undefined ? null : protocolOfVersion(version);
}

function isExtension({ originUrl }: FirefoxDetails): boolean {
  return originUrl?.startsWith('moz-extension:') === true;
}

function isRedirect({ statusCode, responseHeaders }: FirefoxDetails): boolean {
  if (statusCode === undefined || !REDIRECTS.has(statusCode)) return false;
  return responseHeaders?.some(({ name }) => name.toLowerCase() === 'location') === true;
}

function isProxy(info: { readonly type: string } | null): boolean {
  return info !== null && info.type !== 'direct';
}

/** A PDF's page belongs to the browser, so no content script runs in it. */
function isInViewer({ type, responseHeaders }: FirefoxDetails): boolean {
  if (type !== 'main_frame') return false;
  const header = responseHeaders?.find(({ name }) => name.toLowerCase() === 'content-type');
  return /^\s*application\/pdf\s*(?:;|$)/i.test(header?.value ?? '');
}

/**
 * An event as an ended request. A response from the cache repeats the old status line, which says nothing about today.
 */
function requestOf(details: FirefoxDetails, hop: boolean, answered: boolean, chains: Chains): EndedRequest {
  const { originUrl, fromCache, statusCode, proxyInfo } = details;
  const by = originUrl === undefined ? null : (URL.parse(originUrl)?.origin ?? null);
  return {
    ...requestFields(details, by, chains),
    hop,
    answered,
    withheld: false,
    protocol: answered && !fromCache ? protocolOfStatusLine(details.statusLine) : null,
    revalidated: statusCode === 304,
    address: details.ip,
    prerender: false,
    initiator: originUrl ?? null,
    incognito: details.incognito,
    ...(proxyInfo !== undefined && { proxied: isProxy(proxyInfo) }),
    ...(isInViewer(details) && { inViewer: true }),
  };
}

/** The cookie stores that are not containers. */
const PLAIN_STORES: ReadonlySet<string> = new Set(['firefox-default', 'firefox-private']);

function visitedOf(details: FirefoxDetails): DocumentVisit {
  const { tabId, url, timeStamp, originUrl, incognito, cookieStoreId, proxyInfo } = details;
  return {
    tabId,
    url,
    atMs: timeStamp,
    byPage: originUrl !== undefined,
    privateWindow: incognito,
    container: cookieStoreId !== undefined && !PLAIN_STORES.has(cookieStoreId),
    proxied: proxyInfo === undefined ? null : isProxy(proxyInfo),
  };
}

/** Handles Firefox's events; `observeRequests` registers it with the browser. */
export function createFirefoxObserver(sink: RequestSink) {
  const chains = createChains();
  return {
    headersReceived(details: FirefoxDetails): void {
      if (isExtension(details)) return;
      // A revalidated copy is reported twice: as the 304 that arrived, and then as the old response from the cache.
      if (details.fromCache && details.ip !== null) return;
      // Reported by `redirected`, which knows the target.
      if (isRedirect(details)) return;
      sink.ended(requestOf(details, false, true, chains));
      chains.end(details.requestId);
      if (details.type === 'main_frame' && !details.fromCache) sink.visited(visitedOf(details));
    },

    redirected(details: FirefoxDetails): void {
      const { redirectUrl, type, tabId, frameId, url } = details;
      if (isExtension(details) || redirectUrl === undefined) return;
      // A service worker takes a request over with a redirect to the same address that no server has answered.
      if (redirectUrl === url && !isRedirect(details)) return;
      const request = requestOf(details, true, true, chains);
      chains.hop(request);
      // Without an address no server answered: Firefox redirected internally (HSTS, an extension).
      if (details.ip !== null) sink.ended(request);
      if (type === 'main_frame') sink.navigationRedirected(tabId, frameId, redirectUrl);
    },

    failed(details: FirefoxDetails): void {
      if (!isExtension(details)) sink.ended(requestOf(details, false, false, chains));
      chains.end(details.requestId);
    },
  };
}

/**
 * Firefox's request events race with the pages' own messages, and sometimes arrive later: 160 ms under load, and more
 * than half a second on a machine with eight times as much work as processors. Batches that a page leaves are recorded
 * after 5 s, and should still find what waits recorded.
 */
export const LATE_EVENTS: EditionModule['LATE_EVENTS'] = { usuallyMs: 300, mostMs: 4000 };

/** Starts listening; must be called synchronously when the event page starts, or events are lost. */
export const observeRequests: EditionModule['observeRequests'] = (sink) => {
  const observer = createFirefoxObserver(sink);
  const { onHeadersReceived, onBeforeRedirect, onErrorOccurred } = chrome.webRequest;
  onHeadersReceived.addListener(
    (details): undefined => observer.headersReceived(details as unknown as FirefoxDetails) as undefined,
    EVERY_PAGE,
    ['responseHeaders'],
  );
  onBeforeRedirect.addListener(
    (details) => observer.redirected(details as unknown as FirefoxDetails),
    EVERY_PAGE,
    ['responseHeaders'],
  );
  onErrorOccurred.addListener((details) => observer.failed(details as unknown as FirefoxDetails), EVERY_PAGE);
};

export const openBrowserSteering: EditionModule['openBrowserSteering'] = steering.openBrowserSteering;
export const responseOf: EditionModule['responseOf'] = steering.responseOf;
export const asServed: EditionModule['asServed'] = steering.asServed;
