// Pages that distort statistics: hidden protocols, caches, service workers, HTTP/1.1, and pages that are not sites. A
// page that failed to load is not recorded, since there was no response: the popup names its host and the browser's
// error, and a race determines what responds there.
import { createServer } from 'node:http';
import type { Popup } from '../../browsers/session.ts';
import { storedRecords } from '../../browsers/stored.ts';
import { CLOSED_PORT, listen, startHttp2 } from '../../origins/raw.ts';
import { expect, exportedReport, test } from '../fixtures.ts';
import { COUNTED, identityOf, servedTest, VISIBILITY, violations } from '../steps.ts';

const originsOf = (report: Awaited<ReturnType<typeof exportedReport>>) =>
  new Map(report.sites.flatMap((site) => site.origins).map((o) => [o.origin as string, o]));

test('every origin of a page is listed; a hidden protocol is counted as hidden, not as HTTP/1.1', async ({
  local,
  kind,
  open,
  dir,
}) => {
  const session = await open();
  const tab = await session.newTab();
  const { both, hidden, h1only, h2only } = local.origins;
  const { hiddenOrigin, hiddenRequests } = VISIBILITY[kind];
  const from = [hidden, h1only, h2only].map((o) => o.origin).join(',');
  await tab.goto(`${both.origin}/page?resources=9&from=${from}`);
  await expect(tab.find('#summary[data-done]')).toBeSeen();
  const popup = await session.openPopup(tab);
  await expect
    .poll(async () => Object.fromEntries((await popup.origins()).map((r) => [r.origin, r.protocol])))
    .toEqual({
      [both.origin]: 'h2',
      [hidden.origin]: expect.stringMatching(hiddenOrigin),
      [h1only.origin]: 'http/1.1',
      [h2only.origin]: 'h2',
    });

  // An origin is shown with its first request, before the others arrive and any of them is stored.
  await expect(async () => {
    const origins = originsOf(await exportedReport(popup, dir));
    const { h3 = 0, h2 = 0, 'http/1.1': old, unknown } = origins.get(hidden.origin)?.protocols ?? {};
    expect({ used: h3 + h2, old, unknown }).toEqual({
      used: 3 - hiddenRequests,
      old: 0,
      unknown: hiddenRequests,
    });
    expect(origins.get(hidden.origin)?.hidden).toBe(hiddenRequests);
    expect(origins.get(h1only.origin)?.protocols['http/1.1']).toBe(3);
  }).toPass(COUNTED);
});

test('a response from the HTTP cache is not counted as a new outcome', async ({ local, open, dir }) => {
  const session = await open();
  const tab = await session.newTab();
  const { both, h2only } = local.origins;
  const url = `${both.origin}/page?resources=4&cache=1&from=${h2only.origin}`;
  for (let visit = 0; visit < 3; visit += 1) {
    await tab.goto(url);
    await expect(tab.find('#summary[data-done]')).toBeSeen();
  }
  const popup = await session.openPopup(tab);
  await expect
    .poll(async () => originsOf(await exportedReport(popup, dir)).get(h2only.origin)?.protocols.h2)
    .toBe(4);
});

test('the page in which an advertisement is first seen is no visit that ignored it', async ({
  local,
  open,
  kind,
}) => {
  const { origin } = local.origins.advertiseOnly;
  for (const mode of kind === 'chromium' ? (['light', 'full'] as const) : (['full'] as const)) {
    const session = await open({ mode });
    const options = await session.openPage('options/options.html');
    const recorded = async () => {
      const record = (await storedRecords(options)).find((each) => each.origin === origin);
      return record && [record.counts.h2, record.visitsSinceAdvertised];
    };
    const tab = await session.newTab();
    for (const visits of [0, 1, 2]) {
      await tab.goto(`${origin}/page?resources=3&from=${origin}&visit=${visits}`);
      await expect(tab.find('#summary[data-done]')).toBeSeen();
      await expect.poll(recorded).toEqual([4 * (visits + 1), visits]);
    }
  }
});

