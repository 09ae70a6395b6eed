// Which pages the extension has: whatever was built, so that no page is forgotten by the specs that look at all of them.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { BrowserKind } from '../run/find-browser.mjs';
import { TOP } from '../scratch.ts';

/** Shows nothing: it only tells the browser's tools of the panel. */
const WITHOUT_A_FACE = ['devtools/devtools.html'];

/** The pages with something to see in this browser's edition, as `popup/popup.html`. */
export async function extensionPages(kind: BrowserKind): Promise<string[]> {
  const files = await readdir(join(TOP, 'extension', 'dist', kind), { recursive: true });
  return files.filter((file) => file.endsWith('.html') && !WITHOUT_A_FACE.includes(file)).toSorted();
}
