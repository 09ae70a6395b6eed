// The popup itself: what a row shows before it is opened, sorting, and updates while a page changes.

import type { Tab } from '../../browsers/browser.ts';
import type { OriginRow, Popup, Session } from '../../browsers/session.ts';
import { expect, type LocalOriginsByKind, test } from '../fixtures.ts';
import { shownCounts } from '../steps.ts';

/** A page with three origins, and its popup once that is complete and nothing in it moves any more. */
async function popupOfThree(
  session: Session,
  { origins: { both, h2only, h1only } }: LocalOriginsByKind,
): Promise<{ tab: Tab; popup: Popup }> {
  const tab = await session.newTab();
  const from = [both, h2only, h1only].map(({ origin }) => origin).join(',');
  await tab.goto(`${both.origin}/page?resources=9&from=${from}`);
  await expect(tab.find('#summary[data-done]')).toBeSeen();
  const popup = await session.openPopup(tab);
  await expect
    .poll(() => shownCounts(popup))
    .toEqual({ [both.origin]: 4, [h2only.origin]: 3, [h1only.origin]: 3 });
  await expect(popup.part('helper')).toMention('helper 1.');
  return { tab, popup };
}

test('a row shows its verdict on hover and focus, and Escape hides it', async ({ local, open }) => {
  const { popup } = await popupOfThree(await open(), local);
  const { origin } = local.origins.h1only;
  const tip = popup.part('tip');
  const opener = popup.tab.find(`tbody[data-origin="${origin}"] .opener`);
  await expect(tip).not.toBeSeen();
  await opener.hover();
  await expect(tip).toSay(/^Reached over HTTP\/1\.1\./);
  await popup.tab.press('Escape');
  await expect(tip).not.toBeSeen();

  const focused = () => popup.tab.evaluate(() => document.activeElement?.getAttribute('aria-label'));
  for (let i = 0; i < 40 && (await focused()) !== origin.slice('https://'.length); i += 1)
    await popup.tab.press('Tab');
  await expect(tip).toSay(/^Reached over HTTP\/1\.1\./);
  await expect.poll(() => opener.attribute('aria-describedby')).toBe('tip');
  await popup.tab.press('Enter');
  await expect(tip).not.toBeSeen();
  await expect(popup.tab.find(`tbody[data-origin="${origin}"] .detail .verdict`)).toSay(/^Reached over/);
});

test('an open row leaves the columns as they are, also where some are hidden', async ({ local, open }) => {
  const session = await open({ helper: false });
  const tab = await session.newTab();
  await tab.goto(local.origins.h2only.origin);
  const popup = await session.openPopup(tab);
  await expect(popup.tab.find('#origin-table.no-forecast.no-race')).toBeSeen();
  const requestsEnd = () =>
    popup.tab.evaluate(() => document.querySelector('.main .requests')?.getBoundingClientRect().right);
  const before = await requestsEnd();
  await popup.tab.find('.opener').click();
  await expect(popup.tab.find('.detail .verdict')).toBeSeen();
  expect(await requestsEnd()).toBe(before);
});

const UNCLEAR = 'unclear';

/** The displayed value that each column sorts by; null for none, which sorts last in either direction. */
const COLUMNS: Readonly<Record<string, (row: OriginRow) => number | string | null>> = {
  protocol: ({ protocol }) => ['h3', 'h2', 'http/1.1'].indexOf(protocol),
  origin: ({ origin }) => new URL(origin).hostname,
  requests: ({ requests }) => requests,
  forecast: ({ scored, forecast }) =>
    scored === 'wrong' ? 0 : scored === 'right' ? 3 : forecast === '–' ? 2 : 1,
  race({ race }) {
    if (race === UNCLEAR) return 0;
    const [, mark, ms] = /^(H[23]) ([\d.]+) ms$/.exec(race) ?? [];
    return mark === undefined ? null : (mark === 'H3' ? 1 : -1) * Number(ms);
  },
};

test('a page over HTTP/2 whose resources already use HTTP/3 is an HTTP/2 page, visited for the first time', async ({
  local,
  open,
}) => {
  const { both } = local.origins;
  const session = await open();
  const tab = await session.newTab();
  await tab.goto(`${both.origin}/page`);
  const protocols = () =>
    tab.evaluate(async (url) => {
      await fetch(`${url}?${Math.random()}`, { cache: 'no-store' }).then((response) => response.text());
      const timings = performance.getEntries() as PerformanceResourceTiming[];
      return [
        timings.find(({ entryType }) => entryType === 'navigation')?.nextHopProtocol,
        timings.findLast(({ entryType }) => entryType === 'resource')?.nextHopProtocol,
      ];
    }, `${both.origin}/script.js`);
  await expect.poll(protocols).toEqual(['h2', 'h3']);
  const popup = await session.openPopup(tab);
  await expect(popup.tab.find('#page-protocol')).toSay(/^HTTP\/2$/);
  await expect(popup.tab.find('#verdict')).toSay(
    /^Reached over HTTP\/2\. Other requests of the visit already use HTTP\/3\./,
  );
  await expect.poll(() => popup.part('verdict-means').attribute('href')).toContain('#h3-first-visit');
});

