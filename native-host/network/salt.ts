// The secret that names of networks and hosts are hashed with, kept beside the cache: with it gone, old digests tell
// nothing and match nothing.
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
import { asidePath } from '../aside.ts';
import { makePrivateDirectory } from '../private-directory.ts';
import { insecureFile, insecurePath, openRegular } from '../secure-path.ts';

const SALT_BYTES = 32;

/** Where the salt lives. */
export function saltPath(cachePath: string): string {
  return `${cachePath}.salt`;
}

/** What is at the salt's place: the salt, nothing yet, or something that cannot be it, and why. */
export type KeptSalt =
  | { readonly state: 'kept'; readonly salt: Uint8Array }
  | { readonly state: 'none' }
  /** `mendable`: a file that may be replaced. */
  | { readonly state: 'unusable'; readonly reason: string; readonly mendable: boolean };

/** Looks at the salt's file and changes nothing. */
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
    // One byte more shows that it is longer; nobody reads all of what is no salt.
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

/** Puts a fresh salt in the place of none, or of what is moved out of the way as the cache's corrupt files are. */
function makeSalt(path: string, aside: string | null): Uint8Array {
  // Only a first start pays for loading this.
  const fresh = process.getBuiltinModule('node:crypto').randomBytes(SALT_BYTES);
  const draft = `${path}.${fresh.toString('hex', 0, 6)}`;
  try {
    makePrivateDirectory(dirname(path));
    writeFileSync(draft, fresh, { mode: 0o600, flag: 'wx' });
    try {
      // Another helper may have replaced it since.
      if (aside !== null && keptSalt(path).state === 'unusable') renameSync(path, aside);
      // A link appears whole and never replaces another's, unlike writing or renaming.
      linkSync(draft, path);
    } finally {
      rmSync(draft);
    }
  } catch {
    // Another helper was first, or nothing can be kept here.
  }
  return fresh;
}

/**
 * The salt beside the cache, made at first use; helpers that start together agree on one. One that is damaged, or that
 * others could have written, is set aside and replaced. Where no file can be had the salt lives as long as the process.
 * `say` is told in words of what a user should hear.
 */
export function readSalt(path: string, say: (message: string) => void = () => {}): Uint8Array {
  const kept = keptSalt(path);
  if (kept.state === 'kept') return kept.salt;
  if (kept.state === 'unusable' && !kept.mendable) {
    say(`the salt ${path} cannot be used (${kept.reason}); another is used for this run`);
    return process.getBuiltinModule('node:crypto').randomBytes(SALT_BYTES);
  }
  const aside = kept.state === 'unusable' ? asidePath(path, Date.now()) : null;
  if (kept.state === 'unusable')
    say(`the salt ${path} was replaced (${kept.reason}); every network counts as a new one from now on`);
  const fresh = makeSalt(path, aside);
  const made = keptSalt(path);
  return made.state === 'kept' ? made.salt : fresh;
}