test('a document that takes long has its advertisement, and what it requests is no visit after that', async ({
  local,
  open,
  kind,
}) => {
  const { host } = local.origins.both;
  const server = await startHttp2(await identityOf(local, host), (stream, { ':path': path }) => {
    const altSvc = path === '/' ? { 'alt-svc': `h3=":${CLOSED_PORT}"; ma=3600` } : {};
    stream.respond({ ':status': 200, 'content-type': 'text/html', 'cache-control': 'no-store', ...altSvc });
    if (path !== '/') return stream.end();
    stream.write(
      '<!doctype html><link rel="icon" href="data:,"><script>setTimeout(() => fetch("/poll"), 1500)</script>',
    );
    setTimeout(() => stream.end('<p id="end">end</p>'), 2500);
  });
  const origin = `https://${host}:${server.port}`;
  for (const mode of kind === 'chromium' ? (['full', 'light'] as const) : (['full'] as const)) {
    const session = await open({ mode });
    const options = await session.openPage('options/options.html');
    const tab = await session.newTab();
    await tab.goto(`${origin}/`);
    await expect(tab.find('#end')).toBeSeen();
    // Nothing of this page is in the HTTP cache, where light mode would find the header.
    const altSvc = mode === 'full' ? `h3=":${CLOSED_PORT}"; ma=3600` : null;
    await expect
      .poll(async () => (await storedRecords(options)).find((each) => each.origin === origin))
      .toMatchObject({ counts: { h2: 2 }, navigations: { h2: 1 }, altSvc, visitsSinceAdvertised: 0 });
  }
  server.stop();
});

test('a frame over https of a page over http is counted like any other', async ({ local, open }) => {
  const { both, h2only } = local.origins;
  const page = createServer((_, response) => {
    response.setHeader('content-type', 'text/html');
    response.end(
      `<!doctype html><link rel="icon" href="data:,"><iframe src="${both.origin}/page?resources=3&from=${h2only.origin}"></iframe>`,
    );
  });
  const { port, stop } = await listen(page);
  const session = await open();
  const options = await session.openPage('options/options.html');
  const tab = await session.newTab();
  await tab.goto(`http://${both.host}:${port}/`);
  await expect
    .poll(async () => (await storedRecords(options)).find((each) => each.origin === h2only.origin)?.counts.h2)
    .toBe(3);
  stop();
});

test('a page served by its service worker is unknown, with the reason', async ({ local, open }) => {
  const session = await open();
  const tab = await session.newTab();
  await tab.goto(`${local.origins.both.origin}/sw`);
  await tab.evaluate(() => navigator.serviceWorker.ready.then(() => null));
  await tab.reload();
  const popup = await session.openPopup(tab);
  await expect(popup.part('page-protocol')).toSay('unknown');
  await expect(popup.part('verdict')).toSay(/service worker/i);
});

test('a page that is not an https site has its own message', async ({ open }) => {
  const session = await open();
  const tab = await session.newTab();
  await tab.goto('about:blank');
  const popup = await session.openPopup(tab);
  await expect(popup.part('verdict')).toMention('was not loaded over the network');
  await expect(popup.part('page-host')).toSay('Browser page');
});

test('a tab that has yet to load its page, the first or one that the browser unloaded, shows no other', async ({
  local,
  open,
}) => {
  const session = await open();
  const tab = await session.newTab();
  const { origin } = local.origins.h2only;
  await tab.goto(origin);
  const popup = await session.openPopup(tab);
  await expect(popup.part('page-protocol')).toSay('HTTP/2');
  const opened = (url: string) =>
    popup.tab.evaluate(async (url) => {
      const find = async () => (await chrome.tabs.query({})).find((each) => each.url === url)?.id ?? -1;
      await chrome.tabs.discard(await find());
      const unloaded = await find();
      const first = await chrome.tabs.create({ url: `${url}?delay=60000`, active: false });
      const ids = [unloaded, first.id ?? -1];
      return Promise.all(
        ids.map(async (id) => ({ id, badge: await chrome.action.getBadgeText({ tabId: id }) })),
      );
    }, url);
  for (const { id, badge } of await opened(`${origin}/`)) {
    expect(badge).toBe('');
    await popup.tab.goto(session.extensionUrl(`popup/popup.html?tab=${id}`));
    await expect(popup.part('page-host')).toSay('Loading…');
    await expect(popup.part('verdict')).toSay('The protocol appears with the first response.');
  }
  await expect
    .poll(() => popup.tab.evaluate(async () => Object.keys(await chrome.storage.session.get(null))))
    .not.toContainEqual(expect.stringMatching(/^(page|shown):/));
});

