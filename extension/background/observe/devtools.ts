// The background's side of the developer tools: which tabs are inspected, what their requests were, and who watches. A
// tab is inspected from the first message of its tools until their port closes. Kept in memory only: it is a live view,
// and the tools send everything again to a restarted background.

import type { Observation } from '@photofinish/shared/web/observation';
import { type Origin, originOfUrl } from '@photofinish/shared/web/origin';
import type { KnownProtocol } from '@photofinish/shared/web/protocol';
import * as v from 'valibot';
import type { PagePort } from '../../common/browser.ts';
import {
  type DevtoolsMessage,
  devtoolsMessageSchema,
  type InspectedListener,
  type InspectedRequest,
} from '../../common/inspected-request.ts';
import { MAX_REQUESTS } from '../../common/messages.ts';
import { withBackfill } from '../../common/page/model.ts';
import type { Backfill } from '../../common/records/fold.ts';
import { dayOf } from '../../common/records/schema.ts';
import type { BackgroundLedger } from '../../ledger/ledger.ts';
import type { Pages } from '../tab/pages.ts';

export interface InspectionDeps {
  /** Runs once it is known which tabs may be reported; in the order of the calls. */
  readonly inOrder: (run: () => void) => void;
  /** Whether what this tab shows may be kept, and of it what this origin answered. */
  readonly mayRecord: (tabId: number, origin?: Origin) => boolean;
  /** The requests that the tools saw in a tab, each once. */
  readonly onRequests: (tabId: number, requests: readonly InspectedRequest[]) => void;
  /** The developer tools of a tab closed. */
  readonly onClosed: (tabId: number) => void;
}

export function createInspection({ inOrder, mayRecord, onRequests, onClosed }: InspectionDeps) {
  const lists = new Map<number, readonly InspectedRequest[]>();
  const listeners = new Map<number, Set<InspectedListener>>();

  const tell = (tab: number, requests: readonly InspectedRequest[], anew: boolean): void => {
    const event = { requests, anew, inspected: lists.has(tab) };
    for (const listener of listeners.get(tab) ?? []) listener(event);
  };

  const allowed = (tab: number, requests: readonly InspectedRequest[]): readonly InspectedRequest[] =>
    requests.filter(({ url }) => mayRecord(tab, originOfUrl(url)?.origin));

  const begin = (tab: number): void => {
    lists.set(tab, []);
    tell(tab, [], true);
  };

  const hear = (word: DevtoolsMessage): void => {
    if (word.type === 'begin') {
      begin(word.tabId);
      return;
    }
    const { tabId: tab, again } = word;
    if (!mayRecord(tab)) return;
    const requests = allowed(tab, word.requests);
    if (requests.length === 0) return;
    lists.set(tab, [...(lists.get(tab) ?? []), ...requests].slice(-MAX_REQUESTS));
    if (!again) onRequests(tab, requests);
    tell(tab, requests, false);
  };

  const close = (tab: number): void => {
    lists.delete(tab);
    onClosed(tab);
    tell(tab, [], true);
  };

  return {
    accept(port: PagePort): void {
      const tabs = new Set<number>();
      port.onMessage.addListener((message) => {
        const word = v.safeParse(devtoolsMessageSchema, message);
        if (!word.success) return console.error('the developer tools sent an unknown message', word.issues);
        tabs.add(word.output.tabId);
        inOrder(() => hear(word.output));
      });
      port.onDisconnect.addListener(() => inOrder(() => tabs.forEach(close)));
    },
    isInspected: (tab: number): boolean => lists.has(tab),
    /** Empties the lists of these tabs, or of all tabs. */
    forget(tabs: Iterable<number> = [...lists.keys()]): void {
      for (const tab of tabs) if (lists.has(tab)) begin(tab);
    },
    /** Takes from the lists what may no longer be kept. */
    reconsider(): void {
      for (const [tab, list] of lists) {
        const kept = allowed(tab, list);
        if (kept.length === list.length) continue;
        lists.set(tab, kept);
        tell(tab, kept, true);
      }
    },
    /** Passes the tab's requests to the listener, now and as they arrive; returns the function that stops it. */
    watch(tab: number, listener: InspectedListener): () => void {
      const others = listeners.get(tab) ?? new Set();
      listeners.set(tab, others.add(listener));
      listener({ requests: lists.get(tab) ?? [], anew: true, inspected: lists.has(tab) });
      return () => {
        others.delete(listener);
        if (others.size === 0) listeners.delete(tab);
      };
    },
  };
}

// Combines what the developer tools and the page's own timings report: the tools know the protocol of requests that the
// page may not see. Either may report first. What has one half waits for the other, in memory and for inspected tabs
// only; the oldest are dropped.

/** An observation in the ledger, and where it is shown. */
export interface RecordedObservation {
  readonly tabId: number;
  /** The URL that answered, after redirects. */
  readonly url: string;
  /** The page it counts for; null when none is known. */
  readonly documentId: string | null;
  readonly observation: Observation;
}

