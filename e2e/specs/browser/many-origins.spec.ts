// The popup with realistic pages: dozens of origins with real names, several per site, and shards that share a prefix.
// Also in small viewports, such as a narrow tab or one at 400 % zoom (WCAG 2.2, 1.4.10).
import type { Popup, Session } from '../../browsers/session.ts';
import type { OriginSettings } from '../../origins/start.ts';
import { expect, OWN_HOST, realHosts, SHARDS } from '../fixtures.ts';
import { type ServedBy, servedTest, violations } from '../steps.ts';

const HOSTS = realHosts(65);
const kinds = HOSTS.map((host, n): [string, OriginSettings] => [
  host,
  { host, h3: n % 3 !== 0, altSvc: n % 3 !== 0 ? 'auto' : null },
]);
const test = servedTest(Object.fromEntries(kinds));
/** The viewport that 400 % zoom leaves of 1280 pixels. */
const NARROW = { width: 320, height: 640 };

/** The popup of a page that requests something from each of these hosts, once it shows all of them. */
async function popupOf(session: Session, served: ServedBy<string>, hosts: readonly string[]): Promise<Popup> {
  const tab = await session.newTab();
  const origins = hosts.map((host) => served.origins[host]?.origin ?? '');
  await tab.goto(origins[0] ?? '');
  await tab.evaluate(async (from) => {
    await Promise.all(from.map(async (origin) => (await fetch(`${origin}/r/0.txt`)).text()));
  }, origins);
  const popup = await session.openPopup(tab);
  await expect(popup.part('helper')).toMention('helper 1.');
  await expect.poll(() => shownOrigins(popup), { timeout: 60_000 }).toBe(hosts.length);
  return popup;
}

/** How many origins the table represents, folded or not. */
function shownOrigins({ tab }: Popup): Promise<number> {
  return tab.evaluate(() => {
    const folded = [...document.querySelectorAll('tbody.site .count')].map((count) =>
      Number(count.textContent),
    );
    const within = document.querySelectorAll('tbody.within').length;
    const all = document.querySelectorAll('#origin-table tbody[data-origin]').length;
    return folded.reduce((sum, n) => sum + n, 0) + all - within;
  });
}

/** Whatever overflows the page's width, or overlaps something else in the table. */
function misplaced({ tab }: Popup): Promise<string[]> {
  return tab.evaluate(() => {
    const wrong: string[] = [];
    const root = document.documentElement;
    if (root.scrollWidth > root.clientWidth) wrong.push(`${root.scrollWidth} px wide in ${root.clientWidth}`);
    const main = document.getElementById('view') as HTMLElement;
    if (main.scrollWidth > main.clientWidth) wrong.push(`main: ${main.scrollWidth} in ${main.clientWidth}`);
    const seen = (element: Element) => element.checkVisibility() && element.getBoundingClientRect().width > 1;
    // Of a cell, also the text that overflows it.
    const boxOf = (element: Element) => {
      const content = document.createRange();
      content.selectNodeContents(element);
      const parts = element.matches('td') ? [element, content] : [element];
      const boxes = parts.map((each) => each.getBoundingClientRect()).filter(({ width }) => width > 0);
      return {
        left: Math.min(...boxes.map(({ left }) => left)),
        right: Math.max(...boxes.map(({ right }) => right)),
        top: Math.min(...boxes.map(({ top }) => top)),
        bottom: Math.max(...boxes.map(({ bottom }) => bottom)),
      };
    };
    const words = (row: Element, selector: string) => [...row.querySelectorAll(selector)].filter(seen);
    const boxes = 'th > button, .mark-box, .host, .tag:not(:empty), td:not(.protocol)';
    for (const row of document.querySelectorAll('#origin-table tr')) {
      const parts = words(row, boxes).map((element) => ({
        name: `${element.className || element.tagName} "${element.textContent}"`,
        box: boxOf(element),
      }));
      parts.forEach(({ name, box }, at) => {
        if (box.left < -0.5 || box.right > root.clientWidth + 0.5) wrong.push(`${name} is cut off`);
        for (const other of parts.slice(at + 1)) {
          const across = Math.min(box.right, other.box.right) - Math.max(box.left, other.box.left);
          const down = Math.min(box.bottom, other.box.bottom) - Math.max(box.top, other.box.top);
          if (across > 0.5 && down > 0.5) wrong.push(`${name} lies on ${other.name}`);
        }
      });
    }
    return wrong;
  });
}

/** Hosts of which less than the registrable domain is visible, or that overflow their cell. */
function cutHosts({ tab }: Popup): Promise<string[]> {
  return tab.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>('#origin-table .host')].flatMap((host) => {
      const [, end] = host.children as unknown as [HTMLElement, HTMLElement];
      const cell = host.closest('th')?.getBoundingClientRect();
      const box = end.getBoundingClientRect();
      const whole =
        end.scrollWidth <= end.clientWidth + 1 && cell !== undefined && box.right <= cell.right + 0.5;
      return whole && box.left >= cell.left - 0.5 ? [] : [host.title];
    }),
  );
}

