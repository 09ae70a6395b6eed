// Directories for the user alone. Node's own recursive mkdir never returns if a directory exists and accepts no entries
// (nodejs/node, `MKDirpSync`; /proc is one), and a helper must not hang because of an unusual HOME.
import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

const PRIVATE = 0o700;

/** Creates a directory and its missing parents, mode 0700; existing ones are unchanged. Throws the system's error. */
export function makePrivateDirectory(path: string): void {
  if (existsSync(path)) return;
  makePrivateDirectory(dirname(path));
  try {
    mkdirSync(path, { mode: PRIVATE });
  } catch (error) {
    // Another helper was first.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** Why no file can be created in a directory that may have to be created first; null: it can. Creates nothing. */
export function whyNotWritable(directory: string): string | null {
  let there = directory;
  while (!existsSync(there) && dirname(there) !== there) there = dirname(there);
  try {
    if (!statSync(there).isDirectory()) return `${there} is not a directory`;
    accessSync(there, constants.W_OK | constants.X_OK);
    return null;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EROFS') return `${there} is on a read-only file system`;
    return `you may not write to ${there} (${code})`;
  }
}
