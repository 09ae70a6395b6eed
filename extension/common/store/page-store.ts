// The store as seen by pages: they ask the background, and their request starts it if it is not running.
import type { StoreAnswer, StoreEvent, StoreRequest } from '../messages.ts';
import type { Store, StoredValue, StoreKey } from './store.ts';

export interface PageStoreDeps {
  /** Asks the background; rejects if it is terminated before it answers. */
  readonly ask: (request: StoreRequest) => Promise<StoreAnswer | undefined>;
  /** Calls `listen` for each notification of a change. */
  readonly onEvent: (listen: (event: StoreEvent) => void) => void;
}

export function createPageStore({ ask, onEvent }: PageStoreDeps): Store {
  const newest = new Map<StoreKey, StoredValue>();

  /** Answers may overtake each other; a value must never revert to an older revision. */
  const newestOf = (key: StoreKey, received: StoredValue): StoredValue => {
    const known = newest.get(key);
    if (known !== undefined && known.revision > received.revision) return known;
    newest.set(key, received);
    return received;
  };

  const send = async (request: StoreRequest): Promise<StoredValue> => {
    // If sent twice, a change is made once: after the first, its revision is out of date.
    const answer = await ask(request).catch(() => ask(request));
    if (answer === undefined) throw new Error('the background did not answer');
    if ('error' in answer) throw new Error(answer.error);
    return answer.stored;
  };

  const get = async (key: StoreKey): Promise<StoredValue> =>
    newestOf(key, await send({ type: 'stored', key }));

  return {
    get,
    async replace(key, revision, value) {
      const stored = await send({ type: 'store', key, revision, value });
      newestOf(key, stored);
      // The result of this change, whatever was stored since.
      return stored;
    },
    onChanged(key, listen) {
      onEvent((event) => {
        if (event.key === key) get(key).then(({ value }) => listen(value), console.error);
      });
    },
  };
}

/** The store, in a page of the extension. */
export const pageStore: Store = createPageStore({
  ask: (request) => chrome.runtime.sendMessage(request),
  onEvent: (listen) =>
    chrome.runtime.onMessage.addListener((message, from) => {
      // The background is in no tab; for content scripts browsers report a tab.
      if (message?.type === 'store-changed' && from.tab === undefined) listen(message);
    }),
});
