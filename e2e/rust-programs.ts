// Where cargo leaves what it builds, and where the tests' own programs stand ready: one target directory serves the
// addon, which its builder compiles for a target named outright, and everything else.
import { copyFile, mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { SCRATCH, TOP } from './scratch.ts';

/** Of the build in whose environment this runs; the npm scripts name a target, cargo alone does not. */
export const RUST_OUT = join(TOP, 'target', process.env.CARGO_BUILD_TARGET ?? '', 'release');
const PROGRAMS = ['photofinish-origin', 'photofinish-link'] as const;

/** Where a program is found that `npm run build` has put in its place. */
export function rustProgram(name: (typeof PROGRAMS)[number]): string {
  return join(SCRATCH, 'bin', name);
}

/** Puts the programs that cargo has built in their place. A running one is left alone: it keeps its old file. */
export async function placeRustPrograms(): Promise<void> {
  await mkdir(join(SCRATCH, 'bin'), { recursive: true, mode: 0o700 });
  for (const name of PROGRAMS) {
    const draft = `${rustProgram(name)}.${process.pid}`;
    await copyFile(join(RUST_OUT, name), draft);
    await rename(draft, rustProgram(name));
  }
}
