// Forecasts: asked before every navigation, scored afterwards against what the browser really used.
import { visitUntil } from '../browsers/chromium.ts';
import { expect, exportedReport, test } from './fixtures.ts';

test('once HTTP/3 was used here it is forecast, and the forecast is scored as right', async ({
  local,
  open,
  dir,
}) => {
  const session = await open();
  const page = await session.context.newPage();
  const { origin } = local.origins.both;
  const popup = await session.openPopup(page);
  await visitUntil(page, origin, 'h3', { tries: 5 });
  await page.goto(`${origin}/page?resources=3&from=${origin}`);
  await page.goto(origin);
  const watching = await session.openPopup(page);
  await expect
    .poll(async () => (await watching.origins())[0])
    .toMatchObject({ protocol: 'h3', forecast: 'h3', scored: 'right' });

  const report = await exportedReport(popup, dir);
  const accuracy = report.sites[0]?.accuracy;
  expect(accuracy?.of).toBeGreaterThanOrEqual(1);
  expect(accuracy?.hits).toBeGreaterThanOrEqual(1);
  expect(report.sites[0]?.hitRatio.of).toBeGreaterThanOrEqual(2);
});

test('a first visit has no forecast, and nothing is scored', async ({ local, open }) => {
  const session = await open();
  const page = await session.context.newPage();
  await page.goto(local.origins.h2only.origin);
  const popup = await session.openPopup(page);
  await expect.poll(async () => (await popup.origins())[0]).toMatchObject({ protocol: 'h2', scored: null });
});
