// Directories for the user alone. Node's own recursive mkdir never returns where a directory exists and takes no entries
// (nodejs/node, `MKDirpSync`; /proc is one), and a helper must not hang on an odd HOME.
import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

const PRIVATE = 0o700;

/** Makes a directory and what is missing above it, mode 0700; leaves alone what exists. Throws the system's error. */
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

/** Why no file can be made in a directory that may have to be made first; null: one can. Makes nothing. */
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
