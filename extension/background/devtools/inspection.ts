// The background's side of the developer tools: which tabs are inspected, what their requests were, and who watches. A
// tab is inspected from the first message of its tools until their port closes. Kept in memory only: it is a live view,
// and the tools send everything again to a restarted background.
import * as v from 'valibot';
import type { PagePort } from '../../common/browser.ts';
import {
  type DevtoolsMessage,
  devtoolsMessageSchema,
  type InspectedListener,
  type InspectedRequest,
} from '../../common/inspected-request.ts';
import { MAX_REQUESTS } from '../../common/messages.ts';

export interface InspectionDeps {
  /** Runs once it is known which tabs may be reported; in the order of the calls. */
  readonly inOrder: (run: () => void) => void;
  /** Whether anything that this tab shows may be kept. */
  readonly mayRecord: (tabId: number) => boolean;
  /** The requests that the tools saw in a tab, each once. */
  readonly onRequests: (tabId: number, requests: readonly InspectedRequest[]) => void;
  /** The developer tools of a tab closed. */
  readonly onClosed: (tabId: number) => void;
}

export interface Inspection {
  accept(port: PagePort): void;
  isInspected(tabId: number): boolean;
  /** Empties the lists of these tabs, or of all tabs. */
  forget(tabs?: readonly number[]): void;
  /** Passes the tab's requests to the listener, now and as they arrive; returns the function that stops it. */
  watch(tabId: number, listener: InspectedListener): () => void;
}

export function createInspection({ inOrder, mayRecord, onRequests, onClosed }: InspectionDeps): Inspection {
  const lists = new Map<number, readonly InspectedRequest[]>();
  const listeners = new Map<number, Set<InspectedListener>>();

  const tell = (tab: number, requests: readonly InspectedRequest[], anew: boolean): void => {
    const event = { requests, anew, inspected: lists.has(tab) };
    for (const listener of listeners.get(tab) ?? []) listener(event);
  };

  const begin = (tab: number): void => {
    lists.set(tab, []);
    tell(tab, [], true);
  };

  const hear = (word: DevtoolsMessage): void => {
    if (word.type === 'begin') {
      begin(word.tabId);
      return;
    }
    const { tabId: tab, requests, again } = word;
    if (!mayRecord(tab)) return;
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
    accept(port) {
      const tabs = new Set<number>();
      port.onMessage.addListener((message) => {
        const word = v.safeParse(devtoolsMessageSchema, message);
        if (!word.success) return console.error('the developer tools sent an unknown message', word.issues);
        tabs.add(word.output.tabId);
        inOrder(() => hear(word.output));
      });
      port.onDisconnect.addListener(() => inOrder(() => tabs.forEach(close)));
    },
    isInspected: (tab) => lists.has(tab),
    forget(tabs = [...lists.keys()]) {
      for (const tab of tabs) if (lists.has(tab)) begin(tab);
    },
    watch(tab, listener) {
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
