// Builds the loadable editions of the extension from the one manifest. Run by Node: `node extension/build.ts`.
// The same input gives the same bytes: names carry content hashes and nothing carries the time.
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EXTENSION_KEY, FIREFOX_EXTENSION_ID } from '@photofinish/shared/port/extension-id';
import { type BuildOptions, build, type Plugin } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const pages = join(here, 'pages');
const root = dirname(here);

interface Manifest {
  readonly minimum_chrome_version?: string;
  readonly background: object;
  readonly permissions: readonly string[];
}

const EDITIONS = {
  chromium: {
    target: 'chrome123',
    manifest: (input: Manifest) => ({
      ...input,
      // Races that nobody clicked for need to know that there is no proxy. Chromium takes this permission from the
      // start or not at all, and it adds no warning to those of the others (measured on 156).
      permissions: [...input.permissions, 'proxy'].toSorted(),
      // The key fixes the extension's id, which the helper's manifests name.
      key: EXTENSION_KEY,
    }),
  },
  firefox: {
    target: 'firefox153',
    manifest: ({ minimum_chrome_version: _, ...input }: Manifest) => ({
      ...input,
      // Steering sets headers by rules; Firefox takes this permission from the start or not at all (measured on 153).
      permissions: [...input.permissions, 'declarativeNetRequestWithHostAccess'].toSorted(),
      background: { scripts: ['background.js'], type: 'module' },
      browser_specific_settings: {
        gecko: {
          id: FIREFOX_EXTENSION_ID,
          // The first that names documents, without which requests and timings of a tab's pages could not be told apart.
          strict_min_version: '153.0',
          // Speaking to a native program counts as transmission; it is asked for when the helper is switched on.
          data_collection_permissions: { required: ['none'], optional: ['browsingActivity'] },
        },
      },
    }),
  },
};
type Edition = keyof typeof EDITIONS;

/** Pages are folders with a page of their name: `pages/NAME/NAME.html`, its styles and its script. */
const PAGES = ['popup', 'dashboard', 'devtools', 'panel', 'options', 'welcome', 'verdicts'].filter((name) =>
  existsSync(join(pages, name, `${name}.html`)),
);
/** What all pages wear, what those wear that are read from top to bottom, and the parts of the dashboard's. */
const STYLES = [
  'ui/theme.css',
  'ui/document.css',
  ...['controls', 'figures', 'tables'].map((part) => `dashboard/${part}.css`),
];
/** Where catalogs are written, room by room; the browser reads one file a language. */
const CATALOGS = [join(here, '_locales'), join(root, 'shared', '_locales')];
const ICON_SIZES = [16, 32, 48, 128];
const MARKS = ['photofinish', 'h3', 'h2', 'h1', 'unknown'];

/**
 * Making a schema has no effect but its result. A bundler cannot know that of a library's calls; told so, it leaves
 * schemas, and the library, out of pages that check nothing.
 */
