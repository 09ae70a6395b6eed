// What installing touches of a computer: its files and, on Windows, its registry. Everything beyond this file is decided
// over these two interfaces, so that every system is installed on in tests, whichever one they run on.
import {
  accessSync,
  constants,
  cpSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, posix, win32 } from 'node:path';
import { makePrivateDirectory } from '../private-directory.ts';
import { windowsRegistry } from './registry.ts';

/** Systems that browsers with native messaging and our addon run on, as `process.platform` names them. */
export const PLATFORMS = ['linux', 'darwin', 'win32'] as const;
export type Platform = (typeof PLATFORMS)[number];

export interface Disk {
  /** What stands at a path, links followed; nothing where one may not look. */
  kindOf(path: string): 'file' | 'directory' | 'nothing';
  mayRun(path: string): boolean;
  /** A file's text. Throws the system's error. */
  read(path: string): string;
  /** Puts a file there, whole or not at all, and makes its directory. Throws the system's error. */
  write(path: string, text: string, mode: number): void;
  /** Removes a file. Throws the system's error. */
  remove(path: string): void;
  /** Removes a directory if it is there and nothing is in it. Throws the system's error. */
  removeIfEmpty(directory: string): void;
  /** Fills a directory with copies, in place of what it held, all or none. Throws the system's error. */
  fill(directory: string, parts: readonly Part[]): void;
  /** Removes a directory and all in it; one that is not there is no error. Throws the system's error. */
  removeTree(directory: string): void;
}

/** A file or directory, and where in another directory its copy belongs; an empty path is that directory itself. */
export interface Part {
  readonly from: string;
  readonly at: string;
}

/** Keys are spelt `HKCU\...`; a value is a key's default one, which is all that browsers read. */
export interface Registry {
  /** null where there is no such key, or no text in it. */
  read(key: string): string | null;
  /** Throws an error that says why. */
  write(key: string, value: string): void;
  /** Removes a key that is there. Throws an error that says why. */
  remove(key: string): void;
}

export interface Machine {
  readonly platform: Platform;
  readonly disk: Disk;
  /** null where the system has none. */
  readonly registry: Registry | null;
}

/** How the machine spells paths, whichever one we run on. */
export function pathsOf(platform: Platform): typeof posix {
  return platform === 'win32' ? win32 : posix;
}

/** The disk of this computer. */
export const DISK: Disk = {
  kindOf(path) {
    try {
      return statSync(path).isDirectory() ? 'directory' : 'file';
    } catch {
      return 'nothing';
    }
  },
  mayRun(path) {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  },
  read: (path) => readFileSync(path, 'utf8'),
  write(path, text, mode) {
    makePrivateDirectory(dirname(path));
    // Written beside the target and renamed over it, so that a browser never reads half a file.
    const fresh = `${path}.${process.pid}.new`;
    try {
      writeFileSync(fresh, text, { mode, flag: 'wx', flush: true });
      renameSync(fresh, path);
    } catch (error) {
      rmSync(fresh, { force: true });
      throw error;
    }
  },
  remove: (path) => rmSync(path),
  removeIfEmpty(directory) {
    if (this.kindOf(directory) === 'directory' && readdirSync(directory).length === 0) rmdirSync(directory);
  },
  fill(directory, parts) {
    const fresh = `${directory}.${process.pid}.new`;
    makePrivateDirectory(fresh);
    try {
      for (const { from, at } of parts) cpSync(from, join(fresh, at), { recursive: true });
      rmSync(directory, { recursive: true, force: true });
      renameSync(fresh, directory);
    } catch (error) {
      rmSync(fresh, { recursive: true, force: true });
      throw error;
    }
  },
  removeTree: (directory) => rmSync(directory, { recursive: true, force: true }),
};

/** This computer; null on a system that has no browser to install for. */
export function thisMachine(): Machine | null {
  const platform = PLATFORMS.find((known) => known === process.platform);
  if (platform === undefined) return null;
  return { platform, disk: DISK, registry: platform === 'win32' ? windowsRegistry(process.env) : null };
}
