// Builds the Go programs that tests and benchmarks run beside ours, each once per state of its sources.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { SCRATCH } from './scratch.ts';

/** The whole message of the error that says so. */
export const GO_MISSING =
  'Go is needed to build what the product is tested against. Get it from https://go.dev/dl/.';

const SOURCE = /^go\.(?:mod|sum)$|\.go$/;

export interface GoModule {
  /** What it is called in what is said, and as a file. */
  readonly name: string;
  /** The directory of its go.mod. */
  readonly directory: string;
}

async function digestOfSources(directory: string): Promise<string> {
  const hash = createHash('sha256');
  const names = (await readdir(directory)).filter((name) => SOURCE.test(name)).sort();
  for (const name of names) hash.update(`${name}\n`).update(await readFile(path.join(directory, name)));
  return hash.digest('hex');
}

function goError(error: NodeJS.ErrnoException): never {
  throw error.code === 'ENOENT' ? new Error(GO_MISSING) : error;
}

/**
 * Builds the module unless the binary at hand was built from the same sources, and gives the binary's path. The first
 * time takes minutes and downloads Go modules.
 *
 * Throws `GO_MISSING` if there is no Go, and with the compiler's words if the build fails.
 */
export async function buildGoModule({ name, directory }: GoModule): Promise<string> {
  const binary = path.join(SCRATCH, 'bin', name.toLowerCase());
  const builtFrom = `${binary}.built-from`;
  const wanted = await digestOfSources(directory);
  const present = existsSync(binary) && existsSync(builtFrom) && (await readFile(builtFrom, 'utf8'));
  if (present === wanted) return binary;
  await mkdir(path.dirname(binary), { recursive: true });
  process.stderr.write(`Building ${name} with Go; the first time takes a few minutes.\n`);
  // Built aside and renamed: another run may be starting the old one, or building too.
  const built = `${binary}.${process.pid}`;
  const go = spawn('go', ['build', '-trimpath', '-o', built, '.'], {
    cwd: directory,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const complaints = text(go.stderr);
  const [code] = (await once(go, 'close').catch(goError)) as [number | null];
  if (code !== 0) throw new Error(`${name} did not build:\n${await complaints}`);
  await rename(built, binary);
  await writeFile(builtFrom, wanted);
  return binary;
}
