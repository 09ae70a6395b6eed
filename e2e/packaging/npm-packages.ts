// Our npm packages, packed by npm itself: the helper as bundled JavaScript, the same everywhere; its addon for this
// system, in napi's layout, so that npm installs the matching one without running a script; and the fixtures for other
// people's Playwright tests, with the extension that they load.

import { existsSync } from 'node:fs';
import { chmod, copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import * as v from 'valibot';
import helper from '../../native-host/package.json' with { type: 'json' };
import { runOrThrow } from '../child-process.ts';
import { scratchDirectory, TOP } from '../scratch.ts';
import { entriesBelow } from './archive.ts';
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
  type Subject,
} from './components.ts';

async function writeJson(file: string, value: object): Promise<void> {
  await writeFile(file, `${JSON.stringify(value, null, 2)}\n`);
}

/** Places a file into the package directory. */
async function place(
  stage: string,
  path: string,
  content: string | Uint8Array | { readonly copyOf: string },
): Promise<void> {
  const file = join(stage, path);
  await mkdir(dirname(file), { recursive: true });
  if (typeof content === 'object' && 'copyOf' in content) await copyFile(content.copyOf, file);
  else await writeFile(file, content);
}

/** Adds the third-party licences and the bill of materials to a package. */
async function placeOthers(
  stage: string,
  subject: Subject,
  bundled: readonly BundledPackage[],
): Promise<void> {
  await place(stage, NOTICES_FILE, await notices(bundled));
  await place(stage, SBOM_FILE, billOf(subject, bundled));
}

/** Lets npm pack the package, which is reproducible, and returns its name. */
async function pack(stage: string, out: string): Promise<string> {
  const args = ['pack', '--json', '--ignore-scripts', '--loglevel=error', '--pack-destination', out];
  const stdout = await runOrThrow('npm', args, { cwd: stage });
  const [packed] = JSON.parse(stdout) as [{ filename: string }];
  return basename(packed.filename);
}

/**
 * Creates a package from the files that `stage` places into its directory; returns the name of the archive in `out`.
 */
