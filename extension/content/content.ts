// In every frame of an https origin: reads navigation and resource timings and sends them to the background. Reads
// nothing of the page itself, changes nothing in it, and stops quietly when the extension is reloaded.
import { BROWSER } from '../common/edition.ts';
import {
  type ArrivalMessage,
  comparableUrl,
  epochOriginMs,
  type LeftMessage,
  type ReadStoredMessage,
  type StoredAnswer,
  type Timing,
  type TimingAck,
  type TimingBatch,
  type TouchMessage,
} from '../common/timing.ts';
import { createQueue, type NumberedBatch } from './queue.ts';

/** A random UUID (RFC 9562 section 5.4): an https frame of an http page is no secure context, and has no `randomUUID`. */
function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16)).map((byte, i) => {
    if (i === 6) return (byte & 0x0f) | 0x40;
    return i === 8 ? (byte & 0x3f) | 0x80 : byte;
  });
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

const source = randomId();
const { timeOrigin } = performance;
/** The maximum wait for an idle moment before the work is done anyway. */
const IDLE_WAIT_MS = 500;
/** A document that takes longer to load, or never ends, is reported before its end: its protocol is known already. */
const DOCUMENT_WAIT_MS = 1000;

/** Resource Timing Level 3 adds these, which TypeScript does not know yet. */
type Entry = PerformanceResourceTiming & { readonly deliveryType?: string; readonly responseStatus?: number };

const PARTIAL = 206;
/** URLs of which parts were requested. */
const ranges = new Set<string>();
const MAX_RANGES = 200;

function isPartial({ name, responseStatus }: Entry): boolean {
  if (responseStatus === PARTIAL && ranges.size < MAX_RANGES) ranges.add(name);
  return responseStatus === PARTIAL || ranges.has(name);
}

function timingOf(entry: Entry): Timing {
  const originMs = epochOriginMs();
  return {
    navigation: entry.entryType === 'navigation',
    url: comparableUrl(entry.name),
    alpn: entry.nextHopProtocol.slice(0, 32),
    deliveryType: entry.deliveryType ?? '',
    startMs: originMs + entry.startTime,
    endMs: originMs + (entry.responseEnd || entry.startTime),
    firstByteMs: entry.responseStart > 0 ? originMs + entry.responseStart : 0,
    transferBytes: entry.transferSize,
    bodyBytes: entry.decodedBodySize,
    worker: entry.workerStart > 0,
    redirected: entry.redirectStart > 0,
    initiator: entry.initiatorType.slice(0, 32),
    status: entry.responseStatus ?? 0,
    partial: isPartial(entry),
    // Firefox hides only the protocol: to an extension it exposes the times even if a site hides them.
    opaque: entry.nextHopProtocol === '' && (BROWSER === 'firefox' || entry.requestStart === 0),
  };
}

function topOrigin(): string | null {
  if (window.top === window) return null;
  const ancestors = location.ancestorOrigins;
  return ancestors[ancestors.length - 1] ?? 'null';
}

function batchOf({ seq, entries }: NumberedBatch): TimingBatch {
  return {
    type: 'timings',
    source,
    seq,
    topOrigin: topOrigin(),
    startedMs: timeOrigin,
    controlled: controlled(),
    entries,
  };
}

/** After a reload of the extension this script is orphaned: `runtime.id` is gone and every call would throw. */
function isOrphan(): boolean {
  return chrome.runtime?.id === undefined;
}

/** Whether a service worker controls the document; a sandboxed document has none, and throws on access. */
function controlled(): boolean {
  try {
    return navigator.serviceWorker?.controller != null;
  } catch {
    return false;
  }
}

async function send(numbered: NumberedBatch): Promise<boolean> {
  if (isOrphan()) {
    stop();
    return true;
  }
  const answer: TimingAck | undefined = await chrome.runtime.sendMessage(batchOf(numbered));
  if (answer?.stop === true) stop();
  return answer?.ack === numbered.seq;
}

/** Visible to this script in other documents of the same origin, and not to pages. */
const shared = globalThis as typeof globalThis & { photofinishQueue?: ReturnType<typeof createQueue> };

/**
 * Chromium attributes the requests of the empty document that a frame or window begins with to the document that created
 * it, which therefore reports them. Null: it is of another origin, or reports nothing.
 */
function creatorsQueue(): typeof shared.photofinishQueue | null {
  if (navigation.currentEntry !== null) return null;
  try {
    const creator: typeof shared | null = window.parent === window ? window.opener : window.parent;
    return creator?.photofinishQueue ?? null;
  } catch {
    return null;
  }
}

const blank = BROWSER === 'chromium' && location.href.startsWith('about:blank');
const inherited = blank ? creatorsQueue() : null;
/**
 * Reports nothing: the script of a URL wrote it, so that its requests are attributed to another document too, or its
 * creator cannot report them. A document navigated to names the one before it, unless that was of another origin.
 */
const silent = blank && inherited === null && !navigation.activation?.from;
const queue =
  inherited ??
  createQueue({
    send,
    later: (delayMs, run) => {
      setTimeout(() => requestIdleCallback(run, { timeout: IDLE_WAIT_MS }), delayMs);
    },
    loading: () => document.readyState !== 'complete',
  });
shared.photofinishQueue = queue;

let navigationTaken = false;

/** The document's own entry, once its response is complete; `asItIs` if nothing more can be waited for. */
function takeNavigation(asItIs: boolean): void {
  if (navigationTaken) return;
  const [entry] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  if (!entry?.name.startsWith('https:') || (entry.responseEnd === 0 && !asItIs)) return;
  navigationTaken = true;
  queue.add([timingOf(entry)]);
}

/**
 * A frame's document reports itself with its own navigation entry; its parent's entry would count it twice. Nothing tells
 * whether an `object` or `embed` of another origin shows an image.
 */
