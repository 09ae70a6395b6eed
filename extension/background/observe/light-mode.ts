// Light mode: whether it is in effect, and what pages report in it instead of events. Holding the webRequest permission
// proves nothing: until Chromium restarts, an extension that was granted it later receives no events (measured on 156).
// The first event is the proof, and session storage keeps it until the browser exits.

import type { ObservationMode } from '@photofinish/shared/web/observation';
import { originOfUrl } from '@photofinish/shared/web/origin';
import * as v from 'valibot';
import type { SessionArea } from '../../common/browser.ts';
import { dropOldest } from '../../common/drop-oldest.ts';
import { BROWSER } from '../../common/edition.ts';
import { FULL_MODE_KEY } from '../../common/permissions.ts';
import { isFreshFrom, type ReadStoredMessage, type TimingBatch } from '../../common/timing.ts';
import { type DocumentVisit, recordableAltSvc } from '../edition/edition.ts';
import type { RecordedObservation } from './devtools.ts';
import type { CommittedDocument } from './navigations.ts';
import type { Sender } from './recordable.ts';

export interface ObservedModeDeps {
  readonly area: SessionArea;
  /** When this background started, milliseconds since the epoch. */
  readonly startedMs: number;
  readonly nowMs: () => number;
  /** The mode has changed. */
  readonly onChange: () => void;
}

/** In Firefox events arrive from the start, so it is always `full`. */
export class ObservedMode {
  readonly #deps: ObservedModeDeps;
  #sinceMs: number;

  constructor(deps: ObservedModeDeps) {
    this.#deps = deps;
    this.#sinceMs = BROWSER === 'firefox' ? deps.startedMs : Number.POSITIVE_INFINITY;
  }

  /** `light` until an event has arrived since the browser started or the extension was loaded. */
  get mode(): ObservationMode {
    return this.#sinceMs === Number.POSITIVE_INFINITY ? 'light' : 'full';
  }

  /** Since when events have arrived without gaps, milliseconds since the epoch; infinite in light mode. */
  get sinceMs(): number {
    return this.#sinceMs;
  }

  /** The proof of full mode. */
  eventArrived(): void {
    if (this.mode === 'full') return;
    this.#begin(this.#deps.nowMs());
    // If it cannot be stored, the next background waits for an event of its own.
    this.#deps.area.set({ [FULL_MODE_KEY]: true }).catch(() => {});
  }

  /** The permission was given up, so no more events will arrive. */
  lost(): void {
    if (BROWSER === 'firefox') return;
    this.#deps.area.remove(FULL_MODE_KEY).catch(() => {});
    if (this.mode === 'light') return;
    this.#sinceMs = Number.POSITIVE_INFINITY;
    this.#deps.onChange();
  }

  /** Takes what the background knew before it was terminated. */
  async recall(): Promise<void> {
    const stored = await this.#deps.area.get(FULL_MODE_KEY).catch(() => ({}));
    // An event wakes the background that it is for, so none was lost since it started.
    if (this.mode === 'light' && FULL_MODE_KEY in stored) this.#begin(this.#deps.startedMs);
  }

  #begin(sinceMs: number): void {
    this.#sinceMs = sinceMs;
    this.#deps.onChange();
  }
}

// The HTTP cache has the Alt-Svc header of a response that has just arrived. Its document is asked to read that from
// the cache, without a request to anybody. Seldom, because the page's developer tools list each attempt.

/** How long an origin is not asked again after its header was read, and after nothing was found. */
const KNOWN_MS = 60_000;
const NOT_STORED_MS = 600_000;
/** A page that does not answer by then has other work to do, and its batch waits no longer. */
const ANSWER_WAIT_MS = 1000;
const MAX_ORIGINS = 500;

export interface StoredAltSvcDeps {
  /** Sends to one document; rejects when it is gone. */
  readonly send: (tabId: number, documentId: string, message: ReadStoredMessage) => Promise<unknown>;
  readonly later: (delayMs: number, run: () => void) => () => void;
  readonly nowMs: () => number;
}

/** What elements of a page load and caches usually keep, unlike the responses to its scripts. */
const STATIC = ['script', 'link', 'img', 'css'];
/** Responses of one batch that a page looks for in the HTTP cache. */
const MAX_CANDIDATES = 2;

type SendingDocument = Pick<Sender, 'tabId' | 'documentId' | 'url'>;

const answerSchema = v.object({ altSvc: v.string() });

/**
 * Returns the function that adds to one of a batch's entries the Alt-Svc header that its document finds in the HTTP
 * cache, empty if the stored response has none. It never rejects.
 */
export function createStoredAltSvc({ send, later, nowMs }: StoredAltSvcDeps) {
  const notBeforeMs = new Map<string, number>();

  const ask = ({ tabId, documentId }: SendingDocument, urls: readonly string[]): Promise<unknown> =>
    new Promise((resolve) => {
      const cancel = later(ANSWER_WAIT_MS, () => resolve(null));
      send(tabId, documentId, { type: 'read-stored', urls })
        .catch(() => null)
        .then((answer) => {
          cancel();
          resolve(answer);
        });
    });

  return async (batch: TimingBatch, document: SendingDocument): Promise<TimingBatch> => {
    const origin = originOfUrl(document.url)?.origin;
    // The fetch of a controlled document is its service worker's to answer.
    if (origin === undefined || batch.controlled) return batch;
    // Others of the page may have come long ago: what they say may no longer be true.
    const stored = batch.entries.filter(
      (entry) => (entry.navigation || STATIC.includes(entry.initiator)) && isFreshFrom(entry, origin),
    );
    const [first] = stored;
    if (first === undefined || nowMs() < (notBeforeMs.get(origin) ?? 0)) return batch;
    const documents = stored.filter(({ navigation }) => navigation);
    const newest = stored.filter(({ navigation }) => !navigation).slice(-1);
    const candidates = [...newest, ...documents].slice(0, MAX_CANDIDATES).map(({ url }) => url);
    notBeforeMs.set(origin, nowMs() + NOT_STORED_MS);
    dropOldest(notBeforeMs, MAX_ORIGINS);
    const answer = v.safeParse(answerSchema, await ask(document, candidates));
    if (!answer.success) return batch;
    notBeforeMs.set(origin, nowMs() + KNOWN_MS);
    const { altSvc: read } = answer.output;
    const altSvc = read === '' ? read : recordableAltSvc(read);
    if (altSvc === null) return batch;
    const at = batch.entries.indexOf(first);
    const entries = batch.entries.map((entry, i) => (i === at ? { ...entry, altSvc } : entry));
    return { ...batch, entries };
  };
}

// No event reports a document's response, but a page that came over the network reports that itself, and its commit
// said who navigated there.

/** Pages that have been committed and may still report themselves. */
const MAX_PAGES = 500;

export function createLightVisits(onVisited: (visited: DocumentVisit) => void) {
  const byPages = new Map<string, boolean>();
  return {
    committed({
      documentId,
      parentDocumentId,
      byPage,
    }: Pick<CommittedDocument, 'documentId' | 'parentDocumentId' | 'byPage'>): void {
      if (parentDocumentId !== null) return;
      byPages.set(documentId, byPage);
      dropOldest(byPages, MAX_PAGES);
    },
    /** A tab's outermost page came over the network. */
    reported({ tabId, documentId, url, observation: { atMs } }: RecordedObservation): void {
      // Without its commit it may have been navigated to by a page, which is raced more rarely.
      const byPage = documentId === null || byPages.get(documentId) !== false;
      onVisited({ tabId, url, atMs, byPage, privateWindow: null, container: false, proxied: null });
    },
  };
}
