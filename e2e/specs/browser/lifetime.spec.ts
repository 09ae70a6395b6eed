// Persistence: the background terminated between any two events and at any moment of a page load; the browser closed
// and reopened; private windows. Every request is counted once, as its server saw it.
import { setTimeout as pause } from 'node:timers/promises';
import type { Report } from '@photofinish/shared/report/report';
import { seededRandom } from '@photofinish/shared/testing/seeded-random';
import { navigationProtocol, type Tab } from '../../browsers/browser.ts';
import type { Popup, Session } from '../../browsers/session.ts';
import { ORIGIN_KINDS, type SeenRequest } from '../../origins/start.ts';
import { badgeText, expect, exportedReport, runPhotofinish } from '../fixtures.ts';
import { expectStored, servedTest, shownCounts, visitPrivately } from '../steps.ts';

const { both, h2only, h1only } = ORIGIN_KINDS;
const KINDS = {
  both,
  h2only,
  /** Six connections with one request at a time: a page with many of its resources takes a while to load. */
  slow: { ...h1only, host: 'slow.test', answerDelayMs: 400 },
};

const test = servedTest(KINDS);

/** Within this time a terminated background has restarted, read the ledger and answered. */
const SETTLED = { timeout: 40_000 };
const PROTOCOLS = { 'HTTP/3': 'h3', 'HTTP/2': 'h2', 'HTTP/1.1': 'http/1.1' } as const;

/**
 * Waits until this many requests of the tab's page are shown, and `inAll` of all pages in the report: the page in
 * view is in memory before its requests are stored. What a page sends on unload is lost if no background is there to
 * receive it, and here the background is terminated more often than a page can retry.
 */
async function counted(
  session: Session,
  tab: Tab,
  { shown, inAll, dir }: { shown: Readonly<Record<string, number>>; inAll: number; dir: string },
): Promise<void> {
  const popup = await session.openPopup(tab);
  await expect.poll(() => shownCounts(popup), SETTLED).toEqual(shown);
  const stored = async () =>
    Object.values(reportedCounts(await exportedReport(popup, dir))).flatMap(Object.values<number>);
  await expect.poll(async () => (await stored()).reduce((sum, count) => sum + count, 0), SETTLED).toBe(inAll);
  await popup.tab.close();
  await tab.bringToFront();
}

/**
 * Returns a function that terminates the background and verifies it: a page without a script makes that visible without
 * waking the background.
 */
async function backgroundEnder(session: Session): Promise<() => Promise<void>> {
  const witness = await session.newTab();
  await witness.goto(session.extensionUrl('icons/photofinish-16.png'));
  const life = () =>
    witness.evaluate(async () => {
      const [background] = await chrome.runtime.getContexts({
        contextTypes: ['BACKGROUND' as chrome.runtime.ContextType],
      });
      return background?.contextId ?? null;
    });
  return async () => {
    const before = await life();
    await session.stopBackground();
    // The next event may have started another one already.
    if (before !== null) await expect.poll(life).not.toBe(before);
  };
}

/** Requests by origin and protocol; protocols without requests are absent. */
type Counts = Record<string, Record<string, number>>;

function countsOf(each: Iterable<readonly [origin: string, protocol: string, count: number]>): Counts {
  const counts: Counts = {};
  for (const [origin, protocol, count] of each) {
    if (count === 0) continue;
    const before = counts[origin] ?? {};
    counts[origin] = { ...before, [protocol]: (before[protocol] ?? 0) + count };
  }
  return counts;
}

/** The servers' counts. `/` is requested by the helper, and in this spec by no browser. */
function servedCounts(seen: readonly SeenRequest[]): Counts {
  const byBrowser = seen.filter(({ path }) => path !== '/');
  return countsOf(byBrowser.map(({ origin, protocol }) => [origin, PROTOCOLS[protocol], 1]));
}