test('origins sort by each of the five columns, in both directions', async ({ local, open }) => {
  const session = await open();
  const { both, silent, h1only, h2only } = local.origins;
  const tab = await session.newTab();
  const visit = async (...from: { origin: string }[]) => {
    const list = from.map(({ origin }) => origin).join(',');
    await tab.goto(`${both.origin}/page?resources=${3 * from.length}&from=${list}`);
    await expect(tab.find('#summary[data-done]')).toBeSeen();
  };
  await visit(both, silent, h1only);
  const popup = await session.openPopup(tab);
  const rowOf = async (origin: string) => (await popup.origins()).find((row) => row.origin === origin);
  // Results of a visit reach the helper a little later; by then the next one is forecast.
  await expect(async () => {
    await visit(both, silent, h1only);
    await expect.poll(async () => (await rowOf(h1only.origin))?.scored, { timeout: 4000 }).toBe('right');
  }).toPass();
  // Seen for the first time, so without a forecast.
  await visit(both, silent, h1only, h2only);
  await expect.poll(async () => (await rowOf(h2only.origin))?.forecast).toBe('–');
  expect((await popup.race()).ok).toBe(true);
  const opener = popup.tab.find(`tbody[data-origin="${silent.origin}"]`);
  await popup.tab.find(`${opener.query.selector} .opener`).click();
  await popup.tab.find(`${opener.query.selector} .race-button`).click();
  await expect
    .poll(async () => (await rowOf(silent.origin))?.race, { timeout: 60_000 })
    .toMatch(/ ms$|^unclear$/);

  for (const [column, by] of Object.entries(COLUMNS)) {
    const header = popup.tab.find(`th[data-sort=${column}]`);
    const orders: string[] = [];
    for (let press = 0; press < 2; press += 1) {
      const before = await header.attribute('aria-sort');
      await popup.tab.find(`th[data-sort=${column}] button`).click();
      await expect.poll(() => header.attribute('aria-sort')).not.toBe(before);
      const direction = await header.attribute('aria-sort');
      const rows = await popup.origins();
      orders.push(rows.map(({ origin }) => origin).join());
      const values = rows.map(by);
      const told = values.filter((value) => value !== null);
      expect(values.slice(0, told.length), column).toEqual(told);
      const sorted = told.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
      expect(told, `${column} ${direction}`).toEqual(
        direction === 'ascending' ? sorted : sorted.toReversed(),
      );
    }
    // Two comparisons may have the same result.
    if (column !== 'race') expect(orders[0], column).not.toBe(orders[1]);
  }
});

test('the popup follows a page that changes, and keeps open what was opened', async ({ local, open }) => {
  const { tab, popup } = await popupOfThree(await open(), local);
  const { h1only, hidden } = local.origins;
  const row = `tbody[data-origin="${h1only.origin}"]`;
  await popup.tab.find(`${row} .opener`).click();
  await expect(popup.tab.find(`${row} .detail`)).toBeSeen();
  await tab.evaluate(
    (urls) =>
      Promise.all(urls.map((url) => fetch(url, { mode: 'no-cors', cache: 'no-store' }))).then(() => {}),
    [`${h1only.origin}/?more`, `${hidden.origin}/?more`],
  );
  await expect.poll(() => shownCounts(popup)).toMatchObject({ [h1only.origin]: 4, [hidden.origin]: 1 });
  await expect(popup.tab.find(`${row} .detail`)).toBeSeen();

  await tab.goto(local.origins.h2only.origin);
  await expect
    .poll(async () => (await popup.origins()).map((each) => each.origin))
    .toEqual([local.origins.h2only.origin]);
  await expect(popup.part('page-host')).toSay(local.origins.h2only.origin.slice('https://'.length));
});

test('a race shows separately what HTTP/3 clearly gains, or that nothing is clear', async ({
  local,
  open,
}) => {
  const session = await open();
  const tab = await session.newTab();
  await tab.goto(local.origins.both.origin);
  const popup = await session.openPopup(tab);
  // What a race would show is described beside its button.
  await expect(popup.part('finish-caption')).toSay(
    /gain not measured yet; a race measures it · (?:no )?forecast/,
  );
  expect((await popup.race()).ok).toBe(true);
  const told =
    /\(([\d.]+ ms) (?:faster|slower)\)\.|(?:no clear difference in \d+ pairs|too few pairs to tell) \(/;
  await expect(popup.part('verdict')).toSay(told);
  const [, difference] = told.exec(await popup.part('verdict').text()) ?? [];
  const strong = popup.tab.find('#verdict strong');
  if (difference === undefined) expect(await strong.count()).toBe(0);
  else await expect(strong).toSay(difference);
});

test('each verdict links to its explanation, on a page that needs no network', async ({ local, open }) => {
  const session = await open();
  const { popup } = await popupOfThree(session, local);
  const { origin } = local.origins.h1only;
  await popup.tab.find(`tbody[data-origin="${origin}"] .opener`).click();
  const href = await popup.tab.find(`tbody[data-origin="${origin}"] .detail .means`).attribute('href');
  expect(href).toMatch(/^\.\.\/verdicts\/verdicts\.html#(h3-[a-z-]+|unknown)$/);
  await expect.poll(() => popup.part('verdict-means').attribute('href')).toContain('/verdicts.html#h3-');

  const [path = '', code = ''] = (href ?? '').replace('../', '').split('#');
  const page = await session.openPage(`${path}#${code}`);
  const named = page.find('.code-row.named');
  await expect(named).toBeSeen();
  expect(await named.count()).toBe(1);
  await expect(named).toMention(code);
  await page.close();
});
