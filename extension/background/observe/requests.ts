// The table of answered requests that webRequest saw and no timing entry has claimed yet. A claim joins the two halves
// of one request; what is not claimed within SETTLE_MS was missed by the content script and is counted as missed. Only
// what was counted so outlives the background: a page may time it much later.

import { FNV_BASIS, fnv1a } from '@photofinish/shared/web/fnv';
import type { KnownProtocol } from '@photofinish/shared/web/protocol';
import { dropOldest } from '../../common/drop-oldest.ts';
import { comparableUrl } from '../../common/timing.ts';

export interface EndedRequest {
  /** The browser's id of the request. */
  readonly id: string;
  /** -1: not in a tab (a request made by a service worker or shared worker itself). */
  readonly tabId: number;
  /** The requesting document; null for a navigation, whose document does not exist yet. */
  readonly documentId: string | null;
  /** For the outermost page, for a frame's document, or by a document. */
  readonly kind: 'navigation' | 'frame' | 'resource';
  /** A redirect's response, which has no timing of its own. */
  readonly hop: boolean;
  /** Where the request began; `url` is the one that answered, after redirects. */
  readonly firstUrl: string;
  readonly url: string;
  readonly atMs: number;
  /** False: it failed before any response arrived. */
  readonly answered: boolean;
  /**
   * Whether it and the redirects that led to it let the initiator see their timings; null if the browser reveals none
   * of its headers, as for a blocked response.
   */
  readonly timingAllowed: boolean | null;
  /** The browser withheld the whole response from the initiator. Unknown for a response that was cut off. */
  readonly withheld: boolean;
  /** As the response itself named it; null if the browser does not reveal it (Chromium), or it came from a cache. */
  readonly protocol: KnownProtocol | null;
  /** Whether it went through a proxy; absent: the browser does not say so of a request (Chromium). */
  readonly proxied?: boolean;
  /** The server confirmed a stored copy (304), and this is that response. */
  readonly revalidated: boolean;
  readonly fromCache: boolean;
  readonly address: string | null;
  readonly altSvc: string | null;
  /** Requested by a prerendered page, whose visit may never happen. */
  readonly prerender: boolean;
  /** Origin or address of the initiator, if the browser names it. */
  readonly initiator: string | null;
  /** Whether it belongs to a private window; null if the browser does not say. */
  readonly incognito: boolean | null;
  /** The browser shows the document in a viewer of its own, in which no content script runs (Firefox, PDF). */
  readonly inViewer?: true;
}

export interface Claim {
  readonly tabId: number;
  readonly documentId: string | null;
  readonly navigation: boolean;
  readonly url: string;
  /** The entry was taken before its response was complete, so its request has yet to end. */
  readonly unfinished: boolean;
  /** The entry itself says that the response crossed the network. */
  readonly crossed: boolean;
  /**
   * When the response arrived, as its event is dated: the first byte of a document's, the last of any other;
   * milliseconds since the epoch.
   */
  readonly answeredAtMs: number;
}

/**
 * A timing entry is sent within about a second of the request's end; a page with thousands of requests, or a hidden
 * one, takes longer. The service worker lives 30 s without an event, so what waits longer would be lost.
 */
export const SETTLE_MS = 20_000;
/**
 * For a document that names its own protocol, the page's message adds only its size, and some pages never send one: no
 * content script runs in the browser's viewers. Others do so within 3 s.
 */
const DOCUMENT_SETTLE_MS = 5000;
const MAX_ENTRIES = 5000;
const MAX_COUNTED = 5000;
/** Responses reported before they ended; a page has one, and few pages load at once. */
const MAX_EARLY = 500;
const MAX_UNMATCHED = 5000;
/** Pages and the browser use different clocks, and pages round theirs. */
const CLOCKS_MS = 50;
/**
 * Firefox, whose responses name their protocol, timestamps a request only when it processes it: on a page with many
 * requests 113 ms after the response's first byte in the median, and more than 500 ms on a saturated machine. If that
 * is taken too far, a later request for the same URL is dropped in its place, and its own timing counts instead of it.
 */
const STAMPED_LATE_MS = 5000;
/** How far apart event and entry of one response may be on a busy machine, if only address and time join them. */
const SAME_RESPONSE_MS = 1000;
/** Browsers keep a prerendered page for a few minutes at most. */
const PRERENDER_MS = 300_000;

/** How often each was counted as missed, by digest of its key. */
interface CountedRequests extends Pick<Map<string, number>, 'get' | 'delete' | 'size' | 'keys'> {
  set(key: string, times: number): unknown;
}

/** What outlives the background names no address. */
function digestOf(key: string): string {
  return fnv1a(key, FNV_BASIS).toString(36);
}

function keyOf(tabId: number, documentId: string | null, navigation: boolean, url: string): string {
  // A navigation is requested before its document exists, so it is joined by its tab.
  const asker = navigation ? tabId : (documentId ?? `of ${tabId}`);
  return `${asker} ${comparableUrl(url)}`;
}

