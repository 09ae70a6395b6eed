// What a user does first with a fresh installation, so that it never comes between what a spec does: closes the welcome
// page, and where the browser wants the user's consent to the helper (Firefox), gives it.
import { type Tab, until } from './tab.ts';

/** An event of the browser, a start of the background, one read of its storage. */
const OPEN_TIMEOUT_MS = 15_000;
const ANSWER_TIMEOUT_MS = 15_000;

/** In a page of the extension: whether the welcome page was there, which it then closes. */
async function closeIfOpen(): Promise<boolean> {
  const tabs = await chrome.tabs.query({ url: chrome.runtime.getURL('welcome/welcome.html') });
  await chrome.tabs.remove(tabs.flatMap(({ id }) => id ?? []));
  return tabs.length > 0;
}

/** In a page of the extension: whether the helper waits for the user's consent. The browser knows before the page says so. */
async function wantsConsent(): Promise<boolean> {
  if (location.protocol !== 'moz-extension:') return false;
  const handedOn = { data_collection: ['browsingActivity'] } as chrome.permissions.Permissions;
  return !(await chrome.permissions.contains(handedOn));
}

export interface Settling {
  /** Whether the profile is new, so that the welcome page opens. */
  readonly fresh: boolean;
  /** Whether the helper may be spoken to. */
  readonly consent: boolean;
}

/** Uses the page of options, and closes it too. Throws if the welcome page of a new profile does not open by itself. */
export async function settleIn(options: Tab, { fresh, consent }: Settling): Promise<void> {
  if (fresh && (await until(() => options.evaluate(closeIfOpen), OPEN_TIMEOUT_MS)) === null)
    throw new Error('the welcome page did not open');
  const said = options.part('helper');
  if ((await until(() => said.text(), ANSWER_TIMEOUT_MS)) === null)
    throw new Error('the options say nothing about the helper');
  if (consent && (await options.evaluate(wantsConsent))) {
    const ask = options.find('#consent-ask');
    await ask.click();
    const gone = async () => !(await ask.isVisible());
    if ((await until(gone, ANSWER_TIMEOUT_MS)) === null) throw new Error('the consent was not taken');
  }
  await options.close();
}
