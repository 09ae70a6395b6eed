// The background's end of the popup's port: checks what comes in, answers over the same port, and ends its watch
// when the popup closes.
import { type Origin, originSchema, siteSchema } from '@photofinish/shared/origin';
import type { Report } from '@photofinish/shared/report';
import * as v from 'valibot';
import type { PopupEvent, PopupRequest } from '../messages.ts';
import type { Watcher } from './presenter.ts';

const requestSchema = v.variant('type', [
  /** -1 is the browser's word for no tab at all; it has an answer too. */
  v.object({ type: v.literal('watch'), tabId: v.pipe(v.number(), v.integer(), v.minValue(-1)) }),
  v.object({ type: v.literal('race'), origin: originSchema }),
  v.object({ type: v.literal('cancel-race'), origin: originSchema }),
  v.object({ type: v.literal('reconnect-helper') }),
  v.object({
    type: v.literal('report'),
    id: v.pipe(v.number(), v.integer(), v.minValue(0)),
    site: v.nullable(siteSchema),
  }),
]);

export interface PopupActions {
  readonly watch: (tabId: number, watcher: Watcher) => () => void;
  readonly race: (origin: Origin) => void;
  readonly cancelRace: (origin: Origin) => void;
  readonly reconnectHelper: () => void;
  readonly report: (site: string | null) => Promise<Report>;
}

/** What of `chrome.runtime.Port` is used. */
export interface PopupPort {
  postMessage(event: PopupEvent): void;
  readonly onMessage: { addListener(listen: (message: unknown) => void): void };
  readonly onDisconnect: { addListener(listen: () => void): void };
}

export interface PopupServer {
  accept(port: PopupPort): void;
  /** Tells every open popup. */
  broadcast(event: PopupEvent): void;
}

export function createPopupServer(actions: PopupActions): PopupServer {
  const open = new Set<PopupPort>();

  const answer = async (port: PopupPort, id: number, site: string | null): Promise<void> => {
    try {
      const report = await actions.report(site);
      if (open.has(port)) port.postMessage({ type: 'report', id, report });
    } catch (error) {
      // The storage failed, or the report is larger than what a port carries.
      const message = error instanceof Error ? error.message : String(error);
      if (open.has(port)) port.postMessage({ type: 'report-failed', id, message });
    }
  };

  /** Does what is asked; gives a new end of the watch when there is a new watch. */
  const handle = (port: PopupPort, request: PopupRequest): (() => void) | null => {
    switch (request.type) {
      case 'watch':
        return actions.watch(request.tabId, (page) => {
          if (open.has(port)) port.postMessage({ type: 'page', page });
        });
      case 'race':
        actions.race(request.origin);
        return null;
      case 'cancel-race':
        actions.cancelRace(request.origin);
        return null;
      case 'reconnect-helper':
        actions.reconnectHelper();
        return null;
      case 'report':
        void answer(port, request.id, request.site);
        return null;
    }
  };

  return {
    accept(port) {
      let unwatch = (): void => {};
      open.add(port);
      port.onMessage.addListener((message) => {
        const request = v.safeParse(requestSchema, message);
        if (!request.success) return console.error('the popup sent an unknown message', request.issues);
        const next = handle(port, request.output);
        if (next === null) return;
        unwatch();
        unwatch = next;
      });
      port.onDisconnect.addListener(() => {
        open.delete(port);
        unwatch();
      });
    },
    broadcast(event) {
      for (const port of open) port.postMessage(event);
    },
  };
}
