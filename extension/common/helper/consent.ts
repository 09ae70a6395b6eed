// Whether the extension may contact the helper at all. Firefox treats that as transmitting browsing activity and leaves
// the choice to the user (`data_collection_permissions`); Chromium has no such consent, so the answer there is yes.
import { BROWSER } from '../edition.ts';

// Only Firefox knows this key.
const HANDED_ON = { data_collection: ['browsingActivity'] } as chrome.permissions.Permissions;

/** Whether the user has agreed. */
export async function hasConsent(): Promise<boolean> {
  return BROWSER === 'chromium' || (await chrome.permissions.contains(HANDED_ON));
}

/**
 * Asks the user, and returns the answer. Must be called synchronously in a click handler, or the browser rejects it.
 */
export async function askConsent(): Promise<boolean> {
  return BROWSER === 'chromium' || (await chrome.permissions.request(HANDED_ON));
}

/** Calls `listen` after the user may have changed the answer, including in the browser's own settings. */
export function onConsent(listen: () => void): void {
  if (BROWSER === 'chromium') return;
  chrome.permissions.onAdded.addListener(listen);
  chrome.permissions.onRemoved.addListener(listen);
}
