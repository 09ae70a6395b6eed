// The developer tools know the protocol of every request, in Chromium even if sites hide it from pages: with them open
// nothing is hidden, in popup, ledger and panel.

import { type Tab, until } from '../../browsers/browser.ts';
import type { Session } from '../../browsers/session.ts';
import { expect, exportedReport, type LocalOriginsByKind, test } from '../fixtures.ts';
import { COUNTED, VISIBILITY, violations } from '../steps.ts';

/** The developer tools of a new tab, and the extension's page in them, take seconds to load on a busy machine. */
const TOOLS_TIMEOUT_MS = 60_000;

/** The panel that shows `shown`, in its own tab, once the developer tools of that tab have reported it. */
async function openPanel(session: Session, shown: Tab): Promise<Tab> {
  const popup = await session.openPopup(shown);
  const tabId = new URL(await popup.tab.url()).searchParams.get('tab');
  const panel = popup.tab;
  await panel.setViewport({ width: 900, height: 600 });
  await panel.goto(session.extensionUrl(`panel/panel.html?tab=${tabId}`));
  await panel.bringToFront();
  return panel;
}

/** A new tab with developer tools open and reporting. */
async function inspectedTab(
  session: Session,
  { origins }: LocalOriginsByKind,
): Promise<{ tab: Tab; panel: Tab }> {
  const tab = await session.newTab();
  await tab.goto(origins.h2only.origin);
  const panel = await openPanel(session, tab);
  await expect(panel.part('empty')).toMention('The developer tools for this tab are closed');
  await tab.bringToFront();
  await tab.openDeveloperTools();
  await panel.bringToFront();
  await expect(panel.part('empty')).toMention('Reload the page to see', { timeoutMs: TOOLS_TIMEOUT_MS });
  return { tab, panel };
}

function mixedPage({ origins }: LocalOriginsByKind): string {
  const { both, hidden, h1only } = origins;
  return `${both.origin}/page?resources=9&from=${[both, hidden, h1only].map((o) => o.origin).join(',')}`;
}

/**
 * The mixed page in a tab with developer tools, once the panel is complete: from then on no line moves. Returns how
 * many requests the browser made to each origin; Firefox's tools also report images that the preloader had already
 * fetched.
 */
async function showMixedPage(
  session: Session,
  tab: Tab,
  panel: Tab,
  local: LocalOriginsByKind,
): Promise<(origin: { readonly origin: string }) => number> {
  const { both, hidden, h1only } = local.origins;
  const before = (await session.requests()).length;
  await tab.goto(mixedPage(local));
  await expect(tab.find('#summary[data-done]')).toBeSeen();
  const made = (await session.requests()).slice(before).map(({ url }) => new URL(url).origin);
  const madeOf = ({ origin }: { readonly origin: string }) => made.filter((each) => each === origin).length;
  expect(madeOf(both), 'a document and three resources').toBeGreaterThanOrEqual(4);
  for (const origin of [both, hidden, h1only])
    await expect.poll(() => told(panel, origin)).toBeGreaterThanOrEqual(madeOf(origin));
  await panel.bringToFront();
  return madeOf;
}

/** How many requests to that origin the panel counts. */
async function told(panel: Tab, { origin }: { readonly origin: string }): Promise<number> {
  return Number((await lines(panel))[origin]?.requests.replace(/\D/g, '') ?? 0);
}

/** The network requests among those expanded below an origin. */
function overNetwork(panel: Tab, { origin }: { readonly origin: string }): Promise<number> {
  return panel.evaluate(
    (of) =>
      [...document.querySelectorAll(`tbody[data-origin="${of}"] .request`)].filter((row) =>
        row.textContent?.trim().endsWith('network'),
      ).length,
    origin,
  );
}

/** The panel's lines as displayed. */
function lines(panel: Tab): Promise<Record<string, { protocols: string; requests: string }>> {
  return panel.evaluate(() =>
    Object.fromEntries(
      [...document.querySelectorAll<HTMLElement>('tbody[data-origin]')].map((body) => [
        body.getAttribute('data-origin'),
        {
          protocols: body.querySelector('.main .protocols')?.textContent ?? '',
          requests: body.querySelector('.main .requests')?.textContent ?? '',
        },
      ]),
    ),
  );
}

