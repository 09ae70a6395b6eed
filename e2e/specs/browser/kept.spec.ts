// The isolation that other specs rely on when they share a browser: an installation finds nothing of the previous one,
// neither in the extension nor in the helper, and what the browser has learnt about sites concerns other ports. (That
// Firefox remembers failed QUIC by host, and only after half a minute, is undone where the extension is installed.)
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { STORE_KEYS } from '../../../extension/common/store/store.ts';
import { visitUntil } from '../../browsers/browser.ts';
import type { Session } from '../../browsers/session.ts';
import { storedValue } from '../../browsers/stored.ts';
import { ORIGIN_KINDS, startOrigins } from '../../origins/start.ts';
import { expect, exportedReport, runPhotofinish, test } from '../fixtures.ts';
import { expectStored, protocolOfVisit } from '../steps.ts';

/** Everything that the extension stores, and other state the browser keeps for it. */
async function kept(session: Session) {
  const page = await session.openPage('options/options.html');
  const kept = await Promise.all(STORE_KEYS.map((key) => storedValue(page, key)));
  const others = await page.evaluate(async () => ({
    permissions: await chrome.permissions.getAll(),
    // Steering and its permission exist only in Firefox.
    rules: (await chrome.declarativeNetRequest?.getSessionRules()) ?? null,
    tabs: (await chrome.tabs.query({})).length,
    windows: (await chrome.windows.getAll()).length,
  }));
  await page.close();
  return { kept, ...others };
}

async function rememberedOrigins({ files }: Session): Promise<string> {
  return (await runPhotofinish(['cache', 'list', '--cache', files.cache, '--json'])).stdout;
}

test('a reused browser knows nothing about earlier installations', async ({
  authority,
  dir,
  local,
  open,
}) => {
  const first = await open();
  const asNew = await kept(first);
  const { origin, host } = local.origins.both;
  const tab = await first.newTab();
  await visitUntil(tab, origin, 'h3');
  const popup = await first.openPopup(tab);
  expect((await popup.race()).ok).toBe(true);
  const options = await first.openPage('options/options.html');
  await options.find('#private').click();
  await expectStored(options, { privateWindows: true });
  await popup.tab.bringToFront();
  expect((await exportedReport(popup, dir)).sites).toHaveLength(1);
  await expect.poll(() => rememberedOrigins(first)).toContain(host);
  expect(await kept(first)).not.toEqual(asNew);

  const later = await startOrigins({ origins: ORIGIN_KINDS, certifiedBy: authority });
  try {
    const place = join(dir, 'second');
    await mkdir(place);
    const second = await open({ local: later, dir: place });
    expect(second.version).toBe(first.version);
    expect(second.files.profile).toBe(first.files.profile);
    expect(await kept(second)).toEqual(asNew);
    expect((await second.requests()).filter(({ url }) => url.startsWith(origin))).toEqual([]);
    expect((await exportedReport(await second.openPopup(null), dir)).sites).toEqual([]);
    expect(await rememberedOrigins(second)).not.toContain(host);
    const again = await second.newTab();
    expect(await protocolOfVisit(again, later.origins.both.origin)).toBe('h2');
    await visitUntil(again, later.origins.both.origin, 'h3');
  } finally {
    await later.stop();
  }
});
