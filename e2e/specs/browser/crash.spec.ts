// The browser killed while recording, and a full disk: the ledger's contents survive, nothing is counted twice, and
// recording continues. `PHOTOFINISH_BROWSER_KILLS` sets how often it is killed.
import { mkdir, open as openFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { seededRandom } from '@photofinish/shared/testing/seeded-random';
import { storedRequests } from '../../browsers/stored.ts';
import { runOrThrow } from '../../child-process.ts';
import { ORIGIN_KINDS } from '../../origins/start.ts';
import { expect } from '../fixtures.ts';
import { servedTest } from '../steps.ts';

const { both, h2only } = ORIGIN_KINDS;
const test = servedTest({ both, h2only });

const KILLS = Number(process.env.PHOTOFINISH_BROWSER_KILLS ?? 3);
const KILL_MS = 20_000;
/** More than a browser profile needs, and quickly filled. */
const DISK_BYTES = 400 * 1024 * 1024;

test('the browser is killed at random moments while pages load, and the ledger loses nothing it had', async ({
  open,
  served,
}) => {
  test.setTimeout(120_000 + KILLS * KILL_MS);
  const random = seededRandom(7);
  const session = await open({ own: true, local: served });
  const { origins, seen } = served;
  const page = `${origins.h2only.origin}/page?resources=60&from=${origins.both.origin},${origins.h2only.origin}`;
  const servedBy = (origin: string) => seen.filter((request) => request.origin === origin).length;
  const first = await session.openPage('options/options.html');
  await (await session.newTab()).goto(page);
  const stored = async (origin: string) => (await storedRequests(first)).get(origin) ?? 0;
  for (const { origin } of Object.values(origins)) await expect.poll(() => stored(origin)).toBeGreaterThan(0);
  let before: ReadonlyMap<string, number> = new Map();
  for (let kill = 0; kill < KILLS; kill += 1) {
    const reader = await session.openPage('options/options.html');
    const tab = await session.newTab();
    const load = tab.goto(page).catch(() => null);
    await pause(200 + random() * 1300);
    before = await storedRequests(reader);
    expect(before.size).toBeGreaterThan(0);
    await Promise.all([load, session.crash()]);
    const after = await storedRequests(await session.openPage('options/options.html'));
    for (const [origin, count] of before)
      expect(after.get(origin), `${origin} after kill ${kill + 1}`).toBeGreaterThanOrEqual(count);
    for (const [origin, count] of after)
      expect(count, `${origin} after kill ${kill + 1}`).toBeLessThanOrEqual(servedBy(origin));
  }
  const reader = await session.openPage('options/options.html');
  before = await storedRequests(reader);
  const tab = await session.newTab();
  const seenBefore = servedBy(origins.both.origin);
  await tab.goto(page);
  await expect(tab.find('#summary[data-done]')).toBeSeen();
  // The server's log may be late too.
  const missing = async () => {
    const served = servedBy(origins.both.origin) - seenBefore;
    const stored = (await storedRequests(reader)).get(origins.both.origin) ?? 0;
    return served === 0 ? null : served - (stored - (before.get(origins.both.origin) ?? 0));
  };
  await expect.poll(missing).toBe(0);
});

test('while the disk is full the popup says so, and recorded data is still there afterwards', async ({
  dir,
  open,
  served,
}) => {
  const skipped =
    process.platform === 'linux' && process.getuid?.() === 0 ? null : 'needs root, to mount a small disk';
  test.skip(skipped !== null, skipped ?? '');
  const disk = join(dir, 'disk');
  await mkdir(disk);
  await runOrThrow('mount', ['-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'tmpfs', disk]);
  try {
    const session = await open({ own: true, dir: disk, local: served });
    const { origins } = served;
    const tab = await session.newTab();
    await tab.goto(`${origins.h2only.origin}/`);
    const popup = await session.openPopup(tab);
    await expect.poll(async () => (await storedRequests(popup.tab)).get(origins.h2only.origin)).toBe(1);

    const filler = join(disk, 'filler');
    await fill(filler);
    await tab.goto(`${origins.h2only.origin}/page?resources=300&from=${origins.both.origin}`);
    await expect(tab.find('#summary[data-done]')).toBeSeen();
    await expect(popup.part('trouble')).toSay(/nothing is being recorded.*free up some space/);
    await rm(filler);
    // Of what arrived while nothing could be stored, the most recent may still be pending.
    await tab.goto(`${origins.h2only.origin}/`);
    // The database may still refuse to be read just after the disk was full.
    await expect(async () => {
      const stored = await storedRequests(popup.tab);
      expect(stored.get(origins.h2only.origin)).toBeGreaterThanOrEqual(2);
    }).toPass();
    await expect(popup.part('trouble')).not.toBeSeen();
    await session.close();
  } finally {
    await runOrThrow('umount', ['--lazy', disk]);
  }
});

/** Fills the file system that contains `file`. */
async function fill(file: string): Promise<void> {
  const handle = await openFile(file, 'w');
  const block = Buffer.alloc(1024 * 1024);
  let bytes = block.length;
  while (bytes >= 1) {
    try {
      const { bytesWritten } = await handle.write(block, 0, bytes);
      if (bytesWritten < bytes) throw new Error('full');
    } catch {
      bytes = Math.floor(bytes / 2);
    }
  }
  await handle.close();
}
