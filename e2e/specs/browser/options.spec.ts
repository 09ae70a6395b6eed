// The options take effect: what is excluded leaves no trace, what is deleted is gone here and in the helper, and an
// export can be imported again completely.
import { readFile } from 'node:fs/promises';
import type { Report } from '@photofinish/shared/report/report';
import type { Tab } from '../../browsers/browser.ts';
import type { Session } from '../../browsers/session.ts';
import { storedRecords } from '../../browsers/stored.ts';
import { expect, exportedReport, runPhotofinish, test } from '../fixtures.ts';
import { expectStored, violations } from '../steps.ts';

const OPTIONS = 'options/options.html';

/** The sites in the report of all data. */
async function recordedSites(session: Session, dir: string): Promise<string[]> {
  const popup = await session.openPopup(null);
  const report = await exportedReport(popup, dir);
  await popup.tab.close();
  return report.sites.map(({ site }) => site).toSorted();
}

/** The origins of every record, whatever page used them. */
async function recordedOrigins(options: Tab): Promise<string[]> {
  return [...new Set((await storedRecords(options)).map(({ origin }) => origin))].toSorted();
}

async function visit(session: Session, url: string): Promise<Tab> {
  const tab = await session.newTab();
  await tab.goto(url);
  return tab;
}

/** The contents of the helper's cache, as listed by the command line. */
async function cached({ files }: Session): Promise<string> {
  const { stdout } = await runPhotofinish(['cache', 'list', '--cache', files.cache, '--json']);
  return stdout;
}

/** Chooses a file as in the browser's file dialog, which drivers cannot operate. */
async function importFile(tab: Tab, text: string): Promise<void> {
  await tab.evaluate((content) => {
    const input = document.querySelector<HTMLInputElement>('#import-file');
    const chosen = new DataTransfer();
    chosen.items.add(new File([content], 'photofinish-data.json', { type: 'application/json' }));
    if (input === null) return;
    input.files = chosen.files;
    input.dispatchEvent(new Event('change'));
  }, text);
}

test('a site on the list leaves no trace, here or in the helper, until it is removed from it', async ({
  local,
  open,
  dir,
}) => {
  const { both, h2only, silent } = local.origins;
  const session = await open();
  const options = await session.openPage(OPTIONS);
  await options.find('#never-site').fill(`${h2only.origin}/some/page`);
  await options.press('Enter');
  await expect(options.find('#never-list')).toMention(h2only.host);

  await visit(session, h2only.origin);
  const page = await visit(
    session,
    `${both.origin}/page?resources=2&from=${[h2only, silent].map(({ origin }) => origin)}`,
  );
  await expect.poll(() => recordedOrigins(options)).toEqual([both.origin, silent.origin]);
  await expect.poll(() => recordedSites(session, dir)).toEqual([both.host]);
  await expect.poll(() => cached(session)).toContain(silent.host);
  expect(await cached(session)).not.toContain(h2only.host);
  const popup = await session.openPopup(page);
  await expect
    .poll(async () => (await popup.origins()).map(({ origin }) => origin))
    .toEqual([both.origin, silent.origin]);
  await popup.tab.close();

  await options.bringToFront();
  await options.find('#never-list button').click();
  await expect(options.find('#never-none')).toBeSeen();
  await visit(session, h2only.origin);
  await expect.poll(() => recordedSites(session, dir)).toEqual([both.host, h2only.host]);
});

test('an invalid site, or one already on the list, is reported and not added', async ({ open }) => {
  const session = await open({ helper: false });
  const options = await session.openPage(OPTIONS);
  const site = options.find('#never-site');
  await site.fill('not a host');
  await options.press('Enter');
  await expect(options.find('#never-error')).toSay(/Not a host or an HTTPS address/);
  await site.fill('co.uk');
  await options.press('Enter');
  await expect(options.find('#never-error')).toSay(/^co\.uk is a public suffix: /);
  await site.fill('*.example.org');
  await options.press('Enter');
  await expect(options.find('#never-list')).toMention('example.org');
  await site.fill('https://example.org');
  await options.press('Enter');
  await expect(options.find('#never-error')).toSay(/example\.org is already listed/);
  expect(await options.find('#never-list li').count()).toBe(1);
  // A suffix may be a host as well, which its address means.
  await site.fill('https://co.uk');
  await options.press('Enter');
  await expect(options.find('#never-list')).toMention('co.uk');
});

