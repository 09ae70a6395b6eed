// What installing uses of a computer: files and, on Windows, the registry. Everything else works on these two
// interfaces, so that tests cover every system on any system.
import { execFileSync } from 'node:child_process';
import {
  accessSync,
  constants,
  cpSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, posix, win32 } from 'node:path';
import { makePrivateDirectory } from '../paths.ts';

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
  /** Removes a directory if it exists, is empty and can be removed. */
  removeIfEmpty(directory: string): void;
  /** Replaces a directory's contents with copies, all or none. Throws `DirectoryInUse`, or the system's error. */
  fill(directory: string, parts: readonly Part[]): void;
  /**
   * Removes a directory with its contents, or nothing if programs use it; a missing one is not an error. Throws `DirectoryInUse`,
   * or the system's error.
   */
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

/** A directory cannot be moved, because a program uses files in it: on Windows nothing replaces a loaded library. */
export class DirectoryInUse extends Error {
  override readonly name = 'DirectoryInUse';
}

/** What moving directories uses of this computer. */
interface Mover {
  readonly platform: string;
  rename(from: string, to: string): void;
  /** Removes a directory with its contents; a missing one is not an error. */
  remove(directory: string): void;
}

const MOVER: Mover = {
  platform: process.platform,
  rename: renameSync,
  remove: (directory) => rmSync(directory, { recursive: true, force: true }),
};
/** How Windows refuses to move a directory with files in use. */
const IN_USE_CODES = ['EPERM', 'EACCES', 'EBUSY'];

/** Where a directory is moved before it is deleted: deleting fails after some of its files, moving before any. */
const asideOf = (directory: string): string => `${directory}.old`;

function tryToRemove(directory: string, mover: Mover): void {
  try {
    mover.remove(directory);
  } catch {}
}

/** Returns whether there was a directory to move aside. Throws `DirectoryInUse`, or the system's error. */
function setAside(directory: string, mover: Mover): boolean {
  // What an earlier call could not delete would be in the way.
  tryToRemove(asideOf(directory), mover);
  try {
    mover.rename(directory, asideOf(directory));
    return true;
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return false;
    if (mover.platform === 'win32' && IN_USE_CODES.includes(code))
      throw new DirectoryInUse(`${directory} is in use`, { cause: error });
    throw error;
  }
}

/** Puts one directory in the place of another, which stays whole if that fails. */
export function replaceDirectory(fresh: string, directory: string, mover = MOVER): void {
  const replaces = setAside(directory, mover);
  try {
    mover.rename(fresh, directory);
  } catch (error) {
    if (replaces) mover.rename(asideOf(directory), directory);
    throw error;
  }
  tryToRemove(asideOf(directory), mover);
}

/** Removes a directory, which stays whole if a program uses it. */
export function removeDirectory(directory: string, mover = MOVER): void {
  setAside(directory, mover);
  mover.remove(asideOf(directory));
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
    try {
      // Fails for one that is not empty, missing, a link or not ours to remove.
      rmdirSync(directory);
    } catch {}
  },
  fill(directory, parts) {
    const fresh = `${directory}.${process.pid}.new`;
    makePrivateDirectory(fresh);
    try {
      for (const { from, at } of parts) cpSync(from, join(fresh, at), { recursive: true });
      replaceDirectory(fresh, directory);
    } catch (error) {
      rmSync(fresh, { recursive: true, force: true });
      throw error;
    }
  },
  removeTree: (directory) => removeDirectory(directory),
};

/** This computer; null on an unsupported system. */
export function thisMachine(): Machine | null {
  const platform = PLATFORMS.find((known) => known === process.platform);
  if (platform === undefined) return null;
  return { platform, disk: DISK, registry: platform === 'win32' ? windowsRegistry(process.env) : null };
}

const DEFAULT_VALUE = '/ve';
const TEXT = 'REG_SZ';

/** The default value in an export (UTF-16LE with a byte order mark, as written by reg.exe); null for none. */
export function defaultValueIn(exported: Buffer): string | null {
  // A string ends at its closing quote; inside it both quotes and backslashes are escaped by a backslash.
  const match = /^@="((?:[^"\\\r\n]|\\.)*)"\r?$/m.exec(exported.toString('utf16le'));
  return match?.[1] === undefined ? null : match[1].replaceAll(/\\(.)/g, '$1');
}

/** Arguments of reg.exe. */
export const registryCommands = {
  read: (key: string, file: string) => ['export', key, file, '/y'],
  write: (key: string, value: string) => ['add', key, DEFAULT_VALUE, '/t', TEXT, '/d', value, '/f'],
  remove: (key: string) => ['delete', key, '/f'],
} as const;

/**
 * The registry of this Windows through the system's own reg.exe; every call takes about as long as starting a program.
 * Values are read from an export, because the output of `reg query` is localised and loses every character missing in
 * its legacy code page.
 */
function windowsRegistry(environment: Readonly<Record<string, string | undefined>>): Registry {
  const program = win32.join(environment.SystemRoot ?? 'C:\\Windows', 'System32', 'reg.exe');
  const run = (args: readonly string[]): void => {
    execFileSync(program, args, { stdio: ['ignore', 'ignore', 'pipe'], windowsHide: true });
  };
  const change = (args: readonly string[]): void => {
    try {
      run(args);
    } catch (error) {
      throw new Error('the registry refused the change', { cause: error });
    }
  };
  return {
    read(key) {
      const directory = mkdtempSync(join(tmpdir(), 'photofinish-'));
      const file = join(directory, 'key.reg');
      try {
        run(registryCommands.read(key, file));
        return defaultValueIn(readFileSync(file));
      } catch {
        // reg.exe fails in the same way for a missing key and for one that may not be read.
        return null;
      } finally {
        rmSync(directory, { recursive: true, force: true });
      }
    },
    write: (key, value) => change(registryCommands.write(key, value)),
    remove: (key) => change(registryCommands.remove(key)),
  };
}
