// Builds the public door: one file that other people's Playwright loads as it is, with nothing of ours to resolve.
// Run by Node: `node e2e/playwright/build.ts`.
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = fileURLToPath(new URL('./', import.meta.url));

await build({
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  entryPoints: [`${here}index.ts`],
  outfile: `${here}dist/playwright.js`,
  // There must be one Playwright in a run: that of whoever runs it.
  external: ['@playwright/test'],
  legalComments: 'none',
});
