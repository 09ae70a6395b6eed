// One installation as a user has it: a profile of its own, the helper installed into it, and Chromium with the
// extension. The guided tour and the specs begin here, so that both show the same thing.
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { BrowserContext, Page } from '@playwright/test';
import type { RunningOrigins } from '../origins/start.ts';
import { launchChromium } from './chromium.ts';
import { Popup } from './popup.ts';

const EXTENSION = fileURLToPath(new URL('../../extension/dist/chromium', import.meta.url));
const HELPER_COMMAND = fileURLToPath(new URL('../../native-host/bin/photofinish', import.meta.url));

/** What a session needs to know of local origins; anything that `startOrigins` gives fits. */
export type LocalOrigins = Pick<RunningOrigins<string>, 'origins' | 'caPath' | 'certificates' | 'spki'>;

export interface SessionOptions {
  /** Profile, settings and host cache are made in here; nothing is removed. */
  readonly dir: string;
  /** Without them the session is for the real network: no name is mapped, no certificate pardoned. */
  readonly local?: LocalOrigins;
  readonly headless: boolean;
  /** Whether the helper is installed; true unless said. */
  readonly helper?: boolean;
}

export interface SessionFiles {
  readonly profile: string;
  readonly config: string;
  readonly cache: string;
}

export interface Session {
  readonly context: BrowserContext;
  readonly files: SessionFiles;
  /** Opens the popup in a tab of its own, showing the tab of `page`; without one there is nothing but the export. */
  openPopup(page: Page | null): Promise<Popup>;
  close(): Promise<void>;
}

/** The helper's settings for these origins: where they are, whom to trust, and that loopback is allowed. */
function helperSettings(cache: string, local: LocalOrigins | undefined): object {
  if (local === undefined) return { cache };
  const resolve = Object.values(local.origins).map(({ host, port }) => [`${host}:${port}`, '127.0.0.1']);
  return { cache, allowPrivate: ['127.0.0.0/8'], ca: [local.caPath], resolve: Object.fromEntries(resolve) };
}

/** Writes the helper's settings and installs it into the profile, as `photofinish install` does for anybody. */
export async function installHelper(files: SessionFiles, local?: LocalOrigins): Promise<void> {
  const settings = JSON.stringify(helperSettings(files.cache, local), null, 2);
  await writeFile(files.config, `${settings}\n`, { mode: 0o600 });
  const profile = ['--browser', 'chromium', '--user-data-dir', files.profile];
  await promisify(execFile)(HELPER_COMMAND, ['install', ...profile, '--config', files.config]);
}

/**
 * The id that the browser knows a page's tab by. The extension sees no address of a tab that is no https page, so the
 * page is brought to the front and its tab is the one that was used last.
 */
async function tabIdOf(page: Page, extensionPage: Page): Promise<number> {
  await page.bringToFront();
  const own = extensionPage.url();
  const id = await extensionPage.evaluate(
    async ([url, ownUrl]) => {
      const tabs = (await chrome.tabs.query({})).filter((tab) => tab.url !== ownUrl);
      const candidates = tabs.filter((tab) => tab.url === (url.startsWith('https:') ? url : undefined));
      candidates.sort((a, b) => (b.lastAccessed ?? 0) - (a.lastAccessed ?? 0));
      return candidates[0]?.id ?? null;
    },
    [page.url(), own] as const,
  );
  if (id === null) throw new Error(`the extension sees no tab with ${page.url()}`);
  return id;
}

/** Makes the installation in `dir` and opens the browser. */
export async function openSession(options: SessionOptions): Promise<Session> {
  const { dir, local, headless } = options;
  const files = {
    profile: join(dir, 'profile'),
    config: join(dir, 'config.json'),
    cache: join(dir, 'cache.db'),
  };
  await mkdir(files.profile, { recursive: true, mode: 0o700 });
  if (options.helper !== false) await installHelper(files, local);
  const chromium = await launchChromium({
    extensionDir: EXTENSION,
    userDataDir: files.profile,
    headless,
    ...(local && { origins: local }),
  });
  const { context } = chromium;

  const openPopup = async (page: Page | null): Promise<Popup> => {
    const url = `chrome-extension://${chromium.extensionId}/popup/popup.html`;
    const popup = await context.newPage();
    await popup.setViewportSize({ width: 400, height: 600 });
    await popup.goto(url);
    if (page !== null) await popup.goto(`${url}?tab=${await tabIdOf(page, popup)}`);
    await popup.bringToFront();
    return new Popup(popup);
  };
  return { context, files, openPopup, close: chromium.close };
}
