// What an attacker cannot do. From a compromised renderer, which can send what the extension's content script can: read
// the extension's storage, change it, or record for other sites. With untrusted text in a page of the extension: make
// it markup or a script, or have the page request anything from elsewhere.
import { STORE_KEYS } from '../../../extension/common/store/store.ts';
import type { Tab } from '../../browsers/browser.ts';
import type { Session } from '../../browsers/session.ts';
import { storedValue } from '../../browsers/stored.ts';
import { expect, exportedReport, test } from '../fixtures.ts';
import { expectStored, extensionPages } from '../steps.ts';

const worldOf = (session: Session, tab: Tab, frameUrl?: string) =>
  tab.contentWorld(session.extensionUrl('').replace(/\/$/, ''), frameUrl);

const entry = (url: string) => ({
  navigation: false,
  url,
  alpn: 'h3',
  deliveryType: '',
  startMs: Date.now() - 20,
  endMs: Date.now() - 10,
  firstByteMs: Date.now() - 10,
  transferBytes: 1000,
  bodyBytes: 700,
  worker: false,
  opaque: false,
});

const batch = (topOrigin: string | null, url: string) => ({
  type: 'timings',
  source: crypto.randomUUID(),
  seq: 1,
  topOrigin,
  startedMs: Date.now() - 100,
  controlled: false,
  entries: [entry(url)],
});

/** Settings that an attacker could plant as an older version's, to have everything recorded and steered. */
const PLANTED = {
  settings: { version: 2, settings: { raceWhen: 'first-visit', privateWindows: true, steering: true } },
  'network-names': { names: { 'net-1': 'Planted' }, untold: { 'net-1': 'Planted' } },
  steering: { version: 1, chosen: ['https://victim.test'], steerings: [], undone: {} },
};

test('it reads nothing that the extension stores, and nothing it plants is believed', async ({
  local,
  open,
  kind,
}) => {
  const session = await open();
  const options = await session.openPage('options/options.html');
  await options.find('#never-site').fill('secret.test');
  await options.press('Enter');
  await expectStored(options, { neverRecord: ['secret.test'] });
  const stored = () => Promise.all(STORE_KEYS.map((key) => storedValue(options, key)));
  const before = await stored();

  const tab = await session.newTab();
  await tab.goto(local.origins.h2only.origin);
  const run = await worldOf(session, tab);
  /** The result as JSON; empty if there is none, or if it is refused. */
  const tried = (expression: string) =>
    run(`(async () => JSON.stringify(await ${expression}) ?? '')().catch(() => '')`);
  expect(await run('location.origin + chrome.runtime.getURL("")')).toBe(
    local.origins.h2only.origin + session.extensionUrl(''),
  );
  const everything = [
    ...['local', 'session', 'sync', 'managed'].map((area) => `chrome.storage.${area}.get(null)`),
    'indexedDB.databases()',
    'caches.keys()',
    ...STORE_KEYS.map((key) => `chrome.runtime.sendMessage({ type: 'stored', key: '${key}' })`),
  ];
  for (const read of everything) expect(['', '{}', '[]', 'null'], read).toContain(await tried(read));

  for (const area of ['local', 'session', 'sync'])
    await tried(`chrome.storage.${area}.set(${JSON.stringify(PLANTED)})`);
  for (const key of STORE_KEYS)
    for (const revision of [0, 1, 2]) {
      const request = { type: 'store', key, revision, value: PLANTED[key] };
      await tried(`chrome.runtime.sendMessage(${JSON.stringify(request)})`);
    }
  await tried(`new BroadcastChannel('photofinish-settings').postMessage('settings')`);
  expect(await stored()).toEqual(before);
  if (kind === 'firefox') expect(await tried('chrome.storage.local.get(null)')).toContain('Planted');
  // The next background would read it.
  await session.stopBackground();
  expect(await stored()).toEqual(before);
  const left = () => options.evaluate(() => chrome.storage.local.get(null));
  await expect.poll(left).toEqual({});
});

test('it records for no site but its own', async ({ local, open, dir }) => {
  const session = await open();
  const { both, h2only } = local.origins;
  const tab = await session.newTab();
  const frameUrl = `${h2only.origin}/page?resources=1`;
  await tab.goto(both.origin);
  await tab.evaluate(
    (src) =>
      new Promise<void>((resolve) => {
        const frame = document.createElement('iframe');
        frame.onload = () => resolve();
        frame.src = src;
        document.body.append(frame);
      }),
    frameUrl,
  );
  const send = (message: object) => `chrome.runtime.sendMessage(${JSON.stringify(message)})`;
  const victim = 'https://victim.test';
  const inPage = await worldOf(session, tab);
  const inFrame = await worldOf(session, tab, frameUrl);
  await inPage(send(batch(victim, `${victim}/1`)));
  await inFrame(send(batch(victim, `${victim}/2`)));
  // A frame that claims to be the top-level page.
  await inFrame(send(batch(null, `${victim}/3`)));
  await inFrame(send({ type: 'arrived', arrival: 'bfcache' }));
  // What a page leaves behind is taken in seconds later, in order, and replaces what the same document left before. The
  // second batch is genuine: once it is recorded, the first has been decided on.
  const left = [batch(victim, `${victim}/4`), batch(both.origin, 'https://true.test/')];
  await inFrame(send({ type: 'left', batches: left }));
  const popup = await session.openPopup(tab);
  await expect
    .poll(async () => {
      const { sites } = await exportedReport(popup, dir);
      return Object.fromEntries(
        sites.map(({ site, origins }) => [site, origins.map((o) => o.origin).toSorted()]),
      );
    })
    .toEqual({ [both.host]: [both.origin, h2only.origin, 'https://true.test'].toSorted() });
  await expect(popup.part('page-host')).toMention(both.host);
});

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
