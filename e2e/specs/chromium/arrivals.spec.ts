// A page that comes into view without being loaded: gone back to, out of the back/forward cache. Only in Chromium:
// Firefox's driver loses such a tab.
import { ORIGIN_KINDS } from '../../origins/start.ts';
import { badgeText, expect } from '../fixtures.ts';
import { servedTest, shownCounts } from '../steps.ts';

const { both, h2only } = ORIGIN_KINDS;
const test = servedTest({ both, h2only });

test('a page gone back to is shown again, with the counts of its visit', async ({ open, served }) => {
  const session = await open({ local: served });
  const { both, h2only } = served.origins;
  const tab = await session.newTab();
  await tab.goto(`${both.origin}/page?resources=5&from=${h2only.origin}`);
  await expect(tab.find('#summary[data-done]')).toBeSeen();
  const popup = await session.openPopup(tab);
  const first = { [both.origin]: 1, [h2only.origin]: 5 };
  await expect.poll(() => shownCounts(popup)).toEqual(first);
  await expect.poll(() => badgeText(popup, tab)).toBe('H2');
  await tab.goto(`${h2only.origin}/page?resources=2`);
  await expect.poll(() => shownCounts(popup)).toEqual({ [h2only.origin]: 3 });
  await tab.back();
  await expect.poll(() => shownCounts(popup)).toEqual(first);
  await expect(popup.part('aside')).toSay(/^Restored from the back\/forward cache/);
  await expect.poll(() => badgeText(popup, tab)).toBe('H2');
});
