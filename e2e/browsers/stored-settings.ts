// What the user chose, as the extension's storage has it.
import type { Tab } from './tab.ts';

/** The settings, asked in a page of the extension; what was never changed may be missing. */
export function storedSettings(page: Tab): Promise<Record<string, unknown>> {
  return page.evaluate(async () => {
    const { settings } = await chrome.storage.local.get('settings');
    return (settings as { settings?: Record<string, unknown> } | undefined)?.settings ?? {};
  });
}
