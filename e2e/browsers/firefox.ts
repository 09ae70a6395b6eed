// A real Firefox with the extension permanently installed and the test origins trusted; it learns about HTTP/3 from
// Alt-Svc. Its tabs are driven by Puppeteer over WebDriver BiDi, by privileged scripts where BiDi has no command, and
// by polling on the extension's own pages, for which BiDi sends no events (Mozilla bug 1755014).
import { once } from 'node:events';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import puppeteer, { type Browser, type ElementHandle, type Page } from 'puppeteer-core';
import { entriesBelow, zipOf } from '../packaging/archive.ts';
import { findBrowser } from '../run/find-browser.mjs';
import {
  type BrowserOptions,
  createTab,
  type Driver,
  describe,
  type Installer,
  type LocalOrigins,
  leave,
  locate,
  type ProxyChoice,
  type Query,
  type RunningBrowser,
  type Tab,
  until,
} from './browser.ts';
import { PrivilegedContext } from './firefox-privileged.ts';

const REST_TIMEOUT_MS = 30_000;

const CLICK_TRIES = 5;

async function handle(page: Page, query: Query): Promise<ElementHandle<Element>> {
  const found = (await page.evaluateHandle(locate, query)).asElement();
  if (found === null) throw new Error(`${describe(query)} is gone`);
  return found as ElementHandle<Element>;
}

/** The position of an element, and what covers its centre and would receive a click; null if nothing does. */
interface ElementPosition {
  readonly place: string;
  readonly cover: string | null;
}

/** Runs in the page. */
function positionOf(element: Element): ElementPosition {
  element.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  const { x, y, width, height } = element.getBoundingClientRect();
  const place = `${x} ${y} ${width} ${height}`;
  const top = document.elementFromPoint(x + width / 2, y + height / 2);
  if (top === null || element.contains(top) || top.contains(element)) return { place, cover: null };
  return { place, cover: top.id || top.className || top.tagName };
}

/** The element once it has stopped moving and would receive the click itself. */
async function clickable(page: Page, query: Query): Promise<ElementHandle<Element>> {
  let last: ElementPosition | null = null;
  // A tooltip at the pointer may cover the element, and disappears when the pointer moves.
  await page.mouse.move(0, 0);
  const free = async () => {
    const found = await handle(page, query);
    const before = last;
    last = await found.evaluate(positionOf);
    return last.cover === null && last.place === before?.place && found;
  };
  const found = await until(free, REST_TIMEOUT_MS);
  if (found === null) throw new Error(`${describe(query)} moves or is covered: ${JSON.stringify(last)}`);
  return found;
}

interface ClickWatch {
  /** Ends the watch and returns whether the click hit; null if there was none. Absent in a document that came after it. */
  endClickWatch?: () => boolean | null;
}

/** Runs in the page: notes whether the next click hits the element, and keeps it from everything else. */
function watchClick(element: Element): void {
  let hit: boolean | null = null;
  const { x, y, width, height } = element.getBoundingClientRect();
  const top = document.elementFromPoint(x + width / 2, y + height / 2);
  const onClick = (event: Event): void => {
    if (!event.isTrusted) return;
    removeEventListener('click', onClick, true);
    hit = event.target === top || (event.target instanceof Node && element.contains(event.target));
    if (hit) return;
    event.stopImmediatePropagation();
    event.preventDefault();
  };
  addEventListener('click', onClick, true);
  (globalThis as ClickWatch).endClickWatch = () => {
    removeEventListener('click', onClick, true);
    return hit;
  };
}

/** Clicks until the element itself is hit: on a busy machine a page may move between the look and the click. */
async function clickOn(page: Page, query: Query): Promise<void> {
  for (let tries = 0; tries < CLICK_TRIES; tries += 1) {
    const found = await clickable(page, query);
    await found.evaluate(watchClick);
    await found.click();
    // A click may close the page.
    const hit = await page.evaluate(() => (globalThis as ClickWatch).endClickWatch?.()).catch(() => true);
    if (hit !== false) return;
  }
  throw new Error(`${describe(query)} moves away from each click`);
}