test('without developer tools an origin that hides its timing shows what the browser reports', async ({
  kind,
  local,
  open,
  dir,
}) => {
  const session = await open({ helper: false });
  const tab = await session.newTab();
  await tab.goto(mixedPage(local));
  await expect(tab.find('#summary[data-done]')).toBeSeen();
  const popup = await session.openPopup(tab);
  const row = async () =>
    (await popup.origins()).find(({ origin }) => origin === local.origins.hidden.origin);
  const { hiddenOrigin, hiddenRequests } = VISIBILITY[kind];
  await expect
    .poll(row, COUNTED)
    .toMatchObject({ protocol: expect.stringMatching(hiddenOrigin), requests: 3 });
  await expect.poll(async () => (await exportedReport(popup, dir)).sites[0]?.hidden).toBe(hiddenRequests);
});

test('with developer tools every request shows its protocol, in popup, report and panel', async ({
  local,
  open,
  dir,
}) => {
  const session = await open({ helper: false });
  const { tab, panel } = await inspectedTab(session, local);
  const { hidden, h1only } = local.origins;
  await showMixedPage(session, tab, panel, local);
  const popup = await session.openPopup(tab);
  const shown = async () => (await popup.origins()).find(({ origin }) => origin === hidden.origin);
  await expect
    .poll(shown, COUNTED)
    .toMatchObject({ protocol: expect.stringMatching(/^h[23]$/), requests: 3 });
  await expect(popup.part('hidden')).toSay('none hidden');
  // The popup shows a page before it is stored.
  await expect(async () => {
    const report = await exportedReport(popup, dir);
    expect(report.sites.map((site) => site.hidden)).toEqual([0, 0]);
    const row = report.sites.flatMap((site) => site.origins).find(({ origin }) => origin === hidden.origin);
    expect([row?.hidden, (row?.protocols.h3 ?? 0) + (row?.protocols.h2 ?? 0)]).toEqual([0, 3]);
  }).toPass(COUNTED);

  await panel.bringToFront();
  expect((await lines(panel))[h1only.origin]?.protocols).toBe('http/1.1');
  expect((await lines(panel))[hidden.origin]?.protocols).toMatch(/^h[23]/);
  await expect(panel.part('summary')).toMention('none hidden');
});

test('the list restarts with each document, keeps what led to it, and outlives the background', async ({
  local,
  open,
}) => {
  const session = await open({ helper: false });
  const { tab, panel } = await inspectedTab(session, local);
  const { both, h1only } = local.origins;
  await tab.goto(mixedPage(local));
  await expect.poll(async () => Object.keys(await lines(panel)).length).toBe(3);
  const started = () => panel.evaluate(() => document.querySelectorAll('tbody').length);
  await session.stopBackground();
  await expect.poll(started).toBe(3);
  await tab.goto(h1only.origin);
  await expect.poll(async () => Object.keys(await lines(panel))).toEqual([h1only.origin]);
  await tab.goto(`${both.origin}/page?resources=2&from=${both.origin}`);
  await expect.poll(() => told(panel, both)).toBeGreaterThanOrEqual(3);
  await tab.reload();
  await expect.poll(() => told(panel, both)).toBeGreaterThanOrEqual(3);
});

test('an origin expands to its requests, also by keyboard; filter, selection and order work', async ({
  local,
  open,
}) => {
  const session = await open({ helper: false });
  const { tab, panel } = await inspectedTab(session, local);
  const { both, hidden, h1only } = local.origins;
  const madeOf = await showMixedPage(session, tab, panel, local);

  await panel.find('th[data-sort=origin] .sort').click();
  const byName = [both.origin, h1only.origin, hidden.origin];
  await expect.poll(async () => Object.keys(await lines(panel))).toEqual(byName);
  await panel.find(`tbody[data-origin="${h1only.origin}"] .opener`).click();
  const requests = panel.find(`tbody[data-origin="${h1only.origin}"] .request`);
  await expect.poll(() => overNetwork(panel, h1only)).toBe(madeOf(h1only));
  await expect(requests).toSay(/^\/r\/\d.*http\/1\.1.*GET 200.*network$/);
  await expect(panel.find(`tbody[data-origin="${h1only.origin}"] .detail`)).toMention('HTTP/1.1');
  await panel.press('ArrowLeft');
  await expect.poll(() => requests.count()).toBe(0);
  await panel.press('ArrowUp');
  await panel.press('ArrowRight');
  await expect.poll(() => overNetwork(panel, both)).toBe(madeOf(both));

  await panel.evaluate(
    (of) => document.querySelector<HTMLElement>(`tbody[data-origin="${of}"] .opener`)?.focus(),
    hidden.origin,
  );
  for (const order of [byName.toReversed(), byName]) {
    // A click by a pointer would move the focus.
    await panel.evaluate(() => document.querySelector<HTMLElement>('th[data-sort=origin] .sort')?.click());
    await expect.poll(async () => Object.keys(await lines(panel))).toEqual(order);
    const focused = () => panel.evaluate(() => document.activeElement?.closest('tbody')?.dataset['origin']);
    expect(await focused()).toBe(hidden.origin);
  }

  await panel.part('filter').fill('H1ONLY.test');
  await expect.poll(async () => Object.keys(await lines(panel))).toEqual([h1only.origin]);
  await expect(panel.part('summary')).toSay(/\d of 1\d requests shown/);
  await panel.part('filter').fill('no such host');
  await expect(panel.part('no-match')).toBeSeen();
  await panel.part('filter').fill('');
  await panel.part('not-h3').click();
  await expect.poll(async () => Object.keys(await lines(panel))).toContain(h1only.origin);
  await panel.find('th[data-sort=origin] .sort').click();
  await expect.poll(() => panel.find('th[data-sort=origin]').attribute('aria-sort')).toBe('descending');
});

