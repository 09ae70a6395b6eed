// The dashboard shows live what the browser did and what races measured, is operable by keyboard and links, and works
// with a full ledger as well as an empty one.
import { readFile } from 'node:fs/promises';
import { type Report, reportSchema } from '@photofinish/shared/report/report';
import { verdictSaying } from '@photofinish/shared/testing/race-samples';
import * as v from 'valibot';
import type { Tab } from '../../browsers/browser.ts';
import type { Session } from '../../browsers/session.ts';
import { emptyAllButRaces, fillLedger } from '../../browsers/stored.ts';
import { expect, type LocalOriginsByKind, test } from '../fixtures.ts';
import { violations } from '../steps.ts';

const DASHBOARD = 'dashboard/dashboard.html';
const SMALL_YEAR = { seed: 2, origins: 200, sites: 30, days: 40, daysPerOrigin: 14, raced: 40 };

/** The first cell of each table row, top to bottom. */
function rowNames(tab: Tab): Promise<string[]> {
  return tab.evaluate(() =>
    [...document.querySelectorAll('#table tbody tr.main th .host')].map((host) => host.textContent),
  );
}

/** A column's numbers, top to bottom; `key` is its sort key. */
function columnNumbers(tab: Tab, key: string): Promise<number[]> {
  return tab.evaluate((name) => {
    const head = document.querySelector<HTMLTableCellElement>(`#table th[data-sort=${name}]`);
    const rows = [...document.querySelectorAll<HTMLTableRowElement>('#table tbody tr.main')];
    return rows.map((row) => Number(row.cells[head?.cellIndex ?? 0]?.textContent.replace(/\D/g, '')));
  }, key);
}

async function wholeDashboard(session: Session, page = DASHBOARD): Promise<Tab> {
  const tab = await session.openPage(page);
  await expect(tab.find('main[aria-busy=false]')).toBeSeen({ timeoutMs: 60_000 });
  return tab;
}

async function visitAll(session: Session, { origins }: LocalOriginsByKind): Promise<Tab> {
  const tab = await session.newTab();
  const from = Object.values(origins).map(({ origin }) => origin);
  await tab.goto(`${origins.both.origin}/page?resources=${3 * from.length}&from=${from.join(',')}`);
  await expect(tab.find('#summary[data-done]')).toBeSeen();
  return tab;
}

test('a page’s origins, a race and its photo finish appear while the dashboard is open', async ({
  local,
  open,
}) => {
  const session = await open();
  const dashboard = await session.openPage(DASHBOARD);
  await expect(dashboard.part('empty')).toBeSeen();
  const visited = await visitAll(session, local);

  await dashboard.bringToFront();
  const name = new URL(local.origins.both.origin).host;
  // Once everything is loaded, nothing is redrawn under the pointer.
  const requests = async () =>
    (await columnNumbers(dashboard, 'requests')).reduce((sum, count) => sum + count, 0);
  await expect.poll(requests, { timeout: 60_000 }).toBe(1 + 3 * Object.keys(local.origins).length);
  await expect.poll(() => rowNames(dashboard)).toContain(name);
  await expect(dashboard.part('headlines')).toMention('of requests over HTTP/3');
  await expect(dashboard.find('#adoption-figure svg[role=img] title')).toMention('by day');

  await dashboard.find('#table .opener', name).click();
  await expect(dashboard.find('.origin-detail')).toMention('Not raced yet');

  const popup = await session.openPopup(visited);
  expect((await popup.race()).ok).toBe(true);
  await dashboard.bringToFront();
  await expect(dashboard.part('race-table')).toMention(name);
  await expect(dashboard.find('.origin-detail .photo-finish')).toBeSeen();
  expect(await violations(dashboard)).toEqual([]);
});

