// The port to the background. The service worker may die under it at any moment: the port is then opened anew and the
// tab watched again, with growing pauses while nobody answers.
import { POPUP_PORT, type PopupEvent, type PopupRequest } from '../messages.ts';

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

export interface Connection {
  send(request: PopupRequest): void;
}

/**
 * Watches `tabId`; every event goes to `onEvent`. `onLost` is told when the port broke, because requests under way
 * then get no answer, and `onReopened` when there is one again.
 */
export function connect(
  tabId: number,
  onEvent: (event: PopupEvent) => void,
  onLost: () => void,
  onReopened: () => void,
): Connection {
  let pauseMs = FIRST_PAUSE_MS;
  const open = (): chrome.runtime.Port => {
    const port = chrome.runtime.connect({ name: POPUP_PORT });
    port.onMessage.addListener((event: PopupEvent) => {
      pauseMs = FIRST_PAUSE_MS;
      onEvent(event);
    });
    port.onDisconnect.addListener(() => {
      onLost();
      setTimeout(() => {
        current = open();
        onReopened();
      }, pauseMs);
      pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
    });
    port.postMessage({ type: 'watch', tabId } satisfies PopupRequest);
    return port;
  };
  let current = open();
  return {
    send(request) {
      try {
        current.postMessage(request);
      } catch {
        // The port broke a moment ago and its successor is not open yet.
        onLost();
      }
    },
  };
}
