// The secret that names of networks and hosts are hashed with, kept beside the cache: with it gone, old digests tell
// nothing and match nothing.
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { makePrivateDirectory } from '../private-directory.ts';

const SALT_BYTES = 32;

/** Where the salt lives. */
export function saltPath(cachePath: string): string {
  return `${cachePath}.salt`;
}

/** The salt that is there; null where there is none yet. */
export function keptSalt(path: string): Uint8Array | null {
  try {
    const salt = readFileSync(path);
    return salt.length === SALT_BYTES ? salt : null;
  } catch {
    return null;
  }
}

/**
 * The salt beside the cache, made at first use; helpers that start together agree on one. Where no file can be had the
 * salt lives as long as the process.
 */
export function readSalt(path: string): Uint8Array {
  const kept = keptSalt(path);
  if (kept !== null) return kept;
  // Only a first start pays for loading this.
  const fresh = process.getBuiltinModule('node:crypto').randomBytes(SALT_BYTES);
  const draft = `${path}.${fresh.toString('hex', 0, 6)}`;
  try {
    makePrivateDirectory(dirname(path));
    writeFileSync(draft, fresh, { mode: 0o600, flag: 'wx' });
    try {
      // A link appears whole and never replaces another's, unlike writing or renaming.
      linkSync(draft, path);
    } finally {
      rmSync(draft);
    }
  } catch {
    // Another helper was first, or nothing can be kept here.
  }
  return keptSalt(path) ?? fresh;
}
