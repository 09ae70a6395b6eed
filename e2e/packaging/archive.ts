// Zip archives that depend only on their contents: sorted names, one time for every file, no owner. Everyone who builds
// the same source gets the same bytes.
import { readdir, readFile, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { zipSync } from 'fflate';

export interface Entry {
  /** With slashes, relative to the archive's root. */
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly executable: boolean;
}

/** The earliest time that a zip can represent. It is stored as local time, so it is constructed as local time. */
const firstMoment = (): Date => new Date(1980, 0, 1);
/** "Version made by" of Unix, which lets attributes carry a mode (PKWARE APPNOTE 4.4.2). */
const UNIX = 3;
const MODE_SHIFT = 16;
const REGULAR_FILE = 0o100000;
const COMPRESSION = 9;

/** The archive's bytes, independent of the order of entries. */
export function zipOf(entries: readonly Entry[]): Uint8Array {
  const sorted = entries.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  return zipSync(
    Object.fromEntries(
      sorted.map(({ path, bytes, executable }) => {
        const mode = REGULAR_FILE | (executable ? 0o755 : 0o644);
        return [path, [bytes, { os: UNIX, attrs: (mode << MODE_SHIFT) >>> 0 }]];
      }),
    ),
    { level: COMPRESSION, mtime: firstMoment() },
  );
}

/** One file as an entry; its mode distinguishes executables from other files. */
export async function entryOf(file: string, path: string): Promise<Entry> {
  const { mode } = await stat(file);
  return { path, bytes: await readFile(file), executable: (mode & 0o100) !== 0 };
}

/** Every file below a directory. */
export async function entriesBelow(directory: string): Promise<Entry[]> {
  const found = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = found.filter((each) => each.isFile()).map((each) => join(each.parentPath, each.name));
  return Promise.all(files.map((file) => entryOf(file, relative(directory, file).split(sep).join('/'))));
}

/** A text as an entry. */
export function textEntry(path: string, text: string): Entry {
  return { path, bytes: new TextEncoder().encode(text), executable: false };
}