test('the popup’s link shows one site, and the URL keeps every choice', async ({ open }) => {
  const session = await open({ helper: false });
  await fillLedger(session, SMALL_YEAR);
  const tab = await wholeDashboard(session, `${DASHBOARD}?site=site3.test`);
  await expect(tab.part('site-filter')).toMention('site3.test');
  const names = await rowNames(tab);
  expect(names).toContain('site3.test');
  expect(names.every((name) => /site3\.test$|^cdn/.test(name))).toBe(true);

  await tab.part('query').fill('s1.');
  await expect.poll(() => rowNames(tab)).toEqual(['s1.site3.test']);
  await tab.reload();
  await expect.poll(() => rowNames(tab)).toEqual(['s1.site3.test']);
  // While the page loads it grows, and a click may hit whatever was there before.
  await expect(tab.find('main[aria-busy=false]')).toBeSeen();
  await tab.evaluate(() => document.querySelector<HTMLElement>('#site-filter')?.focus());
  await tab.press('Enter');
  await expect.poll(async () => (await rowNames(tab)).length).toBeGreaterThan(20);
  expect(await tab.url()).toMatch(/[#&]site=(&|$)/);
  expect(await tab.evaluate(() => document.activeElement?.id)).toBe('network');
});

test('columns sort by keyboard, verdicts filter, pages turn, and rows open without losing focus', async ({
  open,
}) => {
  const session = await open({ helper: false });
  await fillLedger(session, SMALL_YEAR);
  const tab = await wholeDashboard(session);
  const focus = (selector: string) =>
    tab.evaluate((wanted) => document.querySelector<HTMLElement>(wanted)?.focus(), selector);
  const focused = () => tab.evaluate(() => document.activeElement?.textContent ?? '');

  await focus('#table th[data-sort=requests] button');
  await tab.press('Enter');
  const sorted = () => tab.find('#table th[data-sort=requests]').attribute('aria-sort');
  await expect.poll(sorted).toBe('descending');
  const falling = await columnNumbers(tab, 'requests');
  expect(falling).toEqual(falling.toSorted((a, b) => b - a));
  await tab.press('Enter');
  await expect.poll(sorted).toBe('ascending');
  const rising = await columnNumbers(tab, 'requests');
  expect(rising).toEqual(rising.toSorted((a, b) => a - b));
  await expect.poll(focused).toBe('Requests');
  const arrow = () =>
    tab.evaluate(() => {
      const button = document.querySelector('#table th[aria-sort] button') as Element;
      return getComputedStyle(button, '::before').content;
    });
  expect(await arrow(), 'the arrow is not part of the name').toBe('"▴" / ""');

  const [first = ''] = await rowNames(tab);
  await focus('#table .opener');
  await tab.press('Enter');
  await expect(tab.find('.origin-detail .verdict-text')).toBeSeen();
  await expect.poll(focused).toBe(first);

  await tab.find('#next').click();
  await expect(tab.part('count')).toSay(/^51 to 100 of /);
  expect(await rowNames(tab)).not.toContain(first);

  await tab.find('.verdict-bar', 'HTTP/3 used').click();
  await expect(tab.part('count')).toSay(/^1 to /);
  const verdicts = await tab.evaluate(() => {
    const head = document.querySelector<HTMLTableCellElement>('#table th[data-sort=verdict]');
    const rows = [...document.querySelectorAll<HTMLTableRowElement>('#table tbody tr.main')];
    return [...new Set(rows.map((row) => row.cells[head?.cellIndex ?? 0]?.textContent))];
  });
  expect(verdicts).toEqual(['HTTP/3 used']);
});

test('a long host is shown in full, however narrow its column', async ({ open }) => {
  const session = await open({ helper: false });
  await fillLedger(session, SMALL_YEAR);
  const tab = await wholeDashboard(session);
  for (const table of ['#table', '#race-table']) {
    const cutOff = await tab.evaluate((id) => {
      const host = document.querySelector<HTMLElement>(`${id} .host`);
      if (host?.firstElementChild == null) throw new Error('no host');
      host.firstElementChild.textContent = `${'accounts-and-identity.'.repeat(5)}${'x'.repeat(63)}.example`;
      return host.scrollWidth > host.clientWidth || getComputedStyle(host).textOverflow === 'ellipsis';
    }, table);
    expect(cutOff, table).toBe(false);
  }
  // At 400 % zoom.
  await tab.setViewport({ width: 320, height: 640 });
  const navRoom = () =>
    tab.evaluate(() => {
      const nav = document.querySelector('nav') as Element;
      return nav.clientWidth - nav.scrollWidth;
    });
  await expect.poll(navRoom, 'every section can be seen').toBe(0);
});

test('an open row covers the period chosen last', async ({ open }) => {
  const session = await open({ helper: false });
  await fillLedger(session, SMALL_YEAR);
  const tab = await wholeDashboard(session);
  // Rows may be drawn anew meanwhile, which a pointer would miss and the focus survives.
  await tab.evaluate(() => document.querySelector<HTMLElement>('#table .opener')?.focus());
  await tab.press('Enter');
  const described = tab.find('.origin-detail .timeline svg desc');
  await expect(described).toMention('of 30 days');
  await tab.find('#period label', '7 days').click();
  await expect(described).toMention('of 7 days');
  await expect(tab.find('.origin-detail')).toBeSeen();
  await tab.setViewport({ width: 320, height: 640 });
  const cutOff = () =>
    tab.evaluate(() => {
      const detail = document.querySelector('.origin-detail') as Element;
      const chart = detail.querySelector('.timeline svg') as Element;
      return chart.getBoundingClientRect().right - detail.getBoundingClientRect().right;
    });
  await expect.poll(cutOff, 'its newest day is seen at 400 % zoom').toBeLessThanOrEqual(0);
});

test('a chart can be read by keyboard, and its table has the same numbers', async ({ open }) => {
  const session = await open({ helper: false });
  await fillLedger(session, SMALL_YEAR);
  const tab = await wholeDashboard(session);
  const readout = tab.find('#adoption-figure .readout');
  const newest = await readout.text();
  await tab.evaluate(() => document.querySelector<HTMLElement>('#adoption-figure .scrub')?.focus());
  await tab.press('ArrowLeft');
  await expect(readout).not.toSay(newest);
  expect(await tab.find('#adoption-figure .scrub').attribute('aria-valuetext')).toBe(await readout.text());
  await tab.find('#adoption-figure summary').click();
  // It is filled when opened, after an asynchronous toggle event.
  await expect(tab.find('#adoption-figure tbody tr')).toBeSeen();
  const lastRow = await tab.evaluate(() =>
    [...(document.querySelector('#adoption-figure tbody tr:last-child')?.children ?? [])].map(
      (c) => c.textContent,
    ),
  );
  const [h3, of] = /\(([\d,]+) of ([\d,]+) known\)/.exec(newest)?.slice(1) ?? [];
  const count = (words = '') => Number(words.replaceAll(',', ''));
  expect(count(lastRow[1])).toBe(count(h3));
  expect(count(lastRow[1]) + count(lastRow[2])).toBe(count(of));
  expect(await violations(tab)).toEqual([]);
});

/** Chooses a file as in the browser's file dialog, which drivers cannot operate. */
async function chooseReport(tab: Tab, side: 'before' | 'after', report: Report): Promise<void> {
  await tab.evaluate(
    ([id, content]) => {
      const input = document.querySelector<HTMLInputElement>(`#report-${id}`);
      const chosen = new DataTransfer();
      chosen.items.add(new File([content], `${id}.json`, { type: 'application/json' }));
      if (input === null) return;
      input.files = chosen.files;
      input.dispatchEvent(new Event('change'));
    },
    [side, JSON.stringify(report)] as const,
  );
}

test('a site’s report is saved, and a comparison with a later one names changes and reasons', async ({
  open,
}) => {
  const session = await open({ helper: false });
  await fillLedger(session, SMALL_YEAR);
  const tab = await wholeDashboard(session);
  await tab.part('report-site').fill('site3.test');
  await tab.find('#report-site-add').click();
  await expect(tab.part('report-chosen')).toMention('site3.test');
  const saved = await tab.download(() => tab.find('#report-formats .button', 'JSON').click());
  expect(saved.name).toMatch(/^photofinish-site3\.test-\d{4}-\d\d-\d\d\.json$/);
  const before = v.parse(reportSchema, JSON.parse(await readFile(saved.file, 'utf8')));
  expect(before.sites.map(({ site }) => site)).toEqual(['site3.test']);

  const after = structuredClone(before);
  const changed = after.sites[0]?.origins.find(({ protocols }) => protocols.h2 > 0 && protocols.h3 === 0);
  if (changed === undefined) throw new Error('the filling has no origin without HTTP/3');
  changed.protocols = { ...changed.protocols, h3: 7 };
  changed.verdict = verdictSaying('h3-used', 'The browser uses HTTP/3 with this origin.');
  await chooseReport(tab, 'before', before);
  await expect(tab.part('compare-words')).toMention('choose the second report');
  await chooseReport(tab, 'after', after);
  const comparison = tab.find('#comparison tbody');
  await expect(comparison).toMention(new URL(changed.origin).host);
  await expect(comparison).toMention('HTTP/3 started, verdict changed');
  await expect(comparison).toMention('Now: The browser uses HTTP/3 with this origin.');
  expect(await tab.find('#comparison tbody tr').count()).toBe(1);
  const page = await tab.download(() => tab.find('#comparison .button', 'HTML').click());
  expect(await readFile(page.file, 'utf8')).toContain(changed.origin);
  expect(await violations(tab)).toEqual([]);

  await tab.evaluate(() => {
    const input = document.querySelector<HTMLInputElement>('#report-before');
    const chosen = new DataTransfer();
    chosen.items.add(new File(['{}'], 'other.json'));
    if (input === null) return;
    input.files = chosen.files;
    input.dispatchEvent(new Event('change'));
  });
  await expect(tab.part('compare-words')).toMention(
    'other.json cannot be read: it is not a Photofinish report',
  );
});

/** Drops files on the comparison, as by mouse from another program. */
function dropReports(tab: Tab, files: Readonly<Record<string, Report>>): Promise<void> {
  const contents = Object.entries(files).map(([name, report]) => [name, JSON.stringify(report)] as const);
  return tab.evaluate((given) => {
    const dataTransfer = new DataTransfer();
    for (const [name, content] of given) dataTransfer.items.add(new File([content], name));
    const drop = new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer });
    document.querySelector('#drop')?.dispatchEvent(drop);
  }, contents);
}

