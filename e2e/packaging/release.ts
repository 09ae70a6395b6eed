// `npm run package`: builds, then writes the contents of a release to one directory with checksums: the extension for
// the browsers' stores, an archive for each from the build output; npm packages; and the source archive from which store
// reviewers rebuild it, which contains exactly what is committed. Its version must agree in four places.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import extension from '../../manifest.json' with { type: 'json' };
import helper from '../../native-host/package.json' with { type: 'json' };
import { VERSION } from '../../native-host/version.ts';
import project from '../../package.json' with { type: 'json' };
import { runOrThrow } from '../child-process.ts';
import tests from '../package.json' with { type: 'json' };
import { build } from '../run/artefacts.ts';
import { figures, formatTable, heading, printLine } from '../run/display.ts';
import { endCommandsOnSignals } from '../run/step-command.ts';
import { SCRATCH, scratchDirectory, TOP } from '../scratch.ts';
import { type Entry, entriesBelow, entryOf, textEntry, zipOf } from './archive.ts';
import {
  ADDON_CRATE,
  type BundledPackage,
  billOf,
  cargoBundled,
  LICENCE,
  NOTICES_FILE,
  notices,
  npmBundled,
  SBOM_FILE,
} from './components.ts';

// Our npm packages, packed by npm itself: the helper as bundled JavaScript, the same everywhere; its addon for this
// system, in napi's layout, so that npm installs the matching one without running a script; and the fixtures for other
// people's Playwright tests, with the extension that they load.

/** The content of a file, or the file that it is a copy of. */
type Content = string | Uint8Array | { readonly copyOf: string };

/** Places a file into the package directory. */
async function place(stage: string, path: string, content: Content): Promise<void> {
  const file = join(stage, path);
  await mkdir(dirname(file), { recursive: true });
  if (typeof content === 'object' && 'copyOf' in content) await copyFile(content.copyOf, file);
  else await writeFile(file, content);
}

/** Lets npm pack the package, which is reproducible, and returns its name. */
async function pack(stage: string, out: string): Promise<string> {
  const args = ['pack', '--json', '--ignore-scripts', '--loglevel=error', '--pack-destination', out];
  const stdout = await runOrThrow('npm', args, { cwd: stage });
  const [packed] = JSON.parse(stdout) as [{ filename: string }];
  return basename(packed.filename);
}

/** What differs between our packages besides their own files. */
interface PackageFacts {
  /** Their `package.json`, without what all have. */
  readonly manifest: {
    readonly name: string;
    readonly files: readonly string[];
    readonly [field: string]: unknown;
  };
  readonly readme: Content;
  readonly bundled: readonly BundledPackage[];
}

/** Places a package's own files into its directory, and returns the rest. */
type Stage = (directory: string, version: string) => Promise<PackageFacts>;

/** Creates a package in `out`, with licences and the bill of materials; returns the archive's name. */
async function writePackage(out: string, version: string, stage: Stage): Promise<string> {
  const directory = await scratchDirectory('npm-package');
  try {
    const { manifest, readme, bundled } = await stage(directory, version);
    const { name, files } = manifest;
    await place(directory, 'README.md', readme);
    await place(directory, 'LICENSE', { copyOf: join(TOP, 'LICENSE') });
    await place(directory, NOTICES_FILE, await notices(bundled));
    await place(directory, SBOM_FILE, billOf({ name, version }, bundled));
    const own = { ...manifest, version, files: [...files, NOTICES_FILE, SBOM_FILE], license: LICENCE };
    // Without that access npm publishes scoped packages for their owners alone.
    const whole = { ...own, publishConfig: { access: 'public' } };
    await place(directory, 'package.json', `${JSON.stringify(whole, null, 2)}\n`);
    return await pack(directory, out);
  } finally {
    await rm(directory, { recursive: true });
  }
}

const NATIVE_HOST = join(TOP, 'native-host');
const ADDON = join(NATIVE_HOST, 'dist', 'photofinish-quic.node');

/**
 * The first releases of each line whose SQLite (3.51.3) cannot corrupt a write-ahead log that several helpers share.
 * They have `node:sqlite` without a flag and everything that undici 8 requires.
 */
export const HELPER_NODE_RANGE = '^22.22.3 || ^24.15.0 || >=26';

interface Target {
  readonly os: readonly string[];
  readonly cpu: readonly string[];
  readonly libc?: readonly string[];
}

/** The systems for which an addon can exist, by napi's names. Each is built on a machine of that kind. */
const TARGETS: Readonly<Record<string, Target>> = {
  'darwin-arm64': { os: ['darwin'], cpu: ['arm64'] },
  'darwin-x64': { os: ['darwin'], cpu: ['x64'] },
  'linux-arm64-gnu': { os: ['linux'], cpu: ['arm64'], libc: ['glibc'] },
  'linux-arm64-musl': { os: ['linux'], cpu: ['arm64'], libc: ['musl'] },
  'linux-x64-gnu': { os: ['linux'], cpu: ['x64'], libc: ['glibc'] },
  'linux-x64-musl': { os: ['linux'], cpu: ['x64'], libc: ['musl'] },
  'win32-arm64-msvc': { os: ['win32'], cpu: ['arm64'] },
  'win32-x64-msvc': { os: ['win32'], cpu: ['x64'] },
};

const addonPackage = (target: string): string => `@photofinish/quic-${target}`;

