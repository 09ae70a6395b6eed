// What Playwright itself reports about each page's responses, in every browser, with or without the extension, and how
// that is joined with the extension's counts. Before Playwright had `response.httpVersion()`, no response is known.

import { NO_REQUESTS, type ProtocolCounts, requestsIn } from '@photofinish/shared/report/adoption';
import { type Origin, originOfUrl } from '@photofinish/shared/web/origin';
import {
  type Delivery,
  KNOWN_PROTOCOLS,
  type KnownProtocol,
  type Protocol,
  protocolFromAlpn,
} from '@photofinish/shared/web/protocol';
import type { BrowserContext, Frame, Page, Request, Response } from '@playwright/test';

export interface ResponseFacts {
  readonly browserName: string;
  /** As `httpVersion` returns it. */
  readonly httpVersion: string;
  readonly status: number;
  readonly fromServiceWorker: boolean;
  /** A redirect that the browser followed. */
  readonly redirects: boolean;
  /** The names of the request's fields, in lower case. */
  readonly requestFields: readonly string[];
  /** Head and content, as `request.sizes()` returns them. */
  readonly responseBytes: number;
  /** `requestStart` of `request.timing()`: negative if it does not apply. */
  readonly requestStartMs: number;
  /** Whether `response.serverAddr()` names an address. */
  readonly hasAddress: boolean;
}

export interface SeenResponse {
  /** `route`: a route of the test answered it (`route.fulfill`). Null: Playwright does not tell. */
  readonly delivery: Extract<Delivery, 'network' | 'http-cache' | 'service-worker'> | 'route' | null;
  readonly protocol: Protocol;
}

const CONDITIONS: readonly string[] = ['if-none-match', 'if-modified-since', 'if-range'];

/** The protocol that `httpVersion` names: by ALPN name, or as in the start line of HTTP/1.1. */
function named(httpVersion: string): KnownProtocol | null {
  return httpVersion === 'HTTP/2.0' ? 'h2' : protocolFromAlpn(httpVersion);
}

/** A stored response that the server confirmed (RFC 9110 section 13.1) is shown with its old status and protocol. */
function maybeConfirmed({ status, requestFields }: ResponseFacts): boolean {
  return status !== 304 && requestFields.some((name) => CONDITIONS.includes(name));
}

function deliveryOf({
  browserName,
  fromServiceWorker,
  redirects,
  responseBytes,
  requestStartMs,
  hasAddress,
}: ResponseFacts): SeenResponse['delivery'] {
  if (fromServiceWorker) return 'service-worker';
  // Only Chromium gives timings to cached responses, and only the others give no size to responses that have one. The
  // others tell a route's responses from cached ones by nothing.
  if (browserName !== 'chromium') return requestStartMs < 0 ? 'http-cache' : 'network';
  if (redirects) return null;
  if (responseBytes <= 0) return 'http-cache';
  // A worker's request may lack the timing, but it has an address.
  return requestStartMs < 0 && !hasAddress ? 'route' : 'network';
}

/**
 * What Playwright's `response.httpVersion()` is evidence of. For a response from a cache, and for a stored one that the
 * server confirmed, browsers repeat the protocol of the response that was stored; where Playwright knows no version, it
 * says HTTP/1.1.
 */
export function seenResponse(facts: ResponseFacts): SeenResponse {
  const delivery = deliveryOf(facts);
  if (delivery !== 'network' || maybeConfirmed(facts)) return { delivery, protocol: 'unknown' };
  return { delivery, protocol: named(facts.httpVersion) ?? 'unknown' };
}

interface OriginTally {
  counts: ProtocolCounts;
  /** Requests without a response whose facts are known. */
  open: number;
  /** Responses of which Playwright does not tell whether they came over the network, or which failed. */
  unclear: number;
  /** Responses by a route of the test. */
  routed: number;
  /** Responses whose facts are not known yet. */
  pending: number;
  newest: KnownProtocol | null;
}

/** What Playwright saw of the document that a page shows. */
export interface SeenDocument {
  readonly url: string;
  /** Of the document's own response; null before it has come. */
  readonly protocol: Protocol | null;
  /** A route of the test answered it. */
  readonly routed: boolean;
  /** Responses that have come and are not counted yet. */
  readonly pending: number;
  readonly origins: ReadonlyMap<Origin, SeenOrigin & { readonly newest: KnownProtocol | null }>;
}

