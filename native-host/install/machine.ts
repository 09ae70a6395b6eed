// What installing uses of a computer: files and, on Windows, the registry. Everything else works on these two
// interfaces, so that tests cover every system on any system.
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

/** Systems supported by browsers with native messaging and by our addon, named as in `process.platform`. */
export const PLATFORMS = ['linux', 'darwin', 'win32'] as const;
export type Platform = (typeof PLATFORMS)[number];

export interface Disk {
  /** The kind of file at a path, following links; nothing if it may not be accessed. */
  kindOf(path: string): 'file' | 'directory' | 'nothing';
  mayRun(path: string): boolean;
  /** A file's text. Throws the system's error. */
  read(path: string): string;
  /** Writes a file atomically, creating its directory. Throws the system's error. */
  write(path: string, text: string, mode: number): void;
  /** Removes a file. Throws the system's error. */
  remove(path: string): void;
  /** Removes a directory if it exists and is empty. Throws the system's error. */
  removeIfEmpty(directory: string): void;
  /** Replaces a directory's contents with copies, all or none. Throws the system's error. */
  fill(directory: string, parts: readonly Part[]): void;
  /** Removes a directory with its contents; a missing one is not an error. Throws the system's error. */
  removeTree(directory: string): void;
}

/** A file or directory, and its path in the copy; an empty path is the copied directory itself. */
export interface Part {
  readonly from: string;
  readonly at: string;
}

/** Keys are written `HKCU\...`; a value is a key's default value, the only one that browsers read. */
export interface Registry {
  /** null if there is no such key, or no text in it. */
  read(key: string): string | null;
  /** Throws an error with the reason. */
  write(key: string, value: string): void;
  /** Removes an existing key. Throws an error with the reason. */
  remove(key: string): void;
}

export interface Machine {
  readonly platform: Platform;
  readonly disk: Disk;
  /** null if the system has none. */
  readonly registry: Registry | null;
}

/** Path functions of that platform, whichever one we run on. */
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

/** This computer; null on an unsupported system. */
export function thisMachine(): Machine | null {
  const platform = PLATFORMS.find((known) => known === process.platform);
  if (platform === undefined) return null;
  return { platform, disk: DISK, registry: platform === 'win32' ? windowsRegistry(process.env) : null };
}
