// Whether the extension may speak to the helper at all. Firefox counts that as handing on browsing activity and leaves
// the choice to the user (`data_collection_permissions`); Chromium has no such question, and its answer is yes.
import { BROWSER } from '../edition.ts';

// Firefox alone knows the key.
const HANDED_ON = { data_collection: ['browsingActivity'] } as chrome.permissions.Permissions;

/** Whether the user has agreed. */
export async function hasConsent(): Promise<boolean> {
  return BROWSER === 'chromium' || (await chrome.permissions.contains(HANDED_ON));
}

/** Asks the user, and gives the answer. Must be called in a click's own turn, or the browser rejects it. */
export async function askConsent(): Promise<boolean> {
  return BROWSER === 'chromium' || (await chrome.permissions.request(HANDED_ON));
}

/** Calls `listen` after the user may have changed the answer; also in the browser's own settings. */
export function onConsent(listen: () => void): void {
  if (BROWSER === 'chromium') return;
  chrome.permissions.onAdded.addListener(listen);
  chrome.permissions.onRemoved.addListener(listen);
}
