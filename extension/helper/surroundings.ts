// Asks the browser where the extension runs, for the words and commands that differ by system and browser.
import type { Surroundings } from './install-command.ts';

interface Branded {
  readonly userAgentData?: { readonly brands?: readonly { readonly brand: string }[] };
}

/** Only Firefox's pages have this scheme. */
export const IN_FIREFOX = location.protocol === 'moz-extension:';

/** What is known of this browser and system. */
export async function surroundings(): Promise<Surroundings> {
  const [{ os }, { installType }] = await Promise.all([
    chrome.runtime.getPlatformInfo(),
    chrome.management.getSelf(),
  ]);
  const { userAgentData } = navigator as Navigator & Branded;
  return {
    os,
    firefox: IN_FIREFOX,
    brands: userAgentData?.brands?.map(({ brand }) => brand) ?? [],
    extensionId: chrome.runtime.id,
    unpacked: installType === 'development',
  };
}
