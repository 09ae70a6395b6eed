// Where cargo puts its output and where the test programs are copied to: one target directory serves the addon, whose
// builder names its target explicitly, and everything else.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, renameSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { SCRATCH, TOP } from './scratch.ts';

/** By cargo's output path below the profile's directory. */
const PROGRAMS = {
  'photofinish-origin': 'photofinish-origin',
  'photofinish-link': 'photofinish-link',
  'photofinish-sctp': 'photofinish-sctp',
  'bare-quinn': 'examples/bare_quinn',
} as const;

/** The path of a program that `npm run build` has put in place. */
export function rustProgram(name: keyof typeof PROGRAMS): string {
  return join(SCRATCH, 'bin', name);
}

/**
 * rustc flags that remap the paths of this checkout and of cargo's downloads, so that the same source gives the same
 * bytes wherever it is, and no home directory is disclosed. `asked` are flags set by the user. The variable separates
 * flags by spaces, so a path that contains one is not remapped.
 */
export function placelessFlags(top: string, cargoHome: string, asked = ''): string {
  const places = { [top]: '/photofinish', [cargoHome]: '/cargo' };
  const remapped = Object.entries(places)
    .filter(([place]) => !/\s/.test(place))
    .map(([place, name]) => `--remap-path-prefix=${place}=${name}`)
    .filter((flag) => !asked.includes(flag));
  return [asked, ...remapped].filter((flag) => flag !== '').join(' ');
}

function buildTarget(): string | undefined {
  const { status, stdout } = spawnSync('rustc', ['--print', 'host-tuple'], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}

/**
 * The environment for every cargo invocation: the addon's builder names its target explicitly, and cargo shares nothing
 * with a build that names none, or that has other flags.
 */
export function cargoEnvironment(): Record<string, string> {
  const { CARGO_BUILD_TARGET: target = buildTarget(), CARGO_HOME, RUSTFLAGS } = process.env;
  return {
    ...(target !== undefined && { CARGO_BUILD_TARGET: target }),
    RUSTFLAGS: placelessFlags(TOP, CARGO_HOME ?? join(homedir(), '.cargo'), RUSTFLAGS),
  };
}

/** Puts the programs that cargo has built in place. A running one is unaffected: it keeps its old file. */
export function placeRustPrograms(): void {
  mkdirSync(join(SCRATCH, 'bin'), { recursive: true, mode: 0o700 });
  const out = join(TOP, 'target', cargoEnvironment().CARGO_BUILD_TARGET ?? '', 'release');
  for (const [name, file] of Object.entries(PROGRAMS)) {
    const draft = join(SCRATCH, 'bin', `${name}.${process.pid}`);
    copyFileSync(join(out, file), draft);
    renameSync(draft, join(SCRATCH, 'bin', name));
  }
}
