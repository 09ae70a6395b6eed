// The ledger's records as they are stored, where a report would say less or ask for more.
import type { OriginRecord } from '../../extension/common/records/schema.ts';
import type { Tab } from '../browsers/tab.ts';

/** All of them, read in a page of the extension. */
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

/** Requests by origin, whatever their protocol and site. */
export async function storedRequests(page: Tab): Promise<ReadonlyMap<string, number>> {
  const sums = new Map<string, number>();
  for (const { origin, counts } of await storedRecords(page))
    sums.set(origin, (sums.get(origin) ?? 0) + Object.values(counts).reduce((sum, count) => sum + count, 0));
  return sums;
}
