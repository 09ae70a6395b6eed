// Where the Go programs used by tests and benchmarks are located and what they are built from. They are built
// beforehand by `e2e/run/artefacts.ts`; nothing is built here.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { onPath } from './run/find-browser.mjs';
import { SCRATCH, TOP } from './scratch.ts';

/** The complete error message for a missing Go toolchain. */
export const GO_MISSING =
  'Go is needed to build what the product is tested against. Get it from https://go.dev/dl/.';

/** By the directory of the go.mod file, and the package to build: one of ours, or one that the module pins. */
const PROGRAMS = {
  caddy: { directory: path.join(TOP, 'e2e/origins/caddy'), main: '.' },
  'go-peer': { directory: path.join(TOP, 'e2e/bench/peers/go'), main: '.' },
  'nats-server': {
    directory: path.join(TOP, 'e2e/origins/nats-server'),
    main: 'github.com/nats-io/nats-server/v2',
  },
} as const;
export type GoProgram = keyof typeof PROGRAMS;

const SOURCE = /^go\.(?:mod|sum)$|\.go$/;

const binaryOf = (name: GoProgram) => path.join(SCRATCH, 'bin', name);
/** Digest of the sources that the binary was built from. */
const recordOf = (name: GoProgram) => `${binaryOf(name)}.built-from`;

function digestOfSources(name: GoProgram): string {
  const { directory } = PROGRAMS[name];
  const hash = createHash('sha256');
  for (const file of readdirSync(directory)
    .filter((each) => SOURCE.test(each))
    .sort())
    hash.update(`${file}\n`).update(readFileSync(path.join(directory, file)));
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
  const { directory, main } = PROGRAMS[name];
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
