// Accessibility of the popup and the exported page: axe rules in both themes, and keyboard operation of the whole
// popup.
import { join } from 'node:path';
import type { Popup, Session } from '../../browsers/session.ts';
import { ORIGIN_KINDS } from '../../origins/start.ts';
import { expect, type LocalOriginsByKind, test } from '../fixtures.ts';
import { extensionPages, servedTest, violations } from '../steps.ts';

/**
 * Every kind of origin; the page's own responds late, so that a race of it lasts long enough to be seen and cancelled.
 */
const slowTest = servedTest({ ...ORIGIN_KINDS, both: { ...ORIGIN_KINDS.both, answerDelayMs: 500 } });

/** The popup of a page that uses every kind of origin, after a race. */
async function racedPopup(
  session: Session,
  { origins }: Pick<LocalOriginsByKind, 'origins'>,
): Promise<Popup> {
  const tab = await session.newTab();
  const from = Object.values(origins).map((o) => o.origin);
  await tab.goto(`${origins.both.origin}/page?resources=18&from=${from.join(',')}`);
  await expect(tab.find('#summary[data-done]')).toBeSeen();
  const popup = await session.openPopup(tab);
  await expect.poll(async () => (await popup.origins()).length).toBe(from.length);
  expect((await popup.race()).ok).toBe(true);
  return popup;
}

test('axe finds no violation in the popup, its open rows and its menu, nor in the exported page', async ({
  local,
  open,
  dir,
}) => {
  const session = await open();
  const popup = await racedPopup(session, local);
  await popup.exportAllSites('html', join(dir, 'report.html'));
  const report = await session.newTab();
  await report.goto(`file://${join(dir, 'report.html')}`);
  await popup.tab.bringToFront();
  const openers = popup.tab.find('.opener');
  for (let i = 0; i < (await openers.count()); i += 1) await openers.nth(i).click();
  await popup.part('export').click();
  expect(await violations(popup.tab), 'popup').toEqual([]);
  expect(await violations(report), 'report').toEqual([]);
});

test('axe finds no violation in the popup without a helper, and on a page that is not a site', async ({
  local,
  open,
}) => {
  const session = await open({ helper: false });
  const tab = await session.newTab();
  await tab.goto(local.origins.h2only.origin);
  const missing = await session.openPopup(tab);
  await expect(missing.part('helper-help')).toBeSeen();
  const plain = await session.openPopup(null);
  await expect(plain.part('page-host')).toSay('Browser page');
  expect(await violations(missing.tab), 'without a helper').toEqual([]);
  expect(await violations(plain.tab), 'without a page').toEqual([]);
});

test('axe finds no violation on any page of the extension, with recorded data', async ({
  kind,
  local,
  open,
}) => {
  const session = await open();
  await (await racedPopup(session, local)).tab.close();
  for (const page of await extensionPages(kind)) {
    const tab = await session.openPage(page);
    await expect(tab.find('h1')).toSay(/./);
    expect(await violations(tab), page).toEqual([]);
    await tab.close();
  }
});

slowTest('the popup is used by keyboard alone: race, sort, open a row, export', async ({ served, open }) => {
  const session = await open({ local: served });
  const { tab } = await racedPopup(session, served);
  const focused = () =>
    tab.evaluate(() => document.activeElement?.id || document.activeElement?.textContent?.trim());
  const tabTo = async (wanted: string) => {
    for (let i = 0; i < 40 && (await focused()) !== wanted; i += 1) await tab.press('Tab');
    expect(await focused()).toBe(wanted);
  };
  await tabTo('race');
  await tab.press('Enter');
  await expect(tab.part('race')).toSay('Cancel');
  await expect.poll(focused, 'the focus stays where it was').toBe('race');
  await tab.press('Enter');
  await expect(tab.part('race')).toSay('Race again');
  await expect.poll(focused, 'and is still there when the race is cancelled').toBe('race');

  await tabTo('Req.');
  await tab.press('Enter');
  await expect.poll(() => tab.find('th[data-sort=requests]').attribute('aria-sort')).toBe('descending');

  const { origin } = served.origins.h1only;
  await tabTo(origin.slice('https://'.length));
  await tab.press('Enter');
  await expect(tab.find(`tbody[data-origin="${origin}"] .detail`)).toBeSeen();
  await tab.press('Tab');
  await expect.poll(focused, 'the open row comes next').toBe('What this means');
  await tab.press('Tab');
  await expect.poll(focused, 'with its race').toBe('Race now');

  await tabTo('export');
  await tab.press('Enter');
  await tab.press('End');
  await expect.poll(focused).toBe('Markdown');
  await tab.press('Home');
  await expect.poll(focused).toBe('HTML');
  await tab.press('ArrowDown');
  await tab.press('Escape');
  await expect.poll(focused, 'Escape gives the focus back').toBe('export');
  await tab.press('Enter');
  const download = await tab.download(() => tab.press('Enter'));
  expect(download.name).toMatch(/^photofinish-both\.test-\d{4}-\d\d-\d\d\.html$/);
});
