// The one command that installs the helper for this browser on this system: what the browser says of itself, and what to
// paste into a terminal by that.
import { CHROMIUM_EXTENSION_ID } from '@photofinish/shared/port/extension-id';
import { BROWSER } from '../edition.ts';

/** What a page of the extension knows about where it runs. */
export interface Environment {
  /** `chrome.runtime.getPlatformInfo().os`. */
  readonly os: string;
  readonly firefox: boolean;
  /** The names the browser goes by (`navigator.userAgentData.brands`); empty in Firefox. */
  readonly brands: readonly string[];
  readonly extensionId: string;
  /** Loaded from a folder, so built from a checkout, which has the helper's command in it. */
  readonly unpacked: boolean;
}

/** The version of the npm package whose helper speaks this extension's wire. */
const PACKAGE = 'photofinish@1';
/** Where helper and browsers run; elsewhere no program can be started by an extension, or none of ours is made. */
const SYSTEMS = ['linux', 'mac', 'win'];
/** The names that `photofinish install --browser` takes, by the brand that tells each. Chromium is a brand of them all. */
const BRANDS = [
  ['Google Chrome', 'chrome'],
  ['Microsoft Edge', 'edge'],
  ['Brave', 'brave'],
] as const;

/** The installer's name for this browser; null for one it has no name for. */
function browserName({ firefox, brands }: Environment): string | null {
  if (firefox) return 'firefox';
  const branded = BRANDS.find(([brand]) => brands.includes(brand));
  if (branded !== undefined) return branded[1];
  // A browser that adds a brand of its own is not Chromium itself; the brand that means nothing always varies.
  const own = brands.filter((brand) => brand !== 'Chromium' && !/Not.*Brand/i.test(brand));
  return own.length === 0 ? 'chromium' : null;
}

/** What installs the helper here; null on systems that have none. */
export function installCommand(here: Environment): string | null {
  if (!SYSTEMS.includes(here.os)) return null;
  const name = browserName(here);
  const known = here.firefox || here.extensionId === CHROMIUM_EXTENSION_ID;
  return [
    `npx ${here.unpacked ? 'photofinish' : PACKAGE} install`,
    ...(name === null ? [] : [`--browser ${name}`]),
    ...(known ? [] : [`--extension-id ${here.extensionId}`]),
  ].join(' ');
}

interface BrandedNavigator {
  readonly userAgentData?: { readonly brands?: readonly { readonly brand: string }[] };
}

/** What is known of this browser and system. */
export async function environment(): Promise<Environment> {
  const [{ os }, { installType }] = await Promise.all([
    chrome.runtime.getPlatformInfo(),
    chrome.management.getSelf(),
  ]);
  const { userAgentData } = navigator as Navigator & BrandedNavigator;
  return {
    os,
    firefox: BROWSER === 'firefox',
    brands: userAgentData?.brands?.map(({ brand }) => brand) ?? [],
    extensionId: chrome.runtime.id,
    unpacked: installType === 'development',
  };
}
