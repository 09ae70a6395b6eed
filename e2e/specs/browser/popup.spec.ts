// The popup itself: what a row tells before it is opened, its order, and that it follows a page that goes on.
import type { Popup } from '../../browsers/popup.ts';
import type { Session } from '../../browsers/session.ts';
import type { Tab } from '../../browsers/tab.ts';
import { shownCounts } from '../counts.ts';
import { expect, type Local, test } from '../fixtures.ts';

/** A page of three origins, and its popup once that shows all there is, and nothing in it moves any more. */
async function popupOfThree(
  session: Session,
  { origins: { both, h2only, h1only } }: Local,
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

test('a row tells its verdict to pointer and focus, and Escape takes it away', async ({ local, open }) => {
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

test('origins sort by each column, and back again', async ({ local, open }) => {
  const { popup } = await popupOfThree(await open(), local);
  const protocols = async () => (await popup.origins()).map((row) => row.protocol);
  const hosts = async () => (await popup.origins()).map((row) => row.origin);
  await popup.tab.find('th[data-sort=protocol] button').click();
  // An origin may move on to HTTP/3 within the page; HTTP/1.1 stays what it is.
  await expect.poll(async () => (await protocols()).at(-1)).toBe('http/1.1');
  await popup.tab.find('th[data-sort=protocol] button').click();
  await expect.poll(async () => (await protocols()).at(0)).toBe('http/1.1');
  await popup.tab.find('th[data-sort=origin] button').click();
  const sorted = (await hosts()).toSorted();
  await expect.poll(hosts).toEqual(sorted);
});

test('the popup follows a page that goes on, and leaves open what was opened', async ({ local, open }) => {
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

test('a race tells what HTTP/3 gains: milliseconds, and of how many', async ({ local, open }) => {
  const session = await open();
  const tab = await session.newTab();
  await tab.goto(local.origins.both.origin);
  const popup = await session.openPopup(tab);
  await expect(popup.part('verdict')).toSay(/is not measured; race it\.$/);
  expect((await popup.race()).ok).toBe(true);
  await expect(popup.tab.find('#verdict strong')).toSay(/^[\d.]+ ms (?:of the|longer than the) [\d.]+ ms$/);
});
