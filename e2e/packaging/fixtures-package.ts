// The fixtures for other people's Playwright tests as an npm package: the public entry point, and the extension that it
// loads.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import { TOP } from '../scratch.ts';
import { entriesBelow } from './archive.ts';
import { npmBundled } from './bundled.ts';
import { LICENCE, NOTICES_FILE } from './licences.ts';
import { HELPER_PACKAGE, place, placeOthers, writeJson, writePackage } from './npm.ts';
import { SBOM_FILE } from './sbom.ts';

const NAME = '@photofinish/playwright';
const DOOR = join(TOP, 'e2e', 'playwright');
const EXTENSION = join(TOP, 'extension', 'dist', 'chromium');
const PEER = '@playwright/test';
/** Versions in which CommonJS can require ES modules, as Playwright does for specs in CommonJS projects. */
const NODE_RANGE = '>=20.19';

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
  await placeOthers(stage, { name: NAME, version }, await npmBundled('extension'));
  await writeJson(join(stage, 'package.json'), {
    name: NAME,
    version,
    description: 'Playwright fixtures that see which protocol a page came over: HTTP/3, HTTP/2 or HTTP/1.1.',
    keywords: ['playwright', 'http3', 'http2', 'quic', 'testing'],
    type: 'module',
    exports: { '.': { types: './photofinish.d.ts', default: './dist/playwright.js' } },
    files: ['dist', 'extension', 'photofinish.d.ts', NOTICES_FILE, SBOM_FILE],
    peerDependencies: { [PEER]: await peerRange() },
    optionalDependencies: { [HELPER_PACKAGE]: version },
    license: LICENCE,
    engines: { node: NODE_RANGE },
  });
}

/** Writes the package to `out` and returns its name. Extension and fixtures must have been built. */
export function writeFixturesPackage(out: string, version: string): Promise<string> {
  return writePackage(out, (stage) => stageFixtures(stage, version));
}
