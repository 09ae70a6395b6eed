// Where observations enter: batches from pages, batches that pages left behind, requests that no page reports. Every
// batch is validated and checked by `recordable`; it is acknowledged only once it is in the ledger.

import * as v from 'valibot';
import { LATE_EVENTS } from '#edition';
import { type SessionArea, soon, timers } from '../../common/browser.ts';
import type { Arrival } from '../../common/messages.ts';
import {
  arrivedSchema,
  leftSchema,
  type TimingAck,
  type TimingBatch,
  timingBatchSchema,
} from '../../common/timing.ts';
import { troubleText } from '../../ledger/database.ts';
import { confirmedTop, type KnownDocuments, type Recordable, type Sender, senderOf } from './recordable.ts';
import type { Recorder } from './recorder.ts';
import { type RequestTable, SETTLE_MS } from './requests.ts';

export interface BatchQueueDeps {
  readonly recorder: () => Promise<Recorder>;
  /** What the browser confirms about the sender. */
  readonly knownDocuments: () => Promise<KnownDocuments>;
  readonly recordable: Recordable;
  readonly table: RequestTable;
  /** Adds to a batch what its document can tell, before it is recorded. Never rejects. */
  readonly completed: (batch: TimingBatch, sender: Sender) => Promise<TimingBatch>;
  /** Why the newest batch could not be recorded; null if it was. */
  readonly onTrouble: (words: string | null) => void;
  /** A tab now shows a document without having loaded it. */
  readonly onArrived: (tabId: number, documentId: string, arrival: Arrival) => void;
  /** The user clicked or typed in a page of the tab. */
  readonly onTouched: (tabId: number) => void;
}

/**
 * A batch that a page left behind is also being sent as a message, which contains more and should be processed first.
 */
const LEFT_DELAY_MS = 5000;

/** The batch with its page as confirmed by the browser; null: nothing of it may be recorded. */
async function admitted(
  { knownDocuments, recordable }: Pick<BatchQueueDeps, 'knownDocuments' | 'recordable'>,
  batch: TimingBatch,
  sender: Sender,
  left: boolean,
): Promise<TimingBatch | null> {
  const { tabId, documentId, url, incognito } = sender;
  const browser = await knownDocuments();
  const topOrigin = await confirmedTop(batch.topOrigin, sender, browser);
  if (topOrigin === undefined) return null;
  const pageUrl = topOrigin ?? url;
  // What was loaded with access, a page or a frame of it, goes on reporting after that is withdrawn.
  const access = await Promise.all([pageUrl, url].map((each) => browser.hasAccess(tabId, each)));
  if (access.includes(false)) return null;
  // What was left says nothing about the tabs that are open now.
  if (!left) recordable.batchArrived({ tabId, documentId, incognito, pageUrl });
  const confirmed = { ...batch, topOrigin };
  return mayRecord(recordable, confirmed, sender) ? confirmed : null;
}

function mayRecord(
  recordable: Recordable,
  { topOrigin }: TimingBatch,
  { tabId, incognito, url }: Sender,
): boolean {
  return recordable.mayRecord({ tabId, incognito, pageUrl: topOrigin ?? url });
}