/** Wraps a Puppeteer page as a tab. */
function firefoxTab(page: Page, privileged: PrivilegedContext): Tab {
  const context = privileged.contextOf(page);
  // Puppeteer's record of the URL misses the extension's pages.
  const url = () => page.evaluate(() => location.href);
  const isExtensionPage = (address: string) => address.startsWith('moz-extension:');

  const driver: Driver = {
    async goto(address, { timeoutMs } = {}) {
      if (!isExtensionPage(address)) {
        await page.goto(address, timeoutMs === undefined ? {} : { timeout: timeoutMs });
        return;
      }
      await leave(driver, () => privileged.navigate(context, address));
    },
    async reload() {
      if (!isExtensionPage(await url())) {
        await page.reload();
        return;
      }
      // Only after the evaluation has returned: the navigation destroys its context.
      await leave(driver, () => page.evaluate(() => void setTimeout(() => location.reload())));
    },
    evaluate: (run, argument) => page.evaluate(run as () => never, argument as never),
    async inject(script) {
      await page.evaluate(script);
    },
    async beforeScripts(script) {
      await page.evaluateOnNewDocument(script);
    },
    click: (query) => clickOn(page, query),
    hover: async (query) => (await handle(page, query)).hover(),
    async fill(query, text) {
      const field = await handle(page, query);
      await field.evaluate((element) => (element as HTMLInputElement).select());
      await field.focus();
      if (text === '') await page.keyboard.press('Delete');
      else await page.keyboard.type(text);
    },
    async choose(query, value) {
      await (await handle(page, query)).select(value);
    },
    press: (key) => page.keyboard.press(key),
    setViewport: (size) => page.setViewport(size),
    emulateMedia: (media) => privileged.emulateMedia(context, media),
    async screenshot(file, options) {
      await page.screenshot({ path: file as `${string}.png`, ...options });
    },
    async download(action) {
      const before = await privileged.downloads();
      await action();
      return privileged.downloadAfter(before);
    },
    extensionTabId: () => privileged.tabIdOf(context),
    bringToFront: () => page.bringToFront(),
    contentWorld: async (extensionOrigin, frameUrl) => {
      const host = new URL(extensionOrigin).host;
      return (expression) => privileged.inContentScript({ context, host, frameUrl, expression });
    },
    openDeveloperTools: () => privileged.openDeveloperTools(context),
    close: () => page.close(),
  };
  return createTab(driver);
}

export interface FirefoxOptions extends BrowserOptions {
  readonly profile: string;
  /** From `compileFirefox`; without it, the first start of a new profile takes longer. */
  readonly compiled?: string | undefined;
  /** Used as `$HOME`, where Firefox looks for native messaging hosts. */
  readonly home: string;
  /** The download directory. */
  readonly downloads: string;
  readonly local?: LocalOrigins | undefined;
  /** Named as in about:config; overridden by those set here. */
  readonly preferences?: Readonly<Record<string, unknown>>;
  /**
   * Whether the driver observes requests, which costs Firefox more time than the requests themselves; default: true.
   */
  readonly observesRequests?: boolean;
}

export interface RunningFirefox extends RunningBrowser {
  readonly newContainerTab: () => Promise<Tab>;
  /** Chrome-privileged functions. */
  readonly privileged: PrivilegedContext;
}

const START_TIMEOUT_MS = 60_000;
/** Pages have the same size in every browser here. */
const VIEWPORT = { width: 1280, height: 720 };

/**
 * Installs the extension permanently from its directory; requires an edition of Firefox that allows unsigned
 * extensions.
 */
const INSTALLED_FOR_GOOD = {
  'xpinstall.signatures.required': false,
  'extensions.autoDisableScopes': 0,
  // Permission prompts after a click are accepted automatically: there is no user.
  'extensions.webextOptionalPermissionPrompts': false,
};

const LOCAL = {
  'network.trr.mode': 5,
  // Like Chromium, Firefox refuses HTTP/3 with a private root; a preference changes that.
  'network.http.http3.disable_when_third_party_roots_found': false,
};

/**
 * On loopback, Firefox's own background requests may end at loopback too; in other networks only the origins' names
 * resolve.
 */
function localPreferences({ address }: LocalOrigins): Record<string, unknown> {
  return address === undefined ? { ...LOCAL, 'network.dns.forceResolve': '127.0.0.1' } : LOCAL;
}

async function meet(
  privileged: PrivilegedContext,
  { origins, caPath, address }: LocalOrigins,
): Promise<void> {
  await privileged.trust(await readFile(caPath, 'utf8'));
  for (const { host, address: own = address } of Object.values(origins))
    if (own !== undefined && own !== null) await privileged.resolve(host, own);
}

function downloadsTo(dir: string): Record<string, unknown> {
  return {
    'browser.download.folderList': 2,
    'browser.download.dir': dir,
    // An open panel swallows the next click.
    'browser.download.alwaysOpenPanel': false,
  };
}

/** `network.proxy.type`: 0 for none, 1 for the manual settings here. */
function proxyPreferences(proxy: ProxyChoice): Record<string, unknown> {
  if (proxy === 'none') return { 'network.proxy.type': 0 };
  return { 'network.proxy.type': 1, 'network.proxy.ssl': '127.0.0.1', 'network.proxy.ssl_port': proxy };
}

