// The amount of script that the browser loads: minified bytes of each page and of the background, including all
// statically imported chunks. The public-suffix list is a separate chunk of the pages and a separate script of the
// background; each has its own row. Dynamically imported code is counted separately.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { build, type Metafile } from 'esbuild';
import { EDITIONS, type Edition } from '../packaging/release.ts';
import { TOP } from '../scratch.ts';
import { type Fact, publish } from './measure.ts';

/** The background is loaded again whenever the browser starts it. */
const BACKGROUND_BYTES_AT_MOST = 60_000;
const BACKGROUND = 'background.js';
const CONTENT_SCRIPT = 'content.js';
const LIST_SCRIPT = 'public-suffix-list.js';
/** An entry of the pages that exists for its chunk, which contains the public-suffix list. */
const SITE = 'site.js';

/** What each file imports, and its size: the built modules as reported by the bundler. */
async function modulesOf(directory: string, entry: string): Promise<Metafile['inputs']> {
  const { metafile } = await build({
    absWorkingDir: directory,
    entryPoints: [entry],
    bundle: true,
    format: 'esm',
    metafile: true,
    outdir: directory,
    write: false,
    logLevel: 'error',
  });
  return metafile.inputs;
}

/** The files loaded with `entry`, including itself. */
function loadedWith(modules: Metafile['inputs'], entry: string): Set<string> {
  const files = new Set([entry]);
  // A Set iterates in insertion order, including elements added meanwhile.
  for (const file of files)
    for (const { path, kind } of modules[file]?.imports ?? [])
      if (kind === 'import-statement') files.add(path);
  return files;
}

async function entriesOf(directory: string): Promise<string[]> {
  const folders = (await readdir(directory, { withFileTypes: true })).filter((each) => each.isDirectory());
  const pages = await Promise.all(
    folders.map(async ({ name }) =>
      (await readdir(join(directory, name))).includes(`${name}.js`) ? [`${name}/${name}.js`] : [],
    ),
  );
  return [BACKGROUND, LIST_SCRIPT, CONTENT_SCRIPT, ...pages.flat().toSorted()];
}

async function sizesOf(edition: Edition): Promise<Fact[]> {
  const directory = join(TOP, 'extension', 'dist', edition);
  const site = await modulesOf(directory, SITE);
  const bytesOf = (modules: Metafile['inputs'], files: Iterable<string>) =>
    [...files].reduce((sum, file) => sum + (modules[file]?.bytes ?? 0), 0);
  const list = new Set([...loadedWith(site, SITE)].filter((file) => file !== SITE));
  const facts: Fact[] = [
    { name: `${edition}: public-suffix list`, value: bytesOf(site, list), unit: 'bytes' },
  ];
  for (const entry of await entriesOf(directory)) {
    const modules = await modulesOf(directory, entry);
    const atOnce = loadedWith(modules, entry);
    const own = [...atOnce].filter((file) => !list.has(file));
    const later = Object.keys(modules).filter((file) => !atOnce.has(file) && !list.has(file));
    facts.push({
      name: `${edition}: ${entry}${own.length < atOnce.size ? ', and the list' : ''}`,
      value: bytesOf(modules, own),
      unit: 'bytes',
      ...(entry === BACKGROUND && { atMost: BACKGROUND_BYTES_AT_MOST }),
    });
    if (later.length > 0)
      facts.push({ name: `${edition}: ${entry}, later`, value: bytesOf(modules, later), unit: 'bytes' });
  }
  return facts;
}

publish('bundle-sizes', { measurements: [], facts: (await Promise.all(EDITIONS.map(sizesOf))).flat() });
