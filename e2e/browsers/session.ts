// One installation as a user has it: its own profile, the helper installed for it, and a browser with the extension, of
// which the popup is operated as a user does it. Both the guided tour and the specs use it, so that they show the same
// product.
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ObservationMode } from '@photofinish/shared/web/observation';
import { runOrThrow } from '../child-process.ts';
import type { RunningOrigins } from '../origins/start.ts';
import { copyInFullMode } from '../playwright/extension.ts';
import type { BrowserKind } from '../run/find-browser.mjs';
import { TOP } from '../scratch.ts';
import {
  type Part,
  type ProxyChoice,
  type RunningBrowser,
  type Tab,
  type LocalOrigins as TrustedOrigins,
  until,
} from './browser.ts';
import { launchChromium } from './chromium.ts';
import { homeEnvironment, launchFirefox } from './firefox.ts';
import { storedSettings } from './stored.ts';

const HELPER_COMMAND = join(TOP, 'native-host/bin/photofinish');
const POPUP_SIZE = { width: 520, height: 600 };
/** For the welcome page: a browser event, a start of the background and one read of its storage. */
const OPEN_TIMEOUT_MS = 45_000;
const ANSWER_TIMEOUT_MS = 45_000;

/** Background work of Firefox, such as telemetry and preloading, that does not affect how pages load. */
export const QUIET_FIREFOX = {
  'app.normandy.enabled': false,
  'app.shield.optoutstudies.enabled': false,
  'browser.search.serpEventTelemetryCategorization.enabled': false,
  'browser.urlbar.quicksuggest.enabled': false,
  'dom.ipc.processPrelaunch.enabled': false,
  'nimbus.rollouts.enabled': false,
  'toolkit.telemetry.archive.enabled': false,
  'toolkit.telemetry.unified': false,
};

/** What a session needs to know about local origins; the result of `startOrigins` fits. */
export type LocalOrigins = Pick<RunningOrigins<string>, 'origins' | 'caPath' | 'certificates' | 'spki'>;

export interface SessionOptions {
  readonly browser: BrowserKind;
  /** Profile, settings and host cache are created in here; nothing is removed. */
  readonly dir: string;
  /** If absent, the session uses the real network: no host mapping, no certificate exceptions. */
  readonly local?: LocalOrigins | undefined;
  /**
   * The DNS server that the helper asks about the local origins, as `address:port`; default: it is given their addresses,
   * and so does not learn what DNS advertises.
   */
  readonly resolver?: string | undefined;
  readonly headless: boolean;
  /** Whether the helper is installed; default: true. */
  readonly helper?: boolean;
  /** Whether the user consents to the extension using the helper, in browsers that ask for it; default: as `helper`. */
  readonly consent?: boolean;
  readonly proxy?: ProxyChoice | undefined;
  /** Chromium's observation mode; default: full. In light mode it is the edition as it is published. */
  readonly mode?: ObservationMode | undefined;
  /** The startup cache for Firefox, from `compileFirefox`. */
  readonly compiled?: string | undefined;
  /** For Firefox: whether the driver observes requests; default: true. */
  readonly observesRequests?: boolean;
}

/** The options that affect the launch of the browser. */
export interface LaunchOptions extends Omit<SessionOptions, 'helper' | 'consent' | 'local' | 'resolver'> {
  readonly local?: TrustedOrigins | undefined;
}

export interface SessionFiles {
  readonly browser: BrowserKind;
  /** Used as `$HOME` where the browser looks for the helper below it. */
  readonly home: string;
  readonly profile: string;
  readonly config: string;
  readonly cache: string;
}

export interface Session extends Omit<RunningBrowser, 'closed' | 'installer' | 'kill'> {
  readonly kind: BrowserKind;
  readonly files: SessionFiles;
  /** Opens a page of the extension in a new tab, such as `dashboard/dashboard.html`. */
  openPage(page: string): Promise<Tab>;
  /** Opens the popup for that tab in a new tab; for null, it offers only the export. */
  openPopup(tab: Tab | null): Promise<Popup>;
  /** Restarts the browser with the same profile. Its tabs are gone. */
  restart(): Promise<void>;
  /** Kills the browser and starts it again with the same profile. */
  crash(): Promise<void>;
  /** Resolves when the currently running browser has exited, for whatever reason. */
  closed(): Promise<void>;
}

