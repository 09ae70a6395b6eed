// How the specs run: real browsers on a small machine, nothing repeated until it passes.
import { defineConfig } from '@playwright/test';

export default defineConfig({
  testDir: 'specs',
  outputDir: 'test-results/artifacts',
  // Each worker drives a browser and servers of its own.
  workers: 2,
  retries: 0,
  timeout: 60_000,
  forbidOnly: true,
  reporter: [['list'], ['json', { outputFile: 'test-results/report.json' }]],
});
