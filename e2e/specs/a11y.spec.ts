// The popup and the exported page for people who use neither mouse nor sharp eyes: axe's rules in both themes, and the
// whole popup by keyboard.
import { join } from 'node:path';
import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import type { Popup } from '../browsers/popup.ts';
import type { Session } from '../browsers/session.ts';
import { expect, type Local, test } from './fixtures.ts';

const THEMES = ['light', 'dark'] as const;

/** Everything axe finds, as short lines that name rule and place. */
async function violations(page: Page): Promise<string[]> {
  const { violations: found, passes } = await new AxeBuilder({ page }).analyze();
  expect(passes.map((rule) => rule.id)).toContain('color-contrast');
  return found.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.target.join(' ')}`));
}

/** The popup of a page that uses every kind of origin, after a race. */
async function racedPopup(session: Session, { origins }: Local): Promise<Popup> {
  const page = await session.context.newPage();
  const from = Object.values(origins).map((o) => o.origin);
  await page.goto(`${origins.both.origin}/page?resources=18&from=${from.join(',')}`);
  await page.locator('#summary[data-done]').waitFor();
  const popup = await session.openPopup(page);
  await expect.poll(async () => (await popup.origins()).length).toBe(from.length);
  expect((await popup.race()).ok).toBe(true);
  return popup;
}

test('axe finds nothing in the popup, its open rows and its menu, nor in the exported page', async ({
  local,
  open,
  dir,
}) => {
  const session = await open();
  const popup = await racedPopup(session, local);
  await popup.exportAllSites('html', join(dir, 'report.html'));
  const report = await session.context.newPage();
  await report.goto(`file://${join(dir, 'report.html')}`);
  await popup.page.bringToFront();
  for (const opener of await popup.page.locator('.opener').all()) await opener.click();
  await popup.page.getByTestId('export').click();
  for (const colorScheme of THEMES) {
    for (const page of [popup.page, report]) {
      await page.emulateMedia({ colorScheme });
      expect(await violations(page), `${page.url().replace(/^.*\//, '')}, ${colorScheme}`).toEqual([]);
    }
  }
});

test('axe finds nothing in the popup without a helper, and on a page that is none', async ({
  local,
  open,
}) => {
  const session = await open({ helper: false });
  const page = await session.context.newPage();
  await page.goto(local.origins.h2only.origin);
  const missing = await session.openPopup(page);
  await expect(missing.page.getByTestId('helper-help')).toBeVisible();
  const plain = await session.openPopup(null);
  await expect(plain.page.getByTestId('page-host')).toHaveText('A page of the browser');
  for (const colorScheme of THEMES) {
    for (const popup of [missing, plain]) {
      await popup.page.emulateMedia({ colorScheme });
      expect(await violations(popup.page), colorScheme).toEqual([]);
    }
  }
});

test('the popup is used by keyboard alone: race, sort, open a row, export', async ({ local, open, dir }) => {
  const session = await open();
  const { page } = await racedPopup(session, local);
  const focused = () =>
    page.evaluate(() => document.activeElement?.id || document.activeElement?.textContent?.trim());
  const tabTo = async (wanted: string) => {
    for (let i = 0; i < 40 && (await focused()) !== wanted; i += 1) await page.keyboard.press('Tab');
    expect(await focused()).toBe(wanted);
  };
  await tabTo('race');
  await page.keyboard.press('Enter');
  await expect(page.getByTestId('race')).toHaveText('Cancel');
  expect(await focused(), 'the focus stays where it was').toBe('race');
  await page.keyboard.press('Enter');
  await expect(page.getByTestId('race')).toHaveText('Race again');

  await tabTo('Req.');
  await page.keyboard.press('Enter');
  await expect(page.locator('th[data-sort=requests]')).toHaveAttribute('aria-sort', 'descending');

  await tabTo(local.origins.h1only.origin.slice('https://'.length));
  await page.keyboard.press('Enter');
  const row = page.locator(`tbody[data-origin="${local.origins.h1only.origin}"]`);
  await expect(row.locator('.detail')).toBeVisible();
  await page.keyboard.press('Tab');
  expect(await focused(), 'the open row comes next').toBe('Race now');

  await tabTo('export');
  await page.keyboard.press('Enter');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Escape');
  expect(await focused(), 'Escape gives the focus back').toBe('export');
  await page.keyboard.press('Enter');
  const [download] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('Enter')]);
  await download.saveAs(join(dir, 'by-keyboard.html'));
  expect(download.suggestedFilename()).toMatch(/^photofinish-both\.test-\d{4}-\d\d-\d\d\.html$/);
});
