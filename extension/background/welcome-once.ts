// Opens the welcome page when Photofinish is installed, and never again automatically: browsers report an installation
// each time an extension is loaded from a folder.
import { changeSettings, loadSettings } from '../common/settings.ts';
import type { Store } from '../common/store/store.ts';

/** Must be called synchronously when the background starts. */
export function welcomeOnInstall(store: Store): void {
  chrome.runtime.onInstalled.addListener(({ reason }) => {
    if (reason === 'install') void openOnce(store).catch(console.error);
  });
}

async function openOnce(store: Store): Promise<void> {
  if ((await loadSettings(store)).welcomed) return;
  await chrome.tabs.create({ url: chrome.runtime.getURL('welcome/welcome.html') });
  await changeSettings(store, { welcomed: true });
}
