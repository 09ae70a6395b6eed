// The store in the background: data is kept here, requested by the extension's pages, and they are notified of changes.

import { messageOf } from '@photofinish/shared/web/untrusted';
import type { DBSchema, IDBPDatabase } from 'idb';
import { isOwnPage, type SessionArea } from '../../common/browser.ts';
import type { StoreAnswer, StoreEvent, StoreRequest } from '../../common/messages.ts';
import { namesOfOlder } from '../../common/network-names.ts';
import { holdOpen } from '../../common/open-database.ts';
import { settingsOfOlder } from '../../common/settings.ts';
import { STORE_KEYS, type Store, type StoredValue, type StoreKey } from '../../common/store/store.ts';
import { steerStateOf } from '../steer/steering-state.ts';

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
    return { error: messageOf(error) };
  }
}

function openBackend(): StoreBackend {
  const older = chrome.storage.local;
  const deps = { older, takenOver: TAKEN_OVER, onFailure: console.error };
  if (!chrome.extension.inIncognitoContext) return openDatabaseBackend(deps);
  // Without a place to mark the move as done, values meant to be trusted once would be trusted at each start.
  older.clear().catch(console.error);
  return openSessionBackend(chrome.storage.session);
}

/** Opens the store; must be called synchronously when the background starts, or requests are lost. */
export function openStore(): Store {
  const store = keepOn(openBackend(), (key) => {
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

// Where the store's data is: in a database of the extension's own origin, or for the session. Content scripts, and
// anyone who has compromised a page's process, can reach `storage.local` in Firefox, but no database of the extension
// in any browser.

const STORE_NAME = 'photofinish-settings';
/** Marks that what versions before the store kept in `storage.local` was moved, or that there was nothing. */
const MOVED = 'moved';
/** Such changes are rare, and their source is deleted afterwards. */
const WRITTEN = { durability: 'strict' } as const;

interface StoreSchema extends DBSchema {
  values: { key: StoreKey | typeof MOVED; value: StoredValue };
}

/** The part of `storage.local` that is used. */
interface OlderArea {
  get(keys: string[]): Promise<Record<string, unknown>>;
  clear(): Promise<void>;
}

export interface DatabaseBackendDeps {
  readonly older: OlderArea;
  /** What of an older version's value is adopted; undefined: nothing. */
  readonly takenOver: Readonly<Record<StoreKey, (value: unknown) => unknown>>;
  /** Called if `storage.local` could not be emptied. */
  readonly onFailure: (error: unknown) => void;
}

/**
 * Moves what versions before the store left in `storage.local`, once only, because any page's process can write there
 * and may do so later. If interrupted, it starts over, or is already done.
 */
async function moveOlder(
  database: IDBPDatabase<StoreSchema>,
  { older, takenOver }: Pick<DatabaseBackendDeps, 'older' | 'takenOver'>,
): Promise<void> {
  if ((await database.get('values', MOVED)) !== undefined) return;
  const found = await older.get([...STORE_KEYS]);
  const tx = database.transaction('values', 'readwrite', WRITTEN);
  const moved = STORE_KEYS.map((key) => {
    const value = found[key] === undefined ? undefined : takenOver[key](found[key]);
    return value === undefined ? null : tx.store.put({ revision: 1, value }, key);
  });
  await Promise.all([...moved, tx.store.put({ revision: 1 }, MOVED), tx.done]);
}

/**
 * Opens the database and, the first time, moves into it what older versions kept. Only one background may do so at a
 * time.
 */
export function openDatabaseBackend(deps: DatabaseBackendDeps): StoreBackend {
  const open = holdOpen<StoreSchema>({
    name: STORE_NAME,
    // Never changes: values have versions of their own, so that an older program is never locked out.
    version: 1,
    upgrade: async (_oldVersion, database) => void database.createObjectStore('values'),
  });
  let moving: Promise<void> | null = null;

  const database = async (): Promise<IDBPDatabase<StoreSchema>> => {
    moving ??= open()
      .then((opened) => moveOlder(opened, deps))
      .then(
        // Nothing there is read any more, whoever wrote it.
        () => void deps.older.clear().catch(deps.onFailure),
        (error) => {
          moving = null;
          throw error;
        },
      );
    await moving;
    return open();
  };

  database().catch(() => {});
  return {
    get: async (key) => (await (await database()).get('values', key)) ?? { revision: 0 },
    async put(key, revision, value) {
      const tx = (await database()).transaction('values', 'readwrite', WRITTEN);
      const stored = (await tx.store.get(key)) ?? { revision: 0 };
      if (stored.revision !== revision) return stored;
      const changed: StoredValue = { revision: revision + 1, value };
      await Promise.all([tx.store.put(changed, key), tx.done]);
      return changed;
    },
  };
}

// The store as the background keeps it in a backend, database or session: the only place where changes are made, so
// that they are reported in order.

/** Where values are stored. */
export interface StoreBackend {
  get(key: StoreKey): Promise<StoredValue>;
  /** Stores `value` and returns it, unless something was stored after that revision, in which case that is returned. */
  put(key: StoreKey, revision: number, value: unknown): Promise<StoredValue>;
}

/** The store in this backend; `tell` notifies everyone else that something was stored. */
export function keepOn(backend: StoreBackend, tell: (key: StoreKey) => void): Store {
  const listeners = new Map<StoreKey, ((value: unknown) => void)[]>();
  return {
    get: backend.get,
    async replace(key, revision, value) {
      const stored = await backend.put(key, revision, value);
      if (stored.value !== value || stored.revision !== revision + 1) return stored;
      for (const listen of listeners.get(key) ?? []) listen(value);
      tell(key);
      return stored;
    },
    onChanged(key, listen) {
      listeners.set(key, [...(listeners.get(key) ?? []), listen]);
    },
  };
}

// The store if there is no database: a Firefox that never remembers history denies databases to the whole extension.
// `storage.session` is closed to content scripts too, outlives the background, and ends with the browser.

/** A backend in the browser's session storage. */
export function openSessionBackend(area: Pick<SessionArea, 'get' | 'set'>): StoreBackend {
  let turn: Promise<unknown> = Promise.resolve();
  const place = (key: StoreKey): string => `store:${key}`;
  const get = async (key: StoreKey): Promise<StoredValue> =>
    ((await area.get(place(key)))[place(key)] as StoredValue | undefined) ?? { revision: 0 };
  return {
    get,
    put(key, revision, value) {
      const put = turn.then(async () => {
        const stored = await get(key);
        if (stored.revision !== revision) return stored;
        const changed: StoredValue = { revision: revision + 1, value };
        await area.set({ [place(key)]: changed });
        return changed;
      });
      turn = put.catch(() => {});
      return put;
    },
  };
}
