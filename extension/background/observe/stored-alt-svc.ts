// In light mode, the Alt-Svc of a document's own origin: no event reports it, but the HTTP cache has the header of an
// answer that has just arrived. Its document is asked to read that from the cache, without a request to anybody. Seldom,
// because the page's developer tools list each attempt.
import { originOfUrl } from '@photofinish/shared/web/origin';
import * as v from 'valibot';
import { dropOldest } from '../../common/drop-oldest.ts';
import { isFreshFrom, type ReadStoredMessage, type TimingBatch } from '../../common/timing.ts';
import { recordableAltSvc } from './details.ts';
import type { Sender } from './sender.ts';

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

type SendingDocument = Pick<Sender, 'tabId' | 'documentId' | 'url'>;

const answerSchema = v.object({ altSvc: v.string() });

/**
 * Returns the function that adds to one of a batch's entries the Alt-Svc header that its document finds in the HTTP
 * cache, empty if the stored response has none. It never rejects.
 */
export function createStoredAltSvc({ send, later, nowMs }: StoredAltSvcDeps) {
  const notBeforeMs = new Map<string, number>();

  const ask = ({ tabId, documentId }: SendingDocument): Promise<unknown> =>
    new Promise((resolve) => {
      const cancel = later(ANSWER_WAIT_MS, () => resolve(null));
      send(tabId, documentId, { type: 'read-stored' })
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
    const at = batch.entries.findIndex((entry) => isFreshFrom(entry, origin));
    if (at < 0 || nowMs() < (notBeforeMs.get(origin) ?? 0)) return batch;
    notBeforeMs.set(origin, nowMs() + NOT_STORED_MS);
    dropOldest(notBeforeMs, MAX_ORIGINS);
    const answer = v.safeParse(answerSchema, await ask(document));
    if (!answer.success) return batch;
    notBeforeMs.set(origin, nowMs() + KNOWN_MS);
    const { altSvc: read } = answer.output;
    const altSvc = read === '' ? read : recordableAltSvc(read);
    if (altSvc === null) return batch;
    return { ...batch, entries: batch.entries.map((entry, i) => (i === at ? { ...entry, altSvc } : entry)) };
  };
}
