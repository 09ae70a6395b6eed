// Playwright's `test` in a Chromium that has Photofinish: a persistent context, because extensions load in no other,
// with a profile of the test's own that goes with it.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { reportToHtml } from '@photofinish/shared/report/report-html';
import { type BrowserContext, test as base, chromium, expect } from '@playwright/test';
import { reportOf } from './extension-page.ts';
import { extensionDirectory, installHelper } from './installation.ts';
import { adoption, originsOf } from './matchers.ts';
import type { PhotofinishFixtures } from './photofinish.d.ts';

const DEFAULTS = { helper: true, attachReport: true };
const WELCOME_TIMEOUT_MS = 15_000;

/** A fresh installation opens its welcome page, which would be a page that the test did not open. */
async function closeWelcome(context: BrowserContext): Promise<void> {
  const welcome = () => context.pages().find((page) => page.url().endsWith('/welcome/welcome.html'));
  await expect.poll(() => welcome() !== undefined, { timeout: WELCOME_TIMEOUT_MS }).toBe(true);
  await welcome()?.close();
}

export const test = base.extend<PhotofinishFixtures>({
  photofinishOptions: [DEFAULTS, { option: true }],

  context: async (
    {
      photofinishOptions,
      launchOptions,
      headless,
      baseURL,
      colorScheme,
      extraHTTPHeaders,
      ignoreHTTPSErrors,
      locale,
      timezoneId,
      userAgent,
      viewport,
    },
    use,
  ) => {
    const { helper } = { ...DEFAULTS, ...photofinishOptions };
    const dir = await mkdtemp(join(tmpdir(), 'photofinish-'));
    if (helper !== false) await installHelper(dir, helper === true ? {} : helper);
    const extension = extensionDirectory();
    const given = Object.entries({
      baseURL,
      colorScheme,
      extraHTTPHeaders,
      ignoreHTTPSErrors,
      locale,
      timezoneId,
      userAgent,
      viewport,
    }).filter(([, value]) => value !== undefined);
    const context = await chromium.launchPersistentContext(join(dir, 'profile'), {
      ...launchOptions,
      ...Object.fromEntries(given),
      // Playwright's own switch would pick a headless shell, which takes no extensions.
      headless: false,
      args: [
        ...(headless === false ? [] : ['--headless=new']),
        `--load-extension=${extension}`,
        `--disable-extensions-except=${extension}`,
        ...(launchOptions.args ?? []),
      ],
      ignoreDefaultArgs: ['--disable-extensions'],
    });
    await closeWelcome(context);
    await use(context);
    await context.close();
    await rm(dir, { recursive: true, force: true, maxRetries: 5 });
  },

  photofinish: [
    async ({ context, photofinishOptions }, use, testInfo) => {
      await use({ adoption, origins: originsOf, report: () => reportOf(context) });
      if (!{ ...DEFAULTS, ...photofinishOptions }.attachReport) return;
      const report = await reportOf(context);
      const name = 'photofinish-report';
      await testInfo.attach(`${name}.html`, { body: reportToHtml(report), contentType: 'text/html' });
      await testInfo.attach(`${name}.json`, {
        body: JSON.stringify(report, null, 2),
        contentType: 'application/json',
      });
    },
    { auto: true },
  ],
});