/** This machine's name among the targets. Throws if it has none. */
function thisTarget(): string {
  const { platform, arch } = process;
  const header = (process.report.getReport() as { header: { glibcVersionRuntime?: string } }).header;
  const libc = header.glibcVersionRuntime === undefined ? 'musl' : 'gnu';
  const suffix = platform === 'linux' ? `-${libc}` : platform === 'win32' ? '-msvc' : '';
  const target = `${platform}-${arch}${suffix}`;
  if (!(target in TARGETS)) throw new Error(`there is no addon package for ${target}`);
  return target;
}

/** Bundles refer to source maps, which are not packaged. */
const MAP_POINTER = /\n\/\/# sourceMappingURL=\S+\s*$/;

async function stageHelper(stage: string, version: string): Promise<PackageFacts> {
  const dist = join(NATIVE_HOST, 'dist');
  const bundles = (await readdir(dist)).filter((name) => /\.c?js$/.test(name));
  for (const name of bundles) {
    const text = await readFile(join(dist, name), 'utf8');
    await place(stage, join('dist', name), text.replace(MAP_POINTER, '\n'));
  }
  await place(stage, 'bin/photofinish.cjs', { copyOf: join(NATIVE_HOST, 'bin', 'photofinish.cjs') });
  await chmod(join(stage, 'bin/photofinish.cjs'), 0o755);
  const manifest = {
    name: helper.name,
    description:
      'The helper of the Photofinish extension: races HTTP/3 against HTTP/2 and explains the outcome.',
    keywords: ['http3', 'http2', 'quic', 'happy-eyeballs', 'native-messaging'],
    type: 'module',
    bin: { photofinish: 'bin/photofinish.cjs' },
    files: ['bin', 'dist'],
    optionalDependencies: Object.fromEntries(
      Object.keys(TARGETS).map((target) => [addonPackage(target), version]),
    ),
    engines: { node: HELPER_NODE_RANGE },
  };
  const readme = { copyOf: join(NATIVE_HOST, 'bin', 'README.md') };
  return { manifest, readme, bundled: await npmBundled('native-host') };
}

async function stageAddon(stage: string): Promise<PackageFacts> {
  if (!existsSync(ADDON)) throw new Error('the addon is not built; run: npm run build');
  const target = thisTarget();
  const name = addonPackage(target);
  const file = `photofinish-quic.${target}.node`;
  await place(stage, file, { copyOf: ADDON });
  const manifest = {
    name,
    description: `The HTTP/3 addon of ${helper.name} for ${target}.`,
    main: file,
    files: [file],
    ...TARGETS[target],
    engines: { node: HELPER_NODE_RANGE },
  };
  const readme = `# ${name}\n\nThe HTTP/3 addon of \`${helper.name}\` for ${target}.\n`;
  return { manifest, readme, bundled: await cargoBundled(ADDON_CRATE) };
}

const DOOR = join(TOP, 'e2e', 'playwright');
const EXTENSION = join(TOP, 'extension', 'dist', 'chromium');
const PEER = '@playwright/test';
/** Versions in which CommonJS can require ES modules, as Playwright does for specs in CommonJS projects. */
const FIXTURES_NODE_RANGE = '>=20.19';

async function stageFixtures(stage: string, version: string): Promise<PackageFacts> {
  await place(stage, 'dist/playwright.js', { copyOf: join(DOOR, 'dist', 'playwright.js') });
  await place(stage, 'photofinish.d.ts', { copyOf: join(DOOR, 'photofinish.d.ts') });
  // With its key, unlike the stores' editions: the helper recognises the extension by the id derived from it.
  for (const { path, bytes } of await entriesBelow(EXTENSION))
    await place(stage, join('extension', path), bytes);
  const manifest = {
    name: '@photofinish/playwright',
    description: 'Playwright fixtures that see which protocol a page came over: HTTP/3, HTTP/2 or HTTP/1.1.',
    keywords: ['playwright', 'http3', 'http2', 'quic', 'testing'],
    type: 'module',
    exports: { '.': { types: './photofinish.d.ts', default: './dist/playwright.js' } },
    files: ['dist', 'extension', 'photofinish.d.ts'],
    // The version that the fixtures are tested with, and later ones.
    peerDependencies: { [PEER]: `^${tests.dependencies[PEER]}` },
    optionalDependencies: { [helper.name]: version },
    engines: { node: FIXTURES_NODE_RANGE },
  };
  const readme = { copyOf: join(DOOR, 'README.md') };
  return { manifest, readme, bundled: await npmBundled('extension') };
}

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

/** The release's version. Throws if it is none, or if extension, helper and project disagree. */
function releaseVersion(): string {
  const { version } = project;
  if (!/^\d+\.\d+\.\d+$/.test(version)) throw new Error(`package.json says version ${version}`);
  const others = {
    'manifest.json': extension.version,
    'native-host/package.json': helper.version,
    'native-host/version.ts': VERSION,
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
  const version = releaseVersion();
  await rm(out, { recursive: true, force: true });
  await mkdir(out, { recursive: true });
  const names: string[] = [];
  const write = async (name: string, bytes: Uint8Array): Promise<void> => {
    await writeFile(join(out, name), bytes);
    names.push(name);
  };
  for (const edition of EDITIONS)
    await write(`photofinish-${edition}-${version}.zip`, await storeArchive(edition, version));
  if (isGitCheckout()) {
    const archive = await git('archive', '--format=zip', '-9', `--prefix=photofinish-${version}/`, 'HEAD');
    await write(`photofinish-source-${version}.zip`, archive);
  }
  for (const stage of [stageHelper, stageAddon, stageFixtures])
    names.push(await writePackage(out, version, stage));
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
      ['package', figures('KiB'), 'SHA-256'],
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