/** The names that the two inputs show. */
function reportFiles(tab: Tab): Promise<string[]> {
  return tab.evaluate(() =>
    ['#report-before', '#report-after'].map(
      (selector) => document.querySelector<HTMLInputElement>(selector)?.files?.[0]?.name ?? '',
    ),
  );
}

test('the files shown are those compared, and the same file can be chosen again', async ({ open }) => {
  const session = await open({ helper: false });
  await fillLedger(session, SMALL_YEAR);
  const tab = await wholeDashboard(session);
  const reportOf = (network: string): Report =>
    v.parse(reportSchema, {
      schema: 'photofinish.report/2',
      createdAt: '2026-01-21T10:00:00.000Z',
      period: { from: '2026-01-20T00:00:00.000Z', to: '2026-01-21T10:00:00.000Z' },
      browser: { name: 'chromium', version: '156' },
      network,
      sites: [],
    });
  await chooseReport(tab, 'before', reportOf('home'));
  await chooseReport(tab, 'after', reportOf('office'));
  const comparison = tab.part('comparison');
  await expect(comparison).toMention('office');
  await dropReports(tab, { 'cafe.json': reportOf('cafe'), 'hotel.json': reportOf('hotel') });
  await expect(comparison).toMention('hotel');
  await expect(comparison).not.toMention('office');
  expect(await reportFiles(tab)).toEqual(['cafe.json', 'hotel.json']);

  // A browser reports no change if the file chosen is the one that the input has.
  await tab.evaluate(() => {
    const input = document.querySelector<HTMLInputElement>('#report-before');
    input?.addEventListener('click', (event) => event.preventDefault(), { once: true });
    input?.click();
  });
  expect(await reportFiles(tab)).toEqual(['', 'hotel.json']);
  await tab.evaluate(() =>
    document.querySelector<HTMLInputElement>('#report-before')?.dispatchEvent(new Event('cancel')),
  );
  expect(await reportFiles(tab)).toEqual(['cafe.json', 'hotel.json']);
  await expect(comparison).toMention('hotel');
});

