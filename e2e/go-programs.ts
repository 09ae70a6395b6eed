// The Go programs that tests and benchmarks run beside ours: what they are built from and where they stand ready. They
// are built before anything asks for them; here nothing is.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { onPath } from './run/find-browser.mjs';
import { SCRATCH, TOP } from './scratch.ts';

/** The whole message of the error that says so. */
export const GO_MISSING =
  'Go is needed to build what the product is tested against. Get it from https://go.dev/dl/.';

/** Each by the directory of its go.mod. */
const DIRECTORIES = {
  caddy: path.join(TOP, 'e2e/origins/caddy'),
  'go-peer': path.join(TOP, 'e2e/bench/peers/go'),
} as const;
export type GoProgram = keyof typeof DIRECTORIES;

const SOURCE = /^go\.(?:mod|sum)$|\.go$/;

const binaryOf = (name: GoProgram) => path.join(SCRATCH, 'bin', name);
/** Digest of the sources that the binary was built from. */
const recordOf = (name: GoProgram) => `${binaryOf(name)}.built-from`;

function digestOfSources(name: GoProgram): string {
  const directory = DIRECTORIES[name];
  const hash = createHash('sha256');
  for (const file of readdirSync(directory)
    .filter((each) => SOURCE.test(each))
    .sort())
    hash.update(`${file}\n`).update(readFileSync(path.join(directory, file)));
  return hash.digest('hex');
}

/** Whether the binary at hand was built from the present sources. */
export function isGoProgramCurrent(name: GoProgram): boolean {
  const record = recordOf(name);
  if (!existsSync(binaryOf(name)) || !existsSync(record)) return false;
  return readFileSync(record, 'utf8') === digestOfSources(name);
}

/** Where a program is found that has been built. Throws `GO_MISSING` if it could not be, or says what builds it. */
export function goProgram(name: GoProgram): string {
  if (isGoProgramCurrent(name)) return binaryOf(name);
  if (onPath('go') === null) throw new Error(GO_MISSING);
  throw new Error(`${name} is not built from the present sources; run: npm run build -- ${name}`);
}

/** How it is built: aside, and then put in its place, since another run may be starting the old one, or building too. */
export function goBuild(name: GoProgram) {
  const wanted = digestOfSources(name);
  const draft = `${binaryOf(name)}.${process.pid}`;
  return {
    command: {
      file: 'go',
      args: ['build', '-v', '-trimpath', '-o', draft, '.'],
      cwd: DIRECTORIES[name],
    },
    place() {
      renameSync(draft, binaryOf(name));
      writeFileSync(recordOf(name), wanted);
    },
  };
}
