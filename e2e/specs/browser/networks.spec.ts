// Names that the user gives to networks appear wherever networks are shown; the helper stores them, and a report
// contains them only on request.
import { readFile } from 'node:fs/promises';
import { reportSchema } from '@photofinish/shared/report/report';
import * as v from 'valibot';
import type { Tab } from '../../browsers/browser.ts';
import type { Session } from '../../browsers/session.ts';
import { fillLedger, storedValue } from '../../browsers/stored.ts';
import { expect, test } from '../fixtures.ts';
import { violations } from '../steps.ts';

const OPTIONS = 'options/options.html';
const NAME = 'Flat, 2nd floor';
/** Its networks are `home` and `work`. */
const SOME = { seed: 6, origins: 20, sites: 5, days: 20, daysPerOrigin: 10, raced: 5 };

const nameField = (tab: Tab) => tab.find('#networks-list input[aria-label="Name of home"]');

function written(tab: Tab): Promise<string | undefined> {
  return tab.evaluate(
    () => document.querySelector<HTMLInputElement>('#networks-list input[aria-label="Name of home"]')?.value,
  );
}

async function storedNaming(tab: Tab): Promise<{ names?: object; untold?: object }> {
  return ((await storedValue(tab, 'network-names')) as { names?: object; untold?: object } | undefined) ?? {};
}

/** That it was saved is shown for a moment only. */
const storedNames = async (tab: Tab) => (await storedNaming(tab)).names;

/** Enters the name of `home` as a user would, then leaves the field. */
async function nameHome(session: Session, name: string): Promise<Tab> {
  const options = await session.openPage(OPTIONS);
  await nameField(options).fill(name);
  await options.press('Tab');
  return options;
}

async function report(tab: Tab) {
  const saved = await tab.download(() => tab.find('#report-formats .button', 'JSON').click());
  const text = await readFile(saved.file, 'utf8');
  return { text, names: v.parse(reportSchema, JSON.parse(text)).networkNames };
}

test('a name appears in the dashboard, and in a report only if that is selected', async ({ open }) => {
  const session = await open({ helper: false });
  await fillLedger(session, SOME);
  const options = await nameHome(session, NAME);
  await expect.poll(() => storedNames(options)).toEqual({ home: NAME });
  expect(await violations(options)).toEqual([]);

  const dashboard = await session.openPage('dashboard/dashboard.html');
  await expect(dashboard.find('main[aria-busy=false]')).toBeSeen({ timeoutMs: 60_000 });
  await expect(dashboard.find('#network option', NAME)).toMention(NAME);
  await dashboard.part('network').choose('home');
  await expect(dashboard.part('conditions')).toMention(NAME);
  const without = await report(dashboard);
  expect([without.names, without.text.includes(NAME)]).toEqual([undefined, false]);
  await dashboard.part('report-names').click();
  expect((await report(dashboard)).names).toEqual({ home: NAME });
});

test('an invalid name is reported and not stored', async ({ open }) => {
  const session = await open({ helper: false });
  await fillLedger(session, SOME);
  const options = await nameHome(session, 'x'.repeat(41));
  await expect(options.find('#networks-list [role=alert]', 'A name has')).toMention('1 to 40 printable');
  await options.reload();
  await expect.poll(() => written(options)).toBe('');
});

test('the helper keeps the name, even if the browser loses it, until all data is deleted', async ({
  open,
}) => {
  const session = await open();
  await fillLedger(session, SOME);
  const options = await nameHome(session, NAME);
  await expect.poll(() => storedNames(options)).toEqual({ home: NAME });
  const untold = async () => Object.keys((await storedNaming(options)).untold ?? {});
  await expect.poll(untold, 'the helper has heard of it').toEqual([]);
  await options.evaluate(async () => {
    const key = 'network-names';
    const { stored } = await chrome.runtime.sendMessage({ type: 'stored', key });
    const value = { names: {}, untold: {} };
    await chrome.runtime.sendMessage({ type: 'store', key, revision: stored.revision, value });
  });
  await options.reload();
  await expect.poll(() => written(options)).toBe(NAME);

  await options.find('#wipe').click();
  await options.find('#wipe-confirm').click();
  await expect(options.part('wipe-result')).toMention('All data deleted');
  await fillLedger(session, SOME);
  await options.reload();
  await expect(nameField(options)).toBeSeen();
  expect(await written(options)).toBe('');
});