test('a ledger with nothing but races, as after an import, shows them', async ({ open }) => {
  const session = await open({ helper: false });
  await fillLedger(session, SMALL_YEAR);
  const popup = await session.openPage('popup/popup.html');
  await emptyAllButRaces(popup);
  await popup.close();
  const tab = await wholeDashboard(session);
  await expect(tab.part('race-table')).toBeSeen();
  expect(await tab.part('empty').isVisible()).toBe(false);
});

test('after a first read that failed the dashboard is whole', async ({ open }) => {
  const session = await open({ helper: false });
  await fillLedger(session, SMALL_YEAR);
  const tab = await session.newTab();
  await tab.beforeScripts(() => {
    const { openCursor } = IDBIndex.prototype;
    IDBIndex.prototype.openCursor = () => {
      IDBIndex.prototype.openCursor = openCursor;
      throw new DOMException('the disk cannot be read', 'UnknownError');
    };
  });
  await tab.goto(session.extensionUrl(DASHBOARD));
  await expect.poll(async () => (await rowNames(tab)).length, { timeout: 60_000 }).toBeGreaterThan(20);
  await expect(tab.part('trouble')).not.toBeSeen();
  await expect(tab.find('#report-formats .button', 'JSON')).toBeSeen();
});

test('an empty ledger has its own message', async ({ open }) => {
  const session = await open({ helper: false });
  const tab = await wholeDashboard(session);
  await expect(tab.part('empty')).toMention('Nothing recorded yet');
  expect(await tab.find('#full').isVisible()).toBe(false);
  expect(await violations(tab)).toEqual([]);
});
