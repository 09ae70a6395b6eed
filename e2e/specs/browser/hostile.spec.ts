// Pages and profiles that interfere with recording: sandboxed frames, pages that forge the timing interface, error
// pages, passwords in URLs, a database that cannot be opened, a closed tab.

import type { Tab } from '../../browsers/browser.ts';
import type { Popup } from '../../browsers/session.ts';
import { badgeText, expect, exportedReport, test } from '../fixtures.ts';

/** The popup for a tab by its id, whatever that tab shows. */
async function showTab(popup: Popup, tabId: number): Promise<void> {
  await popup.tab.goto(`${(await popup.tab.url()).replace(/\?.*/, '')}?tab=${tabId}`);
}

/**
 * Runs `attack` in every future page at the first moment at which its own scripts could run. What a driver adds runs
 * earlier, before content scripts too, which no page achieves.
 */
async function attackFromPages(tab: Tab, attack: () => void): Promise<void> {
  await tab.beforeScripts(`
    new MutationObserver((_, observer) => {
      if (document.head === null) return;
      observer.disconnect();
      (${attack})();
    }).observe(document, { childList: true, subtree: true });
  `);
}

test('a sandboxed frame, as used for advertisements, is recorded with its protocol', async ({
  local,
  open,
  dir,
}) => {
  const session = await open();
  const { both, h2only } = local.origins;
  const tab = await session.newTab();
  await tab.goto(both.origin);
  await tab.evaluate((src) => {
    const frame = document.createElement('iframe');
    frame.sandbox.add('allow-scripts');
    frame.src = src;
    document.body.append(frame);
  }, `${h2only.origin}/page?resources=3`);
  const popup = await session.openPopup(tab);
  await expect
    .poll(async () => {
      const [site] = (await exportedReport(popup, dir)).sites;
      return site?.origins.find((each) => each.origin === h2only.origin)?.protocols;
    })
    // Its fetch is rejected for lack of an origin; document, image and script load.
    .toMatchObject({ h2: 4, unknown: 0 });
});

test('a page that forges and clears its timings is counted like any other', async ({ local, open, dir }) => {
  const session = await open();
  const tab = await session.newTab();
  await attackFromPages(tab, () => {
    PerformanceObserver.prototype.observe = () => {};
    performance.getEntriesByType = () => [{ name: 'https://evil.test/', nextHopProtocol: 'h3' } as never];
    setInterval(() => performance.clearResourceTimings(), 1);
    crypto.randomUUID = () => '0-0-0-0-0';
    // biome-ignore lint/suspicious/noThenProperty: this is the page that means harm.
    Promise.prototype.then = () => new Promise(() => {});
    dispatchEvent(new Event('pagehide'));
    dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }));
  });
  const { h2only } = local.origins;
  await tab.goto(`${h2only.origin}/page?resources=20&kind=image`);
  const popup = await session.openPopup(tab);
  await expect
    .poll(async () => (await exportedReport(popup, dir)).sites.map((s) => s.origins[0]?.protocols))
    .toEqual([{ h3: 0, h2: 21, 'http/1.1': 0, unknown: 0 }]);
});

test('events dispatched by a page are not mistaken for the browser’s', async ({ local, open, dir }) => {
  const session = await open();
  const tab = await session.newTab();
  await attackFromPages(tab, () => {
    const flood = () => {
      for (let times = 0; times < 100; times += 1) {
        dispatchEvent(new PageTransitionEvent('pagehide'));
        dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }));
        document.dispatchEvent(new Event('visibilitychange'));
      }
    };
    flood();
    setInterval(flood, 10);
  });
  const { h2only } = local.origins;
  await tab.goto(`${h2only.origin}/page?resources=20`);
  const popup = await session.openPopup(tab);
  await expect(popup.part('page-protocol')).toSay('HTTP/2');
  await expect
    .poll(async () => (await exportedReport(popup, dir)).sites.map((s) => s.origins[0]?.protocols))
    .toEqual([{ h3: 0, h2: 21, 'http/1.1': 0, unknown: 0 }]);
  await expect(popup.tab.find('body')).not.toMention('back/forward');
});

