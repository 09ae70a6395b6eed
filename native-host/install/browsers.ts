// Which browsers there are on each system, with their places for this user. Pure: directories come in, paths go out.
import type { Browser, UserDirectories } from './browser.ts';
import { linuxBrowsers } from './linux.ts';
import { type Platform, pathsOf } from './machine.ts';
import { macosBrowsers } from './macos.ts';
import { MANIFEST_FILE } from './manifest.ts';
import { windowsBrowsers } from './windows.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The user's directories from the environment; relative paths there are ignored, as the XDG specification asks. */
export function userDirectories(platform: Platform, environment: Environment, home: string): UserDirectories {
  const { delimiter, isAbsolute, join } = pathsOf(platform);
  const pick = (name: string, fallback: string): string => {
    const value = environment[name];
    return value !== undefined && isAbsolute(value) ? value : join(home, fallback);
  };
  const searchPath = (environment.PATH ?? '').split(delimiter).filter((directory) => isAbsolute(directory));
  switch (platform) {
    case 'linux':
      return {
        platform,
        home,
        searchPath,
        configHome: pick('XDG_CONFIG_HOME', '.config'),
        dataHome: pick('XDG_DATA_HOME', '.local/share'),
      };
    case 'darwin': {
      const support = join(home, 'Library/Application Support');
      return { platform, home, searchPath, configHome: support, dataHome: support };
    }
    case 'win32':
      return {
        platform,
        home,
        searchPath,
        configHome: pick('APPDATA', 'AppData\\Roaming'),
        dataHome: pick('LOCALAPPDATA', 'AppData\\Local'),
      };
  }
}

/** Every browser we know, with its directories for this user. */
export function browsersOf(directories: UserDirectories): readonly Browser[] {
  switch (directories.platform) {
    case 'linux':
      return linuxBrowsers(directories);
    case 'darwin':
      return macosBrowsers(directories);
    case 'win32':
      return windowsBrowsers(directories);
  }
}

/** Where a Chromium profile at a place of the user's choice has its hosts. */
export function hostDirectoryIn(userDataDirectory: string, platform: Platform): string {
  return pathsOf(platform).join(userDataDirectory, 'NativeMessagingHosts');
}

/** A Chromium profile at a place of the user's choice (`--user-data-dir`); on Windows only the registry is read. */
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
