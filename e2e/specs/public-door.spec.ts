// An example for other people's tests, and proof that the public fixtures suffice: apart from its servers it uses only
// what `@photofinish/e2e/playwright` exports.
import { adoption, test as base, expect } from '@photofinish/e2e/playwright';
import { ORIGIN_KINDS, type RunningOrigins, startOrigins } from '../origins/start.ts';

const { both, h2only } = ORIGIN_KINDS;

const test = base.extend<object, { served: RunningOrigins<'both' | 'h2only'> }>({
  served: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the fixtures' names from the pattern.
    async ({}, use) => {
      const served = await startOrigins({ origins: { both, h2only } });
      await use(served);
      await served.stop();
    },
    { scope: 'worker' },
  ],
  // Browsers do not know the servers' root: addresses and trust are configured as for any Chromium.
  launchOptions: [
    async ({ served }, use) => {
      const hosts = Object.values(served.origins).map(({ host }) => `${host}:9`);
      const chosen = process.env.PHOTOFINISH_CHROMIUM;
      await use({
        ...(chosen && { executablePath: chosen }),
        args: [
          '--no-sandbox',
          '--host-resolver-rules=MAP *.test 127.0.0.1',
          `--ignore-certificate-errors-spki-list=${served.spki.join(',')}`,
          `--origin-to-force-quic-on=${hosts.join(',')}`,
        ],
      });
    },
    { scope: 'worker' },
  ],
  // Torn down after the report is attached, which depends on it.
  photofinishOptions: async ({ served }, use, { attachments }) => {
    const resolve = Object.values(served.origins).map(({ host, port }) => [`${host}:${port}`, '127.0.0.1']);
    const helper = {
      allowPrivate: ['127.0.0.0/8'],
      ca: [served.caPath],
      resolve: Object.fromEntries(resolve),
    };
    await use({ helper, attachReport: true });
    expect(attachments.map(({ name }) => name)).toEqual([
      'photofinish-report.html',
      'photofinish-report.json',
    ]);
  },
});

test('a site that deploys HTTP/3 is reached over it on a later visit', async ({
  page,
  photofinish,
  served,
}) => {
  const { origin } = served.origins.both;
  await page.goto(origin);
  await expect(page).toHaveUsedProtocol('h2');
  // The connection of the first visit is used as long as the browser keeps it.
  await expect(async () => {
    await page.goto(origin);
    await expect(page).toHaveUsedProtocol('h3', { timeout: 2000 });
  }).toPass();
  await expect(page).not.toHaveUsedProtocol('h2');
  const { h3, known } = await adoption(page);
  expect(h3).toBe(known);
  expect(known).toBeGreaterThan(0);
  expect(await photofinish.report()).toMatchObject({ schema: 'photofinish.report/2' });
});

test('a resource’s origin can be queried by name', async ({ page, served }) => {
  const { both: page1, h2only: cdn } = served.origins;
  await page.goto(`${page1.origin}/page?resources=4&from=${cdn.origin}`);
  await expect(page).toHaveUsedProtocol('h2', { origin: cdn.origin });
});

test('a failed assertion gives the reason', async ({ page, served }) => {
  await page.goto(served.origins.h2only.origin);
  const failure = await expect(page)
    .toHaveUsedProtocol('h3', { timeout: 1000 })
    .catch((error: Error) => error.message);
  expect(failure).toMatch(/to have come over h3; it came over h2/);
});