test('deleting all data asks first, and then empties records and the helper’s cache', async ({
  local,
  open,
  dir,
}) => {
  const { both } = local.origins;
  const session = await open();
  await visit(session, both.origin);
  await expect.poll(() => recordedSites(session, dir)).toEqual([both.host]);
  await expect.poll(() => cached(session)).toContain(both.host);

  const options = await session.openPage(OPTIONS);
  await options.find('#wipe').click();
  await expect(options.find('#wipe-dialog')).toBeSeen();
  await options.press('Enter');
  await expect(options.find('#wipe-dialog')).not.toBeSeen();
  expect(await recordedSites(session, dir), 'the first button keeps everything').toEqual([both.host]);

  await options.bringToFront();
  // What a page leaves behind unacknowledged on unload is taken in some seconds later.
  const left = () =>
    options.evaluate(async () => {
      const keys = Object.keys(await chrome.storage.session.get(null));
      return keys.filter((key) => key.startsWith('left:'));
    });
  const leave = () => options.evaluate(() => chrome.storage.session.set({ 'left:gone': { batches: [] } }));
  // That moment may be now: after leaving again, some time remains until the next.
  await expect.poll(() => leave().then(left)).toHaveLength(1);
  await options.find('#wipe').click();
  await options.find('#wipe-confirm').click();
  await expect(options.part('wipe-result')).toSay(/^All data deleted: .*[1-9]\d* entr(y|ies)/);
  expect(await left()).toEqual([]);
  expect(await recordedSites(session, dir)).toEqual([]);
  expect(await cached(session)).not.toContain(both.host);
});

test('without a helper, deleting reports that the helper was not reached', async ({ open }) => {
  const session = await open({ helper: false });
  const options = await session.openPage(OPTIONS);
  await options.find('#wipe').click();
  await options.find('#wipe-confirm').click();
  await expect(options.part('wipe-result')).toSay(/helper could not be reached/);
});

test('an export restores records and options after all data was deleted', async ({ local, open, dir }) => {
  const { both, h2only } = local.origins;
  const session = await open();
  const url = `${both.origin}/page?resources=4&from=${h2only.origin}`;
  await expect((await visit(session, url)).find('#summary[data-done]')).toBeSeen();
  const popup = await session.openPopup(null);
  const sitesOf = async () => (await exportedReport(popup, dir)).sites;
  const h2Of = (sites: Report['sites']) =>
    Object.fromEntries(sites.flatMap((each) => each.origins).map((o) => [o.origin, o.protocols.h2]));
  await expect
    .poll(async () => h2Of(await sitesOf()), 'all of the page')
    .toEqual({ [both.origin]: 1, [h2only.origin]: 4 });
  const before = await sitesOf();

  const options = await session.openPage(OPTIONS);
  await options.find('#retention').fill('30');
  await options.press('Tab');
  await expectStored(options, { retentionDays: 30 });
  const { file, name } = await options.download(() => options.find('#export').click());
  expect(name).toMatch(/^photofinish-data-\d{4}-\d\d-\d\d\.json$/);
  const data = await readFile(file, 'utf8');

  await options.find('#wipe').click();
  await options.find('#wipe-confirm').click();
  await expect(options.part('wipe-result')).toSay(/deleted/);
  await options.find('#retention').fill('60');
  await options.press('Tab');
  await expectStored(options, { retentionDays: 60 });
  await popup.tab.bringToFront();
  expect(await sitesOf()).toEqual([]);

  await options.bringToFront();
  await importFile(options, data);
  await expect(options.find('#consent-dialog')).toMention('30 days');
  await options.press('Enter');
  await expect(options.part('transfer-result'), 'the answer at hand keeps things').toSay(
    /^Imported [1-9].* left unchanged/,
  );
  expect(await retentionOf(options)).toBe('60');
  await importFile(options, data);
  await options.find('#consent-yes').click();
  await expect(options.part('transfer-result')).toSay(/^Imported [1-9][^.]*\.$/);
  await expect.poll(() => retentionOf(options)).toBe('30');
  await popup.tab.bringToFront();
  expect(await sitesOf()).toEqual(before);

  await options.bringToFront();
  await importFile(options, data.slice(0, -20));
  await expect(options.part('transfer-result')).toSay(/damaged or truncated\. Nothing was imported/);
  await importFile(options, '{"schema":"something/1"}');
  await expect(options.part('transfer-result')).toSay(/not a Photofinish export/);
});

