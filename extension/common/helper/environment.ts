// Asks the browser where the extension runs, for the words and commands that differ by system and browser.
import { BROWSER } from '../edition.ts';
import type { Environment } from './install-command.ts';

interface Branded {
  readonly userAgentData?: { readonly brands?: readonly { readonly brand: string }[] };
}

/** What is known of this browser and system. */
export async function environment(): Promise<Environment> {
  const [{ os }, { installType }] = await Promise.all([
    chrome.runtime.getPlatformInfo(),
    chrome.management.getSelf(),
  ]);
  const { userAgentData } = navigator as Navigator & Branded;
  return {
    os,
    firefox: BROWSER === 'firefox',
    brands: userAgentData?.brands?.map(({ brand }) => brand) ?? [],
    extensionId: chrome.runtime.id,
    unpacked: installType === 'development',
  };
}
