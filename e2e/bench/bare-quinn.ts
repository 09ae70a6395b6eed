// The bare quinn client: a peer without anything of ours beside quinn itself.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { RUST_OUT } from '../rust-programs.ts';
import { TOP } from '../scratch.ts';

/** Builds the client and gives its path. Rejects with the compiler's words. */
export async function buildBareQuinn(): Promise<string> {
  const args = ['build', '--release', '-p', 'photofinish-quic', '--example', 'bare_quinn'];
  await promisify(execFile)('cargo', args, { cwd: TOP });
  return join(RUST_OUT, 'examples', 'bare_quinn');
}
