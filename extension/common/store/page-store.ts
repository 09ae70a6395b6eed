// The store as pages have it: they ask the background, which their question starts if it has ended.
import type { StoreAnswer, StoreEvent, StoreRequest } from '../messages.ts';
import type { Store, StoredValue, StoreKey } from './store.ts';

export interface PageStoreDeps {
  /** Asks the background; rejects where it ends before it answers. */
  readonly ask: (request: StoreRequest) => Promise<StoreAnswer | undefined>;
  /** Calls `listen` with each word of a change. */
  readonly onEvent: (listen: (event: StoreEvent) => void) => void;
}

export function createPageStore({ ask, onEvent }: PageStoreDeps): Store {
  const newest = new Map<StoreKey, StoredValue>();

  /** Answers may overtake each other, and what was known once is never older again. */
  const newestOf = (key: StoreKey, told: StoredValue): StoredValue => {
    const known = newest.get(key);
    if (known !== undefined && known.revision > told.revision) return known;
    newest.set(key, told);
    return told;
  };

  const asked = async (request: StoreRequest): Promise<StoredValue> => {
    // Asked twice, a change is made once: its revision is gone then.
    const answer = await ask(request).catch(() => ask(request));
    if (answer === undefined) throw new Error('the background did not answer');
    if ('error' in answer) throw new Error(answer.error);
    return answer.stored;
  };

  const get = async (key: StoreKey): Promise<StoredValue> =>
    newestOf(key, await asked({ type: 'stored', key }));

  return {
    get,
    async replace(key, revision, value) {
      const stored = await asked({ type: 'store', key, revision, value });
      newestOf(key, stored);
      // What became of this change, whatever was stored since.
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
      // The background is in no tab; of content scripts browsers name theirs.
      if (message?.type === 'store-changed' && from.tab === undefined) listen(message);
    }),
});
