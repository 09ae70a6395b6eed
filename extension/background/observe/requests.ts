// The table of answered requests that webRequest saw and no timing entry has claimed yet. A claim joins the two
// halves of one request; what nobody claims in time was missed by the content script and is counted as such.
// Lives in the service worker's memory only: an entry is made when a request ends and lives until it is claimed,
// or SETTLE_MS later, when it is handed out as missed.

import type { KnownProtocol } from '@photofinish/shared/web/protocol';
import { dropOldest } from '../../common/drop-oldest.ts';
import { comparableUrl } from '../../common/timing.ts';

export interface EndedRequest {
  /** The browser's name for the request. */
  readonly id: string;
  /** -1: not in a tab (a service worker's or shared worker's own request). */
  readonly tabId: number;
  /** The document that asked; null for a navigation, whose document does not exist yet. */
  readonly documentId: string | null;
  /** Of the outermost page, of a frame's document, or by a document. */
  readonly kind: 'navigation' | 'frame' | 'resource';
  /** A redirect's answer: it has no timing of its own. */
  readonly hop: boolean;
  /** Where the request began, and where the answer came from after redirects. */
  readonly firstUrl: string;
  readonly url: string;
  readonly atMs: number;
  /** False: it failed before any answer came. */
  readonly answered: boolean;
  /**
   * Whether it and the redirects that led to it let who asked see their timings; null where the browser tells no header of
   * it, as of what it blocked.
   */
  readonly timingAllowed: boolean | null;
  /** The browser kept the whole answer from who asked. Of one that was cut off nobody can say so. */
  readonly withheld: boolean;
  /** As the answer itself named it; null where the browser does not tell (Chromium), and for what came from a cache. */
  readonly protocol: KnownProtocol | null;
  /** The server confirmed a stored copy (304), and this is its answer. */
  readonly revalidated: boolean;
  readonly fromCache: boolean;
  readonly address: string | null;
  readonly altSvc: string | null;
  /** Asked for by a page rendered ahead of time, whose visit may never happen. */
  readonly prerender: boolean;
  /** Origin or address of who asked, where the browser names it. */
  readonly initiator: string | null;
  /** Whether it belongs to a private window; null where the browser does not say. */
  readonly incognito: boolean | null;
}

interface Claim {
  readonly tabId: number;
  readonly documentId: string | null;
  readonly navigation: boolean;
  readonly url: string;
  /** The entry was taken before its answer was complete, so its request is yet to end. */
  readonly unfinished: boolean;
  /** When the answer's first byte came, milliseconds since the epoch. */
  readonly answeredAtMs: number;
}

/**
 * A timing entry leaves its page within about a second of the request's end; a page busy with thousands of requests, or
 * a hidden one, takes longer. The service worker lives 30 s without an event, so what waits longer would be lost.
 */
export const SETTLE_MS = 20_000;
/**
 * A document that names its own protocol needs its page's word for its size alone, and some pages never speak: the
 * browser's viewers of PDF and the like let no content script in. Others do so within 3 s.
 */
const TOLD_DOCUMENT_MS = 5000;
const MAX_ENTRIES = 5000;
const MAX_COUNTED = 5000;
/** Answers told of before they ended; a page has one, and few pages load at once. */
const MAX_EARLY = 500;
const MAX_UNHEARD = 5000;
/** Pages and the browser tell the time by clocks of their own, and pages round theirs. */
const CLOCKS_MS = 50;
/**
 * Firefox, whose answers name their protocol, stamps a request when it comes to it: on a page of many requests 113 ms after
 * the answer's first byte in the median, and 273 ms at most.
 */
const STAMPED_LATE_MS = 500;
/** A page rendered ahead of time is kept waiting by browsers for a few minutes at most. */
const PRERENDER_MS = 300_000;

function keyOf(tabId: number, documentId: string | null, navigation: boolean, url: string): string {
  // A navigation is asked for before its document exists, so it is joined by its tab.
  const asker = navigation ? tabId : (documentId ?? `of ${tabId}`);
  return `${asker} ${comparableUrl(url)}`;
}

/** Where a claim's request may be: of Firefox's `fetch` with `keepalive`, which outlives its document, only the tab is told. */
function keysOf({ tabId, documentId, navigation, url }: Claim): string[] {
  const own = keyOf(tabId, documentId, navigation, url);
  return navigation || documentId === null ? [own] : [own, keyOf(tabId, null, false, url)];
}

function settleMs({ prerender, kind, hop, protocol }: EndedRequest): number {
  if (prerender) return PRERENDER_MS;
  return kind === 'navigation' && !hop && protocol !== null ? TOLD_DOCUMENT_MS : SETTLE_MS;
}

export interface RequestTable {
  add(request: EndedRequest): void;
  /** The request a timing entry belongs to; `counted` when it was already handed out as missed; null: none seen. */
  claim(claim: Claim): EndedRequest | 'counted' | null;
  /**
   * The claim found no request, and what it is of was counted all the same: that request is dropped when it is heard of
   * after all. Unless it was taken for a stored copy (`stored`) and crossed the network: then it has yet to be counted.
   */
  countUnmatched(claim: Claim, stored: boolean): void;
  /** Takes out what has waited long enough and got an answer: nobody will claim it any more. */
  expire(nowMs: number): EndedRequest[];
  readonly size: number;
}