/** The files of an installation in `dir`. */
export function sessionFiles(browser: BrowserKind, dir: string): SessionFiles {
  return {
    browser,
    home: join(dir, 'home'),
    profile: join(dir, 'profile'),
    config: join(dir, 'config.json'),
    cache: join(dir, 'cache.db'),
  };
}

/** Where this installation's browser looks for the helper's manifest. */
export function hostDirectory({ browser, home, profile }: SessionFiles): string {
  return browser === 'chromium'
    ? join(profile, 'NativeMessagingHosts')
    : join(home, '.mozilla', 'native-messaging-hosts');
}

/** The helper's settings for these origins: how to find them, the CA to trust, and permission to use loopback. */
function helperSettings(cache: string, local?: LocalOrigins, resolver?: string): object {
  if (local === undefined) return { cache };
  const reach = { cache, allowPrivate: ['127.0.0.0/8'], ca: [local.caPath] };
  if (resolver !== undefined) return { ...reach, resolver };
  const resolve = Object.values(local.origins).map(({ host, port, address = '127.0.0.1' }) => [
    `${host}:${port}`,
    address,
  ]);
  return { ...reach, resolve: Object.fromEntries(resolve) };
}

/** Writes the helper's settings and installs it for the browser, as `photofinish install` does. */
export async function installHelper(
  files: SessionFiles,
  local?: LocalOrigins,
  resolver?: string,
): Promise<void> {
  const { browser, home, profile, config } = files;
  const settings = JSON.stringify(helperSettings(files.cache, local, resolver), null, 2);
  await writeFile(config, `${settings}\n`, { mode: 0o600 });
  const args = ['install', '--browser', browser, '--config', config];
  if (browser === 'chromium') {
    await mkdir(profile, { recursive: true });
    args.push('--user-data-dir', profile);
  }
  const env = browser === 'chromium' ? process.env : homeEnvironment(home);
  await runOrThrow(HELPER_COMMAND, args, { env });
}

/** Starts the browser of an installation, with the extension unless `installsLater` is set. */
export async function launch(
  options: LaunchOptions & { readonly installsLater?: boolean },
  files: SessionFiles,
): Promise<RunningBrowser> {
  const { browser, dir, headless, local, proxy, compiled } = options;
  const { installsLater = false, mode = 'full', observesRequests = true } = options;
  const { profile, home } = files;
  const built = join(TOP, 'extension', 'dist', browser);
  const common = { installsLater, headless, local, proxy };
  if (browser === 'chromium') {
    const extensionDir = mode === 'full' ? await copyInFullMode(built, join(dir, 'extension')) : built;
    return launchChromium({ ...common, extensionDir, userDataDir: profile });
  }
  const places = { extensionDir: built, profile, home, downloads: join(dir, 'downloads') };
  return launchFirefox({ ...common, ...places, compiled, observesRequests, preferences: QUIET_FIREFOX });
}

/**
 * The WebExtension id of a tab. The extension cannot see the URL of a tab that is not an https page, so the tab is
 * brought to the front and the one used last is taken.
 */
async function tabIdOf(tab: Tab, extensionPage: Tab): Promise<number> {
  await tab.bringToFront();
  const address = await tab.url();
  const id = await extensionPage.evaluate(async (url) => {
    const own = await chrome.tabs.getCurrent();
    const tabs = (await chrome.tabs.query({})).filter(({ id }) => id !== own?.id);
    // Firefox reports the tab's URL with the password in it, the page without.
    const plain = (each: chrome.tabs.Tab) => each.url?.replace(/^https:\/\/[^/@]*@/, 'https://');
    const fits = tabs.filter((each) => !url.startsWith('https:') || plain(each) === url);
    fits.sort((a, b) => (b.lastAccessed ?? 0) - (a.lastAccessed ?? 0));
    return fits[0]?.id ?? null;
  }, address);
  if (id === null) throw new Error(`the extension sees no tab with ${address}`);
  return id;
}

