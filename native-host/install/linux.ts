// Where browsers on Linux keep their profiles and look for hosts, and what says that one is a sandboxed package.
import { posix } from 'node:path';
import { type Browser, type BrowserName, type Sandbox, TITLES, type UserDirectories } from './browser.ts';
import { MANIFEST_FILE } from './manifest.ts';

const { join } = posix;

interface ChromiumPlace {
  readonly name: BrowserName;
  readonly directory: string;
  readonly programs: readonly string[];
  readonly snap?: string;
  readonly flatpak: string;
}

/** Where Snap and a Flatpak for all users put what starts their programs. */
const SNAP_PROGRAMS = '/snap/bin';
const FLATPAK_PROGRAMS = '/var/lib/flatpak/exports/bin';

/** Below `$XDG_CONFIG_HOME` (Chromium's docs/user_data_dir.md); package names as Snapcraft and Flathub list them. */
const CHROMIUM_FAMILY: readonly ChromiumPlace[] = [
  {
    name: 'chromium',
    directory: 'chromium',
    programs: ['chromium', 'chromium-browser'],
    snap: 'chromium',
    flatpak: 'org.chromium.Chromium',
  },
  {
    name: 'chrome',
    directory: 'google-chrome',
    programs: ['google-chrome', 'google-chrome-stable'],
    flatpak: 'com.google.Chrome',
  },
  {
    name: 'edge',
    directory: 'microsoft-edge',
    programs: ['microsoft-edge', 'microsoft-edge-stable'],
    flatpak: 'com.microsoft.Edge',
  },
  {
    name: 'brave',
    directory: 'BraveSoftware/Brave-Browser',
    programs: ['brave-browser', 'brave-browser-stable', 'brave'],
    snap: 'brave',
    flatpak: 'com.brave.Browser',
  },
];

/** The browsers of a user of Linux. */
export function linuxBrowsers({ home, configHome }: UserDirectories): readonly Browser[] {
  const snap = (name: string): Sandbox => ({
    kind: 'Snap',
    directory: join(home, 'snap', name),
    program: join(SNAP_PROGRAMS, name),
  });
  const flatpak = (app: string): Sandbox => ({
    kind: 'Flatpak',
    directory: join(home, '.var/app', app),
    program: join(FLATPAK_PROGRAMS, app),
  });
  const chromiums = CHROMIUM_FAMILY.map((place): Browser => {
    const profile = join(configHome, place.directory);
    return {
      name: place.name,
      title: TITLES[place.name],
      family: 'chromium',
      profileDirectories: [profile],
      programs: place.programs,
      manifest: join(profile, 'NativeMessagingHosts', MANIFEST_FILE),
      registryKey: null,
      sandboxes: [...(place.snap === undefined ? [] : [snap(place.snap)]), flatpak(place.flatpak)],
    };
  });
  // Firefox 147 moved new profiles to `$XDG_CONFIG_HOME/mozilla`, but still reads manifests below `~/.mozilla` only
  // (Mozilla bug 2005167). Making that directory does not send Firefox back to an old profile: only
  // `~/.mozilla/firefox` would (measured on 153).
  const firefox: Browser = {
    name: 'firefox',
    title: TITLES.firefox,
    family: 'firefox',
    profileDirectories: [join(home, '.mozilla/firefox'), join(configHome, 'mozilla/firefox')],
    programs: ['firefox', 'firefox-esr'],
    manifest: join(home, '.mozilla/native-messaging-hosts', MANIFEST_FILE),
    registryKey: null,
    sandboxes: [snap('firefox'), flatpak('org.mozilla.firefox')],
  };
  return [...chromiums, firefox];
}
