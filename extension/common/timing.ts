// What a content script reports about a page's requests: plain data, bounded, no imports, because this is loaded into
// every frame. The background validates it against a schema (`batch-queue.ts`) before using any of it.

/** URLs are truncated to this on both sides of the join; longer ones differ only in data that nothing here needs. */
export const MAX_URL_CHARS = 1024;
export const MAX_BATCH_ENTRIES = 400;
/** What a page may report in an hour; requests beyond it are counted by webRequest alone (as missed), if at all. */
export const MAX_PAGE_ENTRIES = 10_000;

/** One navigation or resource timing entry (Resource Timing Level 2, Navigation Timing Level 2). */
export interface Timing {
  /** A navigation entry describes the document itself. */
  readonly navigation: boolean;
  /** Without fragment, truncated to MAX_URL_CHARS; for a redirect chain the first URL. */
  readonly url: string;
  /** `nextHopProtocol`; empty when hidden. */
  readonly alpn: string;
  /** `deliveryType`: empty, `cache` or `navigational-prefetch`. */
  readonly deliveryType: string;
  /** Milliseconds since the epoch. */
  readonly startMs: number;
  readonly endMs: number;
  /** First byte of the answer, milliseconds since the epoch; 0 when hidden. */
  readonly firstByteMs: number;
  /** `transferSize`; 0 for a cache hit and when hidden. */
  readonly transferBytes: number;
  /** `decodedBodySize`; 0 when hidden. */
  readonly bodyBytes: number;
  /** A service worker was involved (`workerStart` is set). */
  readonly worker: boolean;
  /** A redirect led here (`redirectStart` is set, which it is only if every server on the way allows it). */
  readonly redirected: boolean;
  /** The initiator's type as Resource Timing names it, such as `img` or `fetch`. */
  readonly initiator: string;
  /** The response's status; 0 when hidden. */
  readonly status: number;
  /** It, or an earlier response of this URL in the document, had a part of the whole (206). */
  readonly partial: boolean;
  /**
   * No request start is exposed: the site hides its timings (`Timing-Allow-Origin`), or the browser blocked the answer.
   */
  readonly opaque: boolean;
  /** The Alt-Svc header of the stored answer, empty if it has none; added by the background (`light-mode.ts`). */
  readonly altSvc?: string;
}

export interface TimingBatch {
  readonly type: 'timings';
  /** Random, one per document; together with `seq` it identifies the batch, so that one sent twice counts once. */
  readonly source: string;
  readonly seq: number;
  /** The outermost page's origin if this is a frame; null in the outermost page itself. */
  readonly topOrigin: string | null;
  /** When this document began, milliseconds since the epoch. */
  readonly startedMs: number;
  /** The document is controlled by a service worker. */
  readonly controlled: boolean;
  readonly entries: readonly Timing[];
}

/** Reading two clocks one after the other, and rounding both, makes a difference of less. */
const CLOCKS_DIFFER_MS = 50;

/**
 * What a document's or background's `performance.now()` counts from, milliseconds since the epoch: mostly its
 * `timeOrigin`, but in most browsers that clock stands still while the machine sleeps, and the system's may be set.
 */
export function epochOriginMs(
  clock: Pick<Performance, 'timeOrigin' | 'now'> = performance,
  epochMs: number = Date.now(),
): number {
  const origin = epochMs - clock.now();
  return Math.abs(origin - clock.timeOrigin) < CLOCKS_DIFFER_MS ? clock.timeOrigin : origin;
}

/** Batches that one document may leave; a queue keeps no more unacknowledged ones. */
export const MAX_LEFT_BATCHES = 32;

/**
 * What had not been acknowledged when a page closed, because it cannot send again. Its URLs are reduced to origins: it
 * is stored for a while, and counting needs no more.
 */
export interface LeftMessage {
  readonly type: 'left';
  readonly batches: readonly TimingBatch[];
}

/** A document is in view that was not loaded just now: it was restored from the back/forward cache or prerendered. */
export interface ArrivalMessage {
  readonly type: 'arrived';
  readonly arrival: 'bfcache' | 'prerendered';
}

/** The user clicked or typed in this document. */
export interface TouchMessage {
  readonly type: 'touched';
}

/**
 * The background's question to a document: the Alt-Svc header of the first of these answers of its own origin, which have
 * just come over the network, that the HTTP cache has. The answer is a StoredAnswer, or null.
 */
export interface ReadStoredMessage {
  readonly type: 'read-stored';
  readonly urls: readonly string[];
}

export interface StoredAnswer {
  /** Empty if the stored answer has none. */
  readonly altSvc: string;
}

/** The background's answer, sent only once the batch is in the ledger. */
export interface TimingAck {
  readonly ack: number;
  /** Nothing of this document is recorded, so it can stop reporting. */
  readonly stop?: true;
}

/** Whether the answer has just crossed the network, sent by this origin itself: then the HTTP cache may have it. */
export function isFreshFrom(
  { url, deliveryType, transferBytes, redirected, worker }: Timing,
  origin: string,
): boolean {
  return url.startsWith(`${origin}/`) && deliveryType === '' && transferBytes > 0 && !redirected && !worker;
}

/** Fragments never reach the network, and both sides truncate at the same length. */
export function comparableUrl(url: string): string {
  const fragment = url.indexOf('#');
  return (fragment < 0 ? url : url.slice(0, fragment)).slice(0, MAX_URL_CHARS);
}
