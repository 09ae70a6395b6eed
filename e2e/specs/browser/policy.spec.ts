// The extension's pages offer no way for untrusted text to become markup or a script, whatever their code does, and
// request nothing from elsewhere: every request that a browser sees from them is for their own files.
import { expect, test } from '../fixtures.ts';
import { extensionPages } from '../steps.ts';

/** Runs in the page: which of these are allowed. An event handler that ran would show it by its effect. */
async function accepted(): Promise<string[]> {
  const through: string[] = [];
  const attempt = (name: string, act: () => unknown): void => {
    try {
      act();
      through.push(name);
    } catch {
      // Expected: the assignment throws.
    }
  };
  const place = document.createElement('div');
  attempt('innerHTML', () => {
    place.innerHTML = '<img src="x">';
  });
  attempt('outerHTML', () => {
    document.body.append(place);
    place.outerHTML = '<b></b>';
  });
  attempt('insertAdjacentHTML', () => place.insertAdjacentHTML('beforeend', '<b></b>'));
  attempt('createContextualFragment', () => document.createRange().createContextualFragment('<b></b>'));
  attempt('DOMParser', () => new DOMParser().parseFromString('<b></b>', 'text/html'));
  attempt('script', () => {
    document.createElement('script').src = 'data:text/javascript,0';
  });
  attempt('worker', () => new Worker('data:text/javascript,0'));
  attempt('another policy', () =>
    (
      globalThis as unknown as { trustedTypes: { createPolicy(n: string, r: object): void } }
    ).trustedTypes.createPolicy('anything', {}),
  );
  return through;
}

test('no page of the extension accepts text as markup or a script', async ({ open, kind }) => {
  const session = await open({ helper: false });
  for (const page of await extensionPages(kind)) {
    const tab = await session.openPage(page);
    expect(await tab.evaluate(accepted), page).toEqual([]);
    await tab.close();
  }
});

test('no page of the extension makes a request to another origin', async ({ kind, local, open, dir }) => {
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

  // Proof that the browser would have reported one: navigating a page of the extension elsewhere is seen.
  const leaving = await session.openPage('popup/popup.html');
  await leaving.evaluate((url) => location.assign(url), `${both.origin}/left`);
  await expect
    .poll(async () =>
      (await session.requests()).filter(({ byExtension, url }) => byExtension && !inside(url)),
    )
    .toEqual([{ url: `${both.origin}/left`, byExtension: true }]);
});
