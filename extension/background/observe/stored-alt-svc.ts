// In light mode, the Alt-Svc of a document's own origin: no event reports it, but the HTTP cache has the header of an
// answer that has just arrived. Its document is asked to read that from the cache, without a request to anybody. Seldom,
// because the page's developer tools list each attempt.
import { MAX_ALT_SVC_CHARS } from '@photofinish/shared/web/observation';
import { originOfUrl } from '@photofinish/shared/web/origin';
import { printable } from '@photofinish/shared/web/printable';
import * as v from 'valibot';
import { dropOldest } from '../../common/drop-oldest.ts';
import type { ReadStoredMessage, Timing, TimingBatch } from '../../common/timing.ts';

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

/** A document that sent a batch. */
interface Asked {
  readonly tabId: number;
  readonly documentId: string;
  readonly url: string;
}

const answerSchema = v.object({ altSvc: v.string() });

/** The value as recorded; undefined: there is none, or it is hostile or broken. */
function usable(altSvc: string): string | undefined {
  const shown = printable(altSvc);
  return shown === '' || shown.length > MAX_ALT_SVC_CHARS ? undefined : shown;
}

/** Whether the entry's answer crossed the network, sent by the document's own origin. */
function isOwn({ url, deliveryType, transferBytes, redirected, worker }: Timing, origin: string): boolean {
  return url.startsWith(`${origin}/`) && deliveryType === '' && transferBytes > 0 && !redirected && !worker;
}

/**
 * Returns the function that adds to one of a batch's entries the Alt-Svc header that its document finds in the HTTP
 * cache. It never rejects.
 */
export function createStoredAltSvc({ send, later, nowMs }: StoredAltSvcDeps) {
  const notBeforeMs = new Map<string, number>();

  const ask = ({ tabId, documentId }: Asked): Promise<unknown> =>
    new Promise((resolve) => {
      const cancel = later(ANSWER_WAIT_MS, () => resolve(null));
      send(tabId, documentId, { type: 'read-stored' })
        .catch(() => null)
        .then((answer) => {
          cancel();
          resolve(answer);
        });
    });

  return async (batch: TimingBatch, asked: Asked): Promise<TimingBatch> => {
    const origin = originOfUrl(asked.url)?.origin;
    // The fetch of a controlled document is its service worker's to answer.
    if (origin === undefined || batch.controlled) return batch;
    const at = batch.entries.findIndex((entry) => isOwn(entry, origin));
    if (at < 0 || nowMs() < (notBeforeMs.get(origin) ?? 0)) return batch;
    notBeforeMs.set(origin, nowMs() + NOT_STORED_MS);
    dropOldest(notBeforeMs, MAX_ORIGINS);
    const answer = v.safeParse(answerSchema, await ask(asked));
    if (!answer.success) return batch;
    notBeforeMs.set(origin, nowMs() + KNOWN_MS);
    const altSvc = usable(answer.output.altSvc);
    if (altSvc === undefined) return batch;
    return { ...batch, entries: batch.entries.map((entry, i) => (i === at ? { ...entry, altSvc } : entry)) };
  };
}
