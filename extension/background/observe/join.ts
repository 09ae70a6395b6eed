// The join: one timing entry and the webRequest event of the same request become one Observation. Pure; the only place
// that decides what counts as a protocol, a hidden protocol and a delivery.
import type { Observation } from '@photofinish/shared/web/observation';
import { originOfUrl } from '@photofinish/shared/web/origin';
import {
  type Delivery,
  type KnownProtocol,
  protocolFromAlpn,
  type UnknownReason,
} from '@photofinish/shared/web/protocol';
import { BROWSER } from '../../common/edition.ts';
import type { Timing } from '../../common/timing.ts';
import type { EndedRequest } from './requests.ts';

export interface JoinContext {
  /** Stable name of this entry, so that a batch sent twice counts once. */
  readonly id: string;
  readonly site: string;
  /** The entry belongs to the outermost document, not to a frame. */
  readonly outermost: boolean;
  readonly controlled: boolean;
  /** Since when webRequest events have been received without gaps, milliseconds since the epoch. */
  readonly fullSinceMs: number;
}

/**
 * The document's entry was taken while its response was still arriving over the network. A response from a service
 * worker or a prefetch has no end to wait for.
 */
export function isUnfinished({ navigation, startMs, endMs, alpn, worker, deliveryType }: Timing): boolean {
  return navigation && endMs <= startMs && alpn !== '' && !worker && deliveryType === '';
}

/** `transferSize` of a response without content: browsers do not reveal the size of headers (Resource Timing, 4.3). */
const HEAD_BYTES = 300;

/** What a page's scripts request is never kept in its memory. */
const BY_SCRIPTS = ['fetch', 'xmlhttprequest', 'beacon'];
const OK = 200;

/**
 * How Chromium reports a copy in its page's memory that the server confirmed (304): only headers came, which it calls
 * neither cached nor a 304, with the old response's protocol. A response without content looks the same, so without an
 * event of the request the two cannot be told apart. Firefox reports the same for every response whose size it hides.
 */
function maybeConfirmed({ navigation, deliveryType, transferBytes, initiator, status }: Timing): boolean {
  if (navigation || BY_SCRIPTS.includes(initiator) || (status !== OK && status !== 0)) return false;
  return deliveryType === '' && transferBytes === HEAD_BYTES;
}

/**
 * Whether the protocol may be that of an older response, of which Chromium tells nothing but the event: a response that
 * was put together from a stored part and a new one has the stored one's (measured on 156).
 */
function maybeStored(timing: Timing, request: EndedRequest | null): boolean {
  if (BROWSER !== 'chromium' || request !== null) return false;
  return timing.partial || maybeConfirmed(timing);
}

/** A 304 crossed the network, although the browser calls it a cache hit and repeats the old response's protocol. */
function isRevalidated(timing: Timing, request: EndedRequest | null): boolean {
  if (request?.revalidated === true) return true;
  return timing.transferBytes > 0 && (timing.deliveryType === 'cache' || request?.fromCache === true);
}

function deliveryOf(timing: Timing, request: EndedRequest | null, context: JoinContext): Delivery {
  if (timing.deliveryType === 'navigational-prefetch') return 'prefetch';
  const hidden = protocolFromAlpn(timing.alpn) === null;
  // Before `cache`, which Chromium also reports for what a worker generated. A worker that declines leaves a request of
  // the page itself behind, and the protocol visible if the site allows it.
  if (hidden && timing.worker && request === null) return 'service-worker';
  if (isRevalidated(timing, request)) return 'network';
  if (timing.deliveryType === 'cache') return 'http-cache';
  if (request !== null) return request.fromCache ? 'http-cache' : 'network';
  if (!hidden) return timing.transferBytes === 0 && timing.bodyBytes > 0 ? 'http-cache' : 'network';
  // webRequest would have seen the network: the response came from the renderer's memory or a worker.
  if (timing.startMs < context.fullSinceMs) return 'network';
  if (context.controlled) return 'service-worker';
  return timing.opaque && !timing.navigation ? 'http-cache' : 'network';
}

/**
 * Firefox also lists requests that it abandoned (the icon of a page left at once): without any duration, or with the
 * protocol of the intended connection and no bytes. The event that reports this is lost if the background was not
 * running.
 */
