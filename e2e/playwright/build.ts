// Builds the public Playwright fixtures: one file that other people's Playwright loads as is, without resolving any of
// our modules. Run with Node: `node e2e/playwright/build.ts`.
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = fileURLToPath(new URL('./', import.meta.url));

await build({
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  entryPoints: [`${here}fixtures.ts`],
  outfile: `${here}dist/playwright.js`,
  // A run must contain a single Playwright, the user's.
  external: ['@playwright/test'],
  legalComments: 'none',
});