/** An observation that was recorded as unknown, and what it was. */
export interface BackfilledObservation extends RecordedObservation {
  readonly protocol: KnownProtocol;
}

const MAX_WAITING = 5000;

/** Lists by key; the oldest entries are dropped when there are too many. */
function createWaiting<Entry>() {
  const lists = new Map<string, Entry[]>();
  let size = 0;
  const shift = (key: string): Entry | undefined => {
    const list = lists.get(key);
    const entry = list?.shift();
    if (entry !== undefined) size -= 1;
    if (list?.length === 0) lists.delete(key);
    return entry;
  };
  return {
    shift,
    push(key: string, entry: Entry): void {
      const list = lists.get(key);
      if (list === undefined) lists.set(key, [entry]);
      else list.push(entry);
      size += 1;
      const [oldest] = lists.keys();
      if (size > MAX_WAITING && oldest !== undefined) shift(oldest);
    },
    drop(start: string): void {
      for (const [key, list] of lists) {
        if (!key.startsWith(start)) continue;
        lists.delete(key);
        size -= list.length;
      }
    },
  };
}

/** Only hidden protocols are worth waiting for: a revalidated copy remains what it is. */
function isHidden({ protocol, delivery, reason }: Observation): boolean {
  return protocol === 'unknown' && delivery === 'network' && reason !== 'revalidated';
}

export function createDevtoolsFeed(isInspected: (tabId: number) => boolean) {
  const reported = createWaiting<KnownProtocol>();
  const hidden = createWaiting<RecordedObservation>();
  const keyOf = (tabId: number, url: string): string => `${tabId} ${url}`;

  return {
    /** What the tools saw in a tab; returns what of it was recorded as unknown before. */
    reported(tabId: number, requests: readonly InspectedRequest[]): BackfilledObservation[] {
      return requests.flatMap(({ url, method, protocol }) => {
        // A preflight is not an observation, and would be mistaken for the request that follows it.
        if (protocol === null || method === 'OPTIONS') return [];
        const recorded = hidden.shift(keyOf(tabId, url));
        if (recorded !== undefined) return [{ ...recorded, protocol }];
        reported.push(keyOf(tabId, url), protocol);
        return [];
      });
    },
    /** The observation, with its protocol filled in if it was unknown and the tools reported it. */
    complete(tabId: number, url: string, observation: Observation): Observation {
      if (!isInspected(tabId)) return observation;
      // Also consumed for a known protocol: the next request for that address has its own report.
      const protocol = observation.delivery === 'network' ? reported.shift(keyOf(tabId, url)) : undefined;
      if (protocol === undefined || !isHidden(observation)) return observation;
      const { reason: _, ...known } = observation;
      return { ...known, protocol };
    },
    /** Observations are in the ledger; returns the unknown ones that the tools have reported meanwhile. */
    recorded(all: readonly RecordedObservation[]): BackfilledObservation[] {
      return all.flatMap((recorded) => {
        const { tabId, url, observation } = recorded;
        if (!isInspected(tabId) || !isHidden(observation)) return [];
        const protocol = reported.shift(keyOf(tabId, url));
        if (protocol !== undefined) return [{ ...recorded, protocol }];
        hidden.push(keyOf(tabId, url), recorded);
        return [];
      });
    },
    /** The tools of a tab closed: no further halves will arrive. */
    forget(tabId: number): void {
      reported.drop(keyOf(tabId, ''));
      hidden.drop(keyOf(tabId, ''));
    },
  };
}

export type DevtoolsFeed = ReturnType<typeof createDevtoolsFeed>;

/** In the form that the ledger takes: those that differ only in time of day are combined. */
export function backfillsOf(backfilled: readonly BackfilledObservation[]): Backfill[] {
  const groups = new Map<string, Backfill>();
  for (const { observation, protocol } of backfilled) {
    const { origin, site, kind, atMs } = observation;
    const key = `${origin} ${site} ${kind} ${protocol} ${dayOf(atMs)}`;
    const group = groups.get(key) ?? { origin, site, kind, protocol, atMs, count: 0 };
    groups.set(key, { ...group, atMs: Math.max(group.atMs, atMs), count: group.count + 1 });
  }
  return [...groups.values()];
}

interface BackfillDeps {
  readonly ledger: Pick<BackgroundLedger, 'backfill'>;
  readonly pages: Pages;
}

/** Rejects when storage fails; nothing was counted then. */
export async function backfill(
  backfilled: readonly BackfilledObservation[],
  { ledger, pages }: BackfillDeps,
): Promise<void> {
  const [first] = backfilled;
  if (first === undefined) return;
  const key = `told:${first.observation.id}`;
  await ledger.backfill({ key, backfills: backfillsOf(backfilled), nowMs: Date.now() });
  for (const { documentId, observation, protocol } of backfilled) {
    const page = documentId === null ? undefined : pages.get(documentId);
    if (page !== undefined) pages.update(withBackfill(page, observation, protocol));
  }
}
