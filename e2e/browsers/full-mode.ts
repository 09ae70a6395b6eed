// Full mode from the first request. A user grants the permission later and restarts Chromium; programs that open a new
// browser to observe what it does have no use for its light mode, except to test it.
import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

interface Manifest {
  readonly permissions: readonly string[];
  readonly optional_permissions?: readonly string[];
}

/** Copies the built edition in `from` to the directory `to`, there with its optional permissions required. */
export async function copyInFullMode(from: string, to: string): Promise<string> {
  await rm(to, { recursive: true, force: true });
  await cp(from, to, { recursive: true });
  const file = join(to, 'manifest.json');
  const manifest: Manifest = JSON.parse(await readFile(file, 'utf8'));
  const { optional_permissions: optional = [], permissions, ...others } = manifest;
  await writeFile(file, JSON.stringify({ ...others, permissions: [...permissions, ...optional] }, null, 2));
  return to;
}
