// Carries out install plans on the disk, and takes back what they wrote. One browser's failure never blocks another's.
import {
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { HOST_NAME } from '@photofinish/shared/wire';
import { makePrivateDirectory } from '../private-directory.ts';
import { type BrowserName, browsersOf, type UserDirectories } from './browsers.ts';
import { MANIFEST_FILE, parseLauncher, parseManifest } from './manifest.ts';
import { type InstallPlan, type InstallRequest, launcherPath, ownDirectories, targetsOf } from './plan.ts';

/** What happened for one browser. `path` is its manifest, null where none was concerned. */
export interface BrowserResult {
  readonly browser: BrowserName;
  readonly title: string;
  readonly state: 'written' | 'removed' | 'skipped' | 'failed';
  readonly path: string | null;
  /** Why it was skipped or failed, or what to know besides; null for nothing. */
  readonly reason: string | null;
}

export interface InstallResult {
  /** The launcher's path and why it could not be written or removed, null if all went well. */
  readonly launcher: { readonly path: string; readonly state: 'written' | 'removed' | 'kept' | 'failed' };
  readonly launcherReason: string | null;
  readonly browsers: readonly BrowserResult[];
}

const LAUNCHER_MODE = 0o700;
const MANIFEST_MODE = 0o600;

function reasonOf(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'EACCES' || code === 'EPERM') return 'no permission to write there';
  if (code === 'EROFS') return 'the file system is read-only';
  if (code === 'ENOSPC') return 'the disk is full';
  if (code === 'ENOTDIR' || code === 'EEXIST') return 'a file is in the way of a directory';
  if (code === 'ENOENT') return 'no directory can be made there';
  if (code === 'EISDIR') return 'a directory is in the way of the file';
  return error instanceof Error ? error.message : String(error);
}

/** Writes beside the target and renames over it, so that a browser never reads half a file. */
function writeAtomically(path: string, text: string, mode: number): void {
  makePrivateDirectory(dirname(path));
  const fresh = `${path}.${process.pid}.new`;
  try {
    writeFileSync(fresh, text, { mode, flag: 'wx', flush: true });
    renameSync(fresh, path);
  } catch (error) {
    rmSync(fresh, { force: true });
    throw error;
  }
}

/** Writes the launcher, then every manifest; without a launcher no manifest is written. */
export function install(plan: InstallPlan): InstallResult {
  const skipped = plan.skipped.map(
    ({ browser, reason }): BrowserResult => ({
      browser: browser.name,
      title: browser.title,
      state: 'skipped',
      path: null,
      reason,
    }),
  );
  const { path } = plan.launcher;
  if (plan.manifests.length === 0)
    return { launcher: { path, state: 'kept' }, launcherReason: null, browsers: skipped };
  let launcherReason: string | null = null;
  try {
    if (existsSync(path) && parseLauncher(readFileSync(path, 'utf8')) === null)
      throw new Error('a file that is not ours is in the way; remove it first');
    writeAtomically(path, plan.launcher.text, LAUNCHER_MODE);
  } catch (error) {
    launcherReason = reasonOf(error);
  }
  const written = plan.manifests.map(({ browser, path: manifest, text, note }): BrowserResult => {
    const result = { browser: browser.name, title: browser.title, path: manifest };
    if (launcherReason !== null)
      return { ...result, state: 'failed', reason: 'the launcher could not be written' };
    try {
      if (existsSync(manifest) && !isOurManifest(manifest))
        throw new Error("another program's manifest is in the way; remove it first");
      writeAtomically(manifest, text, MANIFEST_MODE);
      return { ...result, state: 'written', reason: note };
    } catch (error) {
      return { ...result, state: 'failed', reason: reasonOf(error) };
    }
  });
  return {
    launcher: { path, state: launcherReason === null ? 'written' : 'failed' },
    launcherReason,
    browsers: [...written, ...skipped],
  };
}

function isOurManifest(path: string): boolean {
  const parsed = parseManifest(readFileSync(path, 'utf8'));
  // A broken file under our own name is ours too; a manifest of another name is somebody's who chose that file name.
  return 'error' in parsed || parsed.manifest.name === HOST_NAME;
}

function removeManifest(path: string): { state: 'removed' | 'skipped' | 'failed'; reason: string | null } {
  if (!existsSync(path)) return { state: 'skipped', reason: 'nothing was installed' };
  try {
    if (!isOurManifest(path)) return { state: 'skipped', reason: 'the manifest there is not ours' };
    rmSync(path);
    return { state: 'removed', reason: null };
  } catch (error) {
    return { state: 'failed', reason: reasonOf(error) };
  }
}

function stillNeeded(launcher: string, directories: UserDirectories): boolean {
  return browsersOf(directories).some((browser) => {
    const path = join(browser.hostDirectory, MANIFEST_FILE);
    if (!existsSync(path) || !statSync(path).isFile()) return false;
    const parsed = parseManifest(readFileSync(path, 'utf8'));
    return 'manifest' in parsed && parsed.manifest.path === launcher;
  });
}

/** Removes manifests and launcher of ours, nothing else; the launcher stays while another browser uses it. */
export function uninstall(request: InstallRequest, directories: UserDirectories): InstallResult {
  const browsers = targetsOf(request, directories, existsSync).map(({ browser, manifest }): BrowserResult => {
    const { state, reason } = removeManifest(manifest);
    return { browser: browser.name, title: browser.title, state, path: manifest, reason };
  });
  const path = launcherPath(request, directories);
  const kept = (reason: string | null): InstallResult => ({
    launcher: { path, state: 'kept' },
    launcherReason: reason,
    browsers,
  });
  try {
    if (!existsSync(path)) return kept(null);
    if (parseLauncher(readFileSync(path, 'utf8')) === null) return kept('the file there is not ours');
    if (stillNeeded(path, directories)) return kept('other browsers still use it');
    rmSync(path);
    for (const directory of ownDirectories(request, directories))
      if (readdirSync(directory).length === 0) rmdirSync(directory);
    return { launcher: { path, state: 'removed' }, launcherReason: null, browsers };
  } catch (error) {
    return { launcher: { path, state: 'failed' }, launcherReason: reasonOf(error), browsers };
  }
}
