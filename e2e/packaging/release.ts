// `npm run package`: builds, then writes the contents of a release to one directory with checksums: the extension for
// the browsers' stores, an archive for each from the build output; npm packages; and the source archive from which store
// reviewers rebuild it, which contains exactly what is committed. Its version must agree in four places.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import * as v from 'valibot';
import { build } from '../run/artefacts.ts';
import { formatTable, heading, printLine } from '../run/display.ts';
import { endCommandsOnSignals } from '../run/step-command.ts';
import { SCRATCH, TOP } from '../scratch.ts';
import { type Entry, entriesBelow, entryOf, textEntry, zipOf } from './archive.ts';
import { billOf, NOTICES_FILE, notices, npmBundled, SBOM_FILE } from './components.ts';
import { writeFixturesPackage, writeHelperPackages } from './npm-packages.ts';

export const EDITIONS = ['chromium', 'firefox'] as const;
export type Edition = (typeof EDITIONS)[number];

const MANIFEST = 'manifest.json';

/** Stores sign with their own key and reject a manifest that contains one. */
function withoutKey(manifest: Entry): Entry {
  const { key: _, ...rest } = JSON.parse(new TextDecoder().decode(manifest.bytes));
  return textEntry(MANIFEST, `${JSON.stringify(rest, null, 2)}\n`);
}

/** The archive of one edition, with our licence and those of bundled packages. The extension must have been built. */
async function storeArchive(edition: Edition, version: string): Promise<Uint8Array> {
  const built = await entriesBelow(join(TOP, 'extension', 'dist', edition));
  if (!built.some(({ path }) => path === MANIFEST))
    throw new Error(`the extension is not built for ${edition}; run: npm run build`);
  const bundled = await npmBundled('extension');
  return zipOf([
    ...built.map((entry) => (entry.path === MANIFEST ? withoutKey(entry) : entry)),
    await entryOf(join(TOP, 'LICENSE'), 'LICENSE.txt'),
    textEntry(NOTICES_FILE, await notices(bundled)),
    textEntry(SBOM_FILE, billOf({ name: `photofinish-${edition}`, version }, bundled)),
  ]);
}

/** Far more than the source needs. */
const MAX_OUTPUT_BYTES = 256 * 1024 * 1024;

async function git(...args: readonly string[]): Promise<Buffer> {
  // Archives store local times.
  const options = { cwd: TOP, maxBuffer: MAX_OUTPUT_BYTES, env: { ...process.env, TZ: 'UTC' } };
  return (await promisify(execFile)('git', args, { ...options, encoding: 'buffer' })).stdout;
}

/** Whether this is a git checkout; an unpacked source archive is not. */
function isGitCheckout(): boolean {
  return existsSync(join(TOP, '.git'));
}

/** Files that the build may have used in a state that differs from the source archive, or that it lacks. */
async function uncommitted(): Promise<readonly string[]> {
  return (await git('status', '--porcelain'))
    .toString()
    .split('\n')
    .filter((line) => line !== '');
}

/** The archive, with everything below one directory and the time of the commit. */
async function sourceArchive(version: string): Promise<Uint8Array> {
  return git('archive', '--format=zip', '-9', `--prefix=photofinish-${version}/`, 'HEAD');
}

const versioned = v.object({ version: v.pipe(v.string(), v.regex(/^\d+\.\d+\.\d+$/)) });

async function versionIn(file: string): Promise<string> {
  return v.parse(versioned, JSON.parse(await readFile(join(TOP, file), 'utf8'))).version;
}

async function versionOfHelper(): Promise<string | undefined> {
  return /VERSION = '([^']+)'/.exec(await readFile(join(TOP, 'native-host/version.ts'), 'utf8'))?.[1];
}

/** The release's version. Throws if extension, helper and project disagree. */
async function releaseVersion(): Promise<string> {
  const version = await versionIn('package.json');
  const others = {
    'manifest.json': await versionIn('manifest.json'),
    'native-host/package.json': await versionIn('native-host/package.json'),
    'native-host/version.ts': await versionOfHelper(),
  };
  for (const [file, found] of Object.entries(others))
    if (found !== version) throw new Error(`${file} says version ${found}, package.json ${version}`);
  return version;
}

export const SUMS_FILE = 'SHA256SUMS';

export interface Package {
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
}

async function summed(out: string, name: string): Promise<Package> {
  const content = await readFile(join(out, name));
  return { name, bytes: content.length, sha256: createHash('sha256').update(content).digest('hex') };
}

/**
 * Writes archives and packages to `out`, which is emptied first. Everything must have been built. Outside a git
 * checkout there is no source archive.
 */
export async function writeRelease(out: string): Promise<readonly Package[]> {
  const version = await releaseVersion();
  await rm(out, { recursive: true, force: true });
  await mkdir(out, { recursive: true });
  const names: string[] = [];
  const write = async (name: string, bytes: Uint8Array): Promise<void> => {
    await writeFile(join(out, name), bytes);
    names.push(name);
  };
  for (const edition of EDITIONS)
    await write(`photofinish-${edition}-${version}.zip`, await storeArchive(edition, version));
  if (isGitCheckout()) await write(`photofinish-source-${version}.zip`, await sourceArchive(version));
  names.push(...(await writeHelperPackages(out, version)), await writeFixturesPackage(out, version));
  const packages = await Promise.all(names.map((name) => summed(out, name)));
  const sums = packages.map(({ name, sha256 }) => `${sha256}  ${name}\n`).join('');
  await writeFile(join(out, SUMS_FILE), sums);
  return packages;
}

const OUT = join(SCRATCH, 'package');

async function main(): Promise<number> {
  if (!(await build())) return 1;
  heading('Packages');
  const packages = await writeRelease(OUT);
  printLine(
    formatTable(
      [{ title: 'package' }, { title: 'KiB', align: 'right' }, { title: 'SHA-256' }],
      packages.map(({ name, bytes, sha256 }) => [name, (bytes / 1024).toFixed(0), sha256]),
    ),
  );
  printLine(`\nIn ${relative(process.cwd(), OUT)}, with ${SUMS_FILE}.`);
  const changes = isGitCheckout() ? await uncommitted() : [];
  if (changes.length > 0)
    printLine(
      `Not a release: the source archive holds what is committed, and ${changes.length === 1 ? '1 file differs' : `${changes.length} files differ`}.`,
    );
  return 0;
}

if (import.meta.main) {
  endCommandsOnSignals();
  process.exitCode = await main();
}
