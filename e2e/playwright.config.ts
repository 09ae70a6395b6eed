// How the specs run: real browsers on a small machine, without retries. Those in `specs/browser` run in each browser;
// the others use no browser, or a specific one, and run once.
import { defineConfig } from '@playwright/test';

const IN_EACH_BROWSER = 'browser/*.spec.ts';
/** Specs for features that only one browser has. */
const IN_CHROMIUM = 'chromium/*.spec.ts';
const IN_FIREFOX = 'firefox/*.spec.ts';

export default defineConfig({
  testDir: 'specs',
  globalSetup: './run/suites/playwright.ts',
  outputDir: 'test-results/artifacts',
  // Each worker runs its own browser and servers.
  workers: 2,
  retries: 0,
  timeout: 120_000,
  expect: { timeout: 30_000 },
  forbidOnly: true,
  projects: [
    { name: 'once', testIgnore: [IN_EACH_BROWSER, IN_CHROMIUM, IN_FIREFOX] },
    { name: 'chromium', testMatch: [IN_EACH_BROWSER, IN_CHROMIUM], use: { browserName: 'chromium' } },
    {
      name: 'firefox',
      testMatch: [IN_EACH_BROWSER, IN_FIREFOX],
      // The last and slowest project: with parallelism by file, one worker would run the last file while the other is
      // idle.
      fullyParallel: true,
      use: { browserName: 'firefox' },
    },
  ],
  reporter: [['list'], ['json', { outputFile: 'test-results/report.json' }]],
});
