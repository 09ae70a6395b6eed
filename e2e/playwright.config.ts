// How the specs run: real browsers on a small machine, nothing repeated until it passes. Those in `specs/browser` run in
// each browser; the others drive none, or one of their own choice, and run once.
import { defineConfig } from '@playwright/test';

const IN_EACH_BROWSER = 'browser/*.spec.ts';
/** What only Firefox can do. */
const IN_FIREFOX = 'firefox/*.spec.ts';

export default defineConfig({
  testDir: 'specs',
  globalSetup: './run/playwright-setup.ts',
  outputDir: 'test-results/artifacts',
  // Each worker drives a browser and servers of its own.
  workers: 2,
  retries: 0,
  timeout: 120_000,
  expect: { timeout: 30_000 },
  forbidOnly: true,
  projects: [
    { name: 'once', testIgnore: [IN_EACH_BROWSER, IN_FIREFOX] },
    { name: 'chromium', testMatch: IN_EACH_BROWSER, use: { browserName: 'chromium' } },
    {
      name: 'firefox',
      testMatch: [IN_EACH_BROWSER, IN_FIREFOX],
      // The last project, and the slowest: else one worker ends with a file while the other has nothing left to do.
      fullyParallel: true,
      use: { browserName: 'firefox' },
    },
  ],
  reporter: [['list'], ['json', { outputFile: 'test-results/report.json' }]],
});
