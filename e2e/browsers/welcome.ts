// Completes a fresh installation's first steps, so that they never interfere with a spec: closes the welcome page, and
// gives consent to the helper where the browser requires it (Firefox).
import { storedSettings } from './stored.ts';
import { type Tab, until } from './tab.ts';

/** For a browser event, a start of the background and one read of its storage. */
const OPEN_TIMEOUT_MS = 45_000;
const ANSWER_TIMEOUT_MS = 45_000;

/** Runs in a page of the extension: closes the welcome page if it is open, and returns whether it was. */
async function closeIfOpen(): Promise<boolean> {
  const tabs = await chrome.tabs.query({ url: chrome.runtime.getURL('welcome/welcome.html') });
  await chrome.tabs.remove(tabs.flatMap(({ id }) => id ?? []));
  return tabs.length > 0;
}

/**
 * Runs in a page of the extension: whether consent to the helper is missing. The browser knows this before the page
 * shows it.
 */
async function wantsConsent(): Promise<boolean> {
  if (location.protocol !== 'moz-extension:') return false;
  const handedOn = { data_collection: ['browsingActivity'] } as chrome.permissions.Permissions;
  return !(await chrome.permissions.contains(handedOn));
}

export interface Settling {
  /** Whether the profile is new, so that the welcome page opens. */
  readonly fresh: boolean;
  /** Whether to consent to the use of the helper. */
  readonly consent: boolean;
}

/** Uses the options page, and closes it. Throws if the welcome page of a new profile does not open by itself. */
export async function settleIn(options: Tab, { fresh, consent }: Settling): Promise<void> {
  if (fresh) {
    // Stored once the page is open; the background of a new installation may not answer yet.
    const welcomed = async () => (await storedSettings(options).catch(() => null))?.welcomed === true;
    if ((await until(welcomed, OPEN_TIMEOUT_MS)) === null) throw new Error('the welcome page did not open');
    if ((await until(() => options.evaluate(closeIfOpen), OPEN_TIMEOUT_MS)) === null)
      throw new Error('the welcome page cannot be found');
  }
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
