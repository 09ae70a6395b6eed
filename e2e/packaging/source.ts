// The source that an archive was built from, as reviewers of a store build it again: what git knows of, nothing else.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { TOP } from '../scratch.ts';
import { entryOf, zipOf } from './archive.ts';

/** Room for the names of many files. */
const LIST_BYTES = 16 * 1024 * 1024;

async function git(...args: readonly string[]): Promise<string> {
  return (await promisify(execFile)('git', args, { cwd: TOP, maxBuffer: LIST_BYTES })).stdout;
}

/** Whether this is a checkout of git at all; an unpacked source archive is none. */
export function isGitCheckout(): boolean {
  return existsSync(join(TOP, '.git'));
}

/** Files that the source archive would be without although the build may have used them, or with in another state. */
export async function uncommitted(): Promise<readonly string[]> {
  return (await git('status', '--porcelain')).split('\n').filter((line) => line !== '');
}

/** The archive, everything in it below one directory. */
export async function sourceArchive(version: string): Promise<Uint8Array> {
  const files = (await git('ls-files', '-z')).split('\0').filter((file) => file !== '');
  const present = files.filter((file) => existsSync(join(TOP, file)));
  return zipOf(
    await Promise.all(present.map((file) => entryOf(join(TOP, file), `photofinish-${version}/${file}`))),
  );
}