test('a tab whose first navigation ends in no page is not loading for ever', async ({ open }) => {
  const answers: (() => void)[] = [];
  const { port, stop } = await listen(
    createServer(({ url }, response) => {
      const head = { 'content-type': 'application/x-test', 'content-disposition': 'attachment' };
      answers.push(() =>
        (url === '/download' ? response.writeHead(200, head) : response.writeHead(204)).end(),
      );
    }),
  );
  const session = await open();
  const popup = await session.openPopup(null);
  for (const path of ['nothing', 'download']) {
    const url = `http://127.0.0.1:${port}/${path}`;
    const id = await popup.tab.evaluate(
      async (url) => (await chrome.tabs.create({ url, active: false })).id,
      url,
    );
    await popup.tab.goto(session.extensionUrl(`popup/popup.html?tab=${id}`));
    await expect(popup.part('page-host')).toSay('Loading…');
    await expect.poll(() => answers.length).toBe(1);
    answers.pop()?.();
    await expect(popup.part('page-host')).toSay('Browser page');
  }
  stop();
});

const unreachableTest = servedTest({
  both: { host: 'both.test', h3: true, altSvc: 'auto' },
  /** Speaks HTTP/3 without advertising it, and refuses TCP: no browser can reach it. */
  udpOnly: { host: 'udp-only.test', h3: true, tcp: false },
});

async function expectFailed(popup: Popup, host: string): Promise<void> {
  await expect(popup.part('verdict')).toMention('did not load');
  await expect(popup.part('page-host')).toSay(host);
  // `net::ERR_CONNECTION_REFUSED`, `connectionFailure`.
  await expect(popup.part('aside')).toSay(/CONNECTION_REFUSED|connectionFailure/);
  await expect(popup.part('race')).toSay('Race this host');
}

unreachableTest(
  'a host that responds over HTTP/3 only: the race says so, and nothing is recorded',
  async ({ served, open, dir }) => {
    const session = await open({ local: served });
    const { udpOnly } = served.origins;
    const tab = await session.newTab();
    await tab.goto(udpOnly.origin).catch(() => {});
    const popup = await session.openPopup(tab);
    await expectFailed(popup, `${udpOnly.host}:${udpOnly.port}`);
    expect(await violations(popup.tab)).toEqual([]);
    expect((await popup.race()).ok).toBe(true);
    await expect(popup.part('verdict')).toMention('HTTP/3');
    await expect(popup.part('verdict')).not.toMention('did not load');
    await expect(popup.part('aside')).toSay(/CONNECTION_REFUSED|connectionFailure/);
    await expect(popup.part('race')).toSay('Race again');
    await expect(popup.part('page-protocol')).toSay('Page failed to load');
    const known = (await exportedReport(popup, dir)).sites.flatMap((site) => site.origins);
    expect(known.map(({ protocols }) => protocols)).toEqual([{ h3: 0, h2: 0, 'http/1.1': 0, unknown: 0 }]);
  },
);

unreachableTest(
  'a host where nothing responds, after a page that did: the race shows why',
  async ({ served, open }) => {
    const port = CLOSED_PORT;
    const closed = { origin: `https://closed.test:${port}`, host: 'closed.test', port };
    const session = await open({ local: { ...served, origins: { ...served.origins, closed } } });
    const tab = await session.newTab();
    await tab.goto(served.origins.both.origin);
    const popup = await session.openPopup(tab);
    await expect(popup.part('page-host')).toMention('both.test');
    await tab.goto(closed.origin).catch(() => {});
    await expectFailed(popup, `closed.test:${port}`);
    await popup.part('race').click();
    await expect(popup.part('race')).toSay('Race again', { timeoutMs: 60_000 });
    await expect(popup.part('verdict')).not.toMention('did not load');
    await expect(popup.tab.find('#finish')).toSay(/TCP refused/);
    // An earlier race does not explain a later failure.
    await tab.reload().catch(() => {});
    await expect(popup.part('race')).toSay('Race this host');
    await tab.goto(served.origins.both.origin);
    await expect(popup.part('page-host')).toMention('both.test');
  },
);
