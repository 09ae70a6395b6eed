// Pages that make statistics lie: hidden protocols, caches, service workers, HTTP/1.1, and pages that are no sites.
import { expect, exportedReport, test } from './fixtures.ts';

const originsOf = (report: Awaited<ReturnType<typeof exportedReport>>) =>
  new Map(report.sites.flatMap((site) => site.origins).map((o) => [o.origin as string, o]));

test('every origin of a page is listed; what a site hides is counted as hidden, not as HTTP/1.1', async ({
  local,
  open,
  dir,
}) => {
  const session = await open();
  const page = await session.context.newPage();
  const { both, hidden, h1only, h2only } = local.origins;
  const from = [hidden, h1only, h2only].map((o) => o.origin).join(',');
  await page.goto(`${both.origin}/page?resources=9&from=${from}`);
  await page.locator('#summary[data-done]').waitFor();
  const popup = await session.openPopup(page);
  await expect
    .poll(async () => Object.fromEntries((await popup.origins()).map((r) => [r.origin, r.protocol])))
    .toEqual({
      [both.origin]: 'h2',
      [hidden.origin]: 'hidden',
      [h1only.origin]: 'http/1.1',
      [h2only.origin]: 'h2',
    });

  const origins = originsOf(await exportedReport(popup, dir));
  expect(origins.get(hidden.origin)).toMatchObject({ hidden: 3, protocols: { unknown: 3, 'http/1.1': 0 } });
  expect(origins.get(h1only.origin)?.protocols['http/1.1']).toBe(3);
});

test('an answer from the HTTP cache is no fresh outcome', async ({ local, open, dir }) => {
  const session = await open();
  const page = await session.context.newPage();
  const { both, h2only } = local.origins;
  const url = `${both.origin}/page?resources=4&cache=1&from=${h2only.origin}`;
  for (let visit = 0; visit < 3; visit += 1) {
    await page.goto(url);
    await page.locator('#summary[data-done]').waitFor();
  }
  const popup = await session.openPopup(page);
  await expect
    .poll(async () => originsOf(await exportedReport(popup, dir)).get(h2only.origin)?.protocols.h2)
    .toBe(4);
});

test('a page answered by its service worker is unknown, and says why', async ({ local, open }) => {
  const session = await open();
  const page = await session.context.newPage();
  await page.goto(`${local.origins.both.origin}/sw`);
  await page.waitForFunction(() => navigator.serviceWorker.ready.then(() => true));
  await page.reload();
  const popup = await session.openPopup(page);
  await expect(popup.page.getByTestId('page-protocol')).toHaveText('unknown');
  await expect(popup.page.getByTestId('verdict')).toContainText(/service worker/i);
});

test('a page that is no https site has words of its own', async ({ open }) => {
  const session = await open();
  const page = await session.context.newPage();
  await page.goto('about:blank');
  const popup = await session.openPopup(page);
  await expect(popup.page.getByTestId('verdict')).not.toBeEmpty();
});
