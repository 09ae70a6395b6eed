// What the extension has stored, through one of its pages: reads values of its storage and the ledger's records, where
// the report would be too coarse or too large, and fills the ledger of a profile that needs a history.
import { join } from 'node:path';
import { requestsIn } from '@photofinish/shared/report/adoption';
import { build } from 'esbuild';
import type { StoreAnswer } from '../../extension/common/messages.ts';
import type { OriginRecord } from '../../extension/common/records/schema.ts';
import type { StoreKey } from '../../extension/common/store/store.ts';
import type { RowCounts } from '../../extension/ledger/merge.ts';
import type { Filling as FillingUntil } from '../../extension/testing/filled-ledger.ts';
import { TOP } from '../scratch.ts';
import type { Tab } from './browser.ts';
import type { Session } from './session.ts';

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

/**
 * Empties these stores of the ledger, in a page of the extension, and returns the records that are then left. One
 * function for both, because what runs in a page can call nothing of this module.
 */
function emptyAndRead(
  page: Pick<Tab, 'evaluate'>,
  stores: readonly ('records' | 'days' | 'totals')[],
): Promise<OriginRecord[]> {
  return page.evaluate(async (emptied) => {
    const database = await new Promise<IDBDatabase>((resolve, reject) => {
      const opening = indexedDB.open('photofinish');
      opening.onsuccess = () => resolve(opening.result);
      opening.onerror = () => reject(opening.error);
    });
    try {
      return await new Promise<OriginRecord[]>((resolve, reject) => {
        const mode = emptied.length === 0 ? 'readonly' : 'readwrite';
        const transaction = database.transaction(['records', ...emptied], mode);
        for (const name of emptied) transaction.objectStore(name).clear();
        const asked = transaction.objectStore('records').getAll();
        transaction.oncomplete = () => resolve(asked.result);
        transaction.onerror = () => reject(transaction.error);
      });
    } finally {
      database.close();
    }
  }, stores);
}

/** All ledger records, read in a page of the extension. */
export const storedRecords = (page: Pick<Tab, 'evaluate'>): Promise<OriginRecord[]> => emptyAndRead(page, []);

/** Leaves only the races in the ledger, as an import of nothing else does. */
export async function emptyAllButRaces(page: Tab): Promise<void> {
  await emptyAndRead(page, ['records', 'days', 'totals']);
}

/** Requests by origin, over all protocols and sites. */
export async function storedRequests(page: Tab): Promise<ReadonlyMap<string, number>> {
  const sums = new Map<string, number>();
  for (const { origin, counts } of await storedRecords(page))
    sums.set(origin, (sums.get(origin) ?? 0) + requestsIn(counts));
  return sums;
}

const FIXTURE = join(TOP, 'extension/testing/filled-ledger.ts');

/** The amount of data. */
export type Filling = Omit<FillingUntil, 'nowMs'>;

/** A year of a heavy user. */
export const HEAVY: Filling = {
  seed: 1,
  origins: 100_000,
  sites: 20_000,
  days: 400,
  daysPerOrigin: 4,
  raced: 2000,
};

interface Page {
  readonly filler: { fillLedger(filling: FillingUntil): Promise<RowCounts> };
}

/**
 * Fills a new session's ledger up to the present, with the same rows for a seed as in the extension's unit tests; returns
 * the number of rows by store.
 */
export async function fillLedger(session: Session, filling: Filling): Promise<RowCounts> {
  const bundled = await build({
    entryPoints: [FIXTURE],
    bundle: true,
    format: 'iife',
    globalName: 'filler',
    write: false,
    logLevel: 'silent',
  });
  const tab = await session.openPage('popup/popup.html');
  try {
    await tab.inject(`${bundled.outputFiles[0]?.text ?? ''};globalThis.filler = filler;`);
    return await tab.evaluate(
      (given) => (globalThis as unknown as Page).filler.fillLedger({ ...given, nowMs: Date.now() }),
      filling,
    );
  } finally {
    await tab.close();
  }
}
