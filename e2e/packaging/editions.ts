// The extension packages for the browsers' stores: one archive each, from the build output.
import { join } from 'node:path';
import { TOP } from '../scratch.ts';
import { type Entry, entriesBelow, entryOf, textEntry, zipOf } from './archive.ts';
import { npmBundled } from './bundled.ts';
import { NOTICES_FILE, notices } from './licences.ts';
import { billOf, SBOM_FILE } from './sbom.ts';

export const EDITIONS = ['chromium', 'firefox'] as const;
export type Edition = (typeof EDITIONS)[number];

const MANIFEST = 'manifest.json';

/** Stores sign with their own key and reject a manifest that contains one. */
function withoutKey(manifest: Entry): Entry {
  const { key: _, ...rest } = JSON.parse(new TextDecoder().decode(manifest.bytes));
  return textEntry(MANIFEST, `${JSON.stringify(rest, null, 2)}\n`);
}

/** The archive of one edition, with our licence and those of bundled packages. The extension must have been built. */
export async function storeArchive(edition: Edition, version: string): Promise<Uint8Array> {
  const built = await entriesBelow(join(TOP, 'extension', 'dist', edition));
  if (!built.some(({ path }) => path === MANIFEST))
    throw new Error(`the extension is not built for ${edition}; run: npm run build`);
  const bundled = await npmBundled('extension');
  return zipOf([
    ...built.map((entry) => (entry.path === MANIFEST ? withoutKey(entry) : entry)),
    await entryOf(join(TOP, 'LICENSE'), 'LICENSE.txt'),
    textEntry(NOTICES_FILE, await notices(bundled)),
    textEntry(SBOM_FILE, billOf({ name: `photofinish-${edition}`, version }, bundled)),
  ]);
}
