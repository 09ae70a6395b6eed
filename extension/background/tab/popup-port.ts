// The background's end of the popup's port: validates incoming messages, answers over the same port, and stops watching
// when the popup closes.

import type { DoctorFinding } from '@photofinish/shared/port/wire';
import type { Origin } from '@photofinish/shared/web/origin';
import { messageOf } from '@photofinish/shared/web/untrusted';
import * as v from 'valibot';
import type { PagePort } from '../../common/browser.ts';
import type { InspectedListener } from '../../common/inspected-request.ts';
import type { HelperState, PopupEvent, RaceRequest } from '../../common/messages.ts';
import { type PopupRequest, popupRequestSchema } from '../../common/popup-requests.ts';
import type { Watcher } from './presenter.ts';

export interface PopupActions {
  readonly watch: (tabId: number, watcher: Watcher) => () => void;
  /** Passes on what the developer tools report for a tab; returns the function that stops it. */
  readonly watchRequests: (tabId: number, listener: InspectedListener) => () => void;
  readonly race: (origins: readonly Origin[]) => void;
  readonly cancelRace: (origin: Origin) => void;
  readonly stopRaces: () => void;
  /** The races started by a click, done and pending. */
  readonly raceRequests: () => readonly RaceRequest[];
  readonly reconnectHelper: () => void;
  /** Rejects with a message for the user when the browser refuses. */
  readonly steer: (origin: Origin, on: boolean) => Promise<void>;
  /** Reports the helper's state now and after each change; returns the function that stops it. */
  readonly watchHelper: (listener: (helper: HelperState) => void) => () => void;
  /** Null when the helper cannot be asked. */
  readonly doctor: () => Promise<readonly DoctorFinding[] | null>;
  /** The number of the helper's records deleted, null if the helper was not reached. Rejects when the ledger fails. */
  readonly wipe: () => Promise<number | null>;
  /** Rejects when the ledger fails. */
  readonly settle: () => Promise<void>;
}

interface PopupPort extends PagePort {
  postMessage(event: PopupEvent): void;
}

export function createPopupServer(actions: PopupActions) {
  const open = new Set<PopupPort>();

  const tell = (port: PopupPort, event: PopupEvent): void => {
    if (open.has(port)) port.postMessage(event);
  };

  /** Performs the request; returns a new function that ends the watch if there is a new watch. */
  const handle = (port: PopupPort, request: PopupRequest): (() => void) | undefined => {
    switch (request.type) {
      case 'watch':
        if (actions.raceRequests().length > 0) tell(port, { type: 'races', races: actions.raceRequests() });
        return actions.watch(request.tabId, (event) => tell(port, event));
      case 'watch-requests':
        return actions.watchRequests(request.tabId, (event) => tell(port, { type: 'requests', ...event }));
      case 'watch-helper':
        return actions.watchHelper((helper) => tell(port, { type: 'helper', helper }));
      case 'steer':
        return void actions
          .steer(request.origin, request.on)
          .catch((error) => tell(port, { type: 'steer-failed', message: messageOf(error) }));
      case 'doctor':
        return void actions.doctor().then((findings) => tell(port, { type: 'doctor', findings }));
      case 'wipe':
        return void actions.wipe().then(
          (helperRecords) => tell(port, { type: 'wiped', helperRecords, trouble: null }),
          (error) => tell(port, { type: 'wiped', helperRecords: null, trouble: messageOf(error) }),
        );
      case 'settle':
        return void actions.settle().then(
          () => tell(port, { type: 'settled', trouble: null }),
          (error) => tell(port, { type: 'settled', trouble: messageOf(error) }),
        );
      case 'race':
        return void actions.race([request.origin]);
      case 'race-all':
        return void actions.race(request.origins);
      case 'stop-races':
        return void actions.stopRaces();
      case 'cancel-race':
        return void actions.cancelRace(request.origin);
      case 'reconnect-helper':
        return void actions.reconnectHelper();
    }
  };

  return {
    accept(port: PopupPort): void {
      let unwatch = (): void => {};
      open.add(port);
      port.onMessage.addListener((message) => {
        const request = v.safeParse(popupRequestSchema, message);
        if (!request.success) return console.error('the popup sent an unknown message', request.issues);
        const next = handle(port, request.output);
        if (next === undefined) return;
        unwatch();
        unwatch = next;
      });
      port.onDisconnect.addListener(() => {
        open.delete(port);
        unwatch();
      });
    },
    /** Sends to every open popup. */
    broadcast(event: PopupEvent): void {
      for (const port of open) port.postMessage(event);
    },
  };
}
