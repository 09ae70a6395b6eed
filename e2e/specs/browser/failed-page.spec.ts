// A page that failed to load: the popup names its host and the browser's error, and a race determines what responds
// there. Nothing is recorded, since there was no response.
import type { Popup } from '../../browsers/popup.ts';
import { CLOSED_PORT } from '../../origins/raw.ts';
import { expect, exportedReport } from '../fixtures.ts';
import { servedTest, violations } from '../steps.ts';

const test = servedTest({
  both: { host: 'both.test', h3: true, altSvc: 'auto' },
  /** Speaks HTTP/3 without advertising it, and refuses TCP: no browser can reach it. */
  udpOnly: { host: 'udp-only.test', h3: true, tcp: false },
});

async function expectFailed(popup: Popup, host: string): Promise<void> {
  await expect(popup.part('verdict')).toMention('did not load');
  await expect(popup.part('page-host')).toSay(host);
  // `net::ERR_CONNECTION_REFUSED`, `connectionFailure`.
  await expect(popup.part('aside')).toSay(/CONNECTION_REFUSED|connectionFailure/);
  await expect(popup.part('race')).toSay('Race this host');
}

test('a host that responds over HTTP/3 only: the race says so, and nothing is recorded', async ({
  served,
  open,
  dir,
}) => {
  const session = await open({ local: served });
  const { udpOnly } = served.origins;
  const tab = await session.newTab();
  await tab.goto(udpOnly.origin).catch(() => {});
  const popup = await session.openPopup(tab);
  await expectFailed(popup, `${udpOnly.host}:${udpOnly.port}`);
  expect(await violations(popup.tab)).toEqual([]);
  expect((await popup.race()).ok).toBe(true);
  await expect(popup.part('verdict')).toMention('HTTP/3');
  await expect(popup.part('verdict')).not.toMention('did not load');
  await expect(popup.part('aside')).toSay(/CONNECTION_REFUSED|connectionFailure/);
  await expect(popup.part('race')).toSay('Race again');
  await expect(popup.part('page-protocol')).toSay('Page failed to load');
  const known = (await exportedReport(popup, dir)).sites.flatMap((site) => site.origins);
  expect(known.map(({ protocols }) => protocols)).toEqual([{ h3: 0, h2: 0, 'http/1.1': 0, unknown: 0 }]);
});

test('a host where nothing responds, after a page that did: the race shows why', async ({ served, open }) => {
  const port = CLOSED_PORT;
  const closed = { origin: `https://closed.test:${port}`, host: 'closed.test', port };
  const session = await open({ local: { ...served, origins: { ...served.origins, closed } } });
  const tab = await session.newTab();
  await tab.goto(served.origins.both.origin);
  const popup = await session.openPopup(tab);
  await expect(popup.part('page-host')).toMention('both.test');
  await tab.goto(closed.origin).catch(() => {});
  await expectFailed(popup, `closed.test:${port}`);
  await popup.part('race').click();
  await expect(popup.part('race')).toSay('Race again', { timeoutMs: 60_000 });
  await expect(popup.part('verdict')).not.toMention('did not load');
  await expect(popup.tab.find('#finish')).toSay(/TCP refused/);
  // An earlier race does not explain a later failure.
  await tab.reload().catch(() => {});
  await expect(popup.part('race')).toSay('Race this host');
  await tab.goto(served.origins.both.origin);
  await expect(popup.part('page-host')).toMention('both.test');
});
