// The helper's log: what it did and what went wrong, one JSON line each. It is browsing history, so it contains hosts
// only as salted digests, and only the user can read the file.
import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import type { Clock } from './clock.ts';
import { foreignOwner, insecurePath, makePrivateDirectory, openRegular } from './paths.ts';

/** A longer log is renamed, replacing the previously renamed one. */
const MAX_LOG_BYTES = 1024 * 1024;
/** 64 bits: enough to distinguish hosts, and short to read. */
const DIGEST_DIGITS = 16;

export interface Log {
  /** Writes one line; `facts` must not contain a host in the clear. Never throws. */
  write(event: string, facts?: Readonly<Record<string, unknown>>): void;
  /** The salted digest of a host or an origin. */
  digest(host: string): string;
  /** Deletes the log and its rotated predecessor. */
  wipe(): void;
}

export interface LogOptions {
  /** null: no log. Standard error is not an option, because browsers store it with their own messages. */
  readonly path: string | null;
  readonly salt: Uint8Array;
  readonly clock: Pick<Clock, 'epochMs'>;
  /** Called once, with a one-line message, when the log cannot be written. */
  readonly complain?: (words: string) => void;
}

function appendPrivately(path: string, line: string): void {
  const reason = insecurePath(path);
  if (reason !== null) throw new Error(reason);
  makePrivateDirectory(dirname(path));
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > MAX_LOG_BYTES) renameSync(path, `${path}.1`);
  const fd = openRegular(path, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT, 0o600);
  try {
    const stat = fstatSync(fd);
    const foreign = foreignOwner(stat);
    if (foreign !== null) throw new Error(foreign);
    if ((stat.mode & 0o077) !== 0) fchmodSync(fd, 0o600);
    writeSync(fd, line);
  } finally {
    closeSync(fd);
  }
}

export function openLog({ path, salt, clock, complain = () => {} }: LogOptions): Log {
  let failed = false;
  return {
    write(event, facts = {}) {
      if (path === null) return;
      const at = new Date(clock.epochMs()).toISOString();
      const line = `${JSON.stringify({ at, event, ...facts })}\n`;
      try {
        appendPrivately(path, line);
      } catch (error) {
        // Only once: it is unknown who reads standard error, and a pipe that nobody reads fills up.
        if (!failed) complain(`photofinish: log: ${path} cannot be written: ${(error as Error).message}\n`);
        failed = true;
      }
    },
    digest(host) {
      // Loaded with the first race anyway; a forecast would have to wait for it.
      const { createHmac } = process.getBuiltinModule('node:crypto');
      return createHmac('sha256', salt).update(host).digest('hex').slice(0, DIGEST_DIGITS);
    },
    wipe() {
      if (path === null) return;
      for (const file of [path, `${path}.1`]) rmSync(file, { force: true });
    },
  };
}
