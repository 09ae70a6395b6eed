// What installing would write and where, decided before anything is changed. Pure: file existence is an input, so that
// every combination of browsers and packages can be tested without a disk.
import type { BrowserName } from './browser-names.ts';
import {
  type Browser,
  browserAt,
  browsersOf,
  hostDirectoryIn,
  manifestDirectory,
  type Sandbox,
  type UserDirectories,
} from './browsers.ts';
import { type Launcher, launcherText } from './launcher.ts';
import { type Part, pathsOf } from './machine.ts';
import { allowedExtensions, manifestText } from './manifest.ts';

export interface InstallRequest {
  /** Browsers requested by name; empty: every browser found. */
  readonly browsers: readonly BrowserName[];
  /** A Chromium profile at a custom location, not on Windows; then nothing outside that directory is written. */
  readonly userDataDirectory: string | null;
  /** Additional ids of the Chromium extension, beside that of our own key. */
  readonly extensionIds: readonly string[];
}

/** A browser, and whether a manifest would have any effect for it. */
export interface Target {
  readonly browser: Browser;
  /** `present`: this user has a profile; `installed`: the program exists, but this user has never started it. */
  readonly state: 'present' | 'installed' | 'asked' | 'sandboxed' | 'absent';
  /** Additional information for the user; null for none. */
  readonly note: string | null;
}

export interface PlannedManifest {
  readonly browser: Browser;
  readonly text: string;
  readonly note: string | null;
}

/** The helper as named by launchers. */
export interface Helper extends Launcher {
  /**
   * If not null, the helper's current location is temporary, and these parts are copied; the copy has `main` in `dist`.
   */
  readonly copy: readonly Part[] | null;
}

export type InstallPlan = ReturnType<typeof planInstall>;

/** Location of the launcher: with the user's data, or inside the profile given by `--user-data-dir`. */
export function launcherPath(request: InstallRequest, directories: UserDirectories): string {
  const { platform, dataHome } = directories;
  const { join } = pathsOf(platform);
  if (request.userDataDirectory !== null)
    return join(hostDirectoryIn(request.userDataDirectory, platform), 'photofinish-host');
  return join(dataHome, 'photofinish', platform === 'win32' ? 'host.cmd' : 'host');
}

/** Location of a copy of the helper: beside the launcher. */
export function copyDirectory(request: InstallRequest, directories: UserDirectories): string {
  const { dirname, join } = pathsOf(directories.platform);
  const name = request.userDataDirectory === null ? 'helper' : 'photofinish-helper';
  return join(dirname(launcherPath(request, directories)), name);
}

/** Why a browser is skipped. */
export const NOT_FOUND = 'not found: neither a profile of this user nor an installed program';

function sandboxNote(browser: Browser, { kind, portal }: Sandbox): string {
  if (portal)
    return `${browser.title} from ${kind} asks before it starts the helper, and needs a desktop portal for WebExtensions, as Ubuntu has (not tested)`;
  return `${browser.title} from ${kind} cannot start programs outside its sandbox; install the distribution's or the vendor's own package`;
}

type FileExists = (path: string) => boolean;

/** Whether a program of the browser can be started; a script that only starts the sandboxed package does not count. */
function hasProgram(
  { programs, sandboxes }: Browser,
  directories: UserDirectories,
  exists: FileExists,
): boolean {
  if (sandboxes.some(({ program }) => exists(program))) return false;
  const { isAbsolute, join } = pathsOf(directories.platform);
  return programs.some((program) =>
    isAbsolute(program)
      ? exists(program)
      : directories.searchPath.some((directory) => exists(join(directory, program))),
  );
}

function targetOf(
  browser: Browser,
  isNamed: boolean,
  directories: UserDirectories,
  exists: FileExists,
): Target {
  const sandbox = browser.sandboxes.find((place) => exists(place.directory) || exists(place.program));
  const note = sandbox === undefined ? null : sandboxNote(browser, sandbox);
  const hasRun = sandbox?.portal === true && exists(sandbox.directory);
  if (hasRun || browser.profileDirectories.some(exists)) return { browser, state: 'present', note };
  if (isNamed) return { browser, state: 'asked', note };
  if (sandbox?.portal || hasProgram(browser, directories, exists))
    return { browser, state: 'installed', note };
  return { browser, state: sandbox ? 'sandboxed' : 'absent', note };
}

/** The browsers that a command applies to, each with its state. */
export function targetsOf(
  request: InstallRequest,
  directories: UserDirectories,
  exists: FileExists,
): readonly Target[] {
  const known = browsersOf(directories);
  const { userDataDirectory } = request;
  if (userDataDirectory !== null) {
    const name = request.browsers[0] ?? 'chromium';
    return known
      .filter((browser) => browser.name === name)
      .map((browser) =>
        targetOf(browserAt(browser, userDataDirectory, directories.platform), true, directories, exists),
      );
  }
  const wanted = new Set(request.browsers);
  return known
    .filter((browser) => wanted.size === 0 || wanted.has(browser.name))
    .map((browser) => targetOf(browser, wanted.has(browser.name), directories, exists));
}

/** The complete plan for `install`; `earlierIds`: what the manifest of a browser allows beside our own key already. */
export function planInstall(
  request: InstallRequest,
  { copy: parts, ...helper }: Helper,
  directories: UserDirectories,
  exists: FileExists,
  earlierIds: (browser: Browser) => readonly string[] = () => [],
) {
  const { basename, join } = pathsOf(directories.platform);
  const path = launcherPath(request, directories);
  const directory = copyDirectory(request, directories);
  const main = parts === null ? helper.main : join(directory, 'dist', basename(helper.main));
  const manifests: PlannedManifest[] = [];
  const skipped: { browser: Browser; reason: string }[] = [];
  for (const { browser, state, note } of targetsOf(request, directories, exists)) {
    if (state === 'absent') skipped.push({ browser, reason: NOT_FOUND });
    else if (state === 'sandboxed') skipped.push({ browser, reason: note ?? 'sandboxed' });
    else {
      const ids = allowedExtensions(browser.family, [...earlierIds(browser), ...request.extensionIds]);
      manifests.push({ browser, text: manifestText(browser.family, path, ids), note });
    }
  }
  return {
    /** The copy of the helper to make first, with its entry point; null for none. */
    copy: parts === null ? null : { directory, main, parts },
    launcher: { path, text: launcherText({ ...helper, main }, directories.platform) },
    manifests,
    skipped,
  };
}

/** Our own directories that are empty after an uninstall, inner ones first. */
export function ownDirectories(request: InstallRequest, directories: UserDirectories): readonly string[] {
  if (request.userDataDirectory !== null) return [];
  const own = pathsOf(directories.platform).dirname(launcherPath(request, directories));
  return directories.platform === 'win32' ? [manifestDirectory(directories), own] : [own];
}
