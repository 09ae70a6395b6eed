// An in-memory computer: files, directories and a registry, with write-protected locations, so that tests cover every
// system on any machine.
import { type UserDirectories, userDirectories } from '../install/browsers.ts';
import { type Disk, InUse, type Machine, type Platform, pathsOf, type Registry } from '../install/machine.ts';

export interface MachineTestbed {
  readonly machine: Machine;
  readonly directories: UserDirectories;
  /** Path to text. */
  readonly files: Map<string, string>;
  /** Key to default value. */
  readonly keys: Map<string, string>;
  /** Files and keys that nobody may write or remove. */
  readonly locked: Set<string>;
  /** Directories with files that a program uses, on Windows. */
  readonly inUse: Set<string>;
  /** Modes of the files written. */
  readonly modes: Map<string, number>;
  readonly exists: (path: string) => boolean;
  makeDirectory(path: string): void;
}

/** Realistic homes, with blanks and non-ASCII letters. */
export const HOMES: Record<Platform, string> = {
  linux: '/home/zoë k',
  darwin: '/Users/zoë k',
  win32: 'C:\\Users\\Zoë K',
};

function systemError(code: string): Error {
  return Object.assign(new Error(code), { code });
}

/** An empty home on a system of that kind. */
export function machineTestbed(platform: Platform): MachineTestbed {
  const { dirname, join, sep } = pathsOf(platform);
  const files = new Map<string, string>();
  const directories = new Set<string>();
  const keys = new Map<string, string>();
  const locked = new Set<string>();
  const inUse = new Set<string>();
  const modes = new Map<string, number>();

  const makeDirectory = (path: string): void => {
    if (files.has(path)) throw systemError('ENOTDIR');
    if (directories.has(path)) return;
    if (dirname(path) !== path) makeDirectory(dirname(path));
    directories.add(path);
  };
  const disk: Disk = {
    kindOf: (path) => (files.has(path) ? 'file' : directories.has(path) ? 'directory' : 'nothing'),
    mayRun: (path) => platform === 'win32' || ((modes.get(path) ?? 0o700) & 0o100) !== 0,
    read(path) {
      const text = files.get(path);
      if (text === undefined) throw systemError(directories.has(path) ? 'EISDIR' : 'ENOENT');
      return text;
    },
    write(path, text, mode) {
      if (locked.has(path)) throw systemError('EACCES');
      if (directories.has(path)) throw systemError('EISDIR');
      makeDirectory(dirname(path));
      files.set(path, text);
      modes.set(path, mode);
    },
    remove(path) {
      if (locked.has(path)) throw systemError('EPERM');
      if (!files.delete(path)) throw systemError('ENOENT');
    },
    removeIfEmpty(path) {
      const inside = [...files.keys(), ...directories].some(
        (each) => each !== path && dirname(each) === path,
      );
      if (!inside) directories.delete(path);
    },
    fill(path, parts) {
      if (locked.has(path)) throw systemError('EACCES');
      disk.removeTree(path);
      for (const { from, at } of parts)
        for (const [file, text] of [...files]) {
          if (file === from) disk.write(join(path, at), text, 0o600);
          else if (file.startsWith(from + sep))
            disk.write(join(path, at, file.slice(from.length)), text, 0o600);
        }
    },
    removeTree(path) {
      if (inUse.has(path)) throw new InUse(path);
      for (const each of [...files.keys(), ...directories])
        if (each === path || each.startsWith(path + sep)) {
          files.delete(each);
          directories.delete(each);
        }
    },
  };
  const registry: Registry = {
    read: (key) => keys.get(key) ?? null,
    write(key, value) {
      if (locked.has(key)) throw new Error('the registry refused the change');
      keys.set(key, value);
    },
    remove(key) {
      if (locked.has(key) || !keys.delete(key)) throw new Error('the registry refused the change');
    },
  };
  const home = HOMES[platform];
  makeDirectory(home);
  return {
    machine: { platform, disk, registry: platform === 'win32' ? registry : null },
    directories: userDirectories(platform, {}, home),
    files,
    keys,
    locked,
    inUse,
    modes,
    exists: (path) => disk.kindOf(path) !== 'nothing',
    makeDirectory,
  };
}
