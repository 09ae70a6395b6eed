// What installing would write and where, decided before anything is touched. Pure: what exists is told from outside,
// so that every combination of browsers and packages is a test without a disk.
import type { BrowserName } from './browser-names.ts';
import {
  type Browser,
  browserAt,
  browsersOf,
  hostDirectoryIn,
  manifestDirectory,
  type UserDirectories,
} from './browsers.ts';
import { type Launcher, launcherText } from './launcher.ts';
import { type Part, pathsOf } from './machine.ts';
import { allowedExtensions, manifestText } from './manifest.ts';

export interface InstallRequest {
  /** Browsers asked for by name; empty: every browser found. */
  readonly browsers: readonly BrowserName[];
  /** A Chromium profile elsewhere, not on Windows; then nothing outside that directory is written. */
  readonly userDataDirectory: string | null;
  /** Further ids of the Chromium extension, beside the one that our own key gives. */
  readonly extensionIds: readonly string[];
}

/** A browser, and whether a manifest would do anything for it. */
export interface Target {
  readonly browser: Browser;
  /** `present`: this user has a profile of it; `installed`: its program is here, and this user never started it. */
  readonly state: 'present' | 'installed' | 'asked' | 'sandboxed' | 'absent';
  /** What the user should know besides; null for nothing. */
  readonly note: string | null;
}

export interface PlannedManifest {
  readonly browser: Browser;
  readonly text: string;
  readonly note: string | null;
}

/** What launchers are to name. */
export interface Helper extends Launcher {
  /** Where the helper is found now must not be relied on: then copies of these are made, which hold `main` in `dist`. */
  readonly copy: readonly Part[] | null;
}

export interface InstallPlan {
  /** The copy of the helper to make first; null for none. */
  readonly copy: {
    readonly directory: string;
    /** The helper's entry in it. */
    readonly main: string;
    readonly parts: readonly Part[];
  } | null;
  readonly launcher: { readonly path: string; readonly text: string };
  readonly manifests: readonly PlannedManifest[];
  readonly skipped: readonly { readonly browser: Browser; readonly reason: string }[];
}

/** Where the launcher lives: with the user's data, or inside the profile that `--user-data-dir` names. */
export function launcherPath(request: InstallRequest, directories: UserDirectories): string {
  const { platform, dataHome } = directories;
  const { join } = pathsOf(platform);
  if (request.userDataDirectory !== null)
    return join(hostDirectoryIn(request.userDataDirectory, platform), 'photofinish-host');
  return join(dataHome, 'photofinish', platform === 'win32' ? 'host.cmd' : 'host');
}

/** Where a copy of the helper lives: beside the launcher. */
export function copyDirectory(request: InstallRequest, directories: UserDirectories): string {
  const { dirname, join } = pathsOf(directories.platform);
  const name = request.userDataDirectory === null ? 'helper' : 'photofinish-helper';
  return join(dirname(launcherPath(request, directories)), name);
}

/** Why a browser is passed over. */
export const NOT_FOUND = 'not found: this user has no profile of it, and its program is not here';

function sandboxNote(browser: Browser, kind: string): string {
  return `${browser.title} from ${kind} cannot start programs outside its sandbox; install the distribution's or the vendor's own package`;
}

type Exists = (path: string) => boolean;

/** Whether a program of the browser can be started; a script that only starts the sandboxed package is none. */
function hasProgram({ programs, sandboxes }: Browser, directories: UserDirectories, exists: Exists): boolean {
  if (sandboxes.some(({ program }) => exists(program))) return false;
  const { isAbsolute, join } = pathsOf(directories.platform);
  return programs.some((program) =>
    isAbsolute(program)
      ? exists(program)
      : directories.searchPath.some((directory) => exists(join(directory, program))),
  );
}

function targetOf(browser: Browser, asked: boolean, directories: UserDirectories, exists: Exists): Target {
  const sandbox = browser.sandboxes.find((place) => exists(place.directory) || exists(place.program));
  const note = sandbox === undefined ? null : sandboxNote(browser, sandbox.kind);
  if (browser.profileDirectories.some(exists)) return { browser, state: 'present', note };
  if (asked) return { browser, state: 'asked', note };
  if (hasProgram(browser, directories, exists)) return { browser, state: 'installed', note };
  return { browser, state: sandbox ? 'sandboxed' : 'absent', note };
}

/** The browsers a command is about, each with what is known of it. */
export function targetsOf(
  request: InstallRequest,
  directories: UserDirectories,
  exists: Exists,
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

/** The whole plan for `install`. */
export function planInstall(
  request: InstallRequest,
  { copy: parts, ...helper }: Helper,
  directories: UserDirectories,
  exists: Exists,
): InstallPlan {
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
      const ids = allowedExtensions(browser.family, request.extensionIds);
      manifests.push({ browser, text: manifestText(browser.family, path, ids), note });
    }
  }
  return {
    copy: parts === null ? null : { directory, main, parts },
    launcher: { path, text: launcherText({ ...helper, main }, directories.platform) },
    manifests,
    skipped,
  };
}

/** Directories of our own that an uninstall leaves behind empty, inner ones first. */
export function ownDirectories(request: InstallRequest, directories: UserDirectories): readonly string[] {
  if (request.userDataDirectory !== null) return [];
  const own = pathsOf(directories.platform).dirname(launcherPath(request, directories));
  return directories.platform === 'win32' ? [manifestDirectory(directories), own] : [own];
}