/** Opens the queue; must be called synchronously when the background starts, or messages are lost. */
export function openBatchQueue(deps: BatchQueueDeps) {
  const { recorder, table, completed, onTrouble, onArrived, onTouched } = deps;

  /** False: nothing of this page is recorded. */
  const record = async (batch: TimingBatch, sender: Sender): Promise<boolean> => {
    const confirmed = await admitted(deps, batch, sender, false);
    if (confirmed === null) return false;
    const opened = await recorder();
    if (!(await opened.requestsReported(confirmed, sender, LATE_EVENTS))) return true;
    // The page may have been excluded while the batch waited.
    if (!mayRecord(deps.recordable, confirmed, sender)) return false;
    await opened.record(await completed(confirmed, sender), sender);
    return true;
  };

  /** By document: requests are claimed in order, so no batch may be recorded before an earlier one that still waits. */
  const turns = new Map<string, Promise<unknown>>();
  const recordInOrder = (batch: TimingBatch, sender: Sender): Promise<boolean> => {
    const { source } = batch;
    const before = turns.get(source);
    const recorded = before === undefined ? record(batch, sender) : before.then(() => record(batch, sender));
    const turn = recorded
      .catch(() => {})
      .then(() => {
        if (turns.get(source) === turn) turns.delete(source);
      });
    turns.set(source, turn);
    return recorded;
  };

  const recordLeft = async (batch: TimingBatch, sender: Sender): Promise<void> => {
    // Its message may be here and wait: its requests, meanwhile taken for missed, would be counted again by their timings.
    await turns.get(batch.source);
    const confirmed = await admitted(deps, batch, sender, true);
    if (confirmed !== null) await (await recorder()).recordLeft(confirmed, sender.url);
  };

  // Each is cleared only by a success of its own kind.
  const troubles = { reported: null as string | null, missed: null as string | null };
  const setTrouble = (what: keyof typeof troubles, text: string | null): void => {
    troubles[what] = text;
    onTrouble(troubles.reported ?? troubles.missed);
  };
  const worked = (what: keyof typeof troubles): void => setTrouble(what, null);
  const failed = (what: keyof typeof troubles, error: unknown): void => {
    console.error(error);
    setTrouble(what, troubleText(error));
  };

  /** A request ended; it is recorded on its own unless its page reports it in time. */
  const sweepSoon = soon(SETTLE_MS / 4, () => {
    recorder()
      .then((opened) => opened.recordMissed())
      .then(
        () => worked('missed'),
        (error) => failed('missed', error),
      );
    if (table.size > 0) sweepSoon();
  });

  const takeLater = (keys: string[] | null): void => {
    timers.later(LEFT_DELAY_MS, () => {
      takeLeft(chrome.storage.session, recordLeft, keys).catch(console.error);
    });
  };

  chrome.runtime.onMessage.addListener((message, from, respond: (ack: TimingAck | null) => void) => {
    const sender = senderOf(from, chrome.runtime.id);
    if (message?.type !== 'timings') return false;
    const batch = v.safeParse(timingBatchSchema, message, { abortEarly: true });
    // An invalid batch would be as invalid if it were sent again.
    if (!batch.success || sender === null) {
      respond({ ack: message.seq });
      return false;
    }
    const { seq } = batch.output;
    recordInOrder(batch.output, sender).then(
      (kept) => {
        if (kept) worked('reported');
        respond(kept ? { ack: seq } : { ack: seq, stop: true });
      },
      (error) => {
        failed('reported', error);
        respond(null);
      },
    );
    return true;
  });

  chrome.runtime.onMessage.addListener((message, from) => {
    const sender = senderOf(from, chrome.runtime.id);
    if (sender === null) return;
    const left = v.safeParse(leftSchema, message, { abortEarly: true });
    // Stored before anything is queried or awaited: its page is gone, and this background may be terminated at any
    // moment.
    if (left.success)
      keepLeft(chrome.storage.session, { sender, batches: left.output.batches })
        // Each has its own timer: otherwise a batch left a moment ago would be taken together with one left earlier.
        .then((key) => key !== null && takeLater([key]))
        .catch(console.error);
    const arrived = v.safeParse(arrivedSchema, message);
    if (arrived.success && sender.frameId === 0)
      onArrived(sender.tabId, sender.documentId, arrived.output.arrival);
    if (message?.type === 'touched') onTouched(sender.tabId);
  });

  return {
    sweepSoon,
    /** Looks for batches left behind. */
    takeLeftSoon: (): void => takeLater(null),
  };
}

// Batches that pages leave behind when they close before an acknowledgement. They wait in session storage, which no
// page can read or write: each is recorded, unless its message was, then removed.

/** What a document left, and what the browser confirms about it. */
export interface LeftBatches {
  readonly sender: Sender;
  readonly batches: readonly TimingBatch[];
}

const LEFT_PREFIX = 'left:';
/** What one document may leave; most of the session's 10 MB is needed for the pages in view. */
const MAX_LEFT_CHARS = 256 * 1024;
/**
 * Documents whose batches wait at a time; beyond it the oldest are dropped, and webRequest still counts those requests.
 */
const MAX_LEFT = 16;

/** Nothing more than the origin is needed to count; an address without one belongs to no visit. */
function originOnly(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : '';
}

/**
 * Stores what a document left, its addresses reduced to origins, and returns its key; null if it exceeds the limit.
 */
export async function keepLeft(area: SessionArea, left: LeftBatches): Promise<string | null> {
  const { url, tabUrl } = left.sender;
  const sender = {
    ...left.sender,
    url: originOnly(url),
    tabUrl: tabUrl === null ? null : originOnly(tabUrl),
  };
  const batches = [...left.batches];
  while (batches.length > 0 && JSON.stringify(batches).length > MAX_LEFT_CHARS) batches.shift();
  if (batches.length === 0) return null;
  // One slot per document: if it leaves batches repeatedly, the newest counts.
  const key = `${LEFT_PREFIX}${left.sender.documentId}`;
  await area.set({ [key]: { sender, batches } });
  const kept = Object.keys(await area.get(null)).filter((each) => each.startsWith(LEFT_PREFIX));
  const surplus = kept.filter((each) => each !== key).slice(0, Math.max(kept.length - MAX_LEFT, 0));
  if (surplus.length > 0) await area.remove(surplus);
  return key;
}

/**
 * Passes what was left, all of it or that of the keys, to `record` batch by batch, and deletes each document's batches
 * once that has resolved.
 */
export async function takeLeft(
  area: SessionArea,
  record: (batch: TimingBatch, sender: Sender) => Promise<void>,
  keys: string[] | null = null,
): Promise<void> {
  const stored = await area.get(keys);
  for (const [key, value] of Object.entries(stored)) {
    if (!key.startsWith(LEFT_PREFIX)) continue;
    const { sender, batches } = value as LeftBatches;
    for (const batch of batches) await record(batch, sender);
    await area.remove(key);
  }
}
