// What has changed since the browser came over HTTP/3 is told beside it.
import { visitUntil } from '../../browsers/tab.ts';
import { startOrigins } from '../../origins/start.ts';
import { expect, test } from '../fixtures.ts';

test('where the browser came over HTTP/3 no private root is warned of, and a race that reaches nothing says so', async ({
  open,
  authority,
}) => {
  const site = { host: 'both.test', h3: true, altSvc: 'auto' } as const;
  const running = await startOrigins({ origins: { a: site }, certifiedBy: authority });
  const { origin } = running.origins.a;
  const session = await open({ local: running });
  const tab = await session.newTab();
  await visitUntil(tab, origin, 'h3');
  const popup = await session.openPopup(tab);
  expect((await popup.race()).ok).toBe(true);
  await expect(popup.part('verdict')).toSay(/^Reached over HTTP\/3\./);
  expect(await popup.tab.evaluate(() => document.body.textContent)).not.toContain('private root');
  await running.stop();
  await popup.race();
  await expect(popup.part('verdict')).toSay(
    /Just now it could not be reached: Neither HTTP\/3 .* nor HTTP\/2/,
  );
});
