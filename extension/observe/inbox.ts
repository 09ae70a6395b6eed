// Where what was observed comes in: batches from pages, batches that pages left behind, requests that no page tells of.
// Every batch is checked and passes the gate; it is answered only once it is in the ledger.
import * as v from 'valibot';
import { waitForRequests } from '#edition';
import { timers } from '../browser.ts';
import { troubleWords } from '../ledger/trouble.ts';
import type { Arrival } from '../messages.ts';
import { siteOfUrl } from '../site.ts';
import { takeLeftBatches } from './left.ts';
import type { Recordable } from './recordable.ts';
import type { BatchSender, Recorder } from './recorder.ts';
import { type RequestTable, SETTLE_MS } from './requests.ts';
import { LEFT_PREFIX, type LeftBatch, type TimingAck, type TimingBatch } from './timing.ts';
import { arrivedSchema, timingBatchSchema } from './timing-schema.ts';

export interface InboxDeps {
  readonly recorder: () => Promise<Recorder>;
  readonly recordable: Recordable;
  readonly table: RequestTable;
  /** Why the newest batch could not be recorded; null: it was. */
  readonly onTrouble: (words: string | null) => void;
  /** A tab came to show a document in another way than by loading it. */
  readonly onArrived: (tabId: number, documentId: string, arrival: Arrival) => void;
}

export interface Inbox {
  /** A request ended; it is recorded by itself unless its page tells of it in time. */
  sweepSoon(): void;
  /** Looks for batches left behind. */
  takeLeftSoon(): void;
}

interface Sender extends BatchSender {
  readonly incognito: boolean;
}

/** A batch that a page left behind is also on its way as a message, which tells more and should come first. */
const LEFT_DELAY_MS = 5000;

/** Runs `run` once, `delayMs` after the first of the calls that ask for it. */
function soon(delayMs: number, run: () => void): () => void {
  let waiting = false;
  return () => {
    if (waiting) return;
    waiting = true;
    timers.later(delayMs, () => {
      waiting = false;
      run();
    });
  };
}

/** Opens the inbox; must be called synchronously when the background starts, or messages are lost. */
export function openInbox({ recorder, recordable, table, onTrouble, onArrived }: InboxDeps): Inbox {
  /** False: nothing of this page is recorded. */
  const record = async (batch: TimingBatch, { incognito, ...sender }: Sender): Promise<boolean> => {
    const { record } = await recorder();
    const { tabId, documentId, url } = sender;
    const pageUrl = batch.topOrigin ?? url;
    if (recordable.ofBatch({ tabId, documentId, incognito, pageUrl }) !== null) return false;
    const waitMs = waitForRequests(batch.entries, Date.now());
    if (waitMs > 0) await new Promise<void>((resolve) => timers.later(waitMs, resolve));
    await record(batch, sender);
    return true;
  };

  const recordLeft = async (batch: LeftBatch): Promise<void> => {
    const site = siteOfUrl(batch.topOrigin ?? batch.pageOrigin);
    if (site === null || recordable.ofSite(site) === null) await (await recorder()).recordLeft(batch);
  };

  const sweepSoon = soon(SETTLE_MS / 4, () => {
    recorder()
      .then(({ recordMissed }) => recordMissed())
      .catch(console.error);
    if (table.size > 0) sweepSoon();
  });

  const takeLeft = (keys: string[] | null): void => {
    timers.later(LEFT_DELAY_MS, () => {
      recorder()
        .then(() => takeLeftBatches(chrome.storage.local, recordLeft, keys))
        .catch(console.error);
    });
  };

  chrome.runtime.onMessage.addListener((message, sender, respond: (ack: TimingAck | null) => void) => {
    if (message?.type !== 'timings' || sender.id !== chrome.runtime.id) return false;
    const { tab, url } = sender;
    const batch = v.safeParse(timingBatchSchema, message);
    // What does not fit now would not fit if it were sent again.
    if (!batch.success || tab?.id === undefined || url === undefined) {
      respond({ ack: message.seq });
      return false;
    }
    const { seq, source } = batch.output;
    const documentId = sender.documentId ?? source;
    record(batch.output, { tabId: tab.id, documentId, url, incognito: tab.incognito }).then(
      (kept) => {
        onTrouble(null);
        respond(kept ? { ack: seq } : { ack: seq, stop: true });
      },
      (error) => {
        console.error(error);
        onTrouble(troubleWords(error));
        respond(null);
      },
    );
    return true;
  });

  chrome.runtime.onMessage.addListener((message, { id, tab, documentId }) => {
    const arrived = v.safeParse(arrivedSchema, message);
    if (!arrived.success || id !== chrome.runtime.id || tab?.id === undefined) return;
    const { source, arrival } = arrived.output;
    onArrived(tab.id, documentId ?? source, arrival);
  });

  chrome.storage.local.onChanged.addListener((changes) => {
    const left = Object.entries(changes).filter(
      ([key, { newValue }]) => key.startsWith(LEFT_PREFIX) && newValue,
    );
    // Each has its own time: what a page left a moment ago would else be taken with what another left before it.
    if (left.length > 0) takeLeft(left.map(([key]) => key));
  });

  return { sweepSoon, takeLeftSoon: () => takeLeft(null) };
}