async function writePackage(out: string, stage: (directory: string) => Promise<void>): Promise<string> {
  const directory = await scratchDirectory('npm-package');
  try {
    await stage(directory);
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
const HELPER_NODE_RANGE = '^22.22.3 || ^24.15.0 || >=26';

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

/** Without it npm publishes scoped packages for their owners alone. */
const PUBLIC = { publishConfig: { access: 'public' } } as const;

const COMMON = {
  license: LICENCE,
  engines: { node: HELPER_NODE_RANGE },
  ...PUBLIC,
} as const;

/** Bundles refer to source maps, which are not packaged. */
const MAP_POINTER = /\n\/\/# sourceMappingURL=\S+\s*$/;

async function stageHelper(stage: string, version: string): Promise<void> {
  const dist = join(NATIVE_HOST, 'dist');
  const bundles = (await readdir(dist)).filter((name) => /\.c?js$/.test(name));
  for (const name of bundles) {
    const text = await readFile(join(dist, name), 'utf8');
    await place(stage, join('dist', name), text.replace(MAP_POINTER, '\n'));
  }
  await place(stage, 'bin/photofinish.cjs', { copyOf: join(NATIVE_HOST, 'bin', 'photofinish.cjs') });
  await chmod(join(stage, 'bin/photofinish.cjs'), 0o755);
  await place(stage, 'README.md', { copyOf: join(NATIVE_HOST, 'bin', 'README.md') });
  await place(stage, 'LICENSE', { copyOf: join(TOP, 'LICENSE') });
  await placeOthers(stage, { name: helper.name, version }, await npmBundled('native-host'));
  await writeJson(join(stage, 'package.json'), {
    name: helper.name,
    version,
    description:
      'The helper of the Photofinish extension: races HTTP/3 against HTTP/2 and explains the outcome.',
    keywords: ['http3', 'http2', 'quic', 'happy-eyeballs', 'native-messaging'],
    type: 'module',
    bin: { photofinish: 'bin/photofinish.cjs' },
    files: ['bin', 'dist', NOTICES_FILE, SBOM_FILE],
    optionalDependencies: Object.fromEntries(
      Object.keys(TARGETS).map((target) => [addonPackage(target), version]),
    ),
    ...COMMON,
  });
}

async function stageAddon(stage: string, version: string, target: string): Promise<void> {
  const file = `photofinish-quic.${target}.node`;
  await place(stage, file, { copyOf: ADDON });
  await place(
    stage,
    'README.md',
    `# ${addonPackage(target)}\n\nThe HTTP/3 addon of \`${helper.name}\` for ${target}.\n`,
  );
  await place(stage, 'LICENSE', { copyOf: join(TOP, 'LICENSE') });
  await placeOthers(stage, { name: addonPackage(target), version }, await cargoBundled(ADDON_CRATE));
  await writeJson(join(stage, 'package.json'), {
    name: addonPackage(target),
    version,
    description: `The HTTP/3 addon of ${helper.name} for ${target}.`,
    main: file,
    files: [file, NOTICES_FILE, SBOM_FILE],
    ...TARGETS[target],
    ...COMMON,
  });
}

/** Writes both packages to `out` and returns their names. The helper must have been built. */
export async function writeHelperPackages(out: string, version: string): Promise<string[]> {
  if (!existsSync(ADDON)) throw new Error('the addon is not built; run: npm run build');
  const target = thisTarget();
  return [
    await writePackage(out, (stage) => stageHelper(stage, version)),
    await writePackage(out, (stage) => stageAddon(stage, version, target)),
  ];
}

const FIXTURES_PACKAGE = '@photofinish/playwright';
const DOOR = join(TOP, 'e2e', 'playwright');
const EXTENSION = join(TOP, 'extension', 'dist', 'chromium');
const PEER = '@playwright/test';
/** Versions in which CommonJS can require ES modules, as Playwright does for specs in CommonJS projects. */
const FIXTURES_NODE_RANGE = '>=20.19';

const manifestSchema = v.object({ dependencies: v.record(v.string(), v.string()) });

/** The Playwright version that the fixtures are tested with, and later ones. */
async function peerRange(): Promise<string> {
  const manifest = v.parse(manifestSchema, JSON.parse(await readFile(join(TOP, 'e2e/package.json'), 'utf8')));
  const tested = manifest.dependencies[PEER];
  if (tested === undefined) throw new Error(`e2e/package.json names no ${PEER}`);
  return `^${tested}`;
}

async function stageFixtures(stage: string, version: string): Promise<void> {
  await place(stage, 'dist/playwright.js', { copyOf: join(DOOR, 'dist', 'playwright.js') });
  await place(stage, 'photofinish.d.ts', { copyOf: join(DOOR, 'photofinish.d.ts') });
  // With its key, unlike the stores' editions: the helper recognises the extension by the id derived from it.
  for (const { path, bytes } of await entriesBelow(EXTENSION))
    await place(stage, join('extension', path), bytes);
  await place(stage, 'README.md', { copyOf: join(DOOR, 'README.md') });
  await place(stage, 'LICENSE', { copyOf: join(TOP, 'LICENSE') });
  await placeOthers(stage, { name: FIXTURES_PACKAGE, version }, await npmBundled('extension'));
  await writeJson(join(stage, 'package.json'), {
    name: FIXTURES_PACKAGE,
    version,
    description: 'Playwright fixtures that see which protocol a page came over: HTTP/3, HTTP/2 or HTTP/1.1.',
    keywords: ['playwright', 'http3', 'http2', 'quic', 'testing'],
    type: 'module',
    exports: { '.': { types: './photofinish.d.ts', default: './dist/playwright.js' } },
    files: ['dist', 'extension', 'photofinish.d.ts', NOTICES_FILE, SBOM_FILE],
    peerDependencies: { [PEER]: await peerRange() },
    optionalDependencies: { [helper.name]: version },
    license: LICENCE,
    engines: { node: FIXTURES_NODE_RANGE },
    ...PUBLIC,
  });
}

/** Writes the package to `out` and returns its name. Extension and fixtures must have been built. */
export function writeFixturesPackage(out: string, version: string): Promise<string> {
  return writePackage(out, (stage) => stageFixtures(stage, version));
}
