// What the user chose, as the extension's store has it.
import type { StoreAnswer } from '../../extension/common/messages.ts';
import type { StoreKey } from '../../extension/common/store/store.ts';
import type { Tab } from './tab.ts';

/** What is stored, asked in a page of the extension as its own pages ask; undefined: nothing. */
export async function storedValue(page: Tab, key: StoreKey): Promise<unknown> {
  const answer: StoreAnswer = await page.evaluate(
    (asked) => chrome.runtime.sendMessage({ type: 'stored', key: asked }),
    key,
  );
  if ('error' in answer) throw new Error(answer.error);
  return answer.stored.value;
}

/** The settings; what was never changed may be missing. */
export async function storedSettings(page: Tab): Promise<Record<string, unknown>> {
  const stored = await storedValue(page, 'settings');
  return (stored as { settings?: Record<string, unknown> } | undefined)?.settings ?? {};
}