const FRAMES = ['iframe', 'frame', 'object', 'embed'];

function takeResources(entries: PerformanceEntryList): void {
  const resources = entries as PerformanceResourceTiming[];
  const own = resources.filter((e) => e.name.startsWith('https:') && !FRAMES.includes(e.initiatorType));
  queue.add(own.map(timingOf));
}

const observer = new PerformanceObserver((list) => {
  takeResources(list.getEntries());
  // Timers of hidden pages are throttled to one minute; hidden pages send rarely enough to do so at once.
  if (document.visibilityState === 'hidden') queue.flush();
});

function leave(): void {
  takeNavigation(true);
  takeResources(observer.takeRecords());
  queue.flush();
}

/**
 * A closing page cannot resend if the background is terminated while processing its last batches, so it leaves them
 * there.
 */
function onPageHide(): void {
  leave();
  if (isOrphan() || inherited !== null) return;
  const batches = queue.unanswered().map((numbered) => {
    const entries = numbered.entries.map((e) => ({ ...e, url: `${new URL(e.url).origin}/` }));
    return batchOf({ ...numbered, entries });
  });
  const left: LeftMessage = { type: 'left', batches };
  if (batches.length > 0) chrome.runtime.sendMessage(left).catch(() => {});
}

function onVisibilityChange(): void {
  if (document.visibilityState === 'hidden') leave();
}

/** The popup shows how its page arrived; losing this message costs nothing else. */
function tellArrival(arrival: ArrivalMessage['arrival']): void {
  if (window.top !== window || isOrphan()) return;
  const arrived: ArrivalMessage = { type: 'arrived', arrival };
  chrome.runtime.sendMessage(arrived).catch(() => {});
}

function onPageShow(event: PageTransitionEvent): void {
  if (!event.persisted) return;
  queue.resume();
  tellArrival('bfcache');
}

/**
 * The Alt-Svc header of the first of these responses that the HTTP cache has. `only-if-cached` never uses the network,
 * and without a body the page finds no entry of it. Null: none is stored, or a service worker would answer instead.
 */
async function readStored(urls: readonly string[]): Promise<StoredAnswer | null> {
  for (const url of urls) {
    if (controlled()) return null;
    const headersOnly = new AbortController();
    const { signal } = headersOnly;
    const stored = await fetch(url, { cache: 'only-if-cached', mode: 'same-origin', signal }).catch(
      () => null,
    );
    headersOnly.abort();
    if (stored !== null) return { altSvc: stored.headers.get('alt-svc') ?? '' };
  }
  return null;
}

function onQuestion(
  message: ReadStoredMessage,
  _: chrome.runtime.MessageSender,
  respond: (answer: StoredAnswer | null) => void,
): boolean {
  if (message.type !== 'read-stored') return false;
  readStored(message.urls).then(respond);
  return true;
}

/** The events that restart or end the work. A page can dispatch any number of them, but those are not trusted. */
const ON_WINDOW = ['pagehide', 'pageshow', 'load'];
const ON_DOCUMENT = ['visibilitychange', 'DOMContentLoaded'];

function onEvent(event: Event): void {
  if (!event.isTrusted) return;
  if (event.type === 'pagehide') onPageHide();
  else if (event.type === 'pageshow') onPageShow(event as PageTransitionEvent);
  else if (event.type === 'visibilitychange') onVisibilityChange();
  // A prefetched document never gets a response end.
  else takeNavigation(event.type === 'load');
}

/** User actions that pages cannot produce. */
const TOUCHES = ['pointerdown', 'keydown'];
/** The minimum interval between reports; a background that was informed keeps running for longer. */
const TOUCHED_MS = 10_000;
let touchedMs = Number.NEGATIVE_INFINITY;
const listening = new AbortController();

function onTouch(event: Event): void {
  if (!event.isTrusted || event.timeStamp - touchedMs < TOUCHED_MS) return;
  touchedMs = event.timeStamp;
  const touched: TouchMessage = { type: 'touched' };
  if (!isOrphan()) chrome.runtime.sendMessage(touched).catch(() => {});
}

function start(): void {
  const { signal } = listening;
  setTimeout(takeNavigation, DOCUMENT_WAIT_MS, true);
  for (const type of ON_WINDOW) addEventListener(type, onEvent, { signal });
  for (const type of ON_DOCUMENT) document.addEventListener(type, onEvent, { signal });
  for (const type of TOUCHES) addEventListener(type, onTouch, { capture: true, passive: true, signal });
  chrome.runtime.onMessage.addListener(onQuestion);
  observer.observe({ type: 'resource', buffered: true });
  takeNavigation(false);
}

function stop(): void {
  queue.stop();
  observer.disconnect();
  if (!isOrphan()) chrome.runtime.onMessage.removeListener(onQuestion);
  listening.abort();
}

function onActivated(event: Event): void {
  if (!event.isTrusted) return;
  document.removeEventListener('prerenderingchange', onActivated);
  tellArrival('prerendered');
  start();
}

/**
 * Firefox also runs this in pages that are open when the extension is installed, updated or enabled. What such a page
 * loaded may be counted already, so it is left alone until it is reloaded, as in Chromium. Neither sign suffices there:
 * an image starts as `interactive`, and the times of a reloaded error page stay in what then loads.
 */
function wasOpen(): boolean {
  const [entry] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  return document.readyState !== 'loading' && entry !== undefined && entry.domContentLoadedEventStart > 0;
}

// A prerendered page is not a visit yet; if it never becomes one, it is never counted.
if (silent) queue.stop();
else if ('prerendering' in document && document.prerendering === true)
  document.addEventListener('prerenderingchange', onActivated);
else if (!wasOpen()) start();
