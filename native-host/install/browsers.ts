// Every known browser, with its paths on each system for this user: one table. Pure: directories in, paths out.
import { HOST_NAME } from '@photofinish/shared/port/extension-id';
import { BROWSER_NAMES, type BrowserName, TITLES } from './browser-names.ts';
import { type Platform, pathsOf } from './machine.ts';
import { MANIFEST_FILE } from './manifest.ts';

export type BrowserFamily = 'chromium' | 'firefox';

/** The user's directories. */
export interface UserDirectories {
  readonly platform: Platform;
  readonly home: string;
  /** Base directory of programs' settings: `$XDG_CONFIG_HOME`, `~/Library/Application Support`, `%APPDATA%`. */
  readonly configHome: string;
  /** Base directory of programs' data: `$XDG_DATA_HOME`, `~/Library/Application Support`, `%LOCALAPPDATA%`. */
  readonly dataHome: string;
  /** The directories of `PATH`, without relative ones. */
  readonly searchPath: readonly string[];
}

export interface Browser {
  readonly name: BrowserName;
  readonly title: string;
  readonly family: BrowserFamily;
  /** One of these exists once the browser has run for this user. */
  readonly profileDirectories: readonly string[];
  /** Its programs: names are searched for in the `PATH`, paths are used as they are. */
  readonly programs: readonly string[];
  /** The native messaging manifest for this browser. */
  readonly manifest: string;
  /** The registry key that names the manifest; null if the browser finds it by its location. */
  readonly registryKey: string | null;
  /** Packages whose sandbox does not allow starting programs outside, or only through a portal. */
  readonly sandboxes: readonly Sandbox[];
}

export interface Sandbox {
  readonly kind: 'Snap' | 'Flatpak';
  /** Where the package stores this user's data. */
  readonly directory: string;
  /** The command that starts it. Distributions put a script with the browser's own name before it. */
  readonly program: string;
  /** Whether it starts native hosts through the desktop's WebExtensions portal, which reads the usual manifests. */
  readonly portal: boolean;
}

/** A directory below one of the user's. */
type UserPath = `${'home' | 'config' | 'data'}/${string}`;

interface BrowserPaths {
  readonly profiles: readonly [UserPath, ...UserPath[]];
  /** Where hosts are searched for; default `NativeMessagingHosts` in the profile. */
  readonly hosts?: UserPath;
  /** Names on the `PATH`. On Windows installers add none; the first start creates the profile. */
  readonly programs?: readonly string[];
  /** A macOS application, for all users or for one. */
  readonly bundle?: string;
  /** Vendor whose Windows registry key is read instead of a directory. */
  readonly vendor?: string;
  /** The packages' names on Snapcraft and Flathub. */
  readonly snap?: string;
  readonly snapPortal?: boolean;
  readonly flatpak?: string;
}

/** Profiles according to Chromium's docs/user_data_dir.md, and Microsoft's, Brave's and Mozilla's own pages. */
const PLACES: Readonly<Record<BrowserName, Readonly<Record<Platform, BrowserPaths>>>> = {
  chromium: {
    linux: {
      profiles: ['config/chromium'],
      programs: ['chromium', 'chromium-browser'],
      snap: 'chromium',
      flatpak: 'org.chromium.Chromium',
    },
    darwin: { profiles: ['config/Chromium'], bundle: 'Chromium.app' },
    win32: { profiles: ['data/Chromium/User Data'], vendor: 'Chromium' },
  },
  chrome: {
    linux: {
      profiles: ['config/google-chrome'],
      programs: ['google-chrome', 'google-chrome-stable'],
      flatpak: 'com.google.Chrome',
    },
    darwin: { profiles: ['config/Google/Chrome'], bundle: 'Google Chrome.app' },
    win32: { profiles: ['data/Google/Chrome/User Data'], vendor: 'Google\\Chrome' },
  },
  edge: {
    linux: {
      profiles: ['config/microsoft-edge'],
      programs: ['microsoft-edge', 'microsoft-edge-stable'],
      flatpak: 'com.microsoft.Edge',
    },
    darwin: { profiles: ['config/Microsoft Edge'], bundle: 'Microsoft Edge.app' },
    win32: { profiles: ['data/Microsoft/Edge/User Data'], vendor: 'Microsoft\\Edge' },
  },
  brave: {
    linux: {
      profiles: ['config/BraveSoftware/Brave-Browser'],
      programs: ['brave-browser', 'brave-browser-stable', 'brave'],
      snap: 'brave',
      flatpak: 'com.brave.Browser',
    },
    darwin: { profiles: ['config/BraveSoftware/Brave-Browser'], bundle: 'Brave Browser.app' },
    // Brave has no key of its own: it reads Chrome's, like every Chromium that uses Chromium's own
    // launch_context_win.cc; so the two share a manifest.
    win32: { profiles: ['data/BraveSoftware/Brave-Browser/User Data'], vendor: 'Google\\Chrome' },
  },
  firefox: {
    // Firefox 147 moved new profiles to `$XDG_CONFIG_HOME/mozilla`, but still reads manifests only below `~/.mozilla`
    // (Mozilla bug 2005167). Creating that directory does not make Firefox use an old profile: only
    // `~/.mozilla/firefox` would (measured on 153).
    linux: {
      profiles: ['home/.mozilla/firefox', 'config/mozilla/firefox'],
      hosts: 'home/.mozilla/native-messaging-hosts',
      programs: ['firefox', 'firefox-esr'],
      snap: 'firefox',
      // https://firefox-source-docs.mozilla.org, "Native messaging for a strictly-confined Firefox".
      snapPortal: true,
      flatpak: 'org.mozilla.firefox',
    },
    // Hosts are not beside the profiles (MDN, Native manifests).
    darwin: {
      profiles: ['config/Firefox'],
      hosts: 'config/Mozilla/NativeMessagingHosts',
      bundle: 'Firefox.app',
    },
    // The version from Microsoft's store has its profiles where that store puts those of all its programs.
    win32: {
      profiles: [
        'config/Mozilla/Firefox',
        'data/Packages/Mozilla.Firefox_n80bbvh6b1yt2/LocalCache/Roaming/Mozilla/Firefox',
      ],
      vendor: 'Mozilla',
    },
  },
};