test('sites fold, the filter finds, hosts are never cut within their registrable domain', async ({
  served,
  open,
}) => {
  const popup = await popupOf(await open({ local: served }), served, HOSTS);
  const { tab } = popup;
  expect(await misplaced(popup)).toEqual([]);
  expect(await cutHosts(popup)).toEqual([]);

  const site = 'tbody[data-site="guim.co.uk"]';
  const opener = tab.find(`${site} .opener`);
  expect(await opener.attribute('aria-expanded')).toBe('false');
  const lines = () => tab.find('#origin-table tbody').count();
  const folded = await lines();
  expect(folded).toBeLessThan(50);
  await opener.click();
  await expect.poll(() => opener.attribute('aria-expanded')).toBe('true');
  const shards = async () =>
    (await popup.origins()).filter(({ origin }) => origin.startsWith(`https://${SHARDS.prefix}`)).length;
  await expect.poll(shards).toBe(SHARDS.count);
  expect(await cutHosts(popup)).toEqual([]);
  // Also by keyboard, without moving the focus.
  await tab.evaluate((selector) => document.querySelector<HTMLElement>(selector)?.focus(), `${site} .opener`);
  await tab.press('Enter');
  await expect.poll(lines).toBe(folded);
  expect(await tab.evaluate(() => document.activeElement?.getAttribute('aria-expanded'))).toBe('false');
  expect(await tab.evaluate(() => document.activeElement?.className)).toBe('opener');

  await popup.part('filter').fill('doubleclick');
  await expect.poll(async () => (await popup.origins()).length).toBe(4);
  await expect(popup.part('filter-count')).toSay('4 of 65');
  await popup.part('filter').fill('no such host');
  await expect(tab.find('#no-match')).toBeSeen();
  await expect(popup.part('race-all')).toSay('Race all');
  expect((await popup.part('race-all').look()).enabled).toBe(false);
  await popup.part('filter').fill('');
  await expect.poll(lines).toBe(folded);
  expect(await violations(tab)).toEqual([]);
});

test('all origins are raced within the helper’s limits, with progress, until it is stopped', async ({
  served,
  open,
}) => {
  const session = await open({ local: served });
  const popup = await popupOf(session, served, HOSTS.slice(0, 40));
  const { tab } = popup;
  await popup.part('race-all').click();
  await expect(popup.part('race-all')).toSay('Stop');
  await expect(popup.part('race-progress')).toSay(/^([4-9]|\d\d) of 40 raced$/, { timeoutMs: 60_000 });
  // It continues without the popup, and the next one shows its progress.
  await tab.reload();
  await expect(popup.part('race-progress')).toSay(/^\d+ of 40 raced$/);
  // By keyboard: the popup that has just opened moves its button while results arrive, and a click may miss it.
  await tab.evaluate(() => document.querySelector<HTMLElement>('#race-all')?.focus());
  await tab.press('Enter');
  // Those that have not begun end at once; those that run, when the helper has cancelled them.
  const waiting = async () => (await popup.origins()).filter(({ race }) => race === 'waiting').length;
  await expect.poll(waiting).toBe(0);
  await expect(popup.part('race-all')).toSay('Race all');
  await expect(popup.part('race-progress')).not.toBeSeen();
  // Without a clear difference there are no milliseconds.
  const raced = async () =>
    (await popup.origins()).filter(({ race }) => !/^(?:–|racing|can’t race)/.test(race)).length;
  // A race is over before its result is stored and shown.
  await expect.poll(raced).toBeGreaterThan(0);
  expect(await raced()).toBeLessThanOrEqual(30);
  expect((await popup.origins()).some(({ race }) => race === 'waiting')).toBe(false);
});

test('at 320 pixels each origin has a second line, without overlap or truncation', async ({
  served,
  open,
}) => {
  const session = await open({ local: served });
  const popup = await popupOf(session, served, HOSTS);
  expect((await popup.race()).ok).toBe(true);
  await popup.tab.find('tbody[data-site="guim.co.uk"] .opener').click();
  for (const width of [NARROW.width, 420, 421, 520]) {
    await popup.tab.setViewport({ ...NARROW, width });
    await expect.poll(() => popup.tab.evaluate(() => innerWidth)).toBe(width);
    await expect.poll(() => misplaced(popup), `${width} px`).toEqual([]);
    expect(await cutHosts(popup), `${width} px`).toEqual([]);
  }
  await popup.tab.setViewport(NARROW);
  await popup.part('export').click();
  await expect(popup.tab.find('#export-menu')).toBeSeen();
  expect(await misplaced(popup), 'with the menu open').toEqual([]);
  await popup.tab.press('Escape');
  const secondLine = () =>
    popup.tab.evaluate(() => {
      const row = document.querySelector('#origin-table tbody[data-origin] .main');
      const top = (selector: string) => row?.querySelector(selector)?.getBoundingClientRect().top ?? 0;
      return top('.requests') > top('.host');
    });
  await expect.poll(secondLine).toBe(true);
  await popup.tab.evaluate(() => {
    document.documentElement.dir = 'rtl';
  });
  await expect.poll(() => misplaced(popup), 'from right to left').toEqual([]);
  expect(await violations(popup.tab)).toEqual([]);
});

test('a page with few origins has neither filter nor folded sites', async ({ served, open }) => {
  const popup = await popupOf(await open({ local: served }), served, [OWN_HOST, ...HOSTS.slice(6, 12)]);
  await expect(popup.part('tools')).not.toBeSeen();
  expect(await popup.tab.find('tbody.site').count()).toBe(0);
  // Nothing was raced yet, so there is no column of races.
  await expect(popup.tab.find('th[data-sort=race]')).not.toBeSeen();
  await expect(popup.tab.find('th[data-sort=requests]')).toBeSeen();
});