test('axe finds no violation in the panel, empty, filled and without tools', async ({ local, open }) => {
  const session = await open({ helper: false });
  const { tab, panel } = await inspectedTab(session, local);
  expect(await violations(panel), 'empty').toEqual([]);
  await showMixedPage(session, tab, panel, local);
  await panel.find('.opener').click();
  expect(await violations(panel), 'filled').toEqual([]);
  // Beside the page, and at 400 % zoom.
  for (const width of [700, 320]) {
    await panel.setViewport({ width, height: 600 });
    const unused = () =>
      panel.evaluate(() => {
        const wide = document.querySelector('.detail td')?.getBoundingClientRect().width ?? 0;
        const cells = [...document.querySelectorAll('#table thead th')].filter(
          (cell) => getComputedStyle(cell).visibility === 'visible',
        );
        return wide - cells.reduce((sum, cell) => sum + cell.getBoundingClientRect().width, 0);
      });
    await expect.poll(unused, `the columns share ${width} px`).toBeCloseTo(0);
    const cut = () =>
      panel.evaluate(() =>
        [...document.querySelectorAll('.main .origin')].some((cell) => cell.scrollWidth > cell.clientWidth),
      );
    await expect.poll(cut, `hosts at ${width} px`).toBe(false);
  }
});

test('an origin with many requests shows the first ones, and more on demand', async ({ local, open }) => {
  const session = await open({ helper: false });
  const { tab, panel } = await inspectedTab(session, local);
  const { both, hidden } = local.origins;
  await tab.goto(`${both.origin}/page?resources=300&from=${hidden.origin}`, { timeoutMs: 60_000 });
  expect(await until(async () => (await told(panel, hidden)) >= 300, TOOLS_TIMEOUT_MS)).toBe(true);
  await panel.bringToFront();
  await panel.find(`tbody[data-origin="${hidden.origin}"] .opener`).click();
  await expect.poll(() => panel.find('.request').count()).toBe(200);
  await panel.find('.more .link').click();
  // More may still be told meanwhile.
  const missing = async () => (await told(panel, hidden)) - (await panel.find('.request').count());
  await expect.poll(missing).toBe(0);
});

test('an expanded origin can be raced if its verdict suggests it, and its requests are chronological', async ({
  local,
  open,
}) => {
  const session = await open();
  const { tab, panel } = await inspectedTab(session, local);
  const { silent } = local.origins;
  await tab.goto(`${silent.origin}/page?resources=6&from=${silent.origin}`);
  // Firefox's tools also report images that the preloader had already fetched.
  await expect.poll(() => told(panel, silent), 'a document and six resources').toBeGreaterThanOrEqual(7);
  await panel.bringToFront();
  const row = `tbody[data-origin="${silent.origin}"]`;
  await panel.find(`${row} .opener`).click();
  const paths = () =>
    panel.evaluate(
      (selector) =>
        [...document.querySelectorAll(`${selector} .request .path`)].map((path) => path.textContent),
      row,
    );
  // The document was requested before anything in it.
  await expect.poll(async () => (await paths())[0]).toMatch(/^\/page/);
  await panel.find('th[data-sort=origin] .sort').click();
  const isSorted = async () => {
    const now = await paths();
    return now.join() === now.toSorted().join();
  };
  await expect.poll(isSorted).toBe(true);
  await expect.poll(async () => (await paths()).at(-1)).toMatch(/^\/r\//);

  const race = panel.find(`${row} .detail .button`);
  await expect(race).toSay('Race now');
  await race.click();
  await expect(race).toSay('Race again', { timeoutMs: 60_000 });
  await expect(panel.find(`${row} .verdict-text`)).toMention('HTTP/3');
});
