// A fresh installation opens its welcome page once. Who tests something else waits for it and closes it, as a user does,
// so that it never comes between.
import { type Tab, until } from './tab.ts';

/** An event of the browser, a start of the background, one read of its storage. */
const OPEN_TIMEOUT_MS = 15_000;

/** In a page of the extension: whether the welcome page was there, which it then closes. */
async function closeIfOpen(): Promise<boolean> {
  const tabs = await chrome.tabs.query({ url: chrome.runtime.getURL('welcome/welcome.html') });
  await chrome.tabs.remove(tabs.flatMap(({ id }) => id ?? []));
  return tabs.length > 0;
}

/** Waits for the welcome page and closes it, asking by a page of the extension. Throws if it does not open. */
export async function closeWelcome(extensionPage: Tab): Promise<void> {
  const closed = await until(() => extensionPage.evaluate(closeIfOpen), OPEN_TIMEOUT_MS);
  if (closed === null) throw new Error('the welcome page did not open');
}
