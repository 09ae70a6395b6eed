// Carries out install plans, and removes what they wrote. A failure for one browser never affects another.

import { HOST_NAME } from '@photofinish/shared/port/extension-id';
import { messageOf } from '@photofinish/shared/web/untrusted';
import type { BrowserName } from './browser-names.ts';
import { type Browser, browsersOf, type UserDirectories } from './browsers.ts';
import {
  copyDirectory,
  type InstallPlan,
  type InstallRequest,
  launcherPath,
  ownDirectories,
  type PlannedManifest,
  targetsOf,
} from './install-plan.ts';
import { launcherAt, parseLauncher } from './launcher.ts';
import { DirectoryInUse, type Disk, type Machine, pathsOf } from './machine.ts';
import { furtherIds, MANIFEST_DESCRIPTION, parseManifest, readManifest } from './manifest.ts';

/** The result for one browser. `path` is its manifest, null if none was involved. */
interface BrowserResult {
  readonly browser: BrowserName;
  readonly title: string;
  readonly state: 'written' | 'removed' | 'skipped' | 'failed';
  readonly path: string | null;
  /** The registry key that names the manifest, on Windows. */
  readonly registryKey: string | null;
  /** Why it was skipped or failed, or additional information; null for none. */
  readonly reason: string | null;
}

export interface InstallResult {
  /** The launcher's path, and why it could not be written or removed, null if all went well. */
  readonly launcher: { readonly path: string; readonly state: 'written' | 'removed' | 'kept' | 'failed' };
  readonly launcherReason: string | null;
  readonly browsers: readonly BrowserResult[];
}

const LAUNCHER_MODE = 0o700;
const MANIFEST_MODE = 0o600;

function reasonOf(error: unknown): string {
  if (error instanceof DirectoryInUse) return 'the helper is running; close the browser and try again';
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'EACCES' || code === 'EPERM') return 'no permission to write there';
  if (code === 'EROFS') return 'the file system is read-only';
  if (code === 'ENOSPC') return 'the disk is full';
  if (code === 'ENOTDIR' || code === 'EEXIST') return 'a file is in the way of a directory';
  if (code === 'ENOENT') return 'no directory can be created there';
  if (code === 'EISDIR') return 'a directory is in the way of the file';
  return messageOf(error);
}

function resultFor(
  browser: Browser,
  path: string | null,
  state: BrowserResult['state'],
  reason: string | null,
): BrowserResult {
  const registryKey = path === null ? null : browser.registryKey;
  return { browser: browser.name, title: browser.title, state, path, registryKey, reason };
}

/**
 * A broken file with our name is ours too; a manifest with another name in it belongs to whoever chose that file name.
 */
function isOurManifest(path: string, disk: Disk): boolean {
  const parsed = parseManifest(disk.read(path));
  return 'error' in parsed || parsed.manifest.name === HOST_NAME;
}

/** Whether a key with our name names another program's manifest. One that names a missing file is left over from us. */
function leadsElsewhere(key: string, { disk, registry }: Machine): boolean {
  const named = registry?.read(key) ?? null;
  return named !== null && disk.kindOf(named) === 'file' && !isOurManifest(named, disk);
}

function writeManifest({ browser, text, note }: PlannedManifest, machine: Machine): BrowserResult {
  const { disk, registry } = machine;
  const { manifest, registryKey } = browser;
  try {
    if (disk.kindOf(manifest) !== 'nothing' && !isOurManifest(manifest, disk))
      throw new Error("another program's manifest is in the way; remove it first");
    if (registryKey !== null && leadsElsewhere(registryKey, machine))
      throw new Error(`the registry key ${registryKey} names another program's manifest; remove it first`);
    disk.write(manifest, text, MANIFEST_MODE);
    if (registryKey !== null) registry?.write(registryKey, manifest);
    return resultFor(browser, manifest, 'written', note);
  } catch (error) {
    return resultFor(browser, manifest, 'failed', reasonOf(error));
  }
}

/** The settings file that the launcher to be replaced names; null: none, or there is no launcher of ours. */
export function earlierConfig(
  request: InstallRequest,
  directories: UserDirectories,
  machine: Machine,
): string | null {
  return launcherAt(launcherPath(request, directories), machine)?.config ?? null;
}

/** The ids of further extensions that the manifest to be replaced allows. */
export function earlierIds({ family, manifest, registryKey }: Browser, machine: Machine): readonly string[] {
  const path = registryKey === null ? manifest : (machine.registry?.read(registryKey) ?? manifest);
  const read = readManifest(path, machine);
  return 'error' in read || read.manifest.name !== HOST_NAME ? [] : furtherIds(read.manifest, family);
}

/** Whether the location of the copy is free, or contains an earlier copy or what a failed removal left of one. */
function mayFill(
  { directory, main, parts }: NonNullable<InstallPlan['copy']>,
  { disk, platform }: Machine,
): boolean {
  if (disk.kindOf(directory) === 'nothing') return true;
  const { join } = pathsOf(platform);
  const own = [main, ...parts.filter(({ at }) => at !== '').map(({ at }) => join(directory, at))];
  return own.some((path) => disk.kindOf(path) === 'file');
}

/**
 * Writes a copy of the helper if planned, then the launcher, and then every manifest and its key; without a launcher no
 * manifest is written.
 */