/** The requests of one document. */
class Tally {
  readonly #origins = new Map<Origin, OriginTally>();
  protocol: Protocol | null = null;
  routed = false;
  url: string;

  constructor(url: string) {
    this.url = url;
  }

  of(url: string): OriginTally | null {
    const origin = originOfUrl(url)?.origin;
    if (origin === undefined) return null;
    const fresh = { counts: NO_REQUESTS, open: 0, unclear: 0, routed: 0, pending: 0, newest: null };
    const tally = this.#origins.get(origin) ?? fresh;
    this.#origins.set(origin, tally);
    return tally;
  }

  count(tally: OriginTally, { delivery, protocol }: SeenResponse): void {
    if (delivery === null) tally.unclear += 1;
    if (delivery === 'route') tally.routed += 1;
    if (delivery !== 'network') return;
    tally.counts = { ...tally.counts, [protocol]: tally.counts[protocol] + 1 };
    if (protocol !== 'unknown') tally.newest = protocol;
  }

  seen(): SeenDocument {
    const origins = [...this.#origins].map(([origin, { counts, open, unclear, routed, newest }]) => {
      return [origin, { counts, newest, routed, complete: open === 0 && unclear === 0 }] as const;
    });
    const pending = [...this.#origins.values()].reduce((sum, tally) => sum + tally.pending, 0);
    const { url, protocol, routed } = this;
    return { url, protocol, routed, pending, origins: new Map(origins) };
  }
}

/** Status codes that redirect the browser (RFC 9110 section 15.4). */
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

/** The documents of one page. */
interface PageTallies {
  shown: Tally | null;
  /** Of the document requested last, until the page shows it; a download and a response with status 204 it never does. */
  requested: Tally | null;
}

const tallies = new WeakMap<Page, PageTallies>();
const tallyOf = new WeakMap<Request, Tally>();

/** The frame that made a request; null for those of workers, and of pages that do not exist yet. */
function frameOf(request: Request): Frame | null {
  try {
    return request.serviceWorker() === null ? request.frame() : null;
  } catch {
    return null;
  }
}

function isDocument(request: Request, frame: Frame): boolean {
  return request.isNavigationRequest() && frame.parentFrame() === null;
}

/** What identifies a document both in its request and in its frame: an upgrade to https and a fragment do not matter. */
function locationOf(url: string): { readonly host: string; readonly resource: string } {
  if (!URL.canParse(url)) return { host: '', resource: url };
  const { host, pathname, search } = new URL(url);
  return { host, resource: `${host}${pathname}${search}` };
}

/**
 * The event does not tell whether the document is a new one: scripts change the URL too, though never its host. Until
 * it, all other requests are of the document before.
 */
function onNavigated(frame: Frame): void {
  const page = tallies.get(frame.page());
  if (page === undefined || frame.parentFrame() !== null) return;
  const { host, resource } = locationOf(frame.url());
  const { shown, requested } = page;
  if (requested !== null && locationOf(requested.url).resource === resource) {
    page.shown = requested;
    page.requested = null;
  } else if (shown !== null && locationOf(shown.url).host !== host) {
    // A document without a request, such as about:blank or the browser's error page.
    page.shown = null;
  }
}

function talliesOf(page: Page): PageTallies {
  const known = tallies.get(page);
  if (known !== undefined) return known;
  const created = { shown: null, requested: null };
  tallies.set(page, created);
  page.on('framenavigated', onNavigated);
  return created;
}

/** The tally of the document that a request belongs to. */
function tallyFor(request: Request, frame: Frame): Tally {
  const redirecting = request.redirectedFrom();
  const redirected = redirecting === null ? undefined : tallyOf.get(redirecting);
  if (redirected !== undefined) return redirected;
  const page = talliesOf(frame.page());
  if (isDocument(request, frame)) {
    page.requested = new Tally(request.url());
    return page.requested;
  }
  page.shown ??= new Tally(frame.page().url());
  return page.shown;
}

function onRequest(request: Request): void {
  const frame = frameOf(request);
  if (frame === null) return;
  const tally = tallyFor(request, frame);
  tallyOf.set(request, tally);
  if (isDocument(request, frame)) tally.url = request.url();
  const origin = tally.of(request.url());
  if (origin !== null) origin.open += 1;
}

