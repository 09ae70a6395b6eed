// Chromium's implementation of the edition: converts webRequest events to ended requests, in full mode. The listeners
// never block; all decisions are made in `join`. Chromium's status line says HTTP/1.1 whatever protocol carried the
// response, so the protocol comes from timings.
import { seesRequests } from '../../common/permissions.ts';
import type { EndedRequest } from '../observe/requests.ts';
import {
  createChains,
  type EditionModule,
  EVERY_PAGE,
  kindOf,
  type RequestSink,
  requestFields,
} from './edition.ts';

type EndDetails = chrome.webRequest.OnCompletedDetails | chrome.webRequest.OnErrorOccurredDetails;
type HeadDetails = chrome.webRequest.OnResponseStartedDetails | chrome.webRequest.OnBeforeRedirectDetails;

const NOT_MODIFIED = 304;
/** Opaque Response Blocking decides by a response's headers and body, so a response had arrived. */
const BLOCKED = 'net::ERR_BLOCKED_BY_ORB';
const CACHE_MISS = 'net::ERR_CACHE_MISS';

/** Reported as blocked, or as complete and without any header. */
function isWithheld(details: EndDetails | HeadDetails): boolean {
  if ('error' in details) return details.error === BLOCKED;
  return details.responseHeaders !== undefined && details.responseHeaders.length === 0;
}

/** Traffic of this and of other extensions belongs to no page. */
function isExtension(initiator: string | undefined): boolean {
  return initiator?.startsWith('chrome-extension:') === true;
}

/** Handles Chromium's events; `observeRequests` registers it with the browser. */
export function createChromiumObserver(sink: RequestSink) {
  const chains = createChains();

  const requestOf = (details: EndDetails | HeadDetails, hop: boolean, answered: boolean): EndedRequest => {
    const initiator = details.initiator ?? null;
    return {
      ...requestFields(details, initiator, chains),
      hop,
      answered,
      withheld: isWithheld(details),
      protocol: null,
      // For a copy that the page itself keeps; one revalidated by the HTTP cache is reported as cached, with its stored
      // 200.
      revalidated: 'statusCode' in details && details.statusCode === NOT_MODIFIED,
      address: details.ip ?? null,
      prerender: details.documentLifecycle === 'prerender',
      initiator,
      incognito: null,
    };
  };

  const finish = (details: EndDetails, answered: boolean): void => {
    // Documents were reported when their head arrived, perhaps to a background that has been terminated since.
    const isKnown = answered && kindOf(details) !== 'resource';
    if (!isKnown && !isExtension(details.initiator)) sink.ended(requestOf(details, false, answered));
    chains.end(details.requestId);
    if (details.type !== 'main_frame' || !answered || details.fromCache) return;
    if (details.documentLifecycle === 'prerender') return;
    const { tabId, url, timeStamp: atMs } = details;
    const byPage = details.initiator !== undefined;
    sink.visited({ tabId, url, atMs, byPage, privateWindow: null, container: false, proxied: null });
  };

  return {
    // A page reports a slow document before its end, and would then find no request for it.
    documentStarted(details: chrome.webRequest.OnResponseStartedDetails): void {
      if (kindOf(details) === 'resource' || isExtension(details.initiator)) return;
      sink.ended(requestOf(details, false, true));
    },
    completed: (details: chrome.webRequest.OnCompletedDetails): void => finish(details, true),
    // If it was cut off after the response began, the address is known; before that, there was no response to record.
    failed(details: chrome.webRequest.OnErrorOccurredDetails): void {
      // Chromium looks for each font in the cache before it requests it; the timing is of the second.
      const isLookup = details.type === 'font' && details.error === CACHE_MISS;
      if (!isLookup) finish(details, details.ip !== undefined || details.error === BLOCKED);
    },
    redirected(details: chrome.webRequest.OnBeforeRedirectDetails): void {
      if (isExtension(details.initiator)) return;
      const request = requestOf(details, true, true);
      chains.hop(request);
      // Without an address no server answered: the browser redirected internally (HSTS, an extension).
      if (details.ip !== undefined) sink.ended(request);
      if (details.type === 'main_frame')
        sink.navigationRedirected(details.tabId, details.frameId, details.redirectUrl);
    },
  };
}

const DOCUMENTS = {
  ...EVERY_PAGE,
  types: ['main_frame', 'sub_frame', 'object'],
} satisfies chrome.webRequest.RequestFilter;

/**
 * Starts listening, now or as soon as the permission is granted; must be called synchronously when the service worker
 * starts, or events are lost.
 */
export const observeRequests: EditionModule['observeRequests'] = (sink) => {
  const { documentStarted, completed, failed, redirected } = createChromiumObserver(sink);
  const listen = ({ webRequest }: { readonly webRequest?: typeof chrome.webRequest }): void => {
    webRequest?.onResponseStarted.addListener(documentStarted, DOCUMENTS, ['responseHeaders']);
    webRequest?.onCompleted.addListener(completed, EVERY_PAGE, ['responseHeaders']);
    webRequest?.onErrorOccurred.addListener(failed, EVERY_PAGE);
    webRequest?.onBeforeRedirect.addListener(redirected, EVERY_PAGE, ['responseHeaders']);
  };
  listen(chrome);
  chrome.permissions.onAdded.addListener((added) => {
    if (seesRequests(added)) listen(chrome);
  });
};

/** Chromium reports a request before its page can. */
export const LATE_EVENTS: EditionModule['LATE_EVENTS'] = { usuallyMs: 0, mostMs: 0 };

/** Chromium ignores headers set by an extension, so nothing is steered. */
export const openBrowserSteering: EditionModule['openBrowserSteering'] = async () => null;

/** Responses carry no header of ours, so steering learns nothing from them. */
export const responseOf: EditionModule['responseOf'] = () => null;
export const asServed: EditionModule['asServed'] = (request) => request;
