// A page's port to the background, in the words of `messages.ts`.
import { POPUP_PORT, type PopupEvent } from '../../common/messages.ts';
import type { PopupRequest } from '../../common/popup-requests.ts';
import { type KeptPort, keepPort } from './keep-port.ts';

export type BackgroundPort = KeptPort<PopupRequest>;

export interface BackgroundListener {
  onEvent(event: PopupEvent): void;
  /** The port is open, for the first time or again: whatever is watched has to be asked for anew. */
  onOpen(port: BackgroundPort): void;
  /** The port broke: requests under way get no answer. */
  onLost?(): void;
}

/** Opens the port and keeps it open for as long as the page lives. */
export function connectBackground(listener: BackgroundListener): BackgroundPort {
  return keepPort<PopupRequest, PopupEvent>(POPUP_PORT, listener);
}
