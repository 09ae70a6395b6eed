// Directories for the user alone. Node's own recursive mkdir never returns where a directory exists and takes no entries
// (nodejs/node, `MKDirpSync`; /proc is one), and a helper must not hang on an odd HOME.
import { existsSync, mkdirSync } from 'node:fs';
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
