// The source that a release is built from, as reviewers of a store build it again: what is committed, nothing else.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { TOP } from '../scratch.ts';

/** Far more than the source needs. */
const MAX_OUTPUT_BYTES = 256 * 1024 * 1024;

async function git(...args: readonly string[]): Promise<Buffer> {
  // An archive names times as they are where it is made.
  const options = { cwd: TOP, maxBuffer: MAX_OUTPUT_BYTES, env: { ...process.env, TZ: 'UTC' } };
  return (await promisify(execFile)('git', args, { ...options, encoding: 'buffer' })).stdout;
}

/** Whether this is a checkout of git at all; an unpacked source archive is none. */
export function isGitCheckout(): boolean {
  return existsSync(join(TOP, '.git'));
}

/** Files that the build may have used in another state than the source archive has them, or that it has not. */
export async function uncommitted(): Promise<readonly string[]> {
  return (await git('status', '--porcelain'))
    .toString()
    .split('\n')
    .filter((line) => line !== '');
}

/** The archive, everything in it below one directory, with the time of the commit. */
export async function sourceArchive(version: string): Promise<Uint8Array> {
  return git('archive', '--format=zip', '-9', `--prefix=photofinish-${version}/`, 'HEAD');
}