function onFailed(request: Request): void {
  const origin = tallyOf.get(request)?.of(request.url());
  if (origin) origin.unclear += 1;
}

async function factsOf(response: Response, browserName: string): Promise<SeenResponse> {
  const request = response.request();
  await response.finished();
  const [httpVersion, fields, sizes, address] = await Promise.all([
    response.httpVersion(),
    request.allHeaders(),
    request.sizes(),
    response.serverAddr(),
  ]);
  return seenResponse({
    browserName,
    httpVersion,
    status: response.status(),
    fromServiceWorker: response.fromServiceWorker(),
    redirects: REDIRECTS.includes(response.status()),
    requestFields: Object.keys(fields),
    responseBytes: sizes.responseHeadersSize + sizes.responseBodySize,
    requestStartMs: request.timing().requestStart,
    hasAddress: address !== null,
  });
}

async function onResponse(response: Response, browserName: string): Promise<void> {
  const request = response.request();
  const tally = tallyOf.get(request);
  const origin = tally?.of(request.url());
  if (!tally || !origin) return;
  origin.pending += 1;
  // Rejects if the page closes first; then nobody asks any more.
  const seen = await factsOf(response, browserName).catch(() => null);
  origin.pending -= 1;
  if (seen === null) return;
  origin.open -= 1;
  tally.count(origin, seen);
  const frame = frameOf(request);
  if (frame === null || !isDocument(request, frame)) return;
  tally.protocol = seen.delivery === 'network' ? seen.protocol : 'unknown';
  tally.routed = seen.delivery === 'route';
}

/** Starts recording in all pages of a context; with an older Playwright, which tells no protocols, nothing. */
export function watchResponses(context: BrowserContext, browserName: string): void {
  context.on('request', onRequest);
  context.on('requestfailed', onFailed);
  context.on('response', (response) => {
    if ('httpVersion' in response) void onResponse(response, browserName);
  });
}

/** What was seen of the document that the page shows; null if it made no request. */
export function seenDocument(page: Page): SeenDocument | null {
  return tallies.get(page)?.shown?.seen() ?? null;
}

/** What Playwright saw of one origin in one document. */
interface SeenOrigin {
  /** Network responses by protocol. */
  readonly counts: ProtocolCounts;
  /** Responses by a route of the test. */
  readonly routed: number;
  /** Each of its requests has a response, and what Playwright tells about it leaves nothing open. */
  readonly complete: boolean;
}

/** Network responses by protocol, by who named it. */
export interface JoinedCounts {
  readonly extension: ProtocolCounts;
  readonly playwright: ProtocolCounts;
}

/**
 * The extension counts every response, but Chromium tells it no protocol where the site hides it; Playwright names
 * those, but knows nothing of some responses. The responses that the extension counted as unknown are named only if
 * Playwright's responses leave one choice: it saw as many, knows all their protocols, and has each that the extension
 * knows among them. Those of the test's routes, which Chromium reports to the extension like hidden ones, are left out if
 * both saw as many responses with them. Without the extension (null) everything is Playwright's.
 */
export function joinedCounts(own: ProtocolCounts | null, seen: SeenOrigin | null): JoinedCounts {
  if (own === null) return { extension: NO_REQUESTS, playwright: seen?.counts ?? NO_REQUESTS };
  const counted = { extension: own, playwright: NO_REQUESTS };
  if (seen === null || !seen.complete || own.unknown === 0) return counted;
  const { counts, routed } = seen;
  if (own.unknown < routed || requestsIn(counts) + routed !== requestsIn(own)) return counted;
  const unknown = own.unknown - routed;
  const isOpen = counts.unknown > 0 || KNOWN_PROTOCOLS.some((protocol) => counts[protocol] < own[protocol]);
  if (unknown === 0 || isOpen) return { extension: { ...own, unknown }, playwright: NO_REQUESTS };
  const rest = KNOWN_PROTOCOLS.map((protocol) => [protocol, counts[protocol] - own[protocol]]);
  return {
    extension: { ...own, unknown: 0 },
    playwright: { ...NO_REQUESTS, ...Object.fromEntries(rest) },
  };
}