/**
 * Where a claim's request may be: for Firefox's `fetch` with `keepalive`, which outlives its document, only the tab is
 * known.
 */
function keysOf({ tabId, documentId, navigation, url }: Claim): string[] {
  const own = keyOf(tabId, documentId, navigation, url);
  return navigation || documentId === null ? [own] : [own, keyOf(tabId, null, false, url)];
}

function settleMs({ prerender, kind, hop, protocol }: EndedRequest): number {
  if (prerender) return PRERENDER_MS;
  return kind === 'navigation' && !hop && protocol !== null ? DOCUMENT_SETTLE_MS : SETTLE_MS;
}

/**
 * Which of a tab's requests for one URL belongs to a document, which is reported when the headers of its response
 * arrive: the one of the same moment. A tab may have loaded the same page again before the first visit's timings are
 * here, and others were abandoned, or prerendered and never shown.
 */
function ofDocument(list: readonly EndedRequest[], answeredAtMs: number): number {
  const away = list.map(({ atMs }) => Math.abs(atMs - answeredAtMs));
  return away.lastIndexOf(Math.min(...away));
}

/** A response that a page reported and for which no request was seen. */
interface UnmatchedResponse {
  readonly keys: readonly string[];
  readonly answeredAtMs: number;
  /** It was counted as a stored copy. */
  readonly stored: boolean;
}

export class RequestTable {
  readonly #waiting = new Map<string, EndedRequest[]>();
  #counted: CountedRequests = new Map();
  readonly #early = new Set<string>();
  /** Responses whose entries found no request, by each key under which it may arrive. */
  readonly #unmatched = new Map<string, UnmatchedResponse[]>();
  #overflow: EndedRequest[] = [];
  #size = 0;

  /** Takes what the background counted before it was terminated, and keeps there what this one does. */
  recall(counted: CountedRequests): void {
    this.#counted = counted;
  }

