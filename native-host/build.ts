// Builds the helper and its command line into dist/. What a browser's first forecast does not need, undici above all, is
// in files of its own, and what it needs is compiled in advance. Run: node native-host/build.ts
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { CHROMIUM_EXTENSION_ID } from '@photofinish/shared/port/extension-id';
import { type Request, WIRE_PROTOCOL } from '@photofinish/shared/port/wire';
import type { Origin } from '@photofinish/shared/web/origin';
import { type BuildOptions, build, type OutputFile, type Plugin, transform } from 'esbuild';
import { frame } from './wire/framing.ts';

const root = import.meta.dirname;
const dist = join(root, 'dist');
const addonDirectory = join(root, 'quic/napi');

const MAIN_BUNDLE = 'main-bundle.cjs';
const CLI_BUNDLE = 'cli-main.js';
/** What a browser starts. */
const MAIN = 'main.cjs';
/** What the command starts. */
const CLI = 'cli.js';
/** Compiled code, which `MAIN` writes and reads. */
const COMPILED = 'compiled';

/** Leaves packages of CommonJS modules to files beside the bundles: an ES module cannot contain their `require`. */
const packagesBeside: Plugin = {
  name: 'packages-beside',
  setup({ onResolve }) {
    onResolve({ filter: /^undici$/ }, () => ({ path: './undici.cjs', external: true }));
    onResolve({ filter: /\/nats\.ts$/ }, () => ({ path: './nats.cjs', external: true }));
    // Only helpers that share outcomes load it. With its own copies of what others load too, it divides no other file.
    onResolve({ filter: /\/fleet\.ts$/ }, ({ kind }) =>
      kind === 'dynamic-import' ? { path: './fleet.cjs', external: true } : null,
    );
  },
};

/** What races and requests other than forecasts load. First what must run before everything else, in any file. */
const LATER = [
  './wire/stdio.ts',
  './wire/race-over-port.ts',
  './install/examination.ts',
  '@photofinish/shared/port/reply',
];

/** Makes all of it one file: esbuild would make one for every combination of what is loaded together. */
const laterTogether: Plugin = {
  name: 'later-together',
  setup({ onResolve, onLoad }) {
    const loaded = new Set(LATER.map((path) => basename(path, '.ts')));
    onResolve({ filter: /./ }, ({ kind, path }) =>
      kind === 'dynamic-import' && loaded.has(basename(path, '.ts'))
        ? { path: 'later', namespace: 'later' }
        : null,
    );
    onLoad({ filter: /./, namespace: 'later' }, () => ({
      contents: LATER.map((path) => `export * from '${path}';`).join('\n'),
      resolveDir: root,
    }));
  },
};

const SHARED: BuildOptions = {
  absWorkingDir: root,
  outdir: dist,
  bundle: true,
  platform: 'node',
  target: 'node24',
  sourcemap: 'linked',
  minifySyntax: true,
  minifyWhitespace: true,
  logLevel: 'warning',
};

/** Modules know their place by other names in CommonJS. */
const PLACE = { 'import.meta.dirname': '__dirname', 'import.meta.filename': '__filename' };

/** CommonJS starts 5 ms sooner: an import of `node:fs` evaluates all that it exports, which is most of Node's streams. */
const COMMON_JS: BuildOptions = {
  format: 'cjs',
  outExtension: { '.js': '.cjs' },
  define: PLACE,
  supported: { 'dynamic-import': false },
};

const BUNDLES: readonly BuildOptions[] = [
  {
    entryPoints: { [basename(CLI_BUNDLE, '.js')]: 'cli.ts' },
    format: 'esm',
    splitting: true,
    chunkNames: 'cli-[name]-[hash]',
    plugins: [packagesBeside],
    external: ['@duckdb/node-api'],
  },
  // Its client and what that needs, not the other three quarters of the package.
  {
    ...COMMON_JS,
    stdin: {
      contents: "export { default as Client } from 'undici/lib/dispatcher/client.js';",
      resolveDir: root,
      sourcefile: 'undici.js',
    },
    entryNames: 'undici',
  },
  // The client prints what it cannot read of a server to standard output, between a command's results.
  { ...COMMON_JS, entryPoints: ['survey/nats.ts'], outbase: 'survey', drop: ['console'] },
  { ...COMMON_JS, entryPoints: ['fleet/fleet.ts'], outbase: 'fleet', plugins: [packagesBeside] },
];

/** Bundles; gives the names of the files written. */
async function bundle(options: BuildOptions): Promise<string[]> {
  const { metafile } = await build({ ...SHARED, ...options, metafile: true });
  return Object.keys(metafile?.outputs ?? {}).map((path) => basename(path));
}

