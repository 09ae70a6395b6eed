// HTTP/3 used before and HTTP/2 now, in Chromium only: Firefox waits for a QUIC server that has gone until its page
// times out.
import { navigationProtocol, visitUntil } from '../browsers/browser.ts';
import { startOrigins } from '../origins/start.ts';
import { expect, test } from './fixtures.ts';

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