/** A variable that names a directory, and its default below the home. */
type Home = readonly [variable: string | null, fallback: string];
const SUPPORT: Home = [null, 'Library/Application Support'];
const HOMES: Readonly<Record<Platform, { readonly config: Home; readonly data: Home }>> = {
  linux: { config: ['XDG_CONFIG_HOME', '.config'], data: ['XDG_DATA_HOME', '.local/share'] },
  darwin: { config: SUPPORT, data: SUPPORT },
  win32: { config: ['APPDATA', 'AppData/Roaming'], data: ['LOCALAPPDATA', 'AppData/Local'] },
};

/** The user's directories from the environment; relative paths are ignored, as the XDG specification requires. */
export function userDirectories(
  platform: Platform,
  environment: Readonly<Record<string, string | undefined>>,
  home: string,
): UserDirectories {
  const { delimiter, isAbsolute, join } = pathsOf(platform);
  const directory = ([variable, fallback]: Home): string => {
    const value = variable === null ? undefined : environment[variable];
    return value !== undefined && isAbsolute(value) ? value : join(home, fallback);
  };
  const { config, data } = HOMES[platform];
  const searchPath = (environment.PATH ?? '').split(delimiter).filter((each) => isAbsolute(each));
  return { platform, home, searchPath, configHome: directory(config), dataHome: directory(data) };
}

/** Our directory for the manifests named by registry keys. */
export function manifestDirectory({ dataHome, platform }: UserDirectories): string {
  return pathsOf(platform).join(dataHome, 'photofinish', 'native-messaging');
}

function browserIn(directories: UserDirectories, name: BrowserName): Browser {
  const { platform, home, configHome, dataHome } = directories;
  const {
    profiles,
    hosts,
    programs = [],
    bundle,
    vendor,
    snap,
    snapPortal = false,
    flatpak,
  } = PLACES[name][platform];
  const { join } = pathsOf(platform);
  const roots: Readonly<Record<string, string>> = { home, config: configHome, data: dataHome };
  const at = (place: UserPath): string => {
    const [root = '', ...rest] = place.split('/');
    return join(roots[root] ?? '', ...rest);
  };
  const sandbox = (
    kind: Sandbox['kind'],
    name: string | undefined,
    data: string,
    programs: string,
    portal: boolean,
  ): readonly Sandbox[] =>
    name === undefined
      ? []
      : [{ kind, directory: join(home, data, name), program: join(programs, name), portal }];
  return {
    name,
    title: TITLES[name],
    family: name === 'firefox' ? 'firefox' : 'chromium',
    profileDirectories: profiles.map(at),
    programs:
      bundle === undefined ? programs : [join('/Applications', bundle), join(home, 'Applications', bundle)],
    manifest:
      vendor === undefined
        ? join(hosts === undefined ? hostDirectoryIn(at(profiles[0]), platform) : at(hosts), MANIFEST_FILE)
        : join(manifestDirectory(directories), `${vendor.replace('\\', '-').toLowerCase()}.json`),
    registryKey:
      vendor === undefined ? null : `HKCU\\Software\\${vendor}\\NativeMessagingHosts\\${HOST_NAME}`,
    sandboxes: [
      ...sandbox('Snap', snap, 'snap', '/snap/bin', snapPortal),
      // Installed for all users.
      ...sandbox('Flatpak', flatpak, '.var/app', '/var/lib/flatpak/exports/bin', false),
    ],
  };
}

/** Every known browser, with its directories for this user. */
export function browsersOf(directories: UserDirectories): readonly Browser[] {
  return BROWSER_NAMES.map((name) => browserIn(directories, name));
}

/** Where a Chromium profile has its hosts; on Windows only for a profile at a custom location. */
export function hostDirectoryIn(userDataDirectory: string, platform: Platform): string {
  return pathsOf(platform).join(userDataDirectory, 'NativeMessagingHosts');
}

/** A Chromium profile at a custom location (`--user-data-dir`); on Windows only the registry is read. */
export function browserAt(browser: Browser, userDataDirectory: string, platform: Platform): Browser {
  return {
    ...browser,
    profileDirectories: [userDataDirectory],
    programs: [],
    manifest: pathsOf(platform).join(hostDirectoryIn(userDataDirectory, platform), MANIFEST_FILE),
    registryKey: null,
    sandboxes: [],
  };
}
