// Races without a click: only if the user enabled them, for each page's own origin, once, and never if a proxy is in
// use or cannot be ruled out, in a private window or in a container.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { Session } from '../../browsers/session.ts';
import { ORIGIN_KINDS } from '../../origins/start.ts';
import { expect, runPhotofinish } from '../fixtures.ts';
import { chooseRaceTime, expectStored, racedModes, servedTest, visitPrivately } from '../steps.ts';

const { both, h2only, silent } = ORIGIN_KINDS;
const test = servedTest({ both, h2only, silent });

/** Visits a page and races it by a click: whatever the visit itself started came before. */
async function clickedRace(session: Session, url: string): Promise<void> {
  const tab = await session.newTab();
  await tab.goto(url);
  const popup = await session.openPopup(tab);
  expect(await popup.race()).toMatchObject({ ok: true });
  await popup.tab.close();
  await tab.close();
}

/** An HTTP proxy that connects every host to loopback; `used` counts its connections. */
async function startProxy() {
  let used = 0;
  const server = createServer();
  server.on('connect', (request, client) => {
    used += 1;
    const upstream = connect(Number(request.url?.split(':')[1]), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n');
      upstream.pipe(client);
      client.pipe(upstream);
    });
    upstream.on('error', () => client.destroy());
    client.on('error', () => upstream.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, used: () => used, stop: () => server.close() };
}

test('once enabled, each page’s own origin is raced on the first visit, without a click and only once', async ({
  open,
  served,
  dir,
  kind,
}) => {
  const session = await open({ local: served, proxy: 'none' });
  const { both, h2only, silent } = served.origins;
  await clickedRace(session, `${silent.origin}/page?resources=1`);
  expect(await racedModes(session, dir), 'a click alone races unless more is chosen').toEqual({
    [silent.origin]: ['compare'],
  });
  const options = await chooseRaceTime(session, 'first-visit');
  await expect(options.part('proxy')).toSay(kind === 'firefox' ? /reports for each request/ : /use no proxy/);

  const url = `${both.origin}/page?resources=2&from=${h2only.origin}`;
  const tab = await session.newTab();
  await tab.goto(url);
  const popup = await session.openPopup(tab);
  await expect(popup.part('race')).toSay('Race again', { timeoutMs: 30_000 });
  const once = { [silent.origin]: ['compare'], [both.origin]: ['race'] };
  expect(await racedModes(session, dir)).toEqual(once);
  const cached = ['cache', 'show', both.origin, '--cache', session.files.cache, '--json'];
  await expect
    .poll(async () => JSON.parse((await runPhotofinish(cached)).stdout).hosts)
    .toContainEqual(expect.objectContaining({ origin: both.origin }));

  await tab.goto(url);
  await clickedRace(session, url);
  expect(await racedModes(session, dir)).toEqual({ ...once, [both.origin]: ['race', 'compare'] });
});

test('with races disabled, not even a click starts one, and the popup says so', async ({ open, served }) => {
  const session = await open({ local: served, proxy: 'none' });
  await chooseRaceTime(session, 'never');
  const tab = await session.newTab();
  await tab.goto(`${served.origins.both.origin}/page?resources=1`);
  const popup = await session.openPopup(tab);
  const words = 'Racing is turned off in the options.';
  expect(await popup.race()).toEqual({ ok: false, words });
  expect(served.seen.filter(({ path }) => path === '/')).toEqual([]);
});

test('of first visits that a page makes without a click one is raced, and the options count the rest', async ({
  open,
  served,
  dir,
}) => {
  const session = await open({ local: served, proxy: 'none' });
  const options = await chooseRaceTime(session, 'first-visit');
  await expect(options.part('page-initiated')).not.toBeSeen();
  const { both, h2only, silent } = served.origins;
  const tab = await session.newTab();
  // Between two documents there is no context to evaluate in.
  const arrivesAt = (host: string) =>
    expect.poll(() => tab.evaluate(() => location.hostname).catch(() => null)).toBe(host);
  await tab.goto(`${both.origin}/page?resources=1`);
  const first = { [both.origin]: ['race'] };
  await expect.poll(() => racedModes(session, dir)).toEqual(first);
  await tab.bringToFront();
  await tab.evaluate(
    (url) => void setTimeout(() => location.assign(url)),
    `${h2only.origin}/page?resources=1`,
  );
  await arrivesAt(h2only.host);
  await expect.poll(() => racedModes(session, dir)).toEqual({ ...first, [h2only.origin]: ['race'] });
  await tab.bringToFront();
  const silentPage = `${silent.origin}/page?resources=1`;
  await tab.evaluate((url) => void setTimeout(() => location.assign(url)), silentPage);
  await arrivesAt(silent.host);
  await expect(options.part('page-initiated')).toMention('1 first visit was not raced');
});

test('behind a proxy no visit starts a race', async ({ open, served, dir, kind }) => {
  const proxy = await startProxy();
  try {
    const session = await open({ own: true, local: served, proxy: proxy.port });
    const options = await chooseRaceTime(session, 'first-visit');
    if (kind === 'chromium')
      await expect(options.part('proxy')).toSay(/set to use a proxy \(fixed_servers\)/);
    const { origin } = served.origins.both;
    await clickedRace(session, `${origin}/page?resources=1`);
    expect(proxy.used()).toBeGreaterThan(0);
    expect(await racedModes(session, dir)).toEqual({ [origin]: ['compare'] });
  } finally {
    proxy.stop();
  }
});

test('with the system’s proxy setting, only a browser that reveals each request’s proxy races automatically', async ({
  open,
  served,
  dir,
  kind,
}) => {
  const session = await open({ local: served });
  const options = await chooseRaceTime(session, 'first-visit');
  const { origin } = served.origins.both;
  const tab = await session.newTab();
  await tab.goto(`${origin}/page?resources=1`);
  if (kind === 'firefox') {
    await expect.poll(() => racedModes(session, dir)).toEqual({ [origin]: ['race'] });
    return;
  }
  await expect(options.part('proxy')).toSay(/a proxy cannot be ruled out/);
  await clickedRace(session, `${origin}/page?resources=1`);
  expect(await racedModes(session, dir)).toEqual({ [origin]: ['compare'] });
});

test('no private window starts a race, recorded or not', async ({ open, served, dir }) => {
  const session = await open({ own: true, local: served, proxy: 'none' });
  await session.allowPrivateWindows();
  const options = await chooseRaceTime(session, 'first-visit');
  await options.find('#private').click();
  await expectStored(options, { privateWindows: true });
  const [tab, shown] = [await session.newTab(), await session.openPage('popup/popup.html?tab=-1')];
  const { both, h2only } = served.origins;
  const url = `${both.origin}/page?resources=1`;
  const privately = await visitPrivately(options, served.seen, url, 2);
  await shown.goto(session.extensionUrl(`popup/popup.html?tab=${privately}`));
  await expect(shown.part('page-protocol')).toSay(/^HTTP\/[23]$/);
  // In Firefox new tabs would open in the private window, whose pages cannot access the ledger.
  await options.evaluate(async (tabId) => {
    const { windowId } = await chrome.tabs.get(tabId);
    await chrome.windows.remove(windowId);
  }, privately);

  await tab.goto(`${h2only.origin}/page?resources=1`);
  await expect.poll(() => racedModes(session, dir)).toEqual({ [h2only.origin]: ['race'] });
  expect(served.seen.filter(({ origin, path }) => origin === both.origin && path === '/')).toEqual([]);
});