test('a page without a timing buffer is counted like any other', async ({ local, open, dir }) => {
  const session = await open();
  const tab = await session.newTab();
  await attackFromPages(tab, () => performance.setResourceTimingBufferSize(0));
  const { h2only } = local.origins;
  await tab.goto(`${h2only.origin}/page?resources=20&kind=image`);
  const popup = await session.openPopup(tab);
  await expect
    .poll(async () => (await exportedReport(popup, dir)).sites.map((s) => s.origins[0]?.protocols))
    .toEqual([{ h3: 0, h2: 21, 'http/1.1': 0, unknown: 0 }]);
});

test('a URL with a password is recorded as its origin', async ({ local, open }) => {
  const session = await open();
  const tab = await session.newTab();
  const { origin, host } = local.origins.h2only;
  await tab.goto(`${origin.replace('https://', 'https://user:secret@')}/`);
  const popup = await session.openPopup(tab);
  await expect(popup.part('page-protocol')).toSay('HTTP/2');
  await expect(popup.part('page-host')).toMention(host);
  await expect(popup.tab.find('body')).not.toMention('secret');
});

test('an error page is not mistaken for the page before it', async ({ local, open }) => {
  const session = await open();
  const tab = await session.newTab();
  const { origin } = local.origins.h2only;
  await tab.goto(origin);
  const popup = await session.openPopup(tab);
  await expect(popup.part('page-protocol')).toSay('HTTP/2');
  await tab.goto('https://h2only.test:2/', { timeoutMs: 10_000 }).catch(() => {});
  await expect(popup.part('verdict')).toMention('did not load');
  await tab.goto(`${origin}/page`);
  await expect(popup.part('page-protocol')).toSay('HTTP/2');
  await expect.poll(() => badgeText(popup, tab)).toBe('H2');
});

test('a closed tab, and no tab at all, have their own messages', async ({ local, open }) => {
  const session = await open();
  const tab = await session.newTab();
  await tab.goto(local.origins.h2only.origin);
  const popup = await session.openPopup(tab);
  const tabId = Number(new URL(await popup.tab.url()).searchParams.get('tab'));
  await tab.close();
  for (const gone of [tabId, 999_999]) {
    await showTab(popup, gone);
    await expect(popup.part('page-host')).toSay('Browser page');
  }
});

/** Leaves the database as a newer version would; runs in a page of the extension. */
function writeAsNewer(database: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(database, 999);
    request.onsuccess = () => resolve(request.result.close());
    request.onerror = () => reject(request.error);
  });
}

test('unreadable options: nothing is recorded, and the popup says why', async ({ local, open, dir }) => {
  const session = await open();
  const popup = await session.openPopup(null);
  await popup.tab.evaluate(writeAsNewer, 'photofinish-settings');
  await session.stopBackground();
  const tab = await session.newTab();
  await tab.goto(local.origins.h2only.origin);
  const shown = await session.openPopup(tab);
  await expect(shown.part('page-host')).toSay('Options not readable');
  await expect(shown.part('verdict')).toMention('Restart the browser');
  expect((await exportedReport(popup, dir)).sites).toEqual([]);
  const options = await session.openPage('options/options.html');
  await expect(options.part('trouble')).toSay(/cannot be read/);
});

test('a database from a newer version: the page is shown, and popup and export report the problem', async ({
  local,
  open,
}) => {
  const session = await open();
  const tab = await session.newTab();
  const popup = await session.openPopup(null);
  await popup.tab.evaluate(writeAsNewer, 'photofinish');
  await tab.goto(local.origins.h2only.origin);
  const shown = await session.openPopup(tab);
  await expect(shown.part('page-protocol')).toSay('HTTP/2');
  await expect(shown.part('trouble')).toMention('update the extension');
  // From then on nothing moves under the pointer.
  await expect(shown.part('helper')).toMention('helper 1.');
  await shown.part('export').click();
  await shown.tab.find('[role=menuitem]', 'All sites as JSON').click();
  await expect(shown.part('export-failure')).toMention('Report failed');
});