/** Reads the files that esbuild divided the helper into; what is loaded later stays in files of its own. */
function divided(files: readonly OutputFile[]): Plugin {
  return {
    name: 'divided',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^\.\/main-later-.*\.js$/ }, ({ path }) => ({
        path: path.replace(/\.js$/, '.cjs'),
        external: true,
      }));
      onResolve({ filter: /^\.\/[\w-]+\.cjs$/ }, ({ path }) => ({ path, external: true }));
      onResolve({ filter: /^\.\/main-.*\.js$/ }, ({ path }) => ({ path, namespace: 'divided' }));
      onLoad({ filter: /./, namespace: 'divided' }, ({ path }) => ({
        contents: files.find((file) => basename(file.path) === basename(path))?.text ?? '',
        resolveDir: root,
      }));
    },
  };
}

/**
 * Bundles the helper into what its first forecast needs, and what is loaded later and uses the former. esbuild divides
 * only ES modules, and CommonJS starts sooner (see COMMON_JS), so the parts are bundled once more.
 */
async function bundleMain(): Promise<string[]> {
  const { outputFiles = [] } = await build({
    ...SHARED,
    entryPoints: ['main.ts'],
    entryNames: 'main-entry',
    chunkNames: 'main-[name]-[hash]',
    format: 'esm',
    splitting: true,
    define: PLACE,
    plugins: [packagesBeside, laterTogether],
    sourcemap: 'inline',
    write: false,
  });
  const names = outputFiles.map(({ path }) => basename(path));
  const [shared, later] = ['main-chunk-', 'main-later-'].map(
    (start) => names.find((name) => name.startsWith(start)) ?? '',
  );
  const part = (contents: string, name: string, plugins: readonly Plugin[]): Promise<string[]> =>
    bundle({
      ...COMMON_JS,
      stdin: { contents, resolveDir: root, sourcefile: name },
      entryNames: basename(name, '.cjs'),
      plugins: [...plugins, divided(outputFiles)],
    });
  const toMain: Plugin = {
    name: 'to-main',
    setup({ onResolve }) {
      onResolve({ filter: /^\.\/main-chunk-/ }, () => ({ path: `./${MAIN_BUNDLE}`, external: true }));
    },
  };
  const parts = await Promise.all([
    part(`export * from './${shared}'; export * from './main-entry.js';`, MAIN_BUNDLE, []),
    part(
      outputFiles.find(({ path }) => basename(path) === later)?.text ?? '',
      `${later}`.replace(/js$/, 'cjs'),
      [toMain],
    ),
  ]);
  return parts.flat();
}

/** Copies the addon beside the bundles by rename, because a running helper may have the old one mapped. */
function copyAddon(): string[] {
  const addons = readdirSync(addonDirectory).filter((name) => name.endsWith('.node'));
  for (const name of addons) {
    const fresh = join(dist, `${name}.new`);
    copyFileSync(join(addonDirectory, name), fresh);
    renameSync(fresh, join(dist, name));
  }
  return addons;
}

/** Lets the helper answer one forecast, as if a browser had started it; `home` is for its files. */
function answerForecast(home: string): void {
  const session: Request[] = [
    { type: 'hello', id: 1, protocol: WIRE_PROTOCOL, program: 'build' },
    { type: 'forecast', id: 2, browser: 'chromium', site: 'a.test', origins: ['https://a.test' as Origin] },
  ];
  const { status, stderr } = spawnSync(
    process.execPath,
    [
      join(dist, MAIN),
      '--config',
      join(home, 'config.json'),
      '--',
      `chrome-extension://${CHROMIUM_EXTENSION_ID}/`,
    ],
    { input: Buffer.concat(session.map(frame)), env: { HOME: home } },
  );
  if (status !== 0) throw new Error(`the helper that was built does not run: ${stderr}`);
}

/** With nothing compiled, the helper keeps what it takes to start. */
async function compileHelper(): Promise<string[]> {
  const main = readFileSync(join(root, 'bin', MAIN), 'utf8');
  // Nothing keeps the code of this file, so it is short; and an old Node must be able to read it.
  const { code } = await transform(main, { minifyWhitespace: true, minifySyntax: true, target: 'node12' });
  writeFileSync(join(dist, MAIN), code);
  const home = mkdtempSync(join(tmpdir(), 'photofinish-build-'));
  try {
    writeFileSync(join(home, 'config.json'), JSON.stringify({ cache: 'cache.db' }), { mode: 0o600 });
    // The second start finds the files that the first one made, as nearly every start does.
    for (let start = 1; start <= 2; start += 1) {
      rmSync(join(dist, COMPILED), { recursive: true, force: true });
      answerForecast(home);
    }
  } finally {
    rmSync(home, { recursive: true });
  }
  return [MAIN, COMPILED];
}

mkdirSync(dist, { recursive: true });
const addons = copyAddon();
const bundled = await Promise.all([bundleMain(), ...BUNDLES.map(bundle)]);
copyFileSync(join(root, 'bin', CLI), join(dist, CLI));
const written = new Set([CLI, ...addons, ...bundled.flat(), ...(await compileHelper())]);
for (const name of readdirSync(dist)) if (!written.has(name)) rmSync(join(dist, name), { recursive: true });
if (addons.length === 0) {
  console.error('native-host: the HTTP/3 addon is not built; run: npm run build:quic -w native-host');
  process.exitCode = 1;
}
