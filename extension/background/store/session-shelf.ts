// The store where there is no database: a Firefox that never remembers history refuses them to the whole extension.
// `storage.session` is closed to content scripts too, outlives the background, and ends with the browser.

import type { Stored, StoreKey } from '../../common/store/store.ts';
import type { Shelf } from './kept.ts';

/** The part of `storage.session` that is used. */
export interface SessionArea {
  get(key: string): Promise<Record<string, unknown>>;
  set(items: Record<string, unknown>): Promise<void>;
}

/** What the browser's session holds. */
export function openSessionShelf(area: SessionArea): Shelf {
  let turn: Promise<unknown> = Promise.resolve();
  const place = (key: StoreKey): string => `store:${key}`;
  const get = async (key: StoreKey): Promise<Stored> =>
    ((await area.get(place(key)))[place(key)] as Stored | undefined) ?? { revision: 0 };
  return {
    get,
    put(key, revision, value) {
      const put = turn.then(async () => {
        const stored = await get(key);
        if (stored.revision !== revision) return stored;
        const changed: Stored = { revision: revision + 1, value };
        await area.set({ [place(key)]: changed });
        return changed;
      });
      turn = put.catch(() => {});
      return put;
    },
  };
}
