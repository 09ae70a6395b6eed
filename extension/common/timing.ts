// What a content script reports about a page's requests: plain data, which comes from the page's process, so each value
// is bounded and typed once, here. The background validates it (`batch-queue.ts`) before using any of it; into every
// frame only the rest of this file is loaded, because the build leaves out schemas that are not used.
import { count, isTooLate } from '@photofinish/shared/web/untrusted';
import * as v from 'valibot';

/** URLs are truncated to this on both sides of the join; longer ones differ only in data that nothing here needs. */
export const MAX_URL_CHARS = 1024;
export const MAX_BATCH_ENTRIES = 400;
/** What a page may report in an hour; requests beyond it are counted by webRequest alone (as missed), if at all. */
export const MAX_PAGE_ENTRIES = 10_000;

/** A page's clock may be ahead, or the page may lie: nothing that it reports is in the future. */
function byNow(atMs: number): number {
  const nowMs = Date.now();
  return isTooLate(atMs, nowMs) ? nowMs : atMs;
}

/** Milliseconds since the epoch. */
const instant = v.pipe(v.number(), v.finite(), v.minValue(0), v.transform(byNow));

const timingSchema = v.object({
  /** A navigation entry describes the document itself. */
  navigation: v.boolean(),
  /** Without fragment, truncated to MAX_URL_CHARS; for a redirect chain the first URL. */
  url: v.pipe(v.string(), v.startsWith('https://'), v.maxLength(MAX_URL_CHARS)),
  /** `nextHopProtocol`; empty when hidden. */
  alpn: v.pipe(v.string(), v.maxLength(32)),
  /** `deliveryType`: empty, `cache` or `navigational-prefetch`. */
  deliveryType: v.pipe(v.string(), v.maxLength(32)),
  startMs: instant,
  endMs: instant,
  /** First byte of the response; 0 when hidden. */
  firstByteMs: instant,
  /** `transferSize`; 0 for a cache hit and when hidden. */
  transferBytes: count,
  /** `decodedBodySize`; 0 when hidden. */
  bodyBytes: count,
  /** A service worker was involved (`workerStart` is set). */
  worker: v.boolean(),
  // The optional ones are absent in batches left behind by an older version.
  /** A redirect led here (`redirectStart` is set, which it is only if every server on the way allows it). */
  redirected: v.optional(v.boolean(), false),
  /** The initiator's type as Resource Timing names it, such as `img` or `fetch`. */
  initiator: v.optional(v.pipe(v.string(), v.maxLength(32)), ''),
  /** The response's status; 0 when hidden. */
  status: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(999)), 0),
  /** It, or an earlier response for this URL in the document, was partial (206). */
  partial: v.optional(v.boolean(), false),
  /**
   * No request start is exposed: the site hides its timings (`Timing-Allow-Origin`), or the browser blocked the
   * response.
   */
  opaque: v.boolean(),
});

/** One navigation or resource timing entry (Resource Timing Level 2, Navigation Timing Level 2). */
export interface Timing extends Readonly<v.InferOutput<typeof timingSchema>> {
  /** The Alt-Svc header of the stored response, empty if it has none; added by the background (`light-mode.ts`). */
  readonly altSvc?: string;
}

export const timingBatchSchema = v.object({
  type: v.literal('timings'),
  /** Random, one per document; together with `seq` it identifies the batch, so that one sent twice counts once. */
  source: v.pipe(v.string(), v.uuid()),
  seq: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1_000_000)),
  /** The outermost page's origin if this is a frame; null in the outermost page itself. */
  topOrigin: v.nullable(v.pipe(v.string(), v.maxLength(300))),
  /** When this document began. */
  startedMs: instant,
  /** The document is controlled by a service worker. */
  controlled: v.boolean(),
  // Counted before they are read.
  entries: v.pipe(
    v.array(v.unknown()),
    v.minLength(1),
    v.maxLength(MAX_BATCH_ENTRIES),
    v.array(timingSchema),
    v.readonly(),
  ),
});

export interface TimingBatch extends Readonly<v.InferOutput<typeof timingBatchSchema>> {
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
export const leftSchema = v.object({
  type: v.literal('left'),
  batches: v.pipe(v.array(timingBatchSchema), v.minLength(1), v.maxLength(MAX_LEFT_BATCHES), v.readonly()),
});
export type LeftMessage = v.InferOutput<typeof leftSchema>;

/** A document is in view that was not loaded just now: it was restored from the back/forward cache or prerendered. */
export const arrivedSchema = v.object({
  type: v.literal('arrived'),
  arrival: v.picklist(['bfcache', 'prerendered']),
});
export type ArrivalMessage = v.InferOutput<typeof arrivedSchema>;

/** The user clicked or typed in this document. */
export interface TouchMessage {
  readonly type: 'touched';
}

/**
 * The background's question to a document: the Alt-Svc header of the first of these responses of its own origin, which
 * have just come over the network, that the HTTP cache has. The answer is a StoredAnswer, or null.
 */
export interface ReadStoredMessage {
  readonly type: 'read-stored';
  readonly urls: readonly string[];
}

export interface StoredAnswer {
  /** Empty if the stored response has none. */
  readonly altSvc: string;
}

/** The background's answer, sent only once the batch is in the ledger. */
export interface TimingAck {
  readonly ack: number;
  /** Nothing of this document is recorded, so it can stop reporting. */
  readonly stop?: true;
}

/** Whether the response has just crossed the network, sent by this origin itself: then the HTTP cache may have it. */
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
