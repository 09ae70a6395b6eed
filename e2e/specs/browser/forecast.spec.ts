// Forecasts: requested before every navigation, and scored afterwards against the protocol the browser used.
import { visitUntil } from '../../browsers/browser.ts';
import { expect, exportedReport, test } from '../fixtures.ts';

test('once HTTP/3 was used here it is forecast, and the forecast is scored as right', async ({
  local,
  open,
  dir,
}) => {
  const session = await open();
  const tab = await session.newTab();
  const { origin } = local.origins.both;
  await visitUntil(tab, origin, 'h3');
  const popup = await session.openPopup(tab);
  await expect(popup.part('page-protocol')).toSay('HTTP/3');
  // Observations are sent to the helper in batches; a later navigation is forecast from them. A response that precedes
  // its forecast, as possible on loopback, is not scored.
  await expect(async () => {
    await tab.bringToFront();
    await tab.goto(`${origin}/?delay=500`);
    await expect
      .poll(async () => (await popup.origins())[0], { timeout: 4000 })
      .toMatchObject({ protocol: 'h3', scored: 'right' });
  }).toPass();

  // The popup shows a score before it is stored.
  await expect(async () => {
    const [site] = (await exportedReport(popup, dir)).sites;
    expect(site?.accuracy.of).toBeGreaterThanOrEqual(1);
    expect(site?.accuracy.hits).toBeGreaterThanOrEqual(1);
    expect(site?.hitRatio.of).toBeGreaterThanOrEqual(2);
  }).toPass();
});

test('a first visit has no forecast, and nothing is scored', async ({ local, open, dir }) => {
  const session = await open();
  const tab = await session.newTab();
  const { origin, host } = local.origins.h2only;
  await tab.goto(origin);
  const popup = await session.openPopup(tab);
  await expect(popup.part('helper')).toMention('helper 1.');
  // The helper was asked, and knew nothing.
  await expect
    .poll(async () => (await exportedReport(popup, dir)).sites.find(({ site }) => site === host))
    .toMatchObject({ hitRatio: { hits: 0, of: 1 }, accuracy: { of: 0 } });
  expect((await popup.origins())[0]).toMatchObject({ protocol: 'h2', forecast: '–', scored: null });
});
