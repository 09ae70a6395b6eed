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
  readonly content_scripts: readonly object[];
}

const EDITIONS = {
  chromium: {
    target: 'chrome123',
    manifest: (input: Manifest) => ({
      ...input,
      // Races that nobody clicked for require that there is no proxy. Chromium does not support this permission as an
      // optional one, and it adds no warning to those of the others (measured on 156).
      permissions: [...input.permissions, 'proxy'].toSorted(),
      // Chromium leads every request through its browser process as soon as any extension holds it, so that pages load
      // more slowly; the protocol itself does not come from it here.
      optional_permissions: ['webRequest'],
      // Frames without an https address of their own (about:blank, about:srcdoc, blob:). Firefox names the protocol of
      // their responses without a script in them.
      content_scripts: input.content_scripts.map((script) => ({ ...script, match_origin_as_fallback: true })),
      // The key fixes the extension's id, which the helper's manifests name.
      key: EXTENSION_KEY,
    }),
  },
  firefox: {
    target: 'firefox153',
    manifest: ({ minimum_chrome_version: _, ...input }: Manifest) => ({
      ...input,
      // Steering sets headers with rules; Firefox does not support this permission as an optional one (measured on
      // 153).
      permissions: [...input.permissions, 'declarativeNetRequestWithHostAccess', 'webRequest'].toSorted(),
      // A page cannot import a script synchronously, as a service worker does, so it loads the list before.
      background: { scripts: ['public-suffix-list.js', 'background.js'] },
      browser_specific_settings: {
        gecko: {
          id: FIREFOX_EXTENSION_ID,
          // The first version with document ids, without which requests and timings of a tab's pages could not be told
          // apart.
          strict_min_version: '153.0',
          // Talking to a native program counts as transmission; consent is requested when the helper is switched on.
          data_collection_permissions: { required: ['none'], optional: ['browsingActivity'] },
        },
      },
    }),
  },
};
type Edition = keyof typeof EDITIONS;

/** Pages are folders containing a page of the same name: `pages/NAME/NAME.html`, its styles and its script. */
const PAGES = ['popup', 'dashboard', 'devtools', 'panel', 'options', 'welcome', 'verdicts'].filter((name) =>
  existsSync(join(pages, name, `${name}.html`)),
);
/** Styles of all pages, those of pages read from top to bottom, and the parts of the dashboard's. */
const STYLES = [
  'ui/theme.css',
  'ui/document.css',
  ...['controls', 'figures', 'tables'].map((part) => `dashboard/${part}.css`),
];
/** What the head of every visible page begins with; nothing but the extension's own files can be loaded or run. */
const HEAD = `<head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta
      http-equiv="Content-Security-Policy"
      content="default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'"
    />
    <link rel="icon" href="../../icons/photofinish-32.png" />
    <link rel="stylesheet" href="../ui/theme.css" />`;
/** Where the source catalogs are, several files per language; the browser reads one. */
const CATALOGS = [join(here, '_locales'), join(root, 'shared', '_locales')];
const ICON_SIZES = [16, 32, 48, 128];
const MARKS = ['photofinish', 'h3', 'h2', 'h1', 'unknown'];

/**
 * Creating a schema has no side effects. A bundler cannot know that of a library's calls; when told, it drops schemas,
 * and the library, from pages that validate nothing.
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

/** What the popup loads only on demand: a separate entry, so that the popup itself is one file. */
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
    // Selects the edition's own implementation: see `imports` in package.json.
    conditions: [edition],
    plugins,
    outdir,
    legalComments: 'none',
    // The oldest supported browsers of both editions have them; lowered to calls, unused ones would not be removed.
    supported: { 'regexp-unicode-property-escapes': true },
  };
  const split: BuildOptions = {
    ...shared,
    format: 'esm',
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
  };
  await Promise.all([
    // Classic scripts. The browser loads the background's at each of its starts, a module's imports only after the
    // module; and while a service worker runs it must not use import(), but may import classic scripts.
    build({
      ...shared,
      format: 'iife',
      conditions: [edition, 'background'],
      entryPoints: [
        { in: join(here, 'background/background.ts'), out: 'background' },
        { in: join(here, 'content/content.ts'), out: 'content' },
        { in: join(here, 'background/public-suffix-list.ts'), out: 'public-suffix-list' },
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
    // The one page that a user waits for: a single file loads at once, whereas shared chunks load one after another.
    build({
      ...shared,
      format: 'esm',
      plugins: [...plugins, loadedLater],
      entryPoints: [{ in: join(pages, 'popup/popup.ts'), out: 'popup/popup' }],
    }),
  ]);
}

async function copyStatic(outdir: string): Promise<void> {
  const icons = MARKS.flatMap((mark) => ICON_SIZES.map((size) => `icons/${mark}-${size}.png`));
  const ofPages = PAGES.map((page) => `${page}/${page}.css`).filter((file) => existsSync(join(pages, file)));
  const copies = [
    ...icons.map((file) => ({ from: here, file })),
    ...[...STYLES, ...ofPages].map((file) => ({ from: pages, file })),
  ];
  for (const { from, file } of copies) {
    await mkdir(dirname(join(outdir, file)), { recursive: true });
    await cp(join(from, file), join(outdir, file));
  }
  for (const page of PAGES) {
    const file = `${page}/${page}.html`;
    const html = await readFile(join(pages, file), 'utf8');
    if (!html.includes('<head>')) throw new Error(`${file} has no <head> that could be completed`);
    await mkdir(join(outdir, page), { recursive: true });
    // The page that only starts the developer tools is unseen, and its own head allows it no styles.
    await writeFile(join(outdir, file), page === 'devtools' ? html : html.replace('<head>', () => HEAD));
  }
}

/** Merges each language's catalogs into the one file that browsers read. Throws when two catalogs define one key. */
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
 * Builds one edition into `extension/dist/EDITION` from scratch. It is built beside its destination and moved there as
 * a whole, so that neither a failed build nor a browser reading meanwhile ever sees half of one.
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