/** Puts every directory that Firefox and its helper derive from the user's environment below this one. */
export function homeEnvironment(home: string): NodeJS.ProcessEnv {
  const { XDG_CONFIG_HOME: _, XDG_DATA_HOME: __, ...environment } = process.env;
  return { ...environment, HOME: home };
}

async function addOnIn(extensionDir: string): Promise<string> {
  const manifest = JSON.parse(await readFile(join(extensionDir, 'manifest.json'), 'utf8'));
  return manifest.browser_specific_settings.gecko.id;
}

/** Makes Firefox find an extension at startup, through a file named after its id that contains the directory's path. */
async function placeExtension(profile: string, addOn: string, extensionDir: string): Promise<void> {
  await mkdir(join(profile, 'extensions'), { recursive: true, mode: 0o700 });
  await writeFile(join(profile, 'extensions', addOn), extensionDir);
}

/** Builds the package that a user would install; returns its path. */
async function packExtension(profile: string, extensionDir: string): Promise<string> {
  const file = join(profile, 'extension.xpi');
  await writeFile(file, zipOf(await entriesBelow(extensionDir)));
  return file;
}

/** Skips the second or so in which Firefox saves its state. */
async function kill(browser: Browser): Promise<void> {
  const child = browser.process();
  if (child === null || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  // With all child processes, which would otherwise write to the profile a moment longer: they are one process group.
  process.kill(-Number(child.pid), 'SIGKILL');
  await ended;
}

/** Starts Firefox. Throws if there is none, or if the extension does not load. */
export async function launchFirefox(options: FirefoxOptions): Promise<RunningFirefox> {
  const executablePath = findBrowser('firefox');
  if (executablePath === null)
    throw new Error('No Firefox was found. Install it or set PHOTOFINISH_FIREFOX.');
  const { profile, local, extensionDir, installsLater = false, observesRequests = true } = options;
  await mkdir(profile, { recursive: true, mode: 0o700 });
  const addOn = extensionDir === undefined ? '' : await addOnIn(extensionDir);
  const archive = extensionDir && installsLater ? await packExtension(profile, extensionDir) : null;
  if (extensionDir !== undefined && archive === null) await placeExtension(profile, addOn, extensionDir);
  // A used profile has its own startup cache.
  if (options.compiled !== undefined) await cp(options.compiled, profile, { recursive: true, force: false });
  const browser = await puppeteer.launch({
    browser: 'firefox',
    executablePath,
    timeout: START_TIMEOUT_MS,
    userDataDir: profile,
    headless: options.headless !== false,
    networkEnabled: observesRequests,
    defaultViewport: VIEWPORT,
    args: ['--remote-allow-system-access'],
    env: homeEnvironment(options.home),
    extraPrefsFirefox: {
      ...INSTALLED_FOR_GOOD,
      ...downloadsTo(options.downloads),
      ...(local && localPreferences(local)),
      ...(options.proxy !== undefined && proxyPreferences(options.proxy)),
      ...options.preferences,
    },
  });
  try {
    const privileged = await PrivilegedContext.open(browser, observesRequests);
    if (local) await meet(privileged, local);
    let host = addOn === '' || archive !== null ? '' : await privileged.hostOf(addOn);
    const installerOf = (file: string): Installer => ({
      async install() {
        await privileged.forgetRequests();
        // Attempts to the origins of the previous installation may fail as late as now.
        await privileged.closeConnections();
        await privileged.endHttp3Exclusions();
        await privileged.install(file);
        host = await privileged.hostOf(addOn);
      },
      async uninstall() {
        await privileged.closeTabs();
        await privileged.uninstall(addOn);
      },
    });
    return {
      installer: archive === null ? null : installerOf(archive),
      privileged,
      version: (await browser.version()).replace('firefox/', ''),
      newTab: async () => firefoxTab(await browser.newPage(), privileged),
      // A BiDi user context is a container.
      newContainerTab: async () =>
        firefoxTab(await (await browser.createBrowserContext()).newPage(), privileged),
      extensionUrl: (page) => `moz-extension://${host}/${page}`,
      requests: () => privileged.requests(),
      stopBackground: () => privileged.stopBackground(addOn),
      allowPrivateWindows: () => privileged.allowPrivateWindows(addOn),
      closed: new Promise((resolve) => browser.once('disconnected', () => resolve())),
      close: () => browser.close(),
      kill: () => kill(browser),
      abandon: () => kill(browser),
    };
  } catch (error) {
    await browser.close();
    throw error;
  }
}
