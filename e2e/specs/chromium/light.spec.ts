// Light mode, in which Chromium reports no request to the extension: what it records nevertheless, that reading what
// the HTTP cache has of a page's own answers sends nothing, and how a user gets to full mode and back.
import type { OriginRecord } from '../../../extension/common/records/schema.ts';
import type { Tab } from '../../browsers/browser.ts';
import { playwrightPage } from '../../browsers/chromium.ts';
import type { Session } from '../../browsers/session.ts';
import { storedRecords } from '../../browsers/stored.ts';
import { ORIGIN_KINDS } from '../../origins/start.ts';
import { compareCounts } from '../counted/compare.ts';
import { expect } from '../fixtures.ts';
import { chooseRaceTime, racedModes, servedTest, violations } from '../steps.ts';

const { both, h2only, hidden } = ORIGIN_KINDS;
const test = servedTest({ both, h2only, hidden });
const OPTIONS = 'options/options.html';

async function recordOf(page: Tab, origin: string): Promise<OriginRecord | undefined> {
  return (await storedRecords(page)).find((record) => record.origin === origin);
}

async function visit(session: Session, url: string): Promise<void> {
  const tab = await session.newTab();
  await tab.goto(url);
  await expect(tab.find('#summary[data-done]')).toBeSeen();
}

test('no response is counted under a wrong protocol, and inexact counts are as in docs/counts.md', async ({
  open,
  dir,
  kind,
}) => compareCounts({ open, dir, kind }, 'light'));

test('what the page’s origin advertises is read from the HTTP cache, without a request', async ({
  open,
  served,
}) => {
  const session = await open({ mode: 'light', local: served });
  const options = await session.openPage(OPTIONS);
  const { origin } = served.origins.both;
  const page = `/page?resources=2&from=${served.origins.h2only.origin}`;
  await visit(session, `${origin}${page}`);
  await expect
    .poll(() => recordOf(options, origin))
    .toMatchObject({ altSvc: expect.stringMatching(/^h3=":\d+"/), modes: ['light'], counts: { h2: 1 } });
  // The other origin's header is not readable, and the helper's races are asked for it.
  await expect.poll(() => recordOf(options, served.origins.h2only.origin)).toMatchObject({ altSvc: null });
  expect(served.seen.filter(({ path }) => path.startsWith('/page'))).toHaveLength(1);
  expect(served.seen.filter(({ path }) => path.startsWith('/r/'))).toHaveLength(2);
});

test('of the page’s own origin the verdict says that the response read does not advertise HTTP/3', async ({
  open,
  served,
}) => {
  const session = await open({ mode: 'light', local: served });
  const tab = await session.newTab();
  await tab.goto(`${served.origins.h2only.origin}/page?resources=2`);
  await expect(tab.find('#summary[data-done]')).toBeSeen();
  const popup = await session.openPopup(tab);
  await expect(popup.part('verdict')).toSay(
    /The response that light mode could read does not advertise HTTP\/3/,
  );
});

test('hidden requests are counted as an upper bound, and the popup says so', async ({ open, served }) => {
  const session = await open({ mode: 'light', local: served });
  const tab = await session.newTab();
  const { both, hidden } = served.origins;
  await tab.goto(`${both.origin}/page?resources=3&from=${hidden.origin}`);
  await expect(tab.find('#summary[data-done]')).toBeSeen();
  const popup = await session.openPopup(tab);
  await expect(popup.part('hidden')).toSay(/at most 3/);
  await expect(popup.part('see-every')).toBeSeen();
  expect(await violations(popup.tab)).toEqual([]);
});

test('the popup leads by keyboard to the switch where light mode leaves open what an origin advertises', async ({
  open,
  served,
}) => {
  const session = await open({ mode: 'light', local: served });
  const tab = await session.newTab();
  const { both, h2only } = served.origins;
  await tab.goto(`${both.origin}/page?resources=2`);
  await expect(tab.find('#summary[data-done]')).toBeSeen();
  const popup = await session.openPopup(tab);
  await expect(popup.part('hidden')).toSay(/none hidden/i);
  await expect(popup.part('see-every')).not.toBeSeen();
  await tab.goto(`${both.origin}/page?resources=2&from=${h2only.origin}`);
  const link = popup.part('see-every');
  await expect(link).toSay('See every request');
  const focused = () => popup.tab.evaluate(() => document.activeElement?.id);
  await expect
    .poll(async () => {
      await popup.tab.press('Tab');
      return focused();
    })
    .toBe('see-every');
  const [options] = await Promise.all([
    playwrightPage(popup.tab).context().waitForEvent('page'),
    popup.tab.press('Enter'),
  ]);
  // Between two documents there is no context to evaluate in.
  const focusedThere = () => options.evaluate(() => document.activeElement?.id).catch(() => null);
  await expect.poll(focusedThere).toBe('every');
});

test('a page’s origin is raced on its first visit, once that is chosen', async ({ open, served, dir }) => {
  const session = await open({ mode: 'light', local: served, proxy: 'none' });
  await chooseRaceTime(session, 'first-visit');
  await visit(session, `${served.origins.both.origin}/page?resources=1`);
  await expect
    .poll(() => racedModes(session, dir), { timeout: 60_000 })
    .toEqual({ [served.origins.both.origin]: ['race'] });
});

test('the switch to full mode takes effect when the browser is started again, and back at once', async ({
  open,
  served,
}) => {
  const session = await open({ mode: 'light', local: served });
  const { origin } = served.origins.both;
  const page = `${origin}/page?resources=1`;
  let options = await session.openPage(OPTIONS);
  expect(await violations(options)).toEqual([]);
  await options.find('#every').click();
  await expect(options.part('every-state')).toSay(/after a browser restart/);
  await visit(session, page);
  // Chromium reports nothing yet, and nothing is claimed to have been seen.
  await expect.poll(() => recordOf(options, origin)).toMatchObject({ modes: ['light'] });
  await expect(options.part('every-state')).toSay(/after a browser restart/);

  await session.restart();
  await visit(session, page);
  options = await session.openPage(OPTIONS);
  await expect(options.part('every-state')).toSay('Every request is observed.');
  // The first events of a starting browser may be lost. The address is what only events name.
  await visit(session, page);
  await expect
    .poll(() => recordOf(options, origin))
    .toMatchObject({ modes: ['full', 'light'], address: '127.0.0.1' });

  await options.find('#every').click();
  await expect(options.part('every-state')).toSay(/No longer observed/);
  await visit(session, `${served.origins.h2only.origin}/page?resources=1`);
  await expect
    .poll(() => recordOf(options, served.origins.h2only.origin))
    .toMatchObject({ modes: ['light'], address: null });
});
