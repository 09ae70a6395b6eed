// An example for other people's tests, and proof that the public fixtures suffice: apart from its servers it uses only
// what `@photofinish/e2e/playwright` exports.
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { adoption, test as base, expect } from '@photofinish/e2e/playwright';
import { ORIGIN_KINDS, type RunningOrigins, startOrigins } from '../origins/start.ts';

const { both, h2only } = ORIGIN_KINDS;
// Without HTTP/3: on a busy machine Chromium requests the last resources of a page after the first ones' Alt-Svc.
const hidden = { ...ORIGIN_KINDS.hidden, h3: false, altSvc: null };

const test = base.extend<object, { served: RunningOrigins<'both' | 'h2only' | 'hidden'> }>({
  served: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the fixtures' names from the pattern.
    async ({}, use) => {
      const served = await startOrigins({ origins: { both, h2only, hidden } });
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
  photofinishOptions: async ({ served }, use, testInfo) => {
    const resolve = Object.values(served.origins).map(({ host, port }) => [`${host}:${port}`, '127.0.0.1']);
    const helper = {
      allowPrivate: ['127.0.0.0/8'],
      ca: [served.caPath],
      resolve: Object.fromEntries(resolve),
    };
    await use({ helper, attachReport: true });
    const { attachments } = testInfo;
    expect(attachments.map(({ name }) => name)).toEqual([
      'photofinish-report.html',
      'photofinish-report.json',
    ]);
    // On disk, where CI keeps them and reporters print their paths.
    for (const { name, path } of attachments)
      expect(await readFile(path ?? '')).toEqual(await readFile(testInfo.outputPath(name)));
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
  // Of what was not observed nothing is claimed.
  const unseen = expect(page).not.toHaveUsedProtocol('h3', { origin: 'https://unseen.test', timeout: 300 });
  await expect(unseen).rejects.toThrow(/nothing of it was seen/);
  const { h3, known } = await adoption(page);
  expect(h3).toBe(known);
  expect(known).toBeGreaterThan(0);
  expect(await photofinish.report()).toMatchObject({ schema: 'photofinish.report/2' });
});

test('a resource’s origin can be queried by name', async ({ page, served }) => {
  const { both: page1, h2only: cdn } = served.origins;
  await page.goto(`${page1.origin}/page?resources=4&from=${cdn.origin}`);
  await expect(page).toHaveUsedProtocol('h2', { origin: cdn.origin });
  // As people write it.
  await expect(page).toHaveUsedProtocol('h2', { origin: `${cdn.origin.toUpperCase()}/` });
  await expect(page).toHaveUsedProtocol('h2', { origin: new URL(cdn.origin).host });
});

test('Playwright names what a site hides, and only what came over the network', async ({
  page,
  photofinish,
  served,
}) => {
  const { both: own, hidden: cdn } = served.origins;
  const url = `${own.origin}/page?resources=4&kind=script&cache=1&from=${cdn.origin}`;
  await page.goto(url);
  const sources = { extension: 1, playwright: 4 };
  await expect.poll(() => adoption(page)).toEqual({ h3: 0, known: 5, hidden: 0, pending: 0, sources });
  await expect(page).toHaveUsedProtocol('h2', { origin: cdn.origin });
  const [, other] = await photofinish.origins(page);
  expect(other).toMatchObject({ origin: cdn.origin, requests: { h2: 4, unknown: 0 } });
  expect(other?.sources).toEqual({ extension: 0, playwright: 4 });
  // From the cache, whose responses repeat the protocol of the first visit.
  await page.goto(`${url}&again`);
  await expect.poll(async () => (await photofinish.origins(page)).length).toBe(2);
  await expect.poll(async () => (await adoption(page)).sources).toEqual({ extension: 1, playwright: 0 });
  expect(await adoption(page)).toMatchObject({ known: 1, hidden: 0 });
});

test('a response that a route gives is one of no server', async ({ page, photofinish, served }) => {
  const { both: own, hidden: cdn } = served.origins;
  const script = {
    contentType: 'text/javascript',
    headers: { 'access-control-allow-origin': '*' },
    body: '1;',
  };
  await page.route('**/mocked', (route) => route.fulfill(script));
  await page.goto(`${own.origin}/page?resources=1&kind=script&from=${cdn.origin}`);
  await page.evaluate(async (url) => void (await fetch(url)), `${cdn.origin}/mocked`);
  const sources = { extension: 1, playwright: 1 };
  await expect.poll(() => adoption(page)).toMatchObject({ h3: 0, known: 2, hidden: 0, sources });
  const [, other] = await photofinish.origins(page);
  expect(other).toMatchObject({ origin: cdn.origin, requests: { h2: 1, 'http/1.1': 0, unknown: 0 } });
});

test('routes of the whole context do not reach the extension', async ({ page, context, served }) => {
  const { origin } = served.origins.h2only;
  await context.route('**/*', (route) => route.fulfill({ contentType: 'text/html', body: 'a mock' }));
  await page.goto(`${origin}/mocked`);
  await expect(page).toHaveUsedProtocol('unknown');
  await context.unrouteAll();
  await context.route(/^(?!https:)/, (route) => route.abort());
  await page.goto(origin);
  await expect(page).toHaveUsedProtocol('h2');
});

test('a test that uses a page has no other one', async ({ page, context, served }) => {
  expect(context.pages()).toEqual([page]);
  await page.goto(served.origins.h2only.origin);
  await expect(page).toHaveUsedProtocol('h2');
  expect(context.pages()).toEqual([page]);
});

test('a response that is not counted yet is pending, and in the report', async ({
  page,
  photofinish,
  served,
}) => {
  const { origin, host } = served.origins.both;
  await page.goto(origin);
  await expect.poll(() => adoption(page)).toMatchObject({ known: 1, pending: 0 });
  // Of a worker's own requests Chromium reports no timing.
  const byWorker = () =>
    page.evaluate(async () => {
      const source = new Blob([`fetch('${location.origin}/r/0.png').then(() => postMessage(0))`]);
      const worker = new Worker(URL.createObjectURL(source));
      await new Promise((resolve) => worker.addEventListener('message', resolve));
    });
  await byWorker();
  await expect.poll(() => adoption(page)).toMatchObject({ known: 1, hidden: 0, pending: 1 });
  expect(await photofinish.report()).toMatchObject({ sites: [{ site: host, hidden: 1 }] });
  expect(await adoption(page)).toMatchObject({ pending: 0 });
});

test('of a page that failed to load nothing is counted', async ({ page, served }) => {
  const { origin } = served.origins.both;
  await page.route('**/*', (route) => route.abort('connectionrefused'));
  await page.goto(origin).catch(() => {});
  await expect(page).toHaveURL(/^chrome-error:/);
  await expect(adoption(page)).rejects.toThrow(/the page failed to load/);
});

test('a page from a service worker counts as no response', async ({ page, served }) => {
  const url = `${served.origins.hidden.origin}/sw`;
  const fromWorker = async () => (await page.goto(url))?.fromServiceWorker();
  await expect.poll(fromWorker).toBe(true);
  await expect(page).toHaveUsedProtocol('unknown');
  expect(await adoption(page)).toMatchObject({ known: 0, sources: { extension: 0, playwright: 0 } });
});

test.describe("with Playwright's own options", () => {
  const cookie = { name: 'session', value: '1', domain: 'both.test', path: '/', expires: -1 };
  const cookies = [{ ...cookie, httpOnly: false, secure: true, sameSite: 'Lax' as const }];
  const viewport = { width: 700, height: 500 };
  test.use({
    baseURL: 'https://both.test',
    locale: 'de-DE',
    storageState: { cookies, origins: [] },
    viewport,
  });

  test('they apply to its context', async ({ page, served }) => {
    // Relative to the base URL, which has its scheme.
    await page.goto(`//both.test:${served.origins.both.port}/`);
    const shown = () => ({ language: navigator.language, width: innerWidth, height: innerHeight });
    expect(await page.evaluate(shown)).toEqual({ language: 'de-DE', ...viewport });
  });

  test('cookies of a stored state are there before the first page', async ({ context }) => {
    expect(await context.cookies()).toMatchObject([{ name: 'session', value: '1' }]);
  });
});

test.describe('where state is kept', () => {
  test.describe.configure({ mode: 'serial' });
  const before = process.env.XDG_STATE_HOME;
  const networks: unknown[] = [];
  let home = '';

  test.beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'photofinish-state-'));
    await mkdir(join(home, 'photofinish'), { mode: 0o700 });
    process.env.XDG_STATE_HOME = home;
  });
  test.afterAll(async () => {
    if (before === undefined) delete process.env.XDG_STATE_HOME;
    else process.env.XDG_STATE_HOME = before;
    await rm(home, { recursive: true });
  });

  for (const time of ['first', 'second'])
    test(`the ${time} test names the network as the other does`, async ({ page, photofinish, served }) => {
      await page.goto(served.origins.h2only.origin);
      const network = async () => ((await photofinish.report()) as { readonly network: string }).network;
      // The helper tells it once it has started, and is certain of it.
      await expect.poll(network).not.toMatch(/^(unknown|unidentified)$/);
      networks.push(await network());
      expect(new Set(networks).size).toBe(1);
      expect(existsSync(join(home, 'photofinish', 'cache.db.salt'))).toBe(true);
    });
});

test.describe('with a report to attach', () => {
  test.use({ photofinishOptions: { helper: false } });

  test('a test that closes its context passes without one', async ({ context }) => {
    await context.close();
  });
});

test('a failed assertion gives the reason', async ({ page, served }) => {
  await page.goto(served.origins.h2only.origin);
  // The extension has seen it: a second may be too short for that.
  await expect(page).toHaveUsedProtocol('h2');
  const failure = await expect(page)
    .toHaveUsedProtocol('h3', { timeout: 1000 })
    .catch((error: Error) => error.message);
  expect(failure).toMatch(/to have come over h3; it came over h2/);
});
