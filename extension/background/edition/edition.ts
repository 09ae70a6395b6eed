// What each browser's edition implements, and what the webRequest events of both have in common. The background imports
// one implementation as `#edition`; the build leaves the other out, and unit tests run with Chromium's. Runs for every
// request of every page, so it does as little as possible.

import { MAX_ALT_SVC_CHARS, printable } from '@photofinish/shared/web/untrusted';
import { dropOldest } from '../../common/drop-oldest.ts';
import { BROWSER } from '../../common/edition.ts';
import { comparableUrl } from '../../common/timing.ts';
import type { EndedRequest } from '../observe/requests.ts';
import type { SteerDeps, Steering } from '../steer/steering.ts';
import type { SteeredResponse } from '../steer/steering-state.ts';

export interface EditionModule {
  /** Starts listening; must be called synchronously when the background starts, or events are lost. */
  readonly observeRequests: (sink: RequestSink) => void;
  /** How long after an entry of its page the event of a request may arrive, in milliseconds: usually, and at most. */
  readonly LATE_EVENTS: { readonly usuallyMs: number; readonly mostMs: number };
  /** Null in a browser that ignores alternatives set by an extension. Rejects when storage or rules fail. */
  readonly openBrowserSteering: (
    deps: Pick<SteerDeps, 'advertised' | 'nowMs' | 'onChange' | 'store'>,
  ) => Promise<Steering | null>;
  /** What steering learns from a response; null: nothing. */
  readonly responseOf: (request: EndedRequest) => SteeredResponse | null;
  /** The request without our own header; `steering` is null until its state is loaded. */
  readonly asServed: (request: EndedRequest, steering: Pick<Steering, 'isOurs'> | null) => EndedRequest;
}

/** A top-level document that a server just answered, and what the browser says about how it was requested. */
export interface DocumentVisit {
  readonly tabId: number;
  readonly url: string;
  readonly atMs: number;
  /** Null: the browser reports it per tab only. */
  readonly privateWindow: boolean | null;
  /** A page navigated there, for example by a clicked link; false: the user asked the browser for it. */
  readonly byPage: boolean;
  /** In a container, which keeps its identity separate (Firefox). */
  readonly container: boolean;
  /** Whether it went through a proxy; null: the browser does not report it per request. */
  readonly proxied: boolean | null;
}

export interface RequestSink {
  visited(visited: DocumentVisit): void;
  /** A request was answered, or failed. */
  ended(request: EndedRequest): void;
  /** The outermost page is about to be requested at another URL. */
  navigationRedirected(tabId: number, frameId: number, url: string): void;
}

export const EVERY_PAGE: chrome.webRequest.RequestFilter = { urls: ['https://*/*'] };
/** Redirect chains in progress; browsers give up after 20 hops, and few chains run at once. */
const MAX_CHAINS = 1000;

/** An Alt-Svc value in printable form; null: it is empty, or too long to be an honest one. */
export function recordableAltSvc(value: string): string | null {
  const shown = printable(value);
  return shown === '' || shown.length > MAX_ALT_SVC_CHARS ? null : shown;
}

/** The Alt-Svc field as received (RFC 7838 section 3), its lines joined (RFC 9110 section 5.3). */
function altSvcOf(headers: chrome.webRequest.HttpHeader[] | undefined): string | null {
  if (headers === undefined) return null;
  let value = '';
  for (const header of headers) {
    if (header.name.length !== 7 || header.name.toLowerCase() !== 'alt-svc') continue;
    value += value === '' ? (header.value ?? '') : `, ${header.value ?? ''}`;
  }
  return recordableAltSvc(value);
}

export function kindOf({
  type,
  documentId,
}: Pick<RequestDetails, 'type' | 'documentId'>): EndedRequest['kind'] {
  if (type === 'main_frame') return 'navigation';
  // What `object` and `embed` show is a frame's document, except images in Chromium, which their own document requests.
  const isFramed = type === 'object' && (BROWSER === 'firefox' || documentId === undefined);
  return type === 'sub_frame' || isFramed ? 'frame' : 'resource';
}

