// Builds the helper and its command line into dist/. What a browser's first forecast does not need, undici above all, is
// in files of its own, and what it needs is compiled in advance. Run: node native-host/build.ts
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
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

/** Node's own cache of compiled code, beside the bundles; it does without where it can neither be read nor written. */
const COMPILED = 'compiled';
const MAIN_BUNDLE = 'main-bundle.cjs';
/** What a browser starts. */
const MAIN = 'main.cjs';
const MAIN_TEXT = `// Starts the helper with its code compiled beforehand, which saves a twentieth of the time to its first forecast.
// An older Node may have taken the place of the one that the launcher names; it can read this and say so.
if (Number(process.versions.node.split('.')[0]) < 22) {
  var text = 'the helper needs Node 22 or later, and ' + process.execPath + ' is ' + process.versions.node +
    '; run "photofinish install" again with a newer one';
  var json = Buffer.from(JSON.stringify({ id: 0, type: 'error', code: 'internal', message: text }));
  var head = Buffer.alloc(4);
  head[require('node:os').endianness() === 'LE' ? 'writeUInt32LE' : 'writeUInt32BE'](json.length);
  process.stderr.write('photofinish: old-node: ' + text + '\\n');
  process.stdout.write(Buffer.concat([head, json]));
  process.exitCode = 2;
} else {
  require('node:module').enableCompileCache(require('node:path').join(__dirname, '${COMPILED}'));
  require('./${MAIN_BUNDLE}');
}
`;

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
  './wire/stdout.ts',
  './wire/race-over-port.ts',
  './wire/older-extension.ts',
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
    entryPoints: ['cli.ts'],
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
  { ...COMMON_JS, entryPoints: ['survey/nats.ts'], outbase: 'survey' },
  { ...COMMON_JS, entryPoints: ['fleet/fleet.ts'], outbase: 'fleet', plugins: [packagesBeside] },
];

/** Bundles; gives the names of the files written. */
async function bundle(options: BuildOptions): Promise<string[]> {
  const { metafile } = await build({ ...SHARED, ...options, metafile: true });
  return Object.keys(metafile?.outputs ?? {}).map((path) => basename(path));
}

/** A file of ES modules as CommonJS, with its map. Files name each other with their new endings. */
async function writeCommonJs({ path, text }: OutputFile): Promise<string[]> {
  const name = `${basename(path, '.js')}.cjs`;
  const modules = text.replaceAll(/(["'])(\.\/main-[\w-]+)\.js\1/g, '$1$2.cjs$1');
  const { code, map } = await transform(modules, {
    format: 'cjs',
    target: 'node24',
    minifySyntax: true,
    minifyWhitespace: true,
    supported: { 'dynamic-import': false },
    sourcemap: 'external',
    sourcefile: name,
  });
  writeFileSync(join(dist, name), `${code}//# sourceMappingURL=${name}.map\n`);
  writeFileSync(join(dist, `${name}.map`), map);
  return [name, `${name}.map`];
}

/**
 * Bundles the helper: what its first forecast needs, and what is loaded later. esbuild divides only ES modules, and
 * CommonJS starts sooner; see COMMON_JS.
 */
async function bundleMain(): Promise<string[]> {
  const { outputFiles = [] } = await build({
    ...SHARED,
    entryPoints: ['main.ts'],
    entryNames: basename(MAIN_BUNDLE, '.cjs'),
    chunkNames: 'main-[name]-[hash]',
    format: 'esm',
    splitting: true,
    define: PLACE,
    plugins: [packagesBeside, laterTogether],
    sourcemap: 'inline',
    write: false,
  });
  return (await Promise.all(outputFiles.map(writeCommonJs))).flat();
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

/** Writes the entry and lets the helper answer one forecast, so that what this takes is compiled and kept. */
function compileHelper(): string[] {
  const main = join(dist, MAIN);
  writeFileSync(main, MAIN_TEXT);
  const compiled = join(dist, COMPILED);
  rmSync(compiled, { recursive: true, force: true });
  const session: Request[] = [
    { type: 'hello', id: 1, protocol: WIRE_PROTOCOL, program: 'build' },
    { type: 'forecast', id: 2, browser: 'chromium', site: 'a.test', origins: ['https://a.test' as Origin] },
  ];
  const home = mkdtempSync(join(tmpdir(), 'photofinish-build-'));
  const { status, stderr } = spawnSync(
    process.execPath,
    [main, '--', `chrome-extension://${CHROMIUM_EXTENSION_ID}/`],
    { input: Buffer.concat(session.map(frame)), env: { XDG_CONFIG_HOME: home, XDG_STATE_HOME: home } },
  );
  rmSync(home, { recursive: true });
  if (status !== 0) throw new Error(`the helper that was built does not run: ${stderr}`);
  return [MAIN, COMPILED];
}

mkdirSync(dist, { recursive: true });
const addons = copyAddon();
const bundled = await Promise.all([bundleMain(), ...BUNDLES.map(bundle)]);
const written = new Set([...addons, ...bundled.flat(), ...compileHelper()]);
for (const name of readdirSync(dist)) if (!written.has(name)) rmSync(join(dist, name), { recursive: true });
if (addons.length === 0) {
  console.error('native-host: the HTTP/3 addon is not built; run: npm run build:quic -w native-host');
  process.exitCode = 1;
}