function wasGivenUp(timing: Timing, { fullSinceMs }: JoinContext): boolean {
  const { navigation, alpn, worker, deliveryType, startMs, endMs, transferBytes, bodyBytes } = timing;
  if (navigation || worker || deliveryType !== '' || startMs >= fullSinceMs) return false;
  return protocolFromAlpn(alpn) === null ? endMs <= startMs : transferBytes === 0 && bodyBytes === 0;
}

function reasonOf(
  timing: Timing,
  request: EndedRequest | null,
  delivery: Delivery,
  revalidated: boolean,
): UnknownReason {
  if (delivery === 'service-worker') return 'service-worker';
  if (revalidated) return 'revalidated';
  if (maybeStored(timing, request)) return 'not-exposed';
  if (!timing.opaque || timing.navigation) return 'missed';
  // A blocked response and one hidden by its site look the same; only the response header tells them apart.
  return request?.timingAllowed === false ? 'no-timing-allow-origin' : 'not-exposed';
}

/**
 * The protocol that carried the response. The response itself takes precedence over the timing, which for a 304 repeats
 * an old one.
 */
function protocolOf(
  timing: Timing,
  request: EndedRequest | null,
  delivery: Delivery,
  revalidated: boolean,
): KnownProtocol | null {
  if (delivery === 'network' && request?.protocol != null) return request.protocol;
  // Only the request's event names the server that it was redirected to; the entry names the one that redirected.
  if (request === null && timing.redirected && !timing.navigation) return null;
  if (maybeStored(timing, request)) return null;
  return revalidated ? null : protocolFromAlpn(timing.alpn);
}

/** For a revalidated copy Firefox reports the size of the stored body as what crossed the network. */
function bytesOf(timing: Timing, request: EndedRequest | null, delivery: Delivery): number | null {
  if (delivery !== 'network' || timing.transferBytes === 0 || request?.revalidated === true) return null;
  return timing.transferBytes;
}

function networkFacts(
  request: EndedRequest | null,
  stored?: string,
): Pick<Observation, 'address' | 'altSvc' | 'altSvcRead'> {
  const altSvc = request?.altSvc ?? stored;
  return {
    ...(request?.address && { address: request.address }),
    ...(altSvc && { altSvc }),
    ...(stored !== undefined && { altSvcRead: true }),
  };
}

/**
 * What the browser did for one timing entry; null when it is not worth a record: not https, or ended before any
 * response. For a redirect chain, protocol and origin are those of the last response.
 */
export function observationOf(
  timing: Timing,
  request: EndedRequest | null,
  context: JoinContext,
): Observation | null {
  if (request === null ? wasGivenUp(timing, context) : !request.answered) return null;
  const parts = originOfUrl(request?.url ?? timing.url);
  if (parts === null) return null;
  const delivery = deliveryOf(timing, request, context);
  const revalidated = isRevalidated(timing, request);
  const protocol = protocolOf(timing, request, delivery, revalidated);
  return {
    id: context.id,
    origin: parts.origin,
    site: context.site,
    kind: timing.navigation && context.outermost ? 'navigation' : 'resource',
    delivery,
    // A document that was reported before its end has no end yet.
    atMs: Math.max(timing.endMs, timing.firstByteMs),
    bytes: bytesOf(timing, request, delivery),
    ...(delivery === 'network' && networkFacts(request, timing.altSvc)),
    ...(protocol === null
      ? { protocol: 'unknown', reason: reasonOf(timing, request, delivery, revalidated) }
      : { protocol }),
  };
}

/**
 * A response that no timing entry reported: counted with what the response itself says. `kind` is its role on its page.
 */
export function missedObservation(
  request: EndedRequest,
  { id, site, kind }: Pick<Observation, 'id' | 'site' | 'kind'>,
): Observation | null {
  const parts = originOfUrl(request.url);
  if (parts === null) return null;
  return {
    id,
    origin: parts.origin,
    site,
    kind,
    delivery: request.fromCache ? 'http-cache' : 'network',
    atMs: request.atMs,
    bytes: null,
    ...(!request.fromCache && networkFacts(request)),
    ...(request.protocol === null
      ? { protocol: 'unknown', reason: request.withheld ? 'not-exposed' : 'missed' }
      : { protocol: request.protocol }),
  };
}
