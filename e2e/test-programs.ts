// The programs in Go, Rust and Python that tests and benchmarks run: where they are, and what they are built from. They
// are built beforehand by `e2e/run/artefacts.ts`; nothing is built here.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { runOrThrow } from './child-process.ts';
import { onPath } from './run/find-browser.mjs';
import { SCRATCH, TOP } from './scratch.ts';

/** The complete error message for a missing Go toolchain. */
export const GO_MISSING =
  'Go is needed to build what the product is tested against. Get it from https://go.dev/dl/.';

/** By the directory of the go.mod file, and the package to build: one of ours, or one that the module pins. */
const GO_PROGRAMS = {
  caddy: { directory: join(TOP, 'e2e/origins/caddy'), main: '.' },
  'go-peer': { directory: join(TOP, 'e2e/bench/peers/go'), main: '.' },
  'nats-server': {
    directory: join(TOP, 'e2e/origins/nats-server'),
    main: 'github.com/nats-io/nats-server/v2',
  },
} as const;
export type GoProgram = keyof typeof GO_PROGRAMS;

const SOURCE = /^go\.(?:mod|sum)$|\.go$/;

const binaryOf = (name: GoProgram) => join(SCRATCH, 'bin', name);
/** Digest of the sources that the binary was built from. */
const recordOf = (name: GoProgram) => `${binaryOf(name)}.built-from`;

function digestOfSources(name: GoProgram): string {
  const { directory } = GO_PROGRAMS[name];
  const hash = createHash('sha256');
  for (const file of readdirSync(directory)
    .filter((each) => SOURCE.test(each))
    .sort())
    hash.update(`${file}\n`).update(readFileSync(join(directory, file)));
  return hash.digest('hex');
}

/** Whether the existing binary was built from the current sources. */
export function isGoProgramCurrent(name: GoProgram): boolean {
  const record = recordOf(name);
  if (!existsSync(binaryOf(name)) || !existsSync(record)) return false;
  return readFileSync(record, 'utf8') === digestOfSources(name);
}

/**
 * The path of a built program. Throws `GO_MISSING` if it could not be built, or an error that names the command that
 * builds it.
 */
export function goProgram(name: GoProgram): string {
  if (isGoProgramCurrent(name)) return binaryOf(name);
  if (onPath('go') === null) throw new Error(GO_MISSING);
  throw new Error(`${name} is not built from the present sources; run: npm run build -- ${name}`);
}

/**
 * The build command: writes to a temporary name and then renames, since another run may be starting the old binary or
 * building too.
 */
export function goBuild(name: GoProgram) {
  const wanted = digestOfSources(name);
  const draft = `${binaryOf(name)}.${process.pid}`;
  const { directory, main } = GO_PROGRAMS[name];
  return {
    command: {
      file: 'go',
      args: ['build', '-v', '-trimpath', '-o', draft, main],
      cwd: directory,
    },
    place() {
      renameSync(draft, binaryOf(name));
      writeFileSync(recordOf(name), wanted);
    },
  };
}

/**
 * By cargo's output path below the profile's directory. One target directory serves the addon, whose builder names its
 * target explicitly, and everything else.
 */
const RUST_PROGRAMS = {
  'photofinish-origin': 'photofinish-origin',
  'photofinish-link': 'photofinish-link',
  'photofinish-sctp': 'photofinish-sctp',
  'bare-quinn': 'examples/bare_quinn',
} as const;

/** The path of a program that `npm run build` has put in place. */
export function rustProgram(name: keyof typeof RUST_PROGRAMS): string {
  return join(SCRATCH, 'bin', name);
}

/**
 * rustc flags that remap the paths of this checkout and of cargo's downloads, so that the same source gives the same
 * bytes wherever it is, and no home directory is disclosed. `existing` are flags set by the user. The variable separates
 * flags by spaces, so a path that contains one is not remapped.
 */
export function pathRemapFlags(top: string, cargoHome: string, existing = ''): string {
  const places = { [top]: '/photofinish', [cargoHome]: '/cargo' };
  const remapped = Object.entries(places)
    .filter(([place]) => !/\s/.test(place))
    .map(([place, name]) => `--remap-path-prefix=${place}=${name}`)
    .filter((flag) => !existing.includes(flag));
  return [existing, ...remapped].filter((flag) => flag !== '').join(' ');
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
    // Wherever the user's settings would put it, programs are taken from here.
    CARGO_TARGET_DIR: join(TOP, 'target'),
    RUSTFLAGS: pathRemapFlags(TOP, CARGO_HOME ?? join(homedir(), '.cargo'), RUSTFLAGS),
  };
}

/** Puts the programs that cargo has built in place. A running one is unaffected: it keeps its old file. */
export function copyRustPrograms(): void {
  mkdirSync(join(SCRATCH, 'bin'), { recursive: true, mode: 0o700 });
  const out = join(TOP, 'target', cargoEnvironment().CARGO_BUILD_TARGET ?? '', 'release');
  for (const [name, file] of Object.entries(RUST_PROGRAMS)) {
    const draft = join(SCRATCH, 'bin', `${name}.${process.pid}`);
    copyFileSync(join(out, file), draft);
    renameSync(draft, join(SCRATCH, 'bin', name));
  }
}

/**
 * Of a virtual environment in the checkout that contains aioquic, libcurl and their dependencies, as installed by
 * `e2e/run/python.mjs`.
 */
export const PYTHON = join(SCRATCH, 'python', 'bin', 'python');

/** Scripts are next to their callers; Python must not write bytecode there. */
export const PYTHON_FLAGS: readonly string[] = ['-B'];

/** Throws if the environment has not been created. */
export function requirePython(): void {
  if (!existsSync(PYTHON)) throw new Error('The Python environment of the tests is missing. Run: npm test');
}

/** Runs a script to completion. Rejects with its error output. */
export async function runPython(script: string, args: readonly string[]): Promise<void> {
  requirePython();
  await runOrThrow(PYTHON, [...PYTHON_FLAGS, script, ...args]);
}
