// Builds the helper and its command line into dist/: two entries with shared, lazily loaded chunks, so that a browser's
// first forecast never waits for undici or the addon. Run: node native-host/build.ts
import { copyFileSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build } from 'esbuild';

const root = import.meta.dirname;
const dist = join(root, 'dist');
const addonDirectory = join(root, 'quic/napi');

/** undici is CommonJS; what it requires from Node needs a `require` inside an ES module. */
const REQUIRE_BANNER =
  "import{createRequire as photofinishRequire}from'node:module';const require=photofinishRequire(import.meta.url);";

/** Bundles both entries; gives the names of the files written. */
async function bundle(): Promise<Set<string>> {
  const result = await build({
    absWorkingDir: root,
    entryPoints: ['main.ts', 'cli.ts'],
    outdir: dist,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    chunkNames: '[name]-[hash]',
    sourcemap: 'linked',
    minifySyntax: true,
    minifyWhitespace: true,
    banner: { js: REQUIRE_BANNER },
    logLevel: 'warning',
    metafile: true,
  });
  return new Set(Object.keys(result.metafile.outputs).map((path) => basename(path)));
}

/** Copies the addon beside the bundle by rename, because a running helper may have the old one mapped. */
function copyAddon(): Set<string> {
  const addons = readdirSync(addonDirectory).filter((name) => name.endsWith('.node'));
  for (const name of addons) {
    const fresh = join(dist, `${name}.new`);
    copyFileSync(join(addonDirectory, name), fresh);
    renameSync(fresh, join(dist, name));
  }
  return new Set(addons);
}

mkdirSync(dist, { recursive: true });
const bundled = await bundle();
const addons = copyAddon();
for (const name of readdirSync(dist))
  if (!bundled.has(name) && !addons.has(name)) rmSync(join(dist, name), { recursive: true });
if (addons.size === 0) {
  console.error(
    'native-host: the HTTP/3 addon is not built yet, so dist/ can only race HTTP/2; build quic first',
  );
  process.exitCode = 1;
}
