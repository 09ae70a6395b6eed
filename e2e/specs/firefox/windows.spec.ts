// Private windows, container tabs, and access to sites that is withdrawn, in Firefox. In private windows it denies the
// extension's pages all databases, and with history disabled the background too; options work nevertheless. Visits in
// containers never start automatic races.
import { join } from 'node:path';
import { type Tab, until } from '../../browsers/browser.ts';
import { launchFirefox } from '../../browsers/firefox.ts';
import { ORIGIN_KINDS } from '../../origins/start.ts';
import { TOP } from '../../scratch.ts';
import { expect, exportedReport, test } from '../fixtures.ts';
import { chooseRaceTime, expectStored, racedModes, servedTest } from '../steps.ts';

const OPTIONS = 'options/options.html';
const FOCUS_TIMEOUT_MS = 30_000;

async function exclude(options: Tab, site: string): Promise<void> {
  await options.find('#never-site').fill(site);
  await options.press('Enter');
  await expect(options.find('#never-list')).toMention(site);
}

test('options in a private window are the same as elsewhere, and saved for all windows', async ({ open }) => {
  const session = await open({ own: true, helper: false });
  await session.allowPrivateWindows();
  const options = await session.openPage(OPTIONS);
  await exclude(options, 'a.test');
  await options.evaluate(() => chrome.windows.create({ incognito: true }).then(() => null));
  // The window opened last has focus, and with it new tabs, but not at once.
  const privately = await until(async () => {
    const tab = await session.openPage(OPTIONS);
    if (await tab.evaluate(() => chrome.extension.inIncognitoContext)) return tab;
    await tab.close();
    return null;
  }, FOCUS_TIMEOUT_MS);
  if (privately === null) throw new Error('no tab opens in the private window');
  await expect(privately.find('#never-list')).toMention('a.test');
  await exclude(privately, 'b.test');
  await expectStored(options, { neverRecord: ['a.test', 'b.test'] });
  await expect(options.find('#never-list')).toMention('b.test');
  await expect(privately.part('trouble')).toSay('');
});

test('if Firefox never remembers history, options last until it exits, and older ones are ignored', async ({
  dir,
}) => {
  const places = {
    profile: join(dir, 'profile'),
    home: join(dir, 'home'),
    downloads: join(dir, 'downloads'),
  };
  const firefox = await launchFirefox({
    ...places,
    extensionDir: join(TOP, 'extension', 'dist', 'firefox'),
    headless: true,
    preferences: { 'browser.privatebrowsing.autostart': true },
  });
  try {
    await firefox.allowPrivateWindows();
    const options = await firefox.newTab();
    await options.goto(firefox.extensionUrl(OPTIONS));
    await exclude(options, 'a.test');
    await expectStored(options, { neverRecord: ['a.test'], raceWhen: 'click' });
    const planted = { settings: { version: 2, settings: { raceWhen: 'first-visit' } } };
    await options.evaluate((items) => chrome.storage.local.set(items), planted);
    await firefox.stopBackground();
    await options.reload();
    await expectStored(options, { neverRecord: ['a.test'], raceWhen: 'click' });
    await expect(options.find('#never-list')).toMention('a.test');
    await expect.poll(() => options.evaluate(() => chrome.storage.local.get(null))).toEqual({});
  } finally {
    await firefox.abandon();
  }
});

const { both, h2only } = ORIGIN_KINDS;
const containerTest = servedTest({ both, h2only });

containerTest('no container starts a race', async ({ open, served, dir }) => {
  const session = await open({ own: true, local: served, proxy: 'none' });
  if (session.newContainerTab === null) throw new Error('this browser has containers');
  await chooseRaceTime(session, 'first-visit');
  const { both, h2only } = served.origins;
  const contained = await session.newContainerTab();
  await contained.goto(`${both.origin}/page?resources=1`);
  await (await session.newTab()).goto(`${h2only.origin}/page?resources=1`);
  await expect.poll(() => racedModes(session, dir)).toEqual({ [h2only.origin]: ['race'] });
  expect(served.seen.filter(({ origin, path }) => origin === both.origin && path === '/')).toEqual([]);
});

test('without access no page is recorded or forecast, and once there is, none is loading for ever', async ({
  local,
  open,
  dir,
}) => {
  const session = await open();
  const welcome = await session.openPage('welcome/welcome.html');
  await expect(welcome.part('helper')).toSay(/^Helper running/);
  expect(await welcome.evaluate(() => chrome.permissions.remove({ origins: ['https://*/*'] }))).toBe(true);
  const { origin, host } = local.origins.h2only;
  const tab = await session.newTab();
  await tab.goto(origin);
  const popup = await session.openPopup(tab);
  await expect(popup.part('verdict')).toSay(/^Photofinish does not have permission for this site/);
  await welcome.bringToFront();
  await welcome.find('#access-ask').click();
  await expect(popup.part('verdict')).toSay(/^Nothing is recorded of this page/);
  await tab.reload();
  await expect(popup.part('page-protocol')).toSay('HTTP/2');
  await popup.tab.bringToFront();
  await expect
    .poll(async () =>
      (await exportedReport(popup, dir)).sites.map(({ site, hitRatio }) => [site, hitRatio.of]),
    )
    .toEqual([[host, 1]]);
});