/** Creates the directories of an installation; returns whether its profile is new. */
export async function makeDirectories({ home, profile }: SessionFiles): Promise<boolean> {
  const made = { recursive: true, mode: 0o700 } as const;
  await mkdir(home, made);
  return (await mkdir(profile, made)) !== undefined;
}

/** Runs in a page of the extension: closes the welcome page if it is open, and returns whether it was. */
async function closeIfOpen(): Promise<boolean> {
  const tabs = await chrome.tabs.query({ url: chrome.runtime.getURL('welcome/welcome.html') });
  await chrome.tabs.remove(tabs.flatMap(({ id }) => id ?? []));
  return tabs.length > 0;
}

/**
 * Runs in a page of the extension: whether consent to the helper is missing. The browser knows this before the page
 * shows it.
 */
async function wantsConsent(): Promise<boolean> {
  if (location.protocol !== 'moz-extension:') return false;
  const handedOn = { data_collection: ['browsingActivity'] } as chrome.permissions.Permissions;
  return !(await chrome.permissions.contains(handedOn));
}

/**
 * Completes the first steps of an installation, so that they never interfere with a spec: closes the welcome page, and
 * consents to the helper where the browser asks (Firefox). Uses the options page, and closes it. Throws if the welcome
 * page of a new profile, which is `fresh`, does not open by itself.
 */
export async function settleIn(
  options: Tab,
  { fresh, consent }: Record<'fresh' | 'consent', boolean>,
): Promise<void> {
  if (fresh) {
    // Stored once the page is open; the background of a new installation may not answer yet.
    const welcomed = async () => (await storedSettings(options).catch(() => null))?.welcomed === true;
    if ((await until(welcomed, OPEN_TIMEOUT_MS)) === null) throw new Error('the welcome page did not open');
    if ((await until(() => options.evaluate(closeIfOpen), OPEN_TIMEOUT_MS)) === null)
      throw new Error('the welcome page cannot be found');
  }
  const status = options.part('helper');
  if ((await until(() => status.text(), ANSWER_TIMEOUT_MS)) === null)
    throw new Error('the options say nothing about the helper');
  if (consent && (await options.evaluate(wantsConsent))) {
    const ask = options.find('#consent-ask');
    await ask.click();
    const gone = async () => !(await ask.isVisible());
    if ((await until(gone, ANSWER_TIMEOUT_MS)) === null) throw new Error('the consent was not taken');
  }
  await options.close();
}

/** Creates the installation in `dir` and opens the browser. */
export async function openSession(options: SessionOptions): Promise<Session> {
  const files = sessionFiles(options.browser, options.dir);
  const fresh = await makeDirectories(files);
  const { helper = true, consent = helper } = options;
  if (helper) await installHelper(files, options.local, options.resolver);
  let running = await launch(options, files);
  const session = sessionWith(files, () => running, {
    async restart() {
      await running.close();
      running = await launch(options, files);
    },
    async crash() {
      await running.kill();
      running = await launch(options, files);
    },
    allowPrivateWindows: () => running.allowPrivateWindows(),
    close: () => running.close(),
    abandon: () => running.abandon(),
  });
  await settleIn(await session.openPage('options/options.html'), { fresh, consent });
  return session;
}

/** A session with the currently running browser; the caller that started the browser defines how it ends. */
export function sessionWith(
  files: SessionFiles,
  running: () => RunningBrowser,
  ends: Pick<Session, 'restart' | 'crash' | 'allowPrivateWindows' | 'close' | 'abandon'>,
): Session {
  const openPage = async (page: string): Promise<Tab> => {
    const tab = await running().newTab();
    await tab.goto(running().extensionUrl(page));
    return tab;
  };
  return {
    ...ends,
    kind: files.browser,
    files,
    version: running().version,
    newTab: () => running().newTab(),
    get newContainerTab() {
      return running().newContainerTab;
    },
    extensionUrl: (page) => running().extensionUrl(page),
    openPage,
    async openPopup(shown) {
      const page = 'popup/popup.html';
      const known = await shown?.extensionTabId?.();
      const tab = await openPage(known === undefined ? page : `${page}?tab=${known}`);
      await tab.setViewport(POPUP_SIZE);
      if (shown !== null && known === undefined)
        await tab.goto(running().extensionUrl(`${page}?tab=${await tabIdOf(shown, tab)}`));
      await tab.bringToFront();
      return new Popup(tab);
    },
    requests: () => running().requests(),
    stopBackground: () => running().stopBackground(),
    closed: () => running().closed,
  };
}

