// Where cargo leaves what it builds, and where the tests' own programs stand ready: one target directory serves the
// addon, which its builder compiles for a target named outright, and everything else.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { SCRATCH, TOP } from './scratch.ts';

/** Each by where cargo leaves it, below the directory of the profile. */
const PROGRAMS = {
  'photofinish-origin': 'photofinish-origin',
  'photofinish-link': 'photofinish-link',
  'bare-quinn': 'examples/bare_quinn',
} as const;

/** Where a program is found that `npm run build` has put in its place. */
export function rustProgram(name: keyof typeof PROGRAMS): string {
  return join(SCRATCH, 'bin', name);
}

/**
 * What every call of cargo's is to have in its environment: the addon's builder names its target outright, and cargo
 * shares nothing with a build that names none.
 */
export function cargoEnvironment(): Record<string, string> {
  const named = process.env.CARGO_BUILD_TARGET;
  if (named !== undefined) return { CARGO_BUILD_TARGET: named };
  const { status, stdout } = spawnSync('rustc', ['--print', 'host-tuple'], { encoding: 'utf8' });
  return status === 0 ? { CARGO_BUILD_TARGET: stdout.trim() } : {};
}

/** Puts the programs that cargo has built in their place. A running one is left alone: it keeps its old file. */
export function placeRustPrograms(): void {
  mkdirSync(join(SCRATCH, 'bin'), { recursive: true, mode: 0o700 });
  const out = join(TOP, 'target', cargoEnvironment().CARGO_BUILD_TARGET ?? '', 'release');
  for (const [name, file] of Object.entries(PROGRAMS)) {
    const draft = join(SCRATCH, 'bin', `${name}.${process.pid}`);
    copyFileSync(join(out, file), draft);
    renameSync(draft, join(SCRATCH, 'bin', name));
  }
}
