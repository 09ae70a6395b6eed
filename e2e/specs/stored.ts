// What the user chose, as the browser keeps it. A page shows a choice before it is stored; once it is stored, whoever acts
// on it is told of it before of anything that begins afterwards.
import type { Tab } from '../browsers/tab.ts';
import { expect } from './fixtures.ts';

/** The settings in the extension's storage, asked in one of its pages; what was never changed may be missing. */
export function storedSettings(page: Tab): Promise<Record<string, unknown>> {
  return page.evaluate(async () => {
    const { settings } = await chrome.storage.local.get('settings');
    return (settings as { settings?: Record<string, unknown> } | undefined)?.settings ?? {};
  });
}

/** Waits until these settings are stored. */
export async function expectStored(page: Tab, wanted: Readonly<Record<string, unknown>>): Promise<void> {
  await expect.poll(() => storedSettings(page)).toMatchObject(wanted);
}
