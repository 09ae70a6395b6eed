// The Python that runs the peers by other hands: an environment of the checkout's own, made before the tests are.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { runOrThrow } from '../child-process.ts';
import { SCRATCH } from '../scratch.ts';

/** Holds aioquic, libcurl and what they need, as `e2e/run/python.mjs` installs them. */
export const PYTHON = join(SCRATCH, 'python', 'bin', 'python');

/** Scripts live beside their callers; nothing is to be written there. */
export const PYTHON_FLAGS: readonly string[] = ['-B'];

/** Throws if the environment has not been made. */
export function insistOnPython(): void {
  if (!existsSync(PYTHON)) throw new Error('The Python environment of the tests is missing. Run: npm test');
}

/** Runs a script to its end. Rejects with what it complained of. */
export async function runPython(script: string, args: readonly string[]): Promise<void> {
  insistOnPython();
  await runOrThrow(PYTHON, [...PYTHON_FLAGS, script, ...args]);
}
