// Opens the welcome page when Photofinish is installed, and never again by itself: browsers say "installed" anew each
// time an extension is loaded from a folder.
import { changeSettings, loadSettings } from '../settings.ts';

/** To be called in the background's first turn. */
export function welcomeOnInstall(): void {
  chrome.runtime.onInstalled.addListener(({ reason }) => {
    if (reason === 'install') void openOnce().catch(console.error);
  });
}

async function openOnce(): Promise<void> {
  const area = chrome.storage.local;
  if ((await loadSettings(area)).welcomed) return;
  await chrome.tabs.create({ url: chrome.runtime.getURL('welcome/welcome.html') });
  await changeSettings(area, { welcomed: true });
}