export type ReportFormat = 'html' | 'json' | 'csv';

/** A row of the popup's table of origins, as displayed. */
export interface OriginRow {
  readonly origin: string;
  readonly protocol: string;
  readonly requests: number;
  /** `h3`, `–`; see `scored`. */
  readonly forecast: string;
  /** Whether the popup marks the forecast as right or wrong; null if neither. */
  readonly scored: 'right' | 'wrong' | null;
  readonly race: string;
}

/** For connecting to the helper and three pairs of attempts that may all time out. */
const RACE_TIMEOUT_MS = 60_000;
/** How often a user clicks an unresponsive button, and how long they wait in between. */
const MENU_CLICKS = 3;
const MENU_TIMEOUT_MS = 2000;
const DRAWN_TIMEOUT_MS = 10_000;

export class Popup {
  readonly tab: Tab;

  constructor(tab: Tab) {
    this.tab = tab;
  }

  /** By its `data-testid`. */
  part(testId: string): Part {
    return this.tab.part(testId);
  }

  /** The table of origins, top to bottom. */
  async origins(): Promise<OriginRow[]> {
    return this.tab.evaluate(() =>
      [...document.querySelectorAll('#origin-table tbody[data-origin]')].map((body) => {
        const text = (selector: string) => body.querySelector(`tr.main ${selector}`)?.textContent ?? '';
        const sign = body.querySelector('tr.main .sign');
        return {
          origin: body.getAttribute('data-origin') ?? '',
          protocol: text('.protocol .name'),
          requests: Number(text('.requests')),
          // Only its symbol is visible; the protocol is for screen readers.
          forecast: text('.foretold') || text('.forecast'),
          scored: sign?.matches('.right') ? 'right' : sign?.matches('.wrong') ? 'wrong' : null,
          race: text('.race'),
        };
      }),
    );
  }

  /**
   * Clicks *Race now* for the page's own origin and waits for the race to end. Returns the text below the drawing, or
   * the popup's message about a race that could not be run.
   */
  async race(): Promise<{ ok: boolean; words: string }> {
    const button = this.part('race');
    await button.click({ timeoutMs: RACE_TIMEOUT_MS });
    const over = async () => (await button.isVisible()) && (await button.text()) !== 'Cancel';
    if ((await until(over, RACE_TIMEOUT_MS)) === null) throw new Error('the race did not end');
    const failure = await this.tab.find('#finish-words').look();
    if (failure.visible) return { ok: false, words: failure.text };
    return { ok: true, words: await this.tab.find('#finish-drawing title').text() };
  }

  /** Exports the report of all sites through the menu and saves the download as `file`. */
  async exportAllSites(format: ReportFormat, file: string): Promise<void> {
    const item = this.tab.find('[role=menuitem]', `All sites as ${format.toUpperCase()}`);
    // The menu's items are replaced when the page becomes known.
    const isDrawn = async () => (await this.tab.find('#view').attribute('aria-busy')) !== 'true';
    await until(isDrawn, DRAWN_TIMEOUT_MS);
    const download = await this.tab.download(async () => {
      // The footer moves when something above it changes, such as the notice that the helper is missing, and a click
      // then misses.
      for (let click = 0; click < MENU_CLICKS && !(await item.isVisible()); click += 1) {
        await this.part('export').click();
        await until(() => item.isVisible(), MENU_TIMEOUT_MS);
      }
      await item.click();
    });
    await copyFile(download.file, file);
  }
}
