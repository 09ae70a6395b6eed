// The command that installs the helper: what to paste into a terminal, and a button that copies it.

import { CHROMIUM_EXTENSION_ID } from '@photofinish/shared/port/extension-id';
import { getMessage } from '../../common/catalog.ts';
import { BROWSER } from '../../common/edition.ts';
import { make, setText } from './elements.ts';

/** Draws the command into `place`, once per command; null: there is none, and the place is hidden. */
export function renderCommand(place: HTMLElement, command: string | null): void {
  place.hidden = command === null;
  if (command === null || place.querySelector('code')?.textContent === command) return;
  const code = make('code', '', command);
  code.dir = 'ltr';
  const copy = make('button', 'button', getMessage('helperCopy'));
  copy.type = 'button';
  const status = make('span', 'unseen');
  status.setAttribute('role', 'status');
  copy.addEventListener('click', async () => {
    const words = await copied(code);
    setText(copy, words);
    setText(status, words);
  });
  place.replaceChildren(code, copy, status);
}

async function copied(code: HTMLElement): Promise<string> {
  try {
    await navigator.clipboard.writeText(code.textContent);
    return getMessage('helperCopied');
  } catch {
    // Policies can forbid clipboard access; then the command is selected so that the user can copy it.
    getSelection()?.selectAllChildren(code);
    return getMessage('helperSelected');
  }
}

// The command for this browser on this system, according to what the browser reports about itself.

/** What a page of the extension knows about its environment. */
export interface Environment {
  /** `chrome.runtime.getPlatformInfo().os`. */
  readonly os: string;
  readonly firefox: boolean;
  /** The browser's brand names (`navigator.userAgentData.brands`); empty in Firefox. */
  readonly brands: readonly string[];
  readonly extensionId: string;
  /** Loaded from a folder, so built from a checkout, which contains the helper. */
  readonly unpacked: boolean;
}

/**
 * The helper's npm package, in the versions that implement this extension's wire protocol. In a checkout npx runs the
 * workspace of that name. Without the scope the name belongs to another project.
 */
const PACKAGE = '@photofinish/helper@1';
/** The command that says why a helper does not work. */
export const DOCTOR_COMMAND = `npx ${PACKAGE} doctor`;
/** Systems with helper and browsers; elsewhere extensions cannot start programs, or there is no build of the helper. */
const SYSTEMS = ['linux', 'mac', 'win'];
/**
 * The names that `photofinish install --browser` accepts, by the brand that identifies each. All of them have the brand
 * Chromium too.
 */
const BRANDS = [
  ['Google Chrome', 'chrome'],
  ['Microsoft Edge', 'edge'],
  ['Brave', 'brave'],
] as const;

/** The installer's name for this browser; null if it has none. */
function browserName({ firefox, brands }: Environment): string | null {
  if (firefox) return 'firefox';
  const branded = BRANDS.find(([brand]) => brands.includes(brand));
  if (branded !== undefined) return branded[1];
  // A browser that adds a brand of its own is not Chromium itself; the meaningless GREASE brand varies.
  const own = brands.filter((brand) => brand !== 'Chromium' && !/Not.*Brand/i.test(brand));
  return own.length === 0 ? 'chromium' : null;
}

/** The command that installs the helper here; null on unsupported systems. */
export function installCommand(here: Environment): string | null {
  if (!SYSTEMS.includes(here.os)) return null;
  const name = browserName(here);
  const known = here.firefox || here.extensionId === CHROMIUM_EXTENSION_ID;
  return [
    `npx ${PACKAGE} install`,
    ...(name === null ? [] : [`--browser ${name}`]),
    ...(known ? [] : [`--extension-id ${here.extensionId}`]),
  ].join(' ');
}

interface BrandedNavigator {
  readonly userAgentData?: { readonly brands?: readonly { readonly brand: string }[] };
}

/** What is known about this browser and system. */
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
