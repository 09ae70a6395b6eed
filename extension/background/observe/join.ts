// The join: one timing entry and the webRequest event of the same request become one Observation. Pure; the one
// place that decides what a protocol, a hidden protocol and a delivery are.
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
  /** Since when webRequest events are received without gaps, milliseconds since the epoch. */
  readonly witnessSinceMs: number;
}

/**
 * The document's entry was taken while its answer was still coming over the network. What a service worker or a
 * prefetch gave has no end to come.
 */
export function isUnfinished({ navigation, startMs, endMs, alpn, worker, deliveryType }: Timing): boolean {
  return navigation && endMs <= startMs && alpn !== '' && !worker && deliveryType === '';
}

/** `transferSize` of an answer without content: browsers tell of no head how long it was (Resource Timing, section 4.3). */
const HEAD_BYTES = 300;

/**
 * What Chromium tells of a copy in its page's memory that the server confirmed (304): nothing but a head came, which it
 * calls neither cached nor a 304, with the old answer's protocol. An answer without content looks the same, so without
 * an event of the request nobody knows. Firefox tells as much of every answer whose size it hides.
 */
function maybeConfirmed({ navigation, deliveryType, transferBytes }: Timing): boolean {
  return BROWSER === 'chromium' && !navigation && deliveryType === '' && transferBytes === HEAD_BYTES;
}

/** A 304 crossed the network, although the browser calls it a cache hit and repeats the old answer's protocol. */
function isRevalidated(timing: Timing, request: EndedRequest | null): boolean {
  if (request === null ? maybeConfirmed(timing) : request.revalidated) return true;
  return timing.transferBytes > 0 && (timing.deliveryType === 'cache' || request?.fromCache === true);
}

function deliveryOf(timing: Timing, request: EndedRequest | null, context: JoinContext): Delivery {
  if (timing.deliveryType === 'navigational-prefetch') return 'prefetch';
  const hidden = protocolFromAlpn(timing.alpn) === null;
  // Before `cache`, which Chromium also says of what a worker made up. A worker that declines leaves a request of the
  // page's own behind, and the protocol visible where the site lets it be seen.
  if (hidden && timing.worker && request === null) return 'service-worker';
  if (isRevalidated(timing, request)) return 'network';
  if (timing.deliveryType === 'cache') return 'http-cache';
  if (request !== null) return request.fromCache ? 'http-cache' : 'network';
  if (!hidden) return timing.transferBytes === 0 && timing.bodyBytes > 0 ? 'http-cache' : 'network';
  // webRequest would have seen the network: the answer came out of the renderer's memory or a worker.
  if (timing.startMs < context.witnessSinceMs) return 'network';
  if (context.controlled) return 'service-worker';
  return timing.opaque && !timing.navigation ? 'http-cache' : 'network';
}

/**
 * Firefox also lists what it gave up (the icon of a page left at once): without any time taken, or with the protocol of
 * the connection that it was meant for and not a byte. The event that says so is lost where the background was not there.
 */
function wasGivenUp(timing: Timing, { witnessSinceMs }: JoinContext): boolean {
  const { navigation, alpn, worker, deliveryType, startMs, endMs, transferBytes, bodyBytes } = timing;
  if (navigation || worker || deliveryType !== '' || startMs >= witnessSinceMs) return false;
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
  if (!timing.opaque || timing.navigation) return 'missed';
  // Browsers hide as much of what they blocked as of what its site hides, so only the answer's head tells which it was.
  return request?.timingAllowed === false ? 'no-timing-allow-origin' : 'not-exposed';
}

/** What carried the answer. The answer's own word goes before the timing's, which of a 304 repeats an old one. */
function protocolOf(
  timing: Timing,
  request: EndedRequest | null,
  delivery: Delivery,
  revalidated: boolean,
): KnownProtocol | null {
  if (delivery === 'network' && request?.protocol != null) return request.protocol;
  return revalidated ? null : protocolFromAlpn(timing.alpn);
}

/** Of a confirmed copy Firefox gives the stored body's size for what crossed the network. */
function bytesOf(timing: Timing, request: EndedRequest | null, delivery: Delivery): number | null {
  if (delivery !== 'network' || timing.transferBytes === 0 || request?.revalidated === true) return null;
  return timing.transferBytes;
}

function networkFacts(request: EndedRequest | null): Pick<Observation, 'address' | 'altSvc'> {
  return {
    ...(request?.address && { address: request.address }),
    ...(request?.altSvc && { altSvc: request.altSvc }),
  };
}

/**
 * What the browser did for one timing entry; null when it is not worth a record: not https, or ended before any
 * answer. Of a redirect chain the protocol is the last answer's, and so is the origin.
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
    atMs: timing.endMs,
    bytes: bytesOf(timing, request, delivery),
    ...(delivery === 'network' && networkFacts(request)),
    ...(protocol === null
      ? { protocol: 'unknown', reason: reasonOf(timing, request, delivery, revalidated) }
      : { protocol }),
  };
}

/** An answer that no timing entry told of: counted, by what it said itself. `kind` is what it was to its page. */
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
