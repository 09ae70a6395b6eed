// Real-world trouble: no helper, a helper that crashes, an outdated one, a background that the browser terminates at
// any moment. No record is lost, and the popup says what to do.
import { readdirSync, readFileSync } from 'node:fs';
import { chmod, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { HOST_NAME } from '@photofinish/shared/port/extension-id';
import { hostDirectory, installHelper } from '../../browsers/session.ts';
import { storedRequests } from '../../browsers/stored.ts';
import { expect, exportedReport, runPhotofinish, test } from '../fixtures.ts';

const OLD_HOST = fileURLToPath(new URL('../../helper/old-host.mjs', import.meta.url));

/** Processes of the helper that were started with this configuration file. */
function helpersOf(config: string): number[] {
  const pids = readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name));
  return pids.map(Number).filter((pid) => {
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      return words.includes(config) && words.some((word) => word.endsWith('main.cjs'));
    } catch {
      return false;
    }
  });
}

/** Waits for the helper to run and kills it at once. */
async function killHelper(config: string): Promise<void> {
  await expect.poll(() => helpersOf(config).length).toBeGreaterThan(0);
  for (const pid of helpersOf(config)) process.kill(pid, 'SIGKILL');
}

test('without the helper pages are still recorded, and the popup says how to get it', async ({
  local,
  open,
}) => {
  const session = await open({ helper: false, consent: true });
  const tab = await session.newTab();
  await tab.goto(local.origins.both.origin);
  const popup = await session.openPopup(tab);
  await expect(popup.part('page-protocol')).toSay('HTTP/2');
  const help = popup.part('helper-help');
  await expect(help).toSay(/npx @photofinish\/helper@\d+ install/);

  await installHelper(session.files, local);
  // The background also retries by itself: the button may then disappear just before it is pressed.
  const retry = popup.tab.find('#helper-retry');
  await expect(async () => {
    if (await retry.isVisible()) await retry.click();
    await expect(popup.part('helper')).toMention('helper 1.', { timeoutMs: 5000 });
  }).toPass();
  await expect(help).not.toBeSeen();
  expect((await popup.race()).ok).toBe(true);
});

test('a killed helper is restarted, and what the browser used reaches its cache', async ({ local, open }) => {
  const session = await open();
  const tab = await session.newTab();
  const { both, h2only } = local.origins;
  await tab.goto(both.origin);
  const popup = await session.openPopup(tab);
  await expect(popup.part('helper')).toMention('helper 1.');
  await killHelper(session.files.config);
  await tab.goto(h2only.origin);
  await expect(popup.part('page-protocol')).toSay('HTTP/2');
  await expect
    .poll(async () => (await runPhotofinish(['cache', 'list', '--cache', session.files.cache])).stdout, {
      timeout: 60_000,
    })
    .toContain(h2only.host);
  await expect(popup.part('helper')).toMention('helper 1.', { timeoutMs: 60_000 });
});

test('a helper of another version, or one that crashes, is reported with the command that helps, everywhere', async ({
  local,
  open,
}) => {
  const session = await open();
  const manifest = join(hostDirectory(session.files), `${HOST_NAME}.json`);
  const launcher = join(session.files.profile, 'old-host.sh');
  await writeFile(launcher, `#!/bin/sh\nexec '${process.execPath}' '${OLD_HOST}'\n`);
  await chmod(launcher, 0o700);
  await writeFile(
    manifest,
    JSON.stringify({ ...JSON.parse(await readFile(manifest, 'utf8')), path: launcher }),
  );
  await killHelper(session.files.config);
  const tab = await session.newTab();
  await tab.goto(local.origins.both.origin);
  const popup = await session.openPopup(tab);
  await expect(popup.part('helper-help')).toSay(/^The helper is older than this extension/, {
    timeoutMs: 60_000,
  });
  await expect(popup.part('page-protocol')).toSay('HTTP/2');
  const options = await session.openPage('options/options.html');
  const welcome = await session.openPage('welcome/welcome.html');
  const pages = [options, welcome];
  for (const page of pages) {
    await expect(page.part('helper')).toSay(/^The helper is older than this extension/);
    await expect(page.find('#command code')).toMention(' install --browser ');
  }

  // The browser may be executing the other one, which Linux then lets nobody write (ETXTBSY).
  const crashing = join(session.files.profile, 'crashing-host.sh');
  await writeFile(crashing, '#!/bin/sh\nexit 3\n', { mode: 0o700 });
  await rename(crashing, launcher);
  await popup.tab.bringToFront();
  await popup.tab.find('#helper-retry').click();
  await expect(popup.part('helper-help')).toSay(/^The helper stopped/);
  for (const page of pages) {
    await expect(page.part('helper')).toSay(/^The helper stopped/);
    await expect(page.find('#command code')).toSay(/ doctor$/);
  }
  await expect(welcome.find('#install-needs')).not.toBeSeen();
});

test('the background is terminated again and again, and every request is counted once', async ({
  local,
  open,
  dir,
}) => {
  const session = await open();
  const { both, h2only } = local.origins;
  const tab = await session.newTab();
  await tab.goto(both.origin);
  const popup = await session.openPopup(tab);
  const VISITS = 4;
  const RESOURCES = 30;
  for (let visit = 0; visit < VISITS; visit += 1) {
    const loaded = tab.goto(`${h2only.origin}/page?resources=${RESOURCES}&delay=100&from=${h2only.origin}`);
    // At another moment of the load every time: before the first byte, between the resources, after them.
    await pause(visit * 100);
    await session.stopBackground();
    await loaded;
    await expect(tab.find('#summary[data-done]')).toBeSeen();
    await session.stopBackground();
    // A page repeats a message until it is acknowledged; on unload it can send only once.
    await expect
      .poll(async () => (await storedRequests(popup.tab)).get(h2only.origin), { timeout: 60_000 })
      .toBe((visit + 1) * (RESOURCES + 1));
  }
  await expect
    .poll(
      async () => {
        const report = await exportedReport(popup, dir);
        const site = report.sites.find((each) => each.site === h2only.host);
        return site?.origins.find((each) => each.origin === h2only.origin)?.protocols;
      },
      { timeout: 60_000 },
    )
    .toEqual({ h3: 0, h2: VISITS * (RESOURCES + 1), 'http/1.1': 0, unknown: 0 });
});

test('records survive a restart of the browser, and recording continues', async ({ local, open, dir }) => {
  const session = await open({ own: true });
  const { h2only } = local.origins;
  for (const visits of [1, 2]) {
    await (await session.newTab()).goto(h2only.origin);
    const popup = await session.openPopup(null);
    await expect
      .poll(async () => (await exportedReport(popup, dir)).sites.map((site) => site.origins[0]?.protocols))
      .toEqual([{ h3: 0, h2: visits, 'http/1.1': 0, unknown: 0 }]);
    await session.restart();
  }
});

test('an export completes even if the background is terminated meanwhile', async ({ local, open, dir }) => {
  const session = await open();
  const tab = await session.newTab();
  await tab.goto(local.origins.both.origin);
  const popup = await session.openPopup(tab);
  const recorded = [local.origins.both.host];
  // The popup shows a page before it is stored.
  await expect
    .poll(async () => (await exportedReport(popup, dir)).sites.map((each) => each.site))
    .toEqual(recorded);
  for (let round = 0; round < 5; round += 1) {
    const [report] = await Promise.all([exportedReport(popup, dir), session.stopBackground()]);
    expect(report.sites.map((each) => each.site)).toEqual(recorded);
  }
});