/** A report's counts, over all its sites. */
function reportedCounts({ sites }: Report): Counts {
  const origins = sites.flatMap((site) => site.origins);
  return countsOf(
    origins.flatMap(({ origin, protocols }) =>
      Object.entries(protocols).map(([protocol, count]) => [origin, protocol, count] as const),
    ),
  );
}

const loaded = (tab: Tab) => expect(tab.find('#summary[data-done]')).toBeSeen();

/**
 * Every request that the servers saw is in the report, once, with its protocol. Both sides may lag. Firefox requests
 * the icon of a page restored from the back/forward cache, and may abort that when another tab opens: requests without
 * a response are not reported.
 */
async function expectAllCounted(
  popup: Popup,
  dir: string,
  seen: readonly SeenRequest[],
  from = 0,
): Promise<void> {
  await expect(async () => {
    const reported = reportedCounts(await exportedReport(popup, dir));
    const served = seen.slice(from);
    const pages = served.filter(({ path }) => path !== '/favicon.ico');
    const possible = [servedCounts(served), servedCounts(pages)];
    expect(possible).toContainEqual(reported);
  }).toPass(SETTLED);
}

test('the background is terminated between all steps of a visit, and every request is counted once', async ({
  open,
  served,
  dir,
}) => {
  const session = await open({ local: served });
  const end = await backgroundEnder(session);
  const { both, h2only, slow } = served.origins;
  const first = await session.newTab();
  await first.goto(`${both.origin}/page?resources=6&from=${h2only.origin},${slow.origin}`);
  await end();
  await loaded(first);
  await end();
  await first.evaluate(
    async (urls) => {
      // A page has no timing entry for a response that it has not read.
      for (const url of urls) await (await fetch(url, { cache: 'no-store' })).text();
    },
    [h2only, slow].map(({ origin }) => `${origin}/r/more.txt`),
  );
  await end();
  const more = { [both.origin]: 1, [h2only.origin]: 4, [slow.origin]: 4 };
  await counted(session, first, { shown: more, inAll: 9, dir });
  await end();
  await first.goto(`${h2only.origin}/page?resources=4&from=${h2only.origin}`);
  await loaded(first);
  await end();
  await counted(session, first, { shown: { [h2only.origin]: 5 }, inAll: 9 + 5, dir });
  await end();
  await first.back();
  await end();
  // Firefox's driver loses a tab after a history navigation.
  const tab = await session.newTab();
  // Of a page that is left before it is loaded, the server may have seen more than was reported.
  await expect(async () => {
    await tab.goto(`${both.origin}/page?resources=3&from=${h2only.origin}`);
    await loaded(tab);
    expect(await navigationProtocol(tab)).toBe('h3');
  }).toPass();
  await end();
  const last = { [both.origin]: 1, [h2only.origin]: 3 };
  await end();
  const popup = await session.openPopup(tab);
  await expect.poll(() => shownCounts(popup), SETTLED).toEqual(last);
  await end();
  // The popup may report the loss of the background, or move under the pointer while it returns: pressed again, it
  // works.
  await expect(async () => {
    expect(await popup.race()).toEqual({ ok: true, words: expect.stringMatching(/./) });
  }).toPass();
  await end();
  await expect(popup.part('page-protocol')).toSay('HTTP/3');
  await expect.poll(() => shownCounts(popup), SETTLED).toEqual(last);
  await expect(popup.part('finish-caption')).toSay(/median of \d+ /);
  await end();
  await expect.poll(() => badgeText(popup, tab), SETTLED).toBe('H3');
  await end();
  await expectAllCounted(popup, dir, served.seen);
  const report = await exportedReport(popup, dir);
  const site = report.sites.find((each) => each.site === KINDS.both.host);
  expect(site?.origins.find((each) => each.origin === both.origin)).toMatchObject({
    verdict: { code: 'h3-used' },
    races: [{ mode: 'compare' }],
  });
});