function retentionOf(options: Tab): Promise<string | undefined> {
  return options.evaluate(() => document.querySelector<HTMLInputElement>('#retention')?.value);
}

test('choices are saved at once and are there when the page is reopened', async ({ open, kind }) => {
  const session = await open({ helper: false });
  const options = await session.openPage(OPTIONS);
  await options.find('input[value=first-visit]').click();
  await expect(options.find('#race-when ~ #proxy')).toSay(
    kind === 'firefox' ? /reports for each request/ : /a proxy cannot be ruled out/,
  );
  await options.find('#race-mode').choose('v3');
  const startDelay = () =>
    options.evaluate(() => document.querySelector<HTMLInputElement>('#start-delay')?.value);
  expect(await startDelay()).toBe('');
  await options.find('#start-delay').fill('25');
  await options.press('Tab');
  await options.find('#retention').fill('0');
  await options.press('Tab');
  await expect(options.find('#retention-error')).toSay(/from 1 to 400/);
  await options.find('#private').click();
  await expect(options.find('#private-how')).toSay(kind === 'firefox' ? /about:addons/ : /Incognito/);
  await expect(options.find('#steering-informs')).toSay(
    kind === 'firefox' ? /./ : /ignores an Alt-Svc header/,
  );

  const again = await session.openPage(OPTIONS);
  await expect
    .poll(() =>
      again.evaluate(() => ({
        when: document.querySelector<HTMLInputElement>('input[name=race-when]:checked')?.value,
        mode: document.querySelector<HTMLSelectElement>('#race-mode')?.value,
        delay: document.querySelector<HTMLInputElement>('#start-delay')?.value,
        days: document.querySelector<HTMLInputElement>('#retention')?.value,
        private: document.querySelector<HTMLInputElement>('#private')?.checked,
      })),
    )
    .toEqual({ when: 'first-visit', mode: 'v3', delay: '25', days: '400', private: true });
});

test('a change made elsewhere does not move the focus', async ({ open }) => {
  const session = await open({ helper: false });
  const options = await session.openPage(OPTIONS);
  const add = async (tab: Tab, site: string) => {
    await tab.find('#never-site').fill(site);
    await tab.press('Enter');
    await expect(tab.find('#never-list')).toMention(site);
  };
  await add(options, 'b.test');
  await options.press('Tab');
  await options.press('Tab');
  const focused = () => options.evaluate(() => document.activeElement?.getAttribute('aria-label'));
  const ofB = await focused();
  expect(ofB).toContain('b.test');
  const elsewhere = await session.openPage(OPTIONS);
  await add(elsewhere, 'a.test');
  await add(elsewhere, 'c.test');
  await expect(options.find('#never-list')).toMention('c.test');
  expect(await focused()).toBe(ofB);
  await options.bringToFront();
  await options.press('Enter');
  await expect.poll(() => options.find('#never-list li').count()).toBe(2);
  await expectStored(elsewhere, { neverRecord: ['a.test', 'c.test'] });
});

test('the options are operable by keyboard alone, and axe finds no violation in either theme', async ({
  open,
}) => {
  const session = await open({ helper: false });
  const options = await session.openPage(OPTIONS);
  const focused = () =>
    options.evaluate(() => document.activeElement?.id || document.activeElement?.getAttribute('value'));
  const tabTo = async (wanted: string) => {
    for (let i = 0; i < 30 && (await focused()) !== wanted; i += 1) await options.press('Tab');
    expect(await focused()).toBe(wanted);
  };
  await expect(options.find('main')).toBeSeen();
  await expect(options.part('helper')).toSay(/./);
  await tabTo('click');
  await options.press('ArrowDown');
  await expect(options.find('#visit-races')).toBeSeen();
  await tabTo('never-site');
  await options.find('#never-site').fill('example.org');
  await options.press('Enter');
  await expect(options.find('#never-list li')).toBeSeen();
  await options.press('Tab');
  await options.press('Tab');
  await options.press('Enter');
  await expect(options.find('#never-none')).toBeSeen();
  await expect.poll(focused, 'the focus goes back to the field').toBe('never-site');
  await tabTo('wipe');
  await options.press('Enter');
  await expect.poll(focused, 'the dialog begins at the harmless button').toBe('wipe-cancel');
  await options.press('Escape');
  await expect.poll(focused).toBe('wipe');

  expect(await violations(options)).toEqual([]);
});
