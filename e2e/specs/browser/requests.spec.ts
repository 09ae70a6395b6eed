// No page of the extension asks anything of anybody: whatever a browser sees it request is its own.
import { extensionPages } from '../extension-pages.ts';
import { expect, test } from '../fixtures.ts';

test('no page of the extension makes a request outside of itself', async ({ kind, local, open, dir }) => {
  const session = await open();
  const { both, h2only } = local.origins;
  const tab = await session.newTab();
  await tab.goto(`${both.origin}/page?resources=6&from=${h2only.origin}`);
  const popup = await session.openPopup(tab);
  await expect.poll(async () => (await popup.origins()).length).toBe(2);
  expect((await popup.race()).ok).toBe(true);
  await popup.exportAllSites('html', `${dir}/report.html`);
  for (const page of await extensionPages(kind)) await (await session.openPage(page)).reload();

  const seen = await session.requests();
  const own = session.extensionUrl('');
  const inside = (url: string) => [own, 'blob:', 'data:'].some((start) => url.startsWith(start));
  expect(seen.filter(({ url }) => url.startsWith(h2only.origin)).length).toBeGreaterThanOrEqual(3);
  expect(seen.filter(({ url, byExtension }) => byExtension && !inside(url))).toEqual([]);

  // That the browser would have told: a page of the extension that goes elsewhere is seen.
  const leaving = await session.openPage('popup/popup.html');
  await leaving.evaluate((url) => location.assign(url), `${both.origin}/left`);
  await expect
    .poll(async () =>
      (await session.requests()).filter(({ byExtension, url }) => byExtension && !inside(url)),
    )
    .toEqual([{ url: `${both.origin}/left`, byExtension: true }]);
});
