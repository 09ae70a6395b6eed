// Determines by a file's first bytes whether it is ours, so that a mistaken path never destroys another file. Only a
// file marked as ours, or an empty one, is ever set aside, replaced or deleted.
import { closeSync, constants, lstatSync, openSync, readSync, statSync } from 'node:fs';
import { APPLICATION_ID, SCHEMA_VERSION } from './schema.ts';

/** SQLite's file format, section 1.3: magic, offsets of the user version and the application id, header size. */
const MAGIC = 'SQLite format 3\0';
const USER_VERSION_AT = 60;
const APPLICATION_ID_AT = 68;
const HEADER_BYTES = 100;

/** The first bytes of a file, up to the header's size; empty if there is no file. Throws the system's error. */
function headOf(path: string): Buffer {
  let fd: number;
  try {
    // Non-blocking, because the path may be a pipe that nobody writes to.
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

function isMarked(head: Buffer): boolean {
  const isWhole = head.length === HEADER_BYTES && whyNoDatabase(head) === null;
  return isWhole && head.readUInt32BE(APPLICATION_ID_AT) === APPLICATION_ID;
}

/**
 * Whether the first bytes already show that the file is ours and of this schema, because no journal has newer ones. It
 * need not be opened to find out, which would take as long as all that a starting helper asks of it.
 */
export function isPlainlyCurrent(path: string): boolean {
  const head = headOf(path);
  if (!isMarked(head) || head.readUInt32BE(USER_VERSION_AT) !== SCHEMA_VERSION) return false;
  // SQLite keeps journals beside what a link leads to.
  if (lstatSync(path).isSymbolicLink()) return false;
  return ['-wal', '-journal'].every(
    (suffix) => (statSync(path + suffix, { throwIfNoEntry: false })?.size ?? 0) === 0,
  );
}

/** Why SQLite must not even open a file for writing, in words: it would take a short text for an empty database. */
export function whyNotToOpen(path: string): string | null {
  return whyNoDatabase(headOf(path));
}

/** Why an unreadable file is not ours to move, in words; null: it is marked as ours, empty, or does not exist. */
export function whyNotOurs(path: string): string | null {
  const head = headOf(path);
  if (head.length === 0 || isMarked(head)) return null;
  return whyNoDatabase(head) ?? "it is another program's database";
}

/** Why an unusable file is not ours; null if that is not the reason. Never throws. */
export function whyForeign(path: string): string | null {
  try {
    return whyNotOurs(path);
  } catch {
    return null;
  }
}
