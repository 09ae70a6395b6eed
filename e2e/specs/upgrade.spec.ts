// The main job: a site is HTTP/2 on the first visit and HTTP/3 on the next, and browser, toolbar, popup and every form
// of the exported report say so. Against our own server and, as the independent one, Caddy.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { navigationProtocol, visitUntil } from '../browsers/chromium.ts';
import type { Session } from '../browsers/session.ts';
import { GO_MISSING } from '../go-module.ts';
import { badgeText, expect, exportedReport, test } from './fixtures.ts';

async function expectUpgrade(session: Session, page: Page, origin: string, dir: string): Promise<void> {
  await page.goto(origin);
  expect(await navigationProtocol(page)).toBe('h2');
  const popup = await session.openPopup(page);
  await expect(popup.page.getByTestId('page-protocol')).toHaveText('HTTP/2');
  await expect.poll(() => badgeText(popup, page)).toBe('H2');

  await visitUntil(page, origin, 'h3', { tries: 5 });
  await expect(popup.page.getByTestId('page-protocol')).toHaveText('HTTP/3');
  await expect(popup.page.getByTestId('verdict')).toContainText('Reached over HTTP/3');
  await expect.poll(() => badgeText(popup, page)).toBe('H3');
  const rows = await popup.origins();
  expect(rows.map((row) => row.protocol)).toContain('h3');

  const report = await exportedReport(popup, dir);
  const [site] = report.sites;
  expect(report.sites).toHaveLength(1);
  expect(site?.origins.map((o) => o.origin)).toEqual([origin]);
  const protocols = site?.origins[0]?.protocols;
  expect(protocols?.h2).toBeGreaterThanOrEqual(1);
  expect(protocols?.h3).toBeGreaterThanOrEqual(1);
  expect(site?.adoption.byNavigation.h3).toBe(1);
  expect(site?.origins[0]?.verdict.code).toBe('h3-used');

  await popup.exportAllSites('csv', join(dir, 'report.csv'));
  const [, row] = (await readFile(join(dir, 'report.csv'), 'utf8')).split('\r\n');
  expect(row).toContain(origin);
  await popup.exportAllSites('html', join(dir, 'report.html'));
  const html = await session.context.newPage();
  await html.goto(`file://${join(dir, 'report.html')}`);
  await expect(html.getByText(new URL(origin).host).first()).toBeVisible();
  await expect(html.getByText('Reached over HTTP/3').first()).toBeVisible();
}

test('our own origin: h2, then h3, seen everywhere', async ({ local, open, dir }) => {
  const session = await open();
  await expectUpgrade(session, await session.context.newPage(), local.origins.both.origin, dir);
});

test('Caddy: h2, then h3, seen everywhere', async ({ local, caddy, open, dir }) => {
  test.skip(caddy === null, GO_MISSING);
  if (caddy === null) return;
  const session = await open({ local: { ...local, origins: { caddy } } });
  await expectUpgrade(session, await session.context.newPage(), caddy.origin, dir);
});
