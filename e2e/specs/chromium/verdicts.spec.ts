// Verdicts on what only Chromium does: it turns to HTTP/2 where a QUIC server has gone, for which Firefox waits until its
// page times out, shows a page of its own for an error status without content, as if the navigation had failed, and lets
// an extension into one tab alone.
import { CHROMIUM_EXTENSION_ID } from '@photofinish/shared/port/extension-id';
import { navigationProtocol, visitUntil } from '../../browsers/browser.ts';
import { chooseAccessOnClick, clickToolbarIcon } from '../../browsers/chromium.ts';
import { startHttp2 } from '../../origins/raw.ts';
import { startOrigins } from '../../origins/start.ts';
import { expect, exportedReport, test } from '../fixtures.ts';
import { identityOf } from '../steps.ts';

test('HTTP/3 before and HTTP/2 now is not a first visit', async ({ open, authority }) => {
  const site = { host: 'both.test', h3: true, altSvc: 'auto' } as const;
  const before = await startOrigins({ origins: { a: site }, certifiedBy: authority });
  const { origin, port } = before.origins.a;
  const session = await open({ local: before });
  const tab = await session.newTab();
  await visitUntil(tab, origin, 'h3');
  await before.stop();
  const without = { ...site, h3: false, port };
  const after = await startOrigins({ origins: { a: without }, certifiedBy: authority });
  await expect(async () => {
    await tab.goto(origin);
    expect(await navigationProtocol(tab)).toBe('h2');
  }).toPass();
  const popup = await session.openPopup(tab);
  await expect(popup.part('verdict')).toSay(/has reached it over HTTP\/3 before/);
  await after.stop();
});

test('a 404 without content is not reported as a page that did not load', async ({ local, open }) => {
  const { host } = local.origins.both;
  const server = await startHttp2(await identityOf(local, host), (stream) =>
    stream.respond({ ':status': 404 }, { endStream: true }),
  );
  try {
    const session = await open();
    const tab = await session.newTab();
    await tab.goto(`https://${host}:${server.port}`).catch(() => {});
    const popup = await session.openPopup(tab);
    await expect(popup.part('page-host')).toSay(`${host}:${server.port}`);
    await expect(popup.part('verdict')).toSay(/^The server answered with an error status and no content/);
    await expect(popup.part('page-protocol')).toSay('Error without content');
    await expect(popup.part('race')).toSay('Race this host');
  } finally {
    server.stop();
  }
});

test('in a tab let in by a click on the toolbar icon alone, the next page is recorded and forecast', async ({
  local,
  open,
  dir,
}) => {
  const session = await open();
  const options = await session.openPage('options/options.html');
  await expect(options.part('helper')).toSay(/^Helper running/);
  await chooseAccessOnClick(await session.newTab(), CHROMIUM_EXTENSION_ID);
  const { origin, host } = local.origins.h2only;
  const tab = await session.newTab();
  await tab.goto(origin);
  const visible = () =>
    options.evaluate(async (url) => (await chrome.tabs.query({ url })).length, `${origin}/`);
  expect(await visible()).toBe(0);
  await clickToolbarIcon(tab, CHROMIUM_EXTENSION_ID);
  await expect.poll(visible).toBe(1);
  await tab.reload();
  const popup = await session.openPopup(tab);
  await expect(popup.part('page-protocol')).toSay('HTTP/2');
  await expect
    .poll(async () =>
      (await exportedReport(popup, dir)).sites.map(({ site, hitRatio }) => [site, hitRatio.of]),
    )
    .toEqual([[host, 1]]);
});
