// The helper as npm packages: the bundled JavaScript, the same everywhere, and the addon for this system as a separate
// package, in napi's layout, so that npm installs the matching one without running a script.
import { existsSync } from 'node:fs';
import { chmod, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { TOP } from '../scratch.ts';
import { ADDON_CRATE, cargoBundled, npmBundled } from './bundled.ts';
import { LICENCE, NOTICES_FILE } from './licences.ts';
import { HELPER_PACKAGE, place, placeOthers, writeJson, writePackage } from './npm.ts';
import { SBOM_FILE } from './sbom.ts';

const NATIVE_HOST = join(TOP, 'native-host');
const ADDON = join(NATIVE_HOST, 'dist', 'photofinish-quic.node');

/**
 * The first releases of each line whose SQLite (3.51.3) cannot corrupt a write-ahead log that several helpers share.
 * They have `node:sqlite` without a flag and everything that undici 8 requires.
 */
const NODE_RANGE = '^22.22.3 || ^24.15.0 || >=26';

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
export function thisTarget(): string {
  const { platform, arch } = process;
  const header = (process.report.getReport() as { header: { glibcVersionRuntime?: string } }).header;
  const libc = header.glibcVersionRuntime === undefined ? 'musl' : 'gnu';
  const suffix = platform === 'linux' ? `-${libc}` : platform === 'win32' ? '-msvc' : '';
  const target = `${platform}-${arch}${suffix}`;
  if (!(target in TARGETS)) throw new Error(`there is no addon package for ${target}`);
  return target;
}

const COMMON = {
  license: LICENCE,
  engines: { node: NODE_RANGE },
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
  await placeOthers(stage, { name: HELPER_PACKAGE, version }, await npmBundled('native-host'));
  await writeJson(join(stage, 'package.json'), {
    name: HELPER_PACKAGE,
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
    `# ${addonPackage(target)}\n\nThe HTTP/3 addon of \`photofinish\` for ${target}.\n`,
  );
  await place(stage, 'LICENSE', { copyOf: join(TOP, 'LICENSE') });
  await placeOthers(stage, { name: addonPackage(target), version }, await cargoBundled(ADDON_CRATE));
  await writeJson(join(stage, 'package.json'), {
    name: addonPackage(target),
    version,
    description: `The HTTP/3 addon of photofinish for ${target}.`,
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
