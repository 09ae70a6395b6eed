// Where browsers on Windows keep their profiles, and the registry keys by which they find hosts. The manifests lie in a
// directory of ours.
import { win32 } from 'node:path';
import { HOST_NAME } from '@photofinish/shared/port/wire';
import { type Browser, type BrowserName, TITLES, type UserDirectories } from './browser.ts';

const { join } = win32;

interface ChromiumPlace {
  readonly name: BrowserName;
  /** Below `%LOCALAPPDATA%` (Chromium's docs/user_data_dir.md). */
  readonly directory: string;
  /** Whose key the browser reads. */
  readonly vendor: string;
}

/**
 * Brave has no key of its own: it reads Chrome's, as every Chromium does that looks for hosts as Chromium's own
 * launch_context_win.cc does; so the two share a manifest.
 */
const CHROMIUM_FAMILY: readonly ChromiumPlace[] = [
  { name: 'chromium', directory: 'Chromium', vendor: 'Chromium' },
  { name: 'chrome', directory: 'Google\\Chrome', vendor: 'Google\\Chrome' },
  { name: 'edge', directory: 'Microsoft\\Edge', vendor: 'Microsoft\\Edge' },
  { name: 'brave', directory: 'BraveSoftware\\Brave-Browser', vendor: 'Google\\Chrome' },
];
/** Firefox from Microsoft's store keeps its profiles where that store has all its programs keep theirs. */
const STORE_FIREFOX = 'Packages\\Mozilla.Firefox_n80bbvh6b1yt2\\LocalCache\\Roaming\\Mozilla\\Firefox';

/** The directory of ours with the manifests. */
export function manifestDirectory({ dataHome }: UserDirectories): string {
  return join(dataHome, 'photofinish', 'native-messaging');
}

/** The browsers of a user of Windows. */
export function windowsBrowsers(directories: UserDirectories): readonly Browser[] {
  const { configHome, dataHome } = directories;
  const known = (vendor: string) => ({
    manifest: join(manifestDirectory(directories), `${vendor.replace('\\', '-').toLowerCase()}.json`),
    registryKey: `HKCU\\Software\\${vendor}\\NativeMessagingHosts\\${HOST_NAME}`,
    // Installers put no browser on the PATH; a first start makes the profile.
    programs: [],
    sandboxes: [],
  });
  const chromiums = CHROMIUM_FAMILY.map(
    ({ name, directory, vendor }): Browser => ({
      name,
      title: TITLES[name],
      family: 'chromium',
      profileDirectories: [join(dataHome, directory, 'User Data')],
      ...known(vendor),
    }),
  );
  const firefox: Browser = {
    name: 'firefox',
    title: TITLES.firefox,
    family: 'firefox',
    profileDirectories: [join(configHome, 'Mozilla\\Firefox'), join(dataHome, STORE_FIREFOX)],
    ...known('Mozilla'),
  };
  return [...chromiums, firefox];
}
