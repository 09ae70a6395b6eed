// The background's side of the developer tools: which tabs are inspected, what their requests were, and who watches.
// A tab is inspected from the tools' first word until their port closes. Lives in memory only: it is the tools' view of
// now, and the tools tell it again to a background that was started anew.
import * as v from 'valibot';
import {
  type DevtoolsMessage,
  devtoolsMessageSchema,
  type InspectedListener,
} from '../../common/inspected/devtools-messages.ts';
import type { InspectedRequest } from '../../common/inspected/har.ts';
import { MAX_REQUESTS } from '../../common/inspected/log.ts';

/** What of a browser's port is used. */
export interface DevtoolsPort {
  readonly onMessage: { addListener(listen: (message: unknown) => void): void };
  readonly onDisconnect: { addListener(listen: () => void): void };
}

export interface InspectionDeps {
  /** Runs once it is known which tabs may be told of; in the order of the calls. */
  readonly inOrder: (run: () => void) => void;
  /** Whether anything of what this tab shows may be kept. */
  readonly mayRecord: (tabId: number) => boolean;
  /** What the tools saw in a tab, each request once. */
  readonly onRequests: (tabId: number, requests: readonly InspectedRequest[]) => void;
  /** The tools of a tab closed. */
  readonly onClosed: (tabId: number) => void;
}

export interface Inspection {
  accept(port: DevtoolsPort): void;
  isInspected(tabId: number): boolean;
  /** Empties the lists of these tabs, or all of them. */
  forget(tabs?: readonly number[]): void;
  /** Tells the tab's requests now and as they come; gives the function that ends it. */
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
