// The extension's pages hold no door by which a stranger's text becomes markup or a script, whatever their code does.
import { extensionPages } from '../extension-pages.ts';
import { expect, test } from '../fixtures.ts';

/** In the page: what of these is let through. Handlers of events would tell by their effect. */
async function accepted(): Promise<string[]> {
  const through: string[] = [];
  const attempt = (name: string, act: () => unknown): void => {
    try {
      act();
      through.push(name);
    } catch {
      // As it should be.
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

test('no page of the extension takes text for markup or a script', async ({ open, kind }) => {
  const session = await open({ helper: false });
  for (const page of await extensionPages(kind)) {
    const tab = await session.openPage(page);
    expect(await tab.evaluate(accepted), page).toEqual([]);
    await tab.close();
  }
});
