// Builds the helper and its command line into dist/, each with lazily loaded chunks of its own, so that a browser's
// first forecast waits neither for undici nor for the addon. Run: node native-host/build.ts
import { copyFileSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { basename, join } from 'node:path';
import { build, type Plugin } from 'esbuild';

const ENTRIES = ['main', 'cli'] as const;

const root = import.meta.dirname;
const dist = join(root, 'dist');
const addonDirectory = join(root, 'quic/napi');

/**
 * Takes Node's own modules by `process.getBuiltinModule`. An `import` of one evaluates every export it has, and those
 * of `node:fs` alone load all of streams: 5 ms of the helper's start that no forecast needs.
 */
const builtins: Plugin = {
  name: 'builtins',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^[a-z:_/0-9]+$/ }, ({ path }) =>
      isBuiltin(path) ? { path, namespace: 'builtin' } : null,
    );
    onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)});`,
    }));
  },
};

/**
 * undici's `Client` and what it needs, not the other three quarters of the package. By a module of its own, because
 * the bundler gives a CommonJS module that is imported lazily no named exports, as Node does.
 */
const undiciClient: Plugin = {
  name: 'undici-client',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^undici$/ }, () => ({ path: 'undici', namespace: 'client' }));
    onLoad({ filter: /.*/, namespace: 'client' }, () => ({
      contents: "export { default as Client } from 'undici/lib/dispatcher/client.js';",
      resolveDir: root,
    }));
  },
};

/** Bundles one entry; gives the names of the files written. */
async function bundle(entry: (typeof ENTRIES)[number]): Promise<string[]> {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [`${entry}.ts`],
    outdir: dist,
    bundle: true,
    // Split for each entry alone: chunks shared by both would cost the helper a dozen small files at its start.
    splitting: true,
    chunkNames: `${entry}-[name]-[hash]`,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    sourcemap: 'linked',
    minifySyntax: true,
    minifyWhitespace: true,
    plugins: [builtins, undiciClient],
    logLevel: 'warning',
    metafile: true,
  });
  return Object.keys(metafile.outputs).map((path) => basename(path));
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

mkdirSync(dist, { recursive: true });
const addons = copyAddon();
const bundled = await Promise.all(ENTRIES.map(bundle));
const written = new Set([...addons, ...bundled.flat()]);
for (const name of readdirSync(dist)) if (!written.has(name)) rmSync(join(dist, name), { recursive: true });
if (addons.length === 0) {
  console.error('native-host: the HTTP/3 addon is not built; run: npm run build:quic -w native-host');
  process.exitCode = 1;
}
