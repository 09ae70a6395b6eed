// What each test origin guarantees, as a browser sees it: all other specs depend on it.
import type { Page } from '@playwright/test';
import { navigationProtocol, visitUntil } from '../browsers/browser.ts';
import { chromiumTab, launchChromium, type RunningChromium } from '../browsers/chromium.ts';
import { startOrigins } from '../origins/start.ts';
import { GO_MISSING } from '../test-programs.ts';
import { test as base, expect, type Kind } from './fixtures.ts';

/** More visits than learning HTTP/3 takes here (two or three). */
const VISITS = 5;

interface BrowseFixture {
  /**
   * A page of a browser without the extension that has learnt nothing about the test's origins; with `extraArgs` a
   * separate browser.
   */
  browse: (extraArgs?: readonly string[]) => Promise<Page>;
}

const test = base.extend<BrowseFixture, { plain: RunningChromium }>({
  plain: [
    async ({ authority }, use) => {
      const browser = await launchChromium({ local: authority });
      await use(browser);
      await browser.close();
    },
    { scope: 'worker' },
  ],
  browse: async ({ authority, plain }, use) => {
    const closing: (() => Promise<void>)[] = [];
    await use(async (extraArgs) => {
      const own = extraArgs && (await launchChromium({ local: authority, extraArgs }));
      const page = await (own ?? plain).context.newPage();
      closing.push(() => (own ?? page).close());
      return page;
    });
    for (const close of closing) await close();
  },
});

/** The protocol according to the server, independent of the browser's account. */
const serversWord = (page: Page) => page.locator('#protocol').textContent();

for (const kind of ['both', 'hidden'] as const) {
  test(`${kind}: HTTP/2 first, HTTP/3 once Alt-Svc is learnt`, async ({ local, browse }) => {
    const page = await browse();
    const { origin } = local.origins[kind];
    await page.goto(origin);
    expect(await navigationProtocol(chromiumTab(page))).toBe('h2');
    expect(await serversWord(page)).toBe('HTTP/2');

    await visitUntil(chromiumTab(page), origin, 'h3');
    expect(await serversWord(page)).toBe('HTTP/3');
  });
}

const UNCHANGING = [
  ['h2only', 'h2', 'HTTP/2'],
  ['advertiseOnly', 'h2', 'HTTP/2'],
  ['silent', 'h2', 'HTTP/2'],
  ['h1only', 'http/1.1', 'HTTP/1.1'],
] as const;

for (const [kind, protocol, name] of UNCHANGING) {
  test(`${kind}: ${name} on every visit`, async ({ local, browse }) => {
    const page = await browse();
    for (let visit = 0; visit < VISITS; visit += 1) {
      await page.goto(local.origins[kind].origin);
      expect(await navigationProtocol(chromiumTab(page))).toBe(protocol);
      expect(await serversWord(page)).toBe(name);
    }
  });
}

test('silent speaks HTTP/3 when asked, advertiseOnly and h2only refuse it', async ({ local, browse }) => {
  const { silent, advertiseOnly, h2only } = local.origins;
  const forced = [silent, advertiseOnly, h2only].map(({ host, port }) => `${host}:${port}`);
  const page = await browse([`--origin-to-force-quic-on=${forced.join(',')}`]);
  await page.goto(silent.origin);
  expect(await serversWord(page)).toBe('HTTP/3');
  for (const { origin } of [advertiseOnly, h2only]) {
    await expect(page.goto(origin)).rejects.toThrow('net::ERR_');
  }
});

test('only the hidden origin hides its protocol from other pages', async ({ local, browse }) => {
  const page = await browse();
  const { both, hidden, h2only } = local.origins;
  await page.goto(`${both.origin}/page?resources=6&from=${hidden.origin},${h2only.origin}`);
  await page.locator('#summary[data-done]').waitFor();
  const protocolsOf = (origin: string) =>
    page.evaluate((of) => {
      const entries = performance.getEntriesByType('resource') as PerformanceResourceTiming[];
      return entries.filter(({ name }) => new URL(name).origin === of).map((entry) => entry.nextHopProtocol);
    }, origin);
  await expect.poll(() => protocolsOf(hidden.origin)).toEqual(['', '', '']);
  await expect.poll(() => protocolsOf(h2only.origin)).toEqual(['h2', 'h2', 'h2']);
});

test('300 resources from six origins all arrive, each over a protocol its origin speaks', async ({
  local,
  browse,
}) => {
  const page = await browse();
  const from = Object.values(local.origins).map(({ origin }) => origin);
  await page.goto(`${local.origins.both.origin}/page?resources=300&from=${from.join(',')}`);
  await page.locator('#summary[data-done]').waitFor();
  const protocols = await page
    .locator('.cells li')
    .evaluateAll((cells) => cells.map((cell) => cell.getAttribute('data-protocol')));
  const allowed = { both: '23', hidden: '23', h2only: '2', advertiseOnly: '2', silent: '2', h1only: '1' };
  const kinds = Object.keys(local.origins) as Kind[];
  expect(protocols).toHaveLength(300);
  const wrong = protocols.filter((protocol, index) => {
    const kind = kinds[index % kinds.length] as Kind;
    return protocol === null || !allowed[kind].includes(protocol);
  });
  expect(wrong).toEqual([]);
});

test('resources have the requested size and caching, and HEAD has their headers', async ({
  local,
  browse,
}) => {
  const page = await browse();
  await page.goto(local.origins.both.origin);
  const ask = (path: string, method: string) =>
    page.evaluate(
      async ([url, how]) => {
        const response = await fetch(url, { method: how });
        const { byteLength } = await response.arrayBuffer();
        const { headers } = response;
        return {
          bytes: byteLength,
          length: headers.get('content-length'),
          caching: headers.get('cache-control'),
        };
      },
      [path, method] as const,
    );
  for (const name of ['a.png', 'a.js', 'a.css', 'a.txt']) {
    const plain = { length: '5000', caching: 'no-store' };
    expect(await ask(`/r/${name}?bytes=5000`, 'GET')).toEqual({ bytes: 5000, ...plain });
    expect(await ask(`/r/${name}?bytes=5000`, 'HEAD')).toEqual({ bytes: 0, ...plain });
  }
  expect((await ask('/r/a.txt?cache=1', 'GET')).caching).toBe('public, max-age=600');
});

test('the second visit to /sw is answered by its service worker', async ({ local, browse }) => {
  const page = await browse();
  const url = `${local.origins.h2only.origin}/sw`;
  await page.goto(url);
  expect(await serversWord(page)).toBe('HTTP/2');
  await page.locator('#worker[data-ready]').waitFor();
  await page.goto(url);
  expect(await serversWord(page)).toBe('a service worker');
  expect(await navigationProtocol(chromiumTab(page))).toBe('');
});

test('an origin that cannot listen is named in the error', async ({ local }) => {
  const { port } = local.origins.h2only;
  const taken = { host: 'taken.test', h3: false, port };
  await expect(startOrigins({ origins: { taken } })).rejects.toThrow(
    `taken.test:${port}: Address already in use`,
  );
});

test('Caddy: HTTP/2 first, HTTP/3 once Alt-Svc is learnt', async ({ caddy, browse }) => {
  test.skip(caddy === null, GO_MISSING);
  if (caddy === null) return;
  const page = await browse();
  await page.goto(caddy.origin);
  expect(await serversWord(page)).toBe('HTTP/2.0');
  await visitUntil(chromiumTab(page), caddy.origin, 'h3');
  expect(await serversWord(page)).toBe('HTTP/3.0');
});