/** Redirect chains in progress: where each began, and whether one of its responses hid its timings. */
export function createChains() {
  const chains = new Map<string, { readonly firstUrl: string; readonly hidden: boolean }>();
  return {
    /** Where the chain began that led to `url`; `url` itself, truncated like all of them, if there was no redirect. */
    firstUrl: (id: string, url: string): string => (chains.size > 0 && chains.get(id)?.firstUrl) || url,
    hidden: (id: string): boolean => chains.size > 0 && chains.get(id)?.hidden === true,
    hop({ id, firstUrl, timingAllowed, address }: EndedRequest): void {
      chains.set(id, { firstUrl, hidden: address !== null && timingAllowed === false });
      // A chain whose end is never reported, such as one that a service worker took over, is dropped as the oldest.
      dropOldest(chains, MAX_CHAINS);
    },
    end(id: string): void {
      if (chains.size > 0) chains.delete(id);
    },
  };
}

export type Chains = ReturnType<typeof createChains>;

/** What both browsers report of a request, under the same names. */
export interface RequestDetails {
  readonly requestId: string;
  readonly url: string;
  readonly type: string;
  /** -1: a request made by a worker. */
  readonly tabId: number;
  /** Absent for documents, which do not exist yet. */
  readonly documentId?: string | undefined;
  readonly timeStamp: number;
  readonly fromCache: boolean;
  readonly responseHeaders?: chrome.webRequest.HttpHeader[] | undefined;
}

/** The fields of an ended request; `by` is the origin of the initiator, as in `TimingRequest`. */
export function requestFields(details: RequestDetails, by: string | null, chains: Chains) {
  const { requestId, tabId, documentId = null, timeStamp, fromCache, responseHeaders } = details;
  const url = comparableUrl(details.url);
  const firstUrl = chains.firstUrl(requestId, url);
  const isHidden = chains.hidden(requestId);
  return {
    id: requestId,
    tabId,
    documentId,
    kind: kindOf(details),
    firstUrl,
    url,
    atMs: timeStamp,
    timingAllowed: isHidden ? false : timingAllowed(responseHeaders, { by, firstUrl, url }),
    fromCache,
    altSvc: altSvcOf(responseHeaders),
  };
}

// Whether a server lets a page see the timings of its response, and with them the protocol.

const TIMING_ALLOW_ORIGIN = 'timing-allow-origin';

/** The initiator, and the path of the request. */
export interface TimingRequest {
  /** Origin of the initiator, as it is sent (`null` for an opaque one); null if the browser names none. */
  readonly by: string | null;
  /** Where the redirect chain began; `url` itself if there was none. */
  readonly firstUrl: string;
  readonly url: string;
}

const isAt = (url: string, origin: string): boolean => url.startsWith(`${origin}/`);

/** A request that a foreign server redirects to yet another server has an opaque origin (Fetch: redirect-tainted). */
function originSent({ by, firstUrl, url }: TimingRequest): string | null {
  if (by === null || firstUrl === url || isAt(firstUrl, by)) return by;
  return isAt(url, new URL(firstUrl).origin) ? by : 'null';
}

/**
 * The TAO check of the Fetch standard (section 4.10). Null when the browser reveals no header field at all: Chromium
 * strips all of them from an opaque response that it cut off.
 */
export function timingAllowed(
  headers: chrome.webRequest.HttpHeader[] | undefined,
  request: TimingRequest,
): boolean | null {
  if (headers === undefined || headers.length === 0) return null;
  const { by, firstUrl, url } = request;
  // A chain that has left the initiator's origin and returns to it still needs permission.
  if (by !== null && isAt(url, by) && isAt(firstUrl, by)) return true;
  const fields = headers.filter(
    ({ name }) => name.length === TIMING_ALLOW_ORIGIN.length && name.toLowerCase() === TIMING_ALLOW_ORIGIN,
  );
  if (fields.length === 0) return false;
  const allowed = fields.flatMap(({ value = '' }) => value.split(',').map((each) => each.trim()));
  if (allowed.includes('*')) return true;
  const sent = originSent(request);
  return sent !== null && allowed.includes(sent);
}
