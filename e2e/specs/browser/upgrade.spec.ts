// The main use case: a site is HTTP/2 on the first visit and HTTP/3 on the next, and browser, toolbar, popup and every
// format of the exported report say so, with our own server and with Caddy; forecasts are scored. On third-party
// servers the report counts each response under the protocol that the server logged.
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { navigationProtocol, type Tab, visitUntil } from '../../browsers/browser.ts';
import type { Session } from '../../browsers/session.ts';
import { SCRIPTS } from '../../origins/stack.ts';
import { presentStacks } from '../../origins/stacks.ts';
import { GO_MISSING } from '../../test-programs.ts';
import { badgeText, expect, exportedReport, test } from '../fixtures.ts';
import { COUNTED } from '../steps.ts';

async function expectUpgrade(session: Session, tab: Tab, origin: string, dir: string): Promise<void> {
  await tab.goto(origin);
  expect(await navigationProtocol(tab)).toBe('h2');
  const popup = await session.openPopup(tab);
  await expect(popup.part('page-protocol')).toSay('HTTP/2');
  await expect.poll(() => badgeText(popup, tab)).toBe('H2');

  await visitUntil(tab, origin, 'h3');
  await expect(popup.part('page-protocol')).toSay('HTTP/3');
  await expect(popup.part('verdict')).toMention('Reached over HTTP/3');
  await expect.poll(() => badgeText(popup, tab)).toBe('H3');
  const rows = await popup.origins();
  expect(rows.map((row) => row.protocol)).toContain('h3');

  // The popup shows a visit before it is stored.
  let report = await exportedReport(popup, dir);
  await expect
    .poll(async () => {
      report = await exportedReport(popup, dir);
      return report.sites[0]?.adoption.byNavigation.h3;
    })
    .toBe(1);
  const [site] = report.sites;
  expect(report.sites).toHaveLength(1);
  expect(site?.origins.map((o) => o.origin)).toEqual([origin]);
  const protocols = site?.origins[0]?.protocols;
  expect(protocols?.h2).toBeGreaterThanOrEqual(1);
  expect(protocols?.h3).toBeGreaterThanOrEqual(1);
  expect(site?.origins[0]?.verdict.code).toBe('h3-used');

  await popup.exportAllSites('csv', join(dir, 'report.csv'));
  const [, row] = (await readFile(join(dir, 'report.csv'), 'utf8')).split('\r\n');
  expect(row).toContain(origin);
  await popup.exportAllSites('html', join(dir, 'report.html'));
  const html = await session.newTab();
  await html.goto(`file://${join(dir, 'report.html')}`);
  await expect(html.find('main')).toMention(new URL(origin).host);
  await expect(html.find('main')).toMention('Reached over HTTP/3');
}

test('our own origin: h2, then h3, shown everywhere', async ({ local, open, dir }) => {
  const session = await open();
  await expectUpgrade(session, await session.newTab(), local.origins.both.origin, dir);
});

test('Caddy: h2, then h3, shown everywhere', async ({ local, caddy, open, dir }) => {
  test.skip(caddy === null, GO_MISSING);
  if (caddy === null) return;
  const session = await open({ local: { ...local, origins: { caddy } } });
  await expectUpgrade(session, await session.newTab(), caddy.origin, dir);
});

test('once HTTP/3 was used here it is forecast, and the forecast is scored as right', async ({
  local,
  open,
  dir,
}) => {
  const session = await open();
  const tab = await session.newTab();
  const { origin } = local.origins.both;
  await visitUntil(tab, origin, 'h3');
  const popup = await session.openPopup(tab);
  await expect(popup.part('page-protocol')).toSay('HTTP/3');
  // Observations are sent to the helper in batches; a later navigation is forecast from them. A response that precedes
  // its forecast, as possible on loopback, is not scored.
  await expect(async () => {
    await tab.bringToFront();
    await tab.goto(`${origin}/?delay=500`);
    await expect
      .poll(async () => (await popup.origins())[0], { timeout: 4000 })
      .toMatchObject({ protocol: 'h3', scored: 'right' });
  }).toPass();

  // The popup shows a score before it is stored.
  await expect(async () => {
    const [site] = (await exportedReport(popup, dir)).sites;
    expect(site?.accuracy.of).toBeGreaterThanOrEqual(1);
    expect(site?.accuracy.hits).toBeGreaterThanOrEqual(1);
    expect(site?.hitRatio.of).toBeGreaterThanOrEqual(2);
  }).toPass();
});

test('a first visit has no forecast, and nothing is scored', async ({ local, open, dir }) => {
  const session = await open();
  const tab = await session.newTab();
  const { origin, host } = local.origins.h2only;
  await tab.goto(origin);
  const popup = await session.openPopup(tab);
  await expect(popup.part('helper')).toMention('helper 1.');
  // The helper was asked, and knew nothing.
  await expect
    .poll(async () => (await exportedReport(popup, dir)).sites.find(({ site }) => site === host))
    .toMatchObject({ hitRatio: { hits: 0, of: 1 }, accuracy: { of: 0 } });
  expect((await popup.origins())[0]).toMatchObject({ protocol: 'h2', forecast: '–', scored: null });
});

const HOST = 'both.test';
/** The first is over HTTP/2, and a later one over HTTP/3 if it is offered; on a busy machine much later. */
const VISITS = { least: 4, most: 15 };

test('each response is counted under the protocol that its server logged', async ({
  authority,
  dir,
  open,
}) => {
  const running = await Promise.all(
    presentStacks().map(async (stack, index) => {
      const own = join(dir, `stack-${index}`);
      await mkdir(own);
      const started = await stack.start({ host: HOST, certifiedBy: authority, dir: own });
      return { ...started, name: stack.name, origin: `https://${HOST}:${started.port}` };
    }),
  );
  try {
    const origins = running.map(({ name, origin, port }) => [name, { origin, port, host: HOST }] as const);
    const session = await open({ local: { ...authority, origins: Object.fromEntries(origins) } });
    const tab = await session.newTab();
    const upgraded = new Set<string>();
    const isUpgraded = () => running.every(({ h3, name }) => !h3 || upgraded.has(name));
    let visits = 0;
    while (visits < VISITS.least || (visits < VISITS.most && !isUpgraded())) {
      visits += 1;
      for (const { origin, path = '/', name } of running) {
        await tab.goto(`${origin}${path}`);
        // A page left before its responses have arrived does not report them.
        const loaded = () => tab.evaluate(() => performance.getEntriesByType('resource').length);
        await expect.poll(loaded).toBe(SCRIPTS.length);
        if ((await navigationProtocol(tab)) === 'h3') upgraded.add(name);
      }
    }
    const popup = await session.openPopup(null);
    await expect(async () => {
      const { sites } = await exportedReport(popup, dir);
      const reported = sites.flatMap((site) => site.origins);
      for (const { name, origin, served } of running) {
        const logged = { h3: 0, h2: 0, 'http/1.1': 0, unknown: 0 };
        for (const protocol of await served()) logged[protocol] += 1;
        const own = reported.find((each) => each.origin === origin);
        expect({ name, ...own?.protocols }).toEqual({ name, ...logged });
      }
    }).toPass({ ...COUNTED, intervals: [1000] });
    for (const { name, h3, served, version } of running) {
      const protocols = await served();
      expect(protocols).toHaveLength(visits * (1 + SCRIPTS.length));
      expect(protocols.includes('h3'), `${name} ${version}`).toBe(h3);
    }
  } finally {
    for (const { stop } of running) await stop();
  }
});
