// A page's port to the background, with the messages of `messages.ts`.
import { POPUP_PORT, type PopupEvent } from '../../common/messages.ts';
import type { PopupRequest } from '../../common/popup-requests.ts';

export type BackgroundPort = KeptPort<PopupRequest>;

export type BackgroundListener = PortListener<PopupRequest, PopupEvent>;

/** Opens the port and keeps it open for as long as the page lives. */
export function connectBackground(listener: BackgroundListener): BackgroundPort {
  return keepPort(POPUP_PORT, listener);
}

// A port to the background that is kept open for as long as the page lives. The background may be terminated at any
// moment: the port is then reopened, with growing pauses while nothing answers.

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;
/** A port without a listener at the other end breaks at once; one that lived this long had one. */
const LIVED_MS = 1_000;

export interface KeptPort<Outgoing> {
  /** False if the port broke a moment ago and its successor is not open yet. */
  send(message: Outgoing): boolean;
}

interface PortListener<Outgoing, Incoming> {
  onEvent?(event: Incoming): void;
  /** The port is open, for the first time or again: the other side's state is lost, and must be requested again. */
  onOpen(port: KeptPort<Outgoing>): void;
  /** The port broke: what is pending gets no answer. */
  onLost?(): void;
}

/** Opens the port with that name and keeps it open. */
export function keepPort<Outgoing, Incoming>(
  name: string,
  listener: PortListener<Outgoing, Incoming>,
): KeptPort<Outgoing> {
  let pauseMs = FIRST_PAUSE_MS;
  let current: chrome.runtime.Port;
  const port: KeptPort<Outgoing> = {
    send(message) {
      try {
        current.postMessage(message);
        return true;
      } catch {
        return false;
      }
    },
  };
  const open = (): void => {
    const openedMs = performance.now();
    current = chrome.runtime.connect({ name });
    current.onMessage.addListener((event: Incoming) => {
      pauseMs = FIRST_PAUSE_MS;
      listener.onEvent?.(event);
    });
    current.onDisconnect.addListener(() => {
      if (performance.now() - openedMs > LIVED_MS) pauseMs = FIRST_PAUSE_MS;
      listener.onLost?.();
      setTimeout(open, pauseMs);
      pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
    });
    listener.onOpen(port);
  };
  open();
  return port;
}