/**
 * Which of a tab's requests for one URL a document is of. Where the browser tells of a request when its answer's head
 * comes, that of the same moment: a tab may have gone to the same page again before the first visit's timings are here.
 * Else the newest: earlier ones were abandoned, or rendered ahead of time for nothing.
 */
function ofDocument(list: readonly EndedRequest[], answeredAtMs: number): number {
  if (!list.some(({ protocol }) => protocol !== null)) return list.length - 1;
  const away = list.map(({ atMs }) => Math.abs(atMs - answeredAtMs));
  return away.indexOf(Math.min(...away));
}

/** An answer that a page told of and no request was heard of. */
interface UnmatchedAnswer {
  readonly keys: readonly string[];
  readonly answeredAtMs: number;
  /** It was counted as a stored copy. */
  readonly stored: boolean;
}

export function createRequestTable(): RequestTable {
  return new PendingRequests();
}

class PendingRequests implements RequestTable {
  readonly #waiting = new Map<string, EndedRequest[]>();
  readonly #counted = new Map<string, number>();
  readonly #early = new Set<string>();
  /** Answers whose entries found no request, by each key that it may come under. */
  readonly #unmatched = new Map<string, UnmatchedAnswer[]>();
  #overflow: EndedRequest[] = [];
  #size = 0;

  add(request: EndedRequest): void {
    const key = this.#requestKey(request);
    if (request.kind !== 'resource' && this.#early.delete(key)) return;
    if (this.#isLate(key, request)) return;
    // A navigation that failed made no document that could tell of it.
    if (!request.answered && request.kind !== 'resource') return;
    const list = this.#waiting.get(key);
    // Cut off after its answer began: that answer came all the same.
    if (!request.answered && list?.some(({ id }) => id === request.id)) return;
    if (list === undefined) this.#waiting.set(key, [request]);
    else list.push(request);
    this.#size += 1;
    const [oldest] = this.#waiting.keys();
    if (this.#size <= MAX_ENTRIES || oldest === undefined) return;
    const dropped = this.#take(oldest, () => 0);
    if (dropped !== null) this.#overflow.push(dropped);
  }

  claim(claim: Claim): EndedRequest | 'counted' | null {
    const { navigation, unfinished, answeredAtMs } = claim;
    const keys = keysOf(claim);
    for (const key of keys) {
      // Resources tell in the order they ended.
      const found = this.#take(key, (list) => (navigation ? ofDocument(list, answeredAtMs) : 0));
      if (found !== null) return found;
    }
    if (keys.some((key) => this.#unmarkCounted(key))) return 'counted';
    const [own = ''] = keys;
    if (unfinished) {
      this.#early.add(own);
      dropOldest(this.#early, MAX_EARLY);
    }
    return null;
  }

  countUnmatched(claim: Claim, stored: boolean): void {
    const { unfinished, answeredAtMs } = claim;
    if (!unfinished) this.#markUnmatched({ keys: keysOf(claim), answeredAtMs, stored });
  }

  expire(nowMs: number): EndedRequest[] {
    for (const [key, answers] of this.#unmatched)
      if (answers.every(({ answeredAtMs }) => nowMs - answeredAtMs >= SETTLE_MS)) this.#unmatched.delete(key);
    const due = this.#overflow;
    this.#overflow = [];
    for (const [key, list] of this.#waiting) {
      const old = (r: EndedRequest) => nowMs - r.atMs >= settleMs(r);
      const stay = list.filter((r) => !old(r));
      if (stay.length === list.length) continue;
      due.push(...list.filter(old));
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

  #requestKey(r: EndedRequest): string {
    // A hop has no timing entry, so nothing may claim it.
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

  #markUnmatched(answer: UnmatchedAnswer): void {
    for (const key of answer.keys) this.#unmatched.set(key, [...(this.#unmatched.get(key) ?? []), answer]);
    dropOldest(this.#unmatched, MAX_UNHEARD);
  }

  #forgetUnheard(answer: UnmatchedAnswer): void {
    for (const key of answer.keys) {
      const rest = this.#unmatched.get(key)?.filter((each) => each !== answer) ?? [];
      if (rest.length === 0) this.#unmatched.delete(key);
      else this.#unmatched.set(key, rest);
    }
  }

  /** Whether its entry was here before it: a busy Firefox tells of a request long after its page. */
  #isLate(key: string, { answered, atMs, protocol, fromCache }: EndedRequest): boolean {
    if (!answered) return false;
    // A later request for the same is answered later too.
    const apartMs = protocol === null ? CLOCKS_MS : STAMPED_LATE_MS;
    const answer = this.#unmatched
      .get(key)
      ?.find(({ answeredAtMs, stored }) => atMs <= answeredAtMs + apartMs && (!stored || fromCache));
    if (answer === undefined) return false;
    this.#forgetUnheard(answer);
    return true;
  }

  #markCounted(request: EndedRequest): void {
    const key = this.#requestKey(request);
    this.#counted.set(key, (this.#counted.get(key) ?? 0) + 1);
    dropOldest(this.#counted, MAX_COUNTED);
  }

  #unmarkCounted(key: string): boolean {
    const times = this.#counted.get(key);
    if (times === undefined) return false;
    if (times === 1) this.#counted.delete(key);
    else this.#counted.set(key, times - 1);
    return true;
  }
}
