// A page's port to the background. The background may end under it at any moment: the port is then opened anew, with
// growing pauses while nobody answers.
import { POPUP_PORT, type PopupEvent, type PopupRequest } from '../messages.ts';

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

export interface BackgroundPort {
  /** False when the port broke a moment ago and its successor is not open yet. */
  send(request: PopupRequest): boolean;
}

export interface BackgroundListener {
  onEvent(event: PopupEvent): void;
  /** The port is open, for the first time or again: whatever is watched has to be asked for anew. */
  onOpen(port: BackgroundPort): void;
  /** The port broke: requests under way get no answer. */
  onLost?(): void;
}

/** Opens the port and keeps it open for as long as the page lives. */
export function connectBackground(listener: BackgroundListener): BackgroundPort {
  let pauseMs = FIRST_PAUSE_MS;
  let current: chrome.runtime.Port;
  const port: BackgroundPort = {
    send(request) {
      try {
        current.postMessage(request);
        return true;
      } catch {
        return false;
      }
    },
  };
  const open = (): void => {
    current = chrome.runtime.connect({ name: POPUP_PORT });
    current.onMessage.addListener((event: PopupEvent) => {
      pauseMs = FIRST_PAUSE_MS;
      listener.onEvent(event);
    });
    current.onDisconnect.addListener(() => {
      listener.onLost?.();
      setTimeout(open, pauseMs);
      pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
    });
    listener.onOpen(port);
  };
  open();
  return port;
}
