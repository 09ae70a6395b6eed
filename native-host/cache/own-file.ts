// Whose a file is, told by its first bytes: a path that was given by mistake must never cost anybody a file. Only what is
// marked as ours, or is empty, is ever set aside, replaced or deleted.
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { APPLICATION_ID } from './schema.ts';

/** The database file format of SQLite, section 1.3: what stands first, where the application id stands, and its rim. */
const MAGIC = 'SQLite format 3\0';
const APPLICATION_ID_AT = 68;
const HEADER_BYTES = 100;

/** The first bytes of a file, as many as a header has; none where there is no file. Throws the system's error. */
function headOf(path: string): Buffer {
  let fd: number;
  try {
    // Without waiting: nobody may ever write into a pipe that stands there.
    fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0);
    throw error;
  }
  try {
    const head = Buffer.alloc(HEADER_BYTES);
    return head.subarray(0, readSync(fd, head, 0, HEADER_BYTES, 0));
  } finally {
    closeSync(fd);
  }
}

function whyNoDatabase(head: Buffer): string | null {
  const isDatabase = head.length === 0 || head.toString('latin1', 0, MAGIC.length) === MAGIC;
  return isDatabase ? null : 'it is no SQLite database';
}

/** Why SQLite must not even open a file to write, in words: it would take a short text for an empty database. */
export function whyNotToOpen(path: string): string | null {
  return whyNoDatabase(headOf(path));
}

/** Why a file that cannot be read is not ours to move, in words; null: it is marked as ours, empty, or not there. */
export function whyNotOurs(path: string): string | null {
  const head = headOf(path);
  const isMarked = head.length === HEADER_BYTES && head.readUInt32BE(APPLICATION_ID_AT) === APPLICATION_ID;
  if (head.length === 0 || (isMarked && whyNoDatabase(head) === null)) return null;
  return whyNoDatabase(head) ?? "it is another program's database";
}

/** Why a file that could not be used is nothing of ours; null where that is not the reason. Never throws. */
export function whyForeign(path: string): string | null {
  try {
    return whyNotOurs(path);
  } catch {
    return null;
  }
}