export function install(plan: InstallPlan, machine: Machine): InstallResult {
  const { disk, platform } = machine;
  const skipped = plan.skipped.map(({ browser, reason }) => resultFor(browser, null, 'skipped', reason));
  const { path, text } = plan.launcher;
  if (plan.manifests.length === 0)
    return { launcher: { path, state: 'kept' }, launcherReason: null, browsers: skipped };
  let launcherReason: string | null = null;
  try {
    if (disk.kindOf(path) !== 'nothing' && parseLauncher(disk.read(path), platform) === null)
      throw new Error('a file that Photofinish did not write is in the way; remove it first');
    if (plan.copy !== null) {
      if (!mayFill(plan.copy, machine))
        throw new Error(
          `${plan.copy.directory} is in the way and was not written by Photofinish; remove it first`,
        );
      disk.fill(plan.copy.directory, plan.copy.parts);
    }
    disk.write(path, text, LAUNCHER_MODE);
  } catch (error) {
    launcherReason = reasonOf(error);
  }
  const written = plan.manifests.map((planned) =>
    launcherReason === null
      ? writeManifest(planned, machine)
      : resultFor(planned.browser, planned.browser.manifest, 'failed', 'the launcher could not be written'),
  );
  return {
    launcher: { path, state: launcherReason === null ? 'written' : 'failed' },
    launcherReason,
    browsers: [...written, ...skipped],
  };
}

/**
 * Why a manifest was not written by this installation, in words; null: it was. It names our host and our launcher,
 * wherever that is, or the location of one that no longer exists.
 */
function whyNotWritten(path: string, launcher: string, { disk, platform }: Machine): string | null {
  const parsed = parseManifest(disk.read(path));
  if ('error' in parsed) return `${parsed.error}, so install did not write it like this; remove it yourself`;
  const { manifest } = parsed;
  if (manifest.name !== HOST_NAME) return 'it was not written by Photofinish';
  if (manifest.path === launcher) return null;
  const kind = disk.kindOf(manifest.path);
  if (kind === 'nothing' && manifest.description === MANIFEST_DESCRIPTION) return null;
  if (kind === 'file' && parseLauncher(disk.read(manifest.path), platform) !== null) return null;
  return `it names ${manifest.path}, which is not Photofinish's launcher`;
}

/** Removes the key even if the manifest it names is missing, and the manifest even if no key names it. */
function removeManifest(browser: Browser, launcher: string, machine: Machine): BrowserResult {
  const { disk, registry, platform } = machine;
  const { manifest, registryKey, profileDirectories } = browser;
  const present = disk.kindOf(manifest) !== 'nothing';
  const named = registryKey === null ? null : (registry?.read(registryKey) ?? null);
  if (!present && named === null) return resultFor(browser, manifest, 'skipped', 'nothing was installed');
  try {
    const foreign = present ? whyNotWritten(manifest, launcher, machine) : null;
    if (foreign !== null)
      return resultFor(browser, manifest, 'skipped', `the manifest ${manifest} stays: ${foreign}`);
    if (registryKey !== null && leadsElsewhere(registryKey, machine))
      return resultFor(
        browser,
        manifest,
        'skipped',
        `the manifest that ${registryKey} names was not written by Photofinish`,
      );
    if (registryKey !== null && named !== null) registry?.remove(registryKey);
    if (present) disk.remove(manifest);
    // A directory made for the manifest of a browser that was never started would pass for its profile.
    const { dirname } = pathsOf(platform);
    const hosts = dirname(manifest);
    for (const directory of [hosts, ...profileDirectories, dirname(hosts)]) disk.removeIfEmpty(directory);
    return resultFor(browser, manifest, 'removed', null);
  } catch (error) {
    return resultFor(browser, manifest, 'failed', reasonOf(error));
  }
}

function stillNeeded(launcher: string, directories: UserDirectories, disk: Disk): boolean {
  return browsersOf(directories).some(({ manifest }) => {
    if (disk.kindOf(manifest) !== 'file') return false;
    const parsed = parseManifest(disk.read(manifest));
    return 'manifest' in parsed && parsed.manifest.path === launcher;
  });
}

/** Browsers that read the same key share their manifest: removing it from one removes it from the others. */
function shared(result: BrowserResult, all: readonly Browser[]): BrowserResult {
  if (result.state !== 'removed') return result;
  const others = all.filter(({ name, manifest }) => manifest === result.path && name !== result.browser);
  if (others.length === 0) return result;
  const reason = `for ${others.map(({ title }) => title).join(' and ')} too, which reads the same key`;
  return { ...result, reason };
}

/**
 * Removes the manifests, keys and launcher that `install` wrote, nothing else; the launcher stays while another browser
 * uses it.
 */
export function uninstall(
  request: InstallRequest,
  directories: UserDirectories,
  machine: Machine,
): InstallResult {
  const { disk, platform } = machine;
  const exists = (path: string): boolean => disk.kindOf(path) !== 'nothing';
  const all = browsersOf(directories);
  const path = launcherPath(request, directories);
  const browsers = targetsOf(request, directories, exists).map(({ browser }) =>
    shared(removeManifest(browser, path, machine), all),
  );
  const kept = (reason: string | null): InstallResult => ({
    launcher: { path, state: 'kept' },
    launcherReason: reason,
    browsers,
  });
  try {
    if (!exists(path)) return kept(null);
    const launcher = parseLauncher(disk.read(path), platform);
    if (launcher === null) return kept('the file there was not written by Photofinish');
    if (stillNeeded(path, directories, disk)) return kept('other browsers still use it');
    const copy = copyDirectory(request, directories);
    // A later installation may have named another helper and left the copy.
    const { basename, join } = pathsOf(platform);
    // Before the launcher, without which no later call would look for the copy.
    if (disk.kindOf(join(copy, 'dist', basename(launcher.main))) === 'file') disk.removeTree(copy);
    disk.remove(path);
    for (const directory of ownDirectories(request, directories)) disk.removeIfEmpty(directory);
    return { launcher: { path, state: 'removed' }, launcherReason: null, browsers };
  } catch (error) {
    return { launcher: { path, state: 'failed' }, launcherReason: reasonOf(error), browsers };
  }
}