for (const seed of [1, 2])
  test(`the background is terminated at random moments while 200 resources load, seed ${seed}`, async ({
    open,
    served,
    dir,
  }) => {
    const random = seededRandom(seed);
    const session = await open({ local: served });
    const end = await backgroundEnder(session);
    const { both, h2only, slow } = served.origins;
    const from = [both, h2only, slow].map(({ origin }) => origin).join(',');
    let tab = await session.newTab();
    let ended = 0;
    // If terminating takes longer than half a load, one load is not enough. Each load has its own tab, since its page
    // must stay open.
    while (ended < 3) {
      let loading = true;
      const load = tab
        .goto(`${h2only.origin}/page?resources=200&from=${from}`, { timeoutMs: 60_000 })
        .then(() => loaded(tab))
        .finally(() => {
          loading = false;
        });
      while (loading) {
        await pause(random() * 300);
        await end();
        ended += 1;
      }
      await load;
      if (ended < 3) tab = await session.newTab();
    }

    const popup = await session.openPopup(tab);
    await expect
      .poll(() => shownCounts(popup), SETTLED)
      .toEqual({ [h2only.origin]: 1 + 67, [both.origin]: 67, [slow.origin]: 66 });
    await expect.poll(() => badgeText(popup, tab), SETTLED).toBe('H2');
    await expectAllCounted(popup, dir, served.seen);
  });

test('a response that its page times after the background which missed it was terminated is counted once', async ({
  open,
  served,
  dir,
}) => {
  const session = await open({ local: served });
  const end = await backgroundEnder(session);
  const { both, h2only } = served.origins;
  const tab = await session.newTab();
  await tab.goto(`${h2only.origin}/page?resources=1`);
  await loaded(tab);
  // A page has no timing entry for a response that it has not read.
  await tab.evaluate(async (url) => {
    Object.assign(globalThis, { late: await fetch(url) });
  }, `${both.origin}/r/late.txt`);
  const inAll = { [h2only.origin]: 2, [both.origin]: 1 };
  const popup = await session.openPopup(tab);
  const reported = async () => {
    const counts = Object.entries(reportedCounts(await exportedReport(popup, dir)));
    return Object.fromEntries(
      counts.map(([origin, each]) => [origin, Object.values(each).reduce((a, b) => a + b)]),
    );
  };
  await expect.poll(reported, SETTLED).toEqual(inAll);
  await end();
  await tab.evaluate(async (url) => {
    await (globalThis as unknown as { late: Response }).late.text();
    await (await fetch(url)).text();
  }, `${h2only.origin}/r/last.txt`);
  await expect.poll(reported, SETTLED).toEqual({ ...inAll, [h2only.origin]: 3 });
});

test('settings, records and races persist when the browser is reopened', async ({ open, served, dir }) => {
  const session = await open({ own: true, local: served });
  const { both, h2only } = served.origins;
  const chosen = () =>
    ({
      retention: document.querySelector<HTMLInputElement>('#retention')?.value,
      never: document.querySelector('#never-list bdi')?.textContent,
      when: document.querySelector<HTMLInputElement>('input[name=race-when]:checked')?.value,
    }) as const;
  const options = await session.openPage('options/options.html');
  await options.find('#never-site').fill('never.test');
  await options.press('Enter');
  await expect(options.find('#never-list')).toMention('never.test');
  await options.find('#retention').fill('30');
  await options.press('Tab');
  const choice = { retention: '30', never: 'never.test', when: 'click' };
  await expect.poll(() => options.evaluate(chosen)).toEqual(choice);
  await expectStored(options, { retentionDays: 30, neverRecord: ['never.test'] });

  const tab = await session.newTab();
  await tab.goto(`${both.origin}/page?resources=4&from=${h2only.origin}`);
  await loaded(tab);
  const popup = await session.openPopup(tab);
  expect(await popup.race()).toMatchObject({ ok: true });
  await expectAllCounted(popup, dir, served.seen);
  const sitesOf = async (shown: Popup) => (await exportedReport(shown, dir)).sites;
  const before = await sitesOf(popup);
  const verdict = await popup.part('verdict').text();
  expect(verdict).toMatch(/ms/);

  await session.restart();
  const again = await session.openPopup(null);
  expect(await sitesOf(again)).toEqual(before);
  const optionsAgain = await session.openPage('options/options.html');
  await expect.poll(() => optionsAgain.evaluate(chosen)).toEqual(choice);
  const dashboard = await session.openPage('dashboard/dashboard.html');
  await expect(dashboard.find('main')).toMention(KINDS.both.host);
  const tabAgain = await session.newTab();
  await tabAgain.goto(`${both.origin}/page?resources=1&from=${h2only.origin}`);
  const popupAgain = await session.openPopup(tabAgain);
  await expect(popupAgain.part('finish-caption')).toSay(/median of \d+ /);
});

