// Where each browser on Linux keeps its profile and looks for native messaging hosts, and what says that the browser
// is a sandboxed package. Pure: paths come in, paths go out.
import { join } from 'node:path';
import { CHROMIUM_EXTENSION_ID, FIREFOX_EXTENSION_ID } from '@photofinish/shared/extension-id';

export const BROWSER_NAMES = ['chromium', 'chrome', 'edge', 'brave', 'firefox'] as const;
export type BrowserName = (typeof BROWSER_NAMES)[number];
export type BrowserFamily = 'chromium' | 'firefox';

/** The user's directories, as the XDG Base Directory Specification finds them. */
export interface UserDirectories {
  readonly home: string;
  readonly configHome: string;
  readonly dataHome: string;
}

export interface Browser {
  readonly name: BrowserName;
  /** The name people know. */
  readonly title: string;
  readonly family: BrowserFamily;
  /** One of these exists once the browser has run for this user. */
  readonly profileDirectories: readonly string[];
  /** The directory the browser reads native messaging manifests from. */
  readonly hostDirectory: string;
  /** Profiles of packages whose sandbox keeps them from starting programs outside. */
  readonly sandboxes: readonly Sandbox[];
}

export interface Sandbox {
  readonly kind: 'Snap' | 'Flatpak';
  readonly directory: string;
}

interface ChromiumPlace {
  readonly name: BrowserName;
  readonly title: string;
  readonly directory: string;
  readonly snap?: string;
  readonly flatpak: string;
}

/** Below `$XDG_CONFIG_HOME` (Chromium's docs/user_data_dir.md); package names as Snapcraft and Flathub list them. */
const CHROMIUM_FAMILY: readonly ChromiumPlace[] = [
  {
    name: 'chromium',
    title: 'Chromium',
    directory: 'chromium',
    snap: 'chromium',
    flatpak: 'org.chromium.Chromium',
  },
  { name: 'chrome', title: 'Google Chrome', directory: 'google-chrome', flatpak: 'com.google.Chrome' },
  { name: 'edge', title: 'Microsoft Edge', directory: 'microsoft-edge', flatpak: 'com.microsoft.Edge' },
  {
    name: 'brave',
    title: 'Brave',
    directory: 'BraveSoftware/Brave-Browser',
    snap: 'brave',
    flatpak: 'com.brave.Browser',
  },
];

/** The user's directories from the environment; relative XDG paths are ignored, as the specification asks. */
export function userDirectories(
  environment: Readonly<Record<string, string | undefined>>,
  home: string,
): UserDirectories {
  const pick = (name: string, fallback: string): string => {
    const value = environment[name];
    return value?.startsWith('/') ? value : join(home, fallback);
  };
  return {
    home,
    configHome: pick('XDG_CONFIG_HOME', '.config'),
    dataHome: pick('XDG_DATA_HOME', '.local/share'),
  };
}

/** Every browser we know, with its directories for this user. */
export function browsersOf(directories: UserDirectories): readonly Browser[] {
  const { home, configHome } = directories;
  const flatpak = (app: string): Sandbox => ({ kind: 'Flatpak', directory: join(home, '.var/app', app) });
  const chromiums = CHROMIUM_FAMILY.map((place): Browser => {
    const profile = join(configHome, place.directory);
    const snaps: Sandbox[] = place.snap ? [{ kind: 'Snap', directory: join(home, 'snap', place.snap) }] : [];
    return {
      name: place.name,
      title: place.title,
      family: 'chromium',
      profileDirectories: [profile],
      hostDirectory: join(profile, 'NativeMessagingHosts'),
      sandboxes: [...snaps, flatpak(place.flatpak)],
    };
  });
  return [...chromiums, firefox(home, configHome, flatpak)];
}

/**
 * Firefox 147 moved new profiles to `$XDG_CONFIG_HOME/mozilla`, but still reads manifests below `~/.mozilla` only
 * (Mozilla bug 2005167). Making that directory does not send Firefox back to an old profile: only
 * `~/.mozilla/firefox` would (measured on 153).
 */
function firefox(home: string, configHome: string, flatpak: (app: string) => Sandbox): Browser {
  return {
    name: 'firefox',
    title: 'Firefox',
    family: 'firefox',
    profileDirectories: [join(home, '.mozilla/firefox'), join(configHome, 'mozilla/firefox')],
    hostDirectory: join(home, '.mozilla/native-messaging-hosts'),
    sandboxes: [{ kind: 'Snap', directory: join(home, 'snap/firefox') }, flatpak('org.mozilla.firefox')],
  };
}

/** A Chromium profile at a place of the user's choice (`--user-data-dir`), which brings its own host directory. */
export function browserAt(browser: Browser, userDataDirectory: string): Browser {
  return {
    ...browser,
    profileDirectories: [userDataDirectory],
    hostDirectory: join(userDataDirectory, 'NativeMessagingHosts'),
    sandboxes: [],
  };
}

/** Chromium's spelling of an id: 128 bits, each hex digit written as a letter from a to p. */
export function isChromiumExtensionId(text: string): boolean {
  return /^[a-p]{32}$/.test(text);
}

/** The id whose extension may start the helper. Firefox's is written in our manifest, so only Chromium's can differ. */
export function allowedExtension(family: BrowserFamily, asked: string | null): string {
  return family === 'chromium' ? (asked ?? CHROMIUM_EXTENSION_ID) : FIREFOX_EXTENSION_ID;
}
