// What to do once a browser can start the helper: load the extension, and check that both can communicate.
import { type BrowserName, TITLES } from './browser-names.ts';
import { type Platform, pathsOf } from './machine.ts';

export interface Installation {
  readonly platform: Platform;
  /** The top directory of the checkout, whose build is loaded by hand; null if the extension comes from a store. */
  readonly checkout: string | null;
  /** Browsers that have a manifest now. */
  readonly browsers: readonly BrowserName[];
  readonly doctorCommand: string;
}

/** The page on which each browser loads an extension from a folder. */
const EXTENSION_PAGES: Record<BrowserName, string> = {
  chromium: 'chrome://extensions',
  chrome: 'chrome://extensions',
  edge: 'edge://extensions',
  brave: 'brave://extensions',
  firefox: 'about:debugging#/runtime/this-firefox',
};

function loading(browser: BrowserName, checkout: string, platform: Platform): readonly string[] {
  const { join } = pathsOf(platform);
  const page = EXTENSION_PAGES[browser];
  return browser === 'firefox'
    ? [
        `${TITLES[browser]}: open ${page}, press "Load Temporary Add-on..." and choose`,
        `  ${join(checkout, 'extension', 'dist', 'firefox', 'manifest.json')}`,
      ]
    : [
        `${TITLES[browser]}: open ${page}, switch on "Developer mode", press "Load unpacked" and choose`,
        `  ${join(checkout, 'extension', 'dist', 'chromium')}`,
      ];
}

/** Lines for a terminal; none if nothing was installed. */
export function nextSteps({ platform, checkout, browsers, doctorCommand }: Installation): readonly string[] {
  if (browsers.length === 0) return [];
  const load =
    checkout === null
      ? ['If the extension is already installed, press "Try again" in its popup.']
      : [
          'Load the extension, unless it is already installed:',
          ...browsers.flatMap((each) => loading(each, checkout, platform).map((line) => `  ${line}`)),
        ];
  return ['', ...load, `Check with: ${doctorCommand}`];
}
