// Where cargo leaves what it builds, and where the tests' own programs stand ready: one target directory serves the
// addon, which its builder compiles for a target named outright, and everything else.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, renameSync } from 'node:fs';
import { homedir } from 'node:os';
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
 * Flags of rustc that keep the places of this checkout and of cargo's downloads out of what is built, so that the same
 * source gives the same bytes wherever it lies, and nobody's home is told. `asked` are flags that somebody has set. The
 * variable separates flags by spaces, so that a place with one in its name stays as it is.
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
 * What every call of cargo's is to have in its environment: the addon's builder names its target outright, and cargo
 * shares nothing with a build that names none, or that has other flags.
 */
export function cargoEnvironment(): Record<string, string> {
  const { CARGO_BUILD_TARGET: target = buildTarget(), CARGO_HOME, RUSTFLAGS } = process.env;
  return {
    ...(target !== undefined && { CARGO_BUILD_TARGET: target }),
    RUSTFLAGS: placelessFlags(TOP, CARGO_HOME ?? join(homedir(), '.cargo'), RUSTFLAGS),
  };
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
