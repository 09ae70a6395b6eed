// Where browsers on macOS keep their profiles and look for hosts. None of them comes in a sandbox that keeps it from
// starting programs.
import { posix } from 'node:path';
import { type Browser, type BrowserName, TITLES, type UserDirectories } from './browser.ts';
import { MANIFEST_FILE } from './manifest.ts';

const { join } = posix;

/** Below `~/Library/Application Support` (Chromium's docs/user_data_dir.md; Microsoft's and Brave's own pages). */
const CHROMIUM_FAMILY: readonly (readonly [name: BrowserName, directory: string, bundle: string])[] = [
  ['chromium', 'Chromium', 'Chromium.app'],
  ['chrome', 'Google/Chrome', 'Google Chrome.app'],
  ['edge', 'Microsoft Edge', 'Microsoft Edge.app'],
  ['brave', 'BraveSoftware/Brave-Browser', 'Brave Browser.app'],
];

/** The browsers of a user of macOS. Firefox's hosts are not beside its profiles (MDN, Native manifests). */
export function macosBrowsers({ configHome, home }: UserDirectories): readonly Browser[] {
  const common = { registryKey: null, sandboxes: [] };
  const bundles = (name: string) => [join('/Applications', name), join(home, 'Applications', name)];
  const chromiums = CHROMIUM_FAMILY.map(([name, directory, bundle]): Browser => {
    const profile = join(configHome, directory);
    const manifest = join(profile, 'NativeMessagingHosts', MANIFEST_FILE);
    return {
      name,
      title: TITLES[name],
      family: 'chromium',
      profileDirectories: [profile],
      programs: bundles(bundle),
      manifest,
      ...common,
    };
  });
  const firefox: Browser = {
    name: 'firefox',
    title: TITLES.firefox,
    family: 'firefox',
    profileDirectories: [join(configHome, 'Firefox')],
    programs: bundles('Firefox.app'),
    manifest: join(configHome, 'Mozilla/NativeMessagingHosts', MANIFEST_FILE),
    ...common,
  };
  return [...chromiums, firefox];
}
