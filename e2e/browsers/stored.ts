// Reads what the extension has stored, from one of its pages: values of its storage, and the ledger's records, where
// the report would be too coarse or too large.
import type { StoreAnswer } from '../../extension/common/messages.ts';
import type { OriginRecord } from '../../extension/common/records/schema.ts';
import type { StoreKey } from '../../extension/common/store/store.ts';
import type { Tab } from './tab.ts';

/** A stored value, read in a page of the extension through its own modules; undefined if there is none. */
export async function storedValue(page: Tab, key: StoreKey): Promise<unknown> {
  const answer: StoreAnswer = await page.evaluate(async (asked) => {
    const ask = () => chrome.runtime.sendMessage({ type: 'stored', key: asked });
    // A background that is being terminated answers nothing, or refuses.
    return (await ask().catch(() => undefined)) ?? (await ask());
  }, key);
  if ('error' in answer) throw new Error(answer.error);
  return answer.stored.value;
}

/** The settings; those never changed may be missing. */
export async function storedSettings(page: Tab): Promise<Record<string, unknown>> {
  const stored = await storedValue(page, 'settings');
  return (stored as { settings?: Record<string, unknown> } | undefined)?.settings ?? {};
}

/** All ledger records, read in a page of the extension. */
export function storedRecords(page: Tab): Promise<OriginRecord[]> {
  return page.evaluate(async () => {
    const database = await new Promise<IDBDatabase>((resolve, reject) => {
      const opening = indexedDB.open('photofinish');
      opening.onsuccess = () => resolve(opening.result);
      opening.onerror = () => reject(opening.error);
    });
    try {
      return await new Promise((resolve, reject) => {
        const asked = database.transaction('records').objectStore('records').getAll();
        asked.onsuccess = () => resolve(asked.result);
        asked.onerror = () => reject(asked.error);
      });
    } finally {
      database.close();
    }
  });
}

/** Requests by origin, over all protocols and sites. */
export async function storedRequests(page: Tab): Promise<ReadonlyMap<string, number>> {
  const sums = new Map<string, number>();
  for (const { origin, counts } of await storedRecords(page))
    sums.set(origin, (sums.get(origin) ?? 0) + Object.values(counts).reduce((sum, count) => sum + count, 0));
  return sums;
}