const pureSchemas: Plugin = {
  name: 'pure-schemas',
  setup({ onLoad }) {
    const makesSchema = /(?<![\w.])v\.(?!(?:parse|safeParse|is|assert)\b)(?=\w+\()/g;
    onLoad({ filter: /\.ts$/ }, async ({ path }) => ({
      loader: 'ts',
      contents: (await readFile(path, 'utf8')).replace(makesSchema, '/* @__PURE__ */ v.'),
    }));
  },
};

/** What the popup loads only when it is asked for: a page of its own, so that the popup is one file. */
const LATER = 'export-file';
const loadedLater: Plugin = {
  name: 'loaded-later',
  setup({ onResolve }) {
    onResolve({ filter: new RegExp(`/${LATER}\\.ts$`) }, () => ({ path: `./${LATER}.js`, external: true }));
  },
};

async function bundle(outdir: string, target: string, edition: Edition): Promise<void> {
  const define = { EDITION: JSON.stringify(edition) };
  const plugins = [pureSchemas];
  const shared: BuildOptions = {
    bundle: true,
    minify: true,
    target,
    define,
    // Chooses the edition's own rooms: see `imports` in package.json.
    conditions: [edition],
    plugins,
    outdir,
    legalComments: 'none',
    // Both editions' oldest browsers have them; written as calls they would stay where nothing uses them.
    supported: { 'regexp-unicode-property-escapes': true },
  };
  const split: BuildOptions = {
    ...shared,
    format: 'esm',
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
  };
  await Promise.all([
    // Modules with static imports alone, because a service worker may not import() at run time. Apart from the pages,
    // whose shared chunks would bring it what only they need. `site` is an entry of its own so that the public-suffix
    // list lands in a chunk that changes only when the list does.
    build({
      ...split,
      entryPoints: [
        { in: join(here, 'background/background.ts'), out: 'background' },
        { in: join(here, 'common/site.ts'), out: 'site' },
      ],
    }),
    build({
      ...split,
      entryPoints: [
        { in: join(here, 'common/site.ts'), out: 'site' },
        { in: join(pages, `report/${LATER}.ts`), out: `popup/${LATER}` },
        { in: join(pages, 'report/worker.ts'), out: 'report/worker' },
        ...PAGES.filter((page) => page !== 'popup').map((page) => ({
          in: join(pages, page, `${page}.ts`),
          out: `${page}/${page}`,
        })),
      ],
    }),
    // The one page that somebody waits for: a file of its own is there at once, where shared chunks come in turns.
    build({
      ...shared,
      format: 'esm',
      plugins: [...plugins, loadedLater],
      entryPoints: [{ in: join(pages, 'popup/popup.ts'), out: 'popup/popup' }],
    }),
    // Content scripts are classic scripts.
    build({
      ...shared,
      format: 'iife',
      entryPoints: [{ in: join(here, 'content/content.ts'), out: 'content' }],
    }),
  ]);
}

async function copyStatic(outdir: string): Promise<void> {
  const icons = MARKS.flatMap((mark) => ICON_SIZES.map((size) => `icons/${mark}-${size}.png`));
  // The page that only begins the developer tools has nothing to wear.
  const ofPages = PAGES.flatMap((page) => [`${page}/${page}.html`, `${page}/${page}.css`]).filter((file) =>
    existsSync(join(pages, file)),
  );
  const copies = [
    ...icons.map((file) => ({ from: here, file })),
    ...[...STYLES, ...ofPages].map((file) => ({ from: pages, file })),
  ];
  for (const { from, file } of copies) {
    await mkdir(dirname(join(outdir, file)), { recursive: true });
    await cp(join(from, file), join(outdir, file));
  }
}

/** Merges each language's catalogs into the one file that browsers read. Throws when two rooms claim one key. */
async function mergeCatalogs(outdir: string): Promise<void> {
  for (const language of (await readdir(join(here, '_locales'))).toSorted()) {
    const merged: Record<string, unknown> = {};
    for (const place of CATALOGS)
      for (const file of (await readdir(join(place, language))).toSorted())
        for (const [key, message] of Object.entries(
          JSON.parse(await readFile(join(place, language, file), 'utf8')),
        )) {
          if (key in merged) throw new Error(`${language}/${file} says ${key} a second time`);
          merged[key] = message;
        }
    const folder = join(outdir, '_locales', language);
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'messages.json'), `${JSON.stringify(merged, null, 1)}\n`);
  }
}

/**
 * Builds one edition into `extension/dist/EDITION` from nothing. It is made beside its place and put there whole, so
 * that a build that fails, or a browser that reads meanwhile, never has half of one.
 */
async function buildEdition(edition: Edition): Promise<string> {
  const place = join(here, 'dist', edition);
  await mkdir(dirname(place), { recursive: true });
  const made = await mkdtemp(`${place}-`);
  try {
    await fill(made, edition);
    await rm(place, { recursive: true, force: true });
    await rename(made, place);
  } finally {
    await rm(made, { recursive: true, force: true });
  }
  return place;
}

async function fill(outdir: string, edition: Edition): Promise<void> {
  const { target, manifest } = EDITIONS[edition];
  await bundle(outdir, target, edition);
  await copyStatic(outdir);
  await mergeCatalogs(outdir);
  const input = JSON.parse(await readFile(join(root, 'manifest.json'), 'utf8'));
  await writeFile(join(outdir, 'manifest.json'), `${JSON.stringify(manifest(input), null, 2)}\n`);
}

for (const edition of Object.keys(EDITIONS) as Edition[]) console.log(await buildEdition(edition));
