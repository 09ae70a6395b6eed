// The Python that runs third-party peers: a virtual environment in the checkout, created before the tests.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { runOrThrow } from '../child-process.ts';
import { SCRATCH } from '../scratch.ts';

/** Contains aioquic, libcurl and their dependencies, as installed by `e2e/run/python.mjs`. */
export const PYTHON = join(SCRATCH, 'python', 'bin', 'python');

/** Scripts are next to their callers; Python must not write bytecode there. */
export const PYTHON_FLAGS: readonly string[] = ['-B'];

/** Throws if the environment has not been created. */
export function insistOnPython(): void {
  if (!existsSync(PYTHON)) throw new Error('The Python environment of the tests is missing. Run: npm test');
}

/** Runs a script to completion. Rejects with its error output. */
export async function runPython(script: string, args: readonly string[]): Promise<void> {
  insistOnPython();
  await runOrThrow(PYTHON, [...PYTHON_FLAGS, script, ...args]);
}
