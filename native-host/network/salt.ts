// The secret for hashing names of networks and hosts, stored beside the cache: without it, old digests reveal nothing
// and match nothing.
import {
  closeSync,
  constants,
  fstatSync,
  linkSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { asidePath, insecureFile, insecurePath, makePrivateDirectory, openRegular } from '../paths.ts';

const SALT_BYTES = 32;

/** Where the salt lives. */
export function saltPath(cachePath: string): string {
  return `${cachePath}.salt`;
}

/** State of the salt's file: the salt, not there yet, or unusable with the reason. */
export type KeptSalt =
  | { readonly state: 'kept'; readonly salt: Uint8Array }
  | { readonly state: 'none' }
  /** `mendable`: a file that may be replaced. */
  | { readonly state: 'unusable'; readonly reason: string; readonly mendable: boolean };

/** Reads the salt's file and changes nothing. */
export function keptSalt(path: string): KeptSalt {
  const wrong = (reason: string, mendable: boolean): KeptSalt => ({ state: 'unusable', reason, mendable });
  const insecure = insecurePath(path);
  if (insecure !== null) return wrong(insecure, false);
  let fd: number;
  try {
    fd = openRegular(path, constants.O_RDONLY);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ENOTDIR' ? { state: 'none' } : wrong(message, false);
  }
  try {
    const others = insecureFile(fstatSync(fd));
    if (others !== null) return wrong(others, true);
    // One byte more shows that the file is too long, without reading all of it.
    const salt = Buffer.alloc(SALT_BYTES + 1);
    const length = readSync(fd, salt, 0, SALT_BYTES + 1, 0);
    if (length !== SALT_BYTES) return wrong(`it has not ${SALT_BYTES} bytes`, true);
    return { state: 'kept', salt: salt.subarray(0, SALT_BYTES) };
  } catch (error) {
    return wrong((error as Error).message, false);
  } finally {
    closeSync(fd);
  }
}

/** Creates a new salt, after moving an unusable one out of the way like the cache's corrupt files. */
function makeSalt(path: string, aside: string | null): Uint8Array {
  // Only a first start needs to load this.
  const fresh = process.getBuiltinModule('node:crypto').randomBytes(SALT_BYTES);
  const draft = `${path}.${fresh.toString('hex', 0, 6)}`;
  try {
    makePrivateDirectory(dirname(path));
    writeFileSync(draft, fresh, { mode: 0o600, flag: 'wx' });
    try {
      // Another helper may have replaced it in the meantime.
      if (aside !== null && keptSalt(path).state === 'unusable') renameSync(path, aside);
      // A link appears atomically and never replaces another file, unlike writing or renaming.
      linkSync(draft, path);
    } finally {
      rmSync(draft);
    }
  } catch {
    // Another helper was first, or nothing can be stored here.
  }
  return fresh;
}

/**
 * The salt beside the cache, created at first use; helpers that start concurrently use the same one. A damaged salt, or
 * one that others could have written, is set aside and replaced. If no file can be used, the salt lives as long as the
 * process. `log` receives messages for the user.
 */
export function readSalt(path: string, log: (message: string) => void = () => {}): Uint8Array {
  const kept = keptSalt(path);
  if (kept.state === 'kept') return kept.salt;
  if (kept.state === 'unusable' && !kept.mendable) {
    log(`the salt ${path} cannot be used (${kept.reason}); another is used for this run`);
    return process.getBuiltinModule('node:crypto').randomBytes(SALT_BYTES);
  }
  const aside = kept.state === 'unusable' ? asidePath(path, Date.now()) : null;
  if (kept.state === 'unusable')
    log(`the salt ${path} was replaced (${kept.reason}); every network counts as a new one from now on`);
  const fresh = makeSalt(path, aside);
  const made = keptSalt(path);
  return made.state === 'kept' ? made.salt : fresh;
}
