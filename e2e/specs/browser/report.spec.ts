// Reports of many sites: generated in a worker, with progress and cancellation; what exceeds the page's limit is
// counted, so that its sums equal those of the JSON report.
import { readFile } from 'node:fs/promises';
import { reportSchema } from '@photofinish/shared/report/report';
import * as v from 'valibot';
import type { Tab } from '../../browsers/browser.ts';
import type { Session } from '../../browsers/session.ts';
import { fillLedger } from '../../browsers/stored.ts';
import { expect, test } from '../fixtures.ts';
import { violations } from '../steps.ts';

const MAX_BYTES = 5_000_000;
/** More than fit into a page. */
const MANY = { seed: 4, origins: 6000, sites: 1000, days: 40, daysPerOrigin: 2, raced: 20 };

async function filledDashboard(session: Session): Promise<Tab> {
  await fillLedger(session, MANY);
  const tab = await session.openPage('dashboard/dashboard.html#period=400');
  await expect(tab.find('main[aria-busy=false]')).toBeSeen({ timeoutMs: 60_000 });
  return tab;
}

interface ProgressWindow {
  steps?: string[];
}

/** Runs in the page: records every progress text. */
function watchSteps(): void {
  const watched = globalThis as ProgressWindow;
  watched.steps = [];
  const step = document.querySelector('#making-step');
  const note = () => void watched.steps?.push(step?.textContent ?? '');
  if (step !== null)
    new MutationObserver(note).observe(step, { childList: true, characterData: true, subtree: true });
}

/** The sum of a column of the table of sites, by the column's index. */
function sumOf(html: string, column: number): number {
  const table = html.split('<table class="sites">')[1]?.split('</table>')[0] ?? '';
  const rows = table.split('<tbody>')[1]?.split('<tr').slice(1) ?? [];
  return rows.reduce((sum, row) => {
    const cells = [...row.matchAll(/<td class="n(?: zero)?">([\d,]+)<\/td>/g)];
    return sum + Number(cells[column]?.[1]?.replaceAll(',', ''));
  }, 0);
}

test('an HTML report of more sites than fit includes them in its sums, and says how many are only counted', async ({
  open,
}) => {
  const tab = await filledDashboard(await open({ helper: false }));
  await tab.evaluate(watchSteps);
  const page = await tab.download(() => tab.find('#report-formats .button', 'HTML').click());
  await expect(tab.part('report-text')).toMention('Report saved, 1,000 sites.');
  const steps = await tab.evaluate(() => (globalThis as ProgressWindow).steps ?? []);
  expect(steps.filter((step) => /^[\d,]+ of [\d,]+ rows read$/.test(step)).length).toBeGreaterThan(2);
  expect(steps.some((step) => /^[\d,]+ of 1,000 sites evaluated$/.test(step))).toBe(true);

  const html = await readFile(page.file, 'utf8');
  expect(Buffer.byteLength(html)).toBeLessThan(MAX_BYTES);
  const saved = await tab.download(() => tab.find('#report-formats .button', 'JSON').click());
  const report = v.parse(reportSchema, JSON.parse(await readFile(saved.file, 'utf8')));
  expect(report.sites.length).toBe(1000);
  const origins = report.sites.flatMap((site) => site.origins);
  for (const [column, key] of (['h3', 'h2', 'http/1.1', 'unknown'] as const).entries())
    expect(sumOf(html, column)).toBe(origins.reduce((sum, { protocols }) => sum + protocols[key], 0));

  const said = /([\d,]+) further sites with ([\d,]+) origins are counted here/.exec(html);
  const inFull = html.match(/<h2 id="site-/g)?.length ?? 0;
  expect(Number(said?.[1]?.replaceAll(',', ''))).toBe(1000 - inFull);
  const csv = await tab.download(() => tab.find('#report-formats .button', 'CSV').click());
  const lines = (await readFile(csv.file, 'utf8')).trim().split('\r\n');
  expect(lines.length).toBe(1 + origins.length);
});

test('a cancelled report is not saved, and the next one is', async ({ open }) => {
  const tab = await filledDashboard(await open({ helper: false }));
  await tab.evaluate(() => {
    const saved: string[] = [];
    addEventListener('click', ({ target }) => {
      if (target instanceof HTMLAnchorElement && target.download !== '') saved.push(target.download);
    });
    Object.assign(globalThis, { saved });
    // At the first count, however fast the machine is.
    const step = document.querySelector('#making-step');
    const observer = new MutationObserver(() => {
      if (!/rows read/.test(step?.textContent ?? '')) return;
      observer.disconnect();
      document.querySelector<HTMLButtonElement>('#making-cancel')?.click();
    });
    if (step !== null) observer.observe(step, { childList: true, characterData: true, subtree: true });
  });
  await tab.find('#report-formats .button', 'HTML').click();
  await expect(tab.part('report-text')).toMention('Cancelled. Nothing was saved.');
  expect(await tab.part('making').isVisible()).toBe(false);
  expect(await tab.evaluate(() => (globalThis as unknown as { saved: string[] }).saved)).toEqual([]);
  await tab.download(() => tab.find('#report-formats .button', 'Markdown').click());
  await expect(tab.part('report-text')).toMention('Report saved, 1,000 sites.');
  expect(await violations(tab)).toEqual([]);
});