test('a page that is open while the extension is reloaded is counted once', async ({ open, served, dir }) => {
  const session = await open({ own: true, local: served });
  const { both, h2only } = served.origins;
  const tab = await session.newTab();
  const url = `${both.origin}/page?resources=4&from=${h2only.origin}`;
  await tab.goto(url);
  await loaded(tab);
  await counted(session, tab, { shown: { [both.origin]: 1, [h2only.origin]: 4 }, inAll: 5, dir });
  // Restarts it.
  await session.allowPrivateWindows();
  const popup = await session.openPopup(tab);
  await expect(popup.part('verdict')).toSay(/^Nothing is recorded of this page/);
  // A later visit shows that whatever the open page reported had been processed.
  const later = await session.newTab();
  await later.goto(url);
  await loaded(later);
  await expectAllCounted(popup, dir, served.seen);
});

test('a private window is not recorded until the user enables it, and the popup says so', async ({
  open,
  served,
  dir,
}) => {
  const session = await open({ own: true, local: served });
  await session.allowPrivateWindows();
  const { both, h2only } = served.origins;
  const url = `${both.origin}/page?resources=4&from=${h2only.origin}`;
  // A tab opened later would belong to the private window.
  const options = await session.openPage('options/options.html');
  const shown = await session.openPage('popup/popup.html?tab=-1');
  const tab = await session.newTab();
  const popup = await session.openPopup(null);

  const privately = await visitPrivately(options, served.seen, url, 5);
  await shown.goto(session.extensionUrl(`popup/popup.html?tab=${privately}`));
  await expect(shown.part('verdict')).toSay(/^Private windows are neither recorded nor raced/);
  await expect(shown.part('race')).not.toBeSeen();
  if (session.kind === 'chromium') {
    // Its tab, once unloaded, loads again as another one.
    await options.evaluate(async (tabId) => {
      const { windowId } = await chrome.tabs.get(tabId);
      await chrome.tabs.create({ windowId });
      const unloaded = await chrome.tabs.discard(tabId);
      await chrome.tabs.update(unloaded?.id ?? -1, { active: true });
    }, privately);
    // The page itself comes from the cache.
    await expect.poll(() => served.seen.length).toBe(5 + 4);
    const pages = await options.evaluate(async () => Object.keys(await chrome.storage.session.get(null)));
    expect(pages).not.toContainEqual(expect.stringMatching(/^page:/));
  }
  const unrecorded = served.seen.length;
  // A later visit that is recorded shows that the private one had been processed.
  await tab.goto(`${h2only.origin}/page?resources=2`);
  const own = { [h2only.origin]: { h2: 3 } };
  await expect.poll(async () => reportedCounts(await exportedReport(popup, dir)), SETTLED).toEqual(own);
  await expect.poll(() => cached(session), SETTLED).toContain(h2only.host);
  expect(await cached(session)).not.toContain(both.host);

  await options.bringToFront();
  await options.find('#private').click();
  await expectStored(options, { privateWindows: true });
  await expect(options.find('#private-how')).not.toBeSeen();
  await visitPrivately(options, served.seen, url, 5);
  await expectAllCounted(popup, dir, served.seen, unrecorded);
});

/** The contents of the helper's cache, as listed by the command line. */
async function cached({ files }: Session): Promise<string> {
  const { stdout } = await runPhotofinish(['cache', 'list', '--cache', files.cache, '--json']);
  return stdout;
}
