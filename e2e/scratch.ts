// The only directory that tests, benchmarks and the tour write to: git-ignored, inside the checkout, private to this
// user.
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The checkout. */
export const TOP = fileURLToPath(new URL('../', import.meta.url));
export const SCRATCH = join(TOP, '.photofinish');

/** Creates an empty directory named after its purpose; the caller removes it. */
export async function scratchDirectory(purpose: string): Promise<string> {
  await mkdir(SCRATCH, { recursive: true, mode: 0o700 });
  return mkdtemp(join(SCRATCH, `${purpose}-`));
}

/** The same, removed when the stack is disposed of. */
export async function scratchIn(closing: AsyncDisposableStack, purpose: string): Promise<string> {
  const dir = await scratchDirectory(purpose);
  // A browser that has just ended may still be writing.
  closing.defer(() => rm(dir, { recursive: true, force: true, maxRetries: 5 }));
  return dir;
}