  add(request: EndedRequest): void {
    const key = this.#requestKey(request);
    if (this.#early.delete(key)) return;
    if (this.#isLate(key, request)) return;
    // A navigation that failed created no document that could report it.
    if (!request.answered && request.kind !== 'resource') return;
    const list = this.#waiting.get(key);
    // Cut off after its response began: there was a response nevertheless.
    if (!request.answered && list?.some(({ id }) => id === request.id)) return;
    if (list === undefined) this.#waiting.set(key, [request]);
    else list.push(request);
    this.#size += 1;
    const [oldest] = this.#waiting.keys();
    if (this.#size <= MAX_ENTRIES || oldest === undefined) return;
    const dropped = this.#take(oldest, () => 0);
    if (dropped !== null) this.#overflow.push(dropped);
  }

  /** How many requests are here that this may claim, or were already returned as missed. */
  known(claim: Claim): number {
    const counts = keysOf(claim).map(
      (key) => (this.#waiting.get(key)?.length ?? 0) + (this.#counted.get(digestOf(key)) ?? 0),
    );
    return counts.reduce((sum, count) => sum + count, 0);
  }

  /** The request a timing entry belongs to; `counted` if it was already returned as missed; null if none was seen. */
  claim(claim: Claim): EndedRequest | 'counted' | null {
    const { navigation, unfinished, answeredAtMs } = claim;
    const keys = keysOf(claim);
    for (const key of keys) {
      // Resource entries arrive in the order in which the requests ended.
      const found = this.#take(key, (list) => (navigation ? ofDocument(list, answeredAtMs) : 0));
      if (found !== null) return found;
    }
    if (keys.some((key) => this.#unmarkCounted(key))) return 'counted';
    const misattributed = this.#ofOtherDocument(claim);
    if (misattributed !== null) return misattributed;
    const [own = ''] = keys;
    if (unfinished) {
      this.#early.add(own);
      dropOldest(this.#early, MAX_EARLY);
    }
    return null;
  }

  /**
   * The claim found no request, but was counted nevertheless: if that request is reported later, it is dropped. Except
   * if the claim was taken for a stored copy (`stored`) and the request crossed the network: then it has yet to be
   * counted.
   */
  countUnmatched(claim: Claim, stored: boolean): void {
    const { unfinished, answeredAtMs } = claim;
    if (!unfinished) this.#markUnmatched({ keys: keysOf(claim), answeredAtMs, stored });
  }

  /**
   * A tab shows a document now. Returns whether it is in a viewer of the browser: then no page will claim its request,
   * which `expire` returns next.
   */
  committed(tabId: number, url: string): boolean {
    const key = keyOf(tabId, null, true, url);
    const at = this.#waiting.get(key)?.findLastIndex(({ inViewer }) => inViewer === true) ?? -1;
    const viewed = at < 0 ? null : this.#take(key, () => at);
    if (viewed !== null) this.#overflow.push(viewed);
    return viewed !== null;
  }

  /** Removes and returns the answered requests that have waited long enough: they will no longer be claimed. */
  expire(
    nowMs: number,
    /** For a report, waiting ends early. */
    isDue = (request: EndedRequest) => nowMs - request.atMs >= settleMs(request),
  ): EndedRequest[] {
    for (const [key, answers] of this.#unmatched)
      if (answers.every(({ answeredAtMs }) => nowMs - answeredAtMs >= SETTLE_MS)) this.#unmatched.delete(key);
    const due = this.#overflow;
    this.#overflow = [];
    for (const [key, list] of this.#waiting) {
      const stay = list.filter((r) => !isDue(r));
      if (stay.length === list.length) continue;
      due.push(...list.filter(isDue));
      this.#size -= list.length - stay.length;
      if (stay.length === 0) this.#waiting.delete(key);
      else this.#waiting.set(key, stay);
    }
    const missed = due.filter((r) => r.answered && !r.prerender);
    for (const request of missed) if (!request.hop) this.#markCounted(request);
    return missed;
  }

  get size(): number {
    return this.#size;
  }

  /** How many of these may count as responses over the network, but wait. */
  pending(which: (request: EndedRequest) => boolean): number {
    const all = [...this.#overflow, ...[...this.#waiting.values()].flat()];
    // A copy from a cache may have been revalidated over the network, which only its timing says; a redirect has none.
    const counts = ({ answered, prerender, fromCache, hop }: EndedRequest) =>
      answered && !prerender && !(fromCache && hop);
    return all.filter((r) => counts(r) && which(r)).length;
  }

  #requestKey(r: EndedRequest): string {
    // A hop has no timing entry, so it must not be claimed.
    if (r.hop) return `hop ${r.id} ${r.url}`;
    // Navigation entries are named after the last URL of a redirect chain, resource entries after the first.
    if (r.kind === 'resource') return keyOf(r.tabId, r.documentId, false, r.firstUrl);
    return keyOf(r.tabId, r.documentId, true, r.url);
  }

  #take(key: string, choose: (list: readonly EndedRequest[]) => number): EndedRequest | null {
    const list = this.#waiting.get(key);
    const [taken] = list?.splice(choose(list), 1) ?? [];
    if (list?.length === 0) this.#waiting.delete(key);
    if (taken !== undefined) this.#size -= 1;
    return taken ?? null;
  }

  /**
   * Chromium attributes what a frame requests right after its first navigation committed to the document before
   * (measured on 156). Of several responses that crossed the network, it does not matter which entry takes which.
   */
  #ofOtherDocument({ tabId, navigation, crossed, url, answeredAtMs }: Claim): EndedRequest | null {
    if (navigation || !crossed) return null;
    const wanted = comparableUrl(url);
    const isIt = (r: EndedRequest): boolean =>
      r.kind === 'resource' &&
      r.answered &&
      !r.hop &&
      r.tabId === tabId &&
      comparableUrl(r.firstUrl) === wanted &&
      Math.abs(r.atMs - answeredAtMs) <= SAME_RESPONSE_MS;
    for (const [key, list] of this.#waiting) {
      const at = list.findIndex(isIt);
      if (at >= 0) return this.#take(key, () => at);
    }
    return null;
  }

  #markUnmatched(answer: UnmatchedResponse): void {
    for (const key of answer.keys) {
      // A page may request one address for as long as it is open, and `expire` keeps a list that has a recent response.
      const recent = (this.#unmatched.get(key) ?? []).filter(
        ({ answeredAtMs }) => answer.answeredAtMs - answeredAtMs < SETTLE_MS,
      );
      this.#unmatched.set(key, [...recent, answer]);
      dropOldest(this.#unmatched, MAX_UNMATCHED);
    }
  }

  #forgetUnmatched(answer: UnmatchedResponse): void {
    for (const key of answer.keys) {
      const rest = this.#unmatched.get(key)?.filter((each) => each !== answer) ?? [];
      if (rest.length === 0) this.#unmatched.delete(key);
      else this.#unmatched.set(key, rest);
    }
  }

  /** Whether its entry arrived before it: a busy Firefox reports a request long after its page. */
  #isLate(key: string, { answered, atMs, protocol, fromCache }: EndedRequest): boolean {
    if (!answered) return false;
    // A later request for the same URL is answered later too.
    const apartMs = protocol === null ? CLOCKS_MS : STAMPED_LATE_MS;
    const answer = this.#unmatched
      .get(key)
      ?.find(({ answeredAtMs, stored }) => atMs <= answeredAtMs + apartMs && (!stored || fromCache));
    if (answer === undefined) return false;
    this.#forgetUnmatched(answer);
    return true;
  }

  #markCounted(request: EndedRequest): void {
    const key = digestOf(this.#requestKey(request));
    this.#counted.set(key, (this.#counted.get(key) ?? 0) + 1);
    dropOldest(this.#counted, MAX_COUNTED);
  }

  #unmarkCounted(requestKey: string): boolean {
    const key = digestOf(requestKey);
    const times = this.#counted.get(key);
    if (times === undefined) return false;
    if (times === 1) this.#counted.delete(key);
    else this.#counted.set(key, times - 1);
    return true;
  }
}
