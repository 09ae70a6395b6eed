// The store in the background: kept there, asked for by the extension's pages, and told to them when it changes.

import { isOwnPage } from '../../common/browser.ts';
import type { StoreAnswer, StoreEvent, StoreRequest } from '../../common/messages.ts';
import { namesOfOlder } from '../../common/network-names.ts';
import { settingsOfOlder } from '../../common/settings.ts';
import { STORE_KEYS, type Store } from '../../common/store/store.ts';
import { steerStateOf } from '../steer/steering-state.ts';
import { keepOn, openDatabaseShelf, openSessionShelf, type Shelf } from './shelves.ts';

const TAKEN_OVER = {
  settings: settingsOfOlder,
  'network-names': namesOfOlder,
  steering: (value: unknown) => steerStateOf(value) ?? undefined,
};

function isRequest(message: StoreRequest | undefined): message is StoreRequest {
  return (message?.type === 'stored' || message?.type === 'store') && STORE_KEYS.includes(message.key);
}

async function answerOf(store: Store, request: StoreRequest): Promise<StoreAnswer> {
  const { type, key } = request;
  try {
    const stored = await (type === 'stored'
      ? store.get(key)
      : store.replace(key, request.revision, request.value));
    return { stored };
  } catch (error) {
    console.error(error);
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

function openShelf(): Shelf {
  const older = chrome.storage.local;
  const deps = { older, takenOver: TAKEN_OVER, onFailure: console.error };
  if (!chrome.extension.inIncognitoContext) return openDatabaseShelf(deps);
  // With nothing to mark it in, what is to be believed once would be believed at each start.
  older.clear().catch(console.error);
  return openSessionShelf(chrome.storage.session);
}

/** Opens the store; must be called synchronously when the background starts, or questions are lost. */
export function openStore(): Store {
  const store = keepOn(openShelf(), (key) => {
    const event: StoreEvent = { type: 'store-changed', key };
    // Rejects where no page is open.
    chrome.runtime.sendMessage(event).catch(() => {});
  });
  chrome.runtime.onMessage.addListener((message, from, respond: (answer: StoreAnswer) => void) => {
    if (!isRequest(message) || !isOwnPage(from)) return false;
    void answerOf(store, message).then(respond);
    return true;
  });
  return store;
}
