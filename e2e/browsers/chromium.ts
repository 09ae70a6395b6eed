// A real Chromium with the extension loaded and the test origins trusted, without forcing HTTP/3: it has to learn about
// it from Alt-Svc, as with any site. Its tabs are driven by Playwright.
import { mkdir, readlink, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type BrowserContext,
  type CDPSession,
  chromium,
  type ElementHandle,
  type Page,
  type Request,
  type Worker,
} from '@playwright/test';
import { findBrowser } from '../run/find-browser.mjs';
import { scratchDirectory } from '../scratch.ts';
import {
  type BrowserOptions,
  createTab,
  type Driver,
  describe,
  type InContentScript,
  type Installer,
  type LocalOrigins,
  locate,
  type ProxyChoice,
  type Query,
  type RunningBrowser,
  type SeenRequest,
  type Tab,
  until,
} from './browser.ts';

const FOUND_TIMEOUT_MS = 30_000;

/** The content script's execution context in the page, or in its frame with this URL. */
async function contentWorld(
  page: Page,
  extensionOrigin: string,
  frameUrl?: string,
): Promise<InContentScript> {
  const frame = frameUrl === undefined ? page.mainFrame() : page.frames().find((f) => f.url() === frameUrl);
  if (frame === undefined) throw new Error(`no frame shows ${frameUrl}`);
  // A cross-site frame is a separate target; a same-site frame uses its page's target.
  const session: CDPSession = await page
    .context()
    .newCDPSession(frame)
    .catch(() => page.context().newCDPSession(page));
  let world: number | null = null;
  session.on('Runtime.executionContextCreated', ({ context }) => {
    if (context.origin === extensionOrigin) world = context.id;
  });
  await session.send('Runtime.enable');
  const contextId = await until(async () => world, FOUND_TIMEOUT_MS);
  if (contextId === null) throw new Error('the content script has no world in this page');
  return async (expression) => {
    const options = { expression, contextId, awaitPromise: true, returnByValue: true };
    const { result, exceptionDetails } = await session.send('Runtime.evaluate', options);
    if (exceptionDetails !== undefined)
      throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  };
}

/** For elements that move or disappear just as they are clicked. */
const STILL_TIMEOUT_MS = 30_000;

async function handle(page: Page, query: Query): Promise<ElementHandle> {
  const found = (await page.evaluateHandle(locate, query)).asElement();
  if (found === null) throw new Error(`${describe(query)} is gone`);
  return found;
}

async function openDeveloperTools(page: Page): Promise<void> {
  const context = page.context();
  const ofPage = await context.newCDPSession(page);
  const { targetInfo } = await ofPage.send('Target.getTargetInfo');
  await ofPage.detach();
  const { targetId } = targetInfo;
  await command(context, (session) => session.send('Target.openDevTools', { targetId }));
}

/** Chooses *On click* for the extension's access to sites. */
export async function chooseAccessOnClick(tab: Tab, extensionId: string): Promise<void> {
  await tab.goto('chrome://extensions');
  await tab.evaluate(async (id) => {
    const { developerPrivate } = chrome as unknown as ExtensionsPage;
    await developerPrivate.updateExtensionConfiguration({ extensionId: id, hostAccess: 'ON_CLICK' });
  }, extensionId);
}

/** Clicks the extension's toolbar icon above that tab, which must be the only one with its URL. */
export async function clickToolbarIcon(tab: Tab, id: string): Promise<void> {
  await tab.bringToFront();
  const url = await tab.url();
  await command(playwrightPage(tab).context(), async (session) => {
    const { targetInfos } = await session.send('Target.getTargets', { filter: [{ type: 'tab' }] });
    const targetId = targetInfos.find((target) => target.url === url)?.targetId ?? '';
    await session.send('Extensions.triggerAction', { id, targetId });
  });
}

const pages = new WeakMap<Tab, Page>();

/** Playwright's page of a tab, for features that only Chromium exposes. */
export function playwrightPage(tab: Tab): Page {
  const page = pages.get(tab);
  if (page === undefined) throw new Error('no tab of Chromium');
  return page;
}

/** Wraps a Playwright page as a tab. */
export function chromiumTab(page: Page): Tab {
  const driver: Driver = {
    async goto(url, { timeoutMs } = {}) {
      await page.goto(url, timeoutMs === undefined ? {} : { timeout: timeoutMs });
    },
    async reload() {
      await page.reload();
    },
    // Playwright's types unwrap handles in the argument; it contains none here.
    evaluate: (run, argument) => page.evaluate(run as () => never, argument),
    async inject(script) {
      await page.evaluate(script);
    },
    async beforeScripts(script) {
      await page.addInitScript(script);
    },
    async click(query) {
      // A tooltip at the pointer may cover the element, and disappears when the pointer moves.
      await page.mouse.move(0, 0);
      await (await handle(page, query)).click({ timeout: STILL_TIMEOUT_MS });
    },
    hover: async (query) => (await handle(page, query)).hover(),
    fill: async (query, text) => (await handle(page, query)).fill(text),
    async choose(query, value) {
      await (await handle(page, query)).selectOption(value);
    },
    press: (key) => page.keyboard.press(key),
    setViewport: (size) => page.setViewportSize(size),
    emulateMedia: (media) => page.emulateMedia(media),
    async screenshot(file, options) {
      // A scroll bar takes its width off a page that has a fixed one; the content security policy blocks injected styles.
      const browser = await page.context().newCDPSession(page);
      if (options?.fullPage === true) {
        await browser.send('Emulation.setScrollbarsHidden', { hidden: true });
        await page.waitForFunction(() => document.documentElement.clientWidth === innerWidth);
        // A tooltip at the pointer would cover what the picture is of.
        await page.mouse.move(0, 0);
      }
      await page.screenshot({ path: file, ...options });
      await browser.detach();
    },
    async download(action) {
      const [download] = await Promise.all([page.waitForEvent('download'), action()]);
      return { file: await download.path(), name: download.suggestedFilename() };
    },
    extensionTabId: null,
    bringToFront: () => page.bringToFront(),
    contentWorld: (extensionOrigin, frameUrl) => contentWorld(page, extensionOrigin, frameUrl),
    openDeveloperTools: () => openDeveloperTools(page),
    close: () => page.close(),
  };
  const tab = createTab(driver);
  pages.set(tab, page);
  return tab;
}

/**
 * A port that none of the origins listens on. `--origin-to-force-quic-on=HOST:PORT` forces QUIC on that port only, but
 * allows the whole HOST to use QUIC with a private root, which Chromium otherwise refuses.
 */
const UNUSED_PORT = 9;
const START_TIMEOUT_MS = 60_000;
const RELOAD_TIMEOUT_MS = 45_000;

export interface ChromiumOptions extends BrowserOptions {
  /** If given, the profile is kept; otherwise a new one is created and `close` removes it. */
  userDataDir?: string;
  /** Local origins to resolve and trust. Without them, names and certificates are treated as usual. */
  local?: Omit<LocalOrigins, 'caPath'> | undefined;
  /** Preferences of a new profile, named as in Chromium's preferences file. */
  preferences?: object;
  extraArgs?: readonly string[];
}

export interface RunningChromium extends RunningBrowser {
  /** Playwright's context, for features that only Chromium exposes. */
  readonly context: BrowserContext;
}

/** Starts Chromium. Throws if there is none, or if the extension does not load. */
export async function launchChromium(options: ChromiumOptions): Promise<RunningChromium> {
  const executablePath = findBrowser('chromium');
  if (executablePath === null)
    throw new Error('No Chromium was found. Install it or set PHOTOFINISH_CHROMIUM.');
  const userDataDir = options.userDataDir ?? (await scratchDirectory('chromium'));
  const { extensionDir, preferences } = options;
  if (preferences !== undefined) await writePreferences(userDataDir, preferences);
  const context = await chromium.launchPersistentContext(userDataDir, {
    executablePath,
    timeout: START_TIMEOUT_MS,
    env: chromiumEnvironment(userDataDir),
    // `--headless=new` is passed as an argument: Playwright's headless mode would choose a headless shell.
    headless: false,
    args: chromiumArguments(options),
    // As in any Chromium, a page gone back to comes out of the back/forward cache.
    ignoreDefaultArgs: ['--disable-extensions', '--disable-back-forward-cache'],
  });
  const seen: SeenRequest[] = [];
  context.on('request', (request) => seen.push({ url: request.url(), byExtension: isByExtension(request) }));
  const closed = new Promise<void>((resolve) => context.once('close', () => resolve()));
  const close = async () => {
    await context.close();
    if (options.userDataDir === undefined) await rm(userDataDir, { recursive: true, force: true });
  };
  const later = extensionDir !== undefined && options.installsLater === true;
  let extensionId = extensionDir && !later ? new URL((await extensionWorker(context)).url()).host : '';
  const installer: Installer = {
    async install() {
      seen.length = 0;
      const source = { path: extensionDir ?? '' };
      const loaded = await command(context, (session) => session.send('Extensions.loadUnpacked', source));
      extensionId = loaded.id;
    },
    async uninstall() {
      await closeTabs(context);
      // It returns once all of the extension's storage has been deleted.
      await command(context, (session) => session.send('Extensions.uninstall', { id: extensionId }));
    },
  };

  return {
    context,
    installer: later ? installer : null,
    version: context.browser()?.version() ?? 'unknown',
    newTab: async () => chromiumTab(await context.newPage()),
    newContainerTab: null,
    extensionUrl: (page) => `chrome-extension://${extensionId}/${page}`,
    requests: async () => seen,
    stopBackground: () => stopWorkers(context),
    allowPrivateWindows: () => allowIncognito(context, extensionId),
    closed,
    close,
    async kill() {
      process.kill(await processOf(userDataDir), 'SIGKILL');
      await closed;
    },
    // It exits quickly anyway.
    abandon: close,
  };
}

/** The process that uses a profile, which it locks with a symbolic link that names it: `machine-1234`. */
export async function processOf(userDataDir: string): Promise<number> {
  const lock = await readlink(join(userDataDir, 'SingletonLock'));
  return Number(lock.slice(lock.lastIndexOf('-') + 1));
}

/** Browser-level CDP commands missing from Playwright's types. */
interface BrowserCommands {
  send(method: 'Target.openDevTools', options: { targetId: string }): Promise<void>;
  send(
    method: 'Target.getTargets',
    options: { filter: readonly { type: string }[] },
  ): Promise<{ targetInfos: readonly { url: string; targetId: string }[] }>;
  send(method: 'Extensions.triggerAction', options: { id: string; targetId: string }): Promise<void>;
  send(method: 'Extensions.loadUnpacked', options: { path: string }): Promise<{ id: string }>;
  send(method: 'Extensions.uninstall', options: { id: string }): Promise<void>;
  detach(): Promise<void>;
}

async function command<Result>(
  context: BrowserContext,
  run: (session: BrowserCommands) => Promise<Result>,
): Promise<Result> {
  const session = await context.browser()?.newBrowserCDPSession();
  if (session === undefined) throw new Error('the browser takes no commands');
  try {
    return await run(session as unknown as BrowserCommands);
  } finally {
    await session.detach();
  }
}

async function closeTabs(context: BrowserContext): Promise<void> {
  const tabs = context.pages();
  await context.newPage();
  for (const tab of tabs) await tab.close();
}

async function stopWorkers(context: BrowserContext): Promise<void> {
  const page = context.pages()[0] ?? (await context.newPage());
  const cdp = await context.newCDPSession(page);
  await cdp.send('ServiceWorker.enable');
  await cdp.send('ServiceWorker.stopAllWorkers');
  await cdp.detach();
}

/** The API of chrome://extensions, available only there. */
interface ExtensionsPage {
  readonly developerPrivate: {
    updateProfileConfiguration(update: { inDeveloperMode: boolean }): Promise<void>;
    updateExtensionConfiguration(update: {
      extensionId: string;
      incognitoAccess?: boolean;
      hostAccess?: 'ON_CLICK';
    }): Promise<void>;
  };
}

async function allowIncognito(context: BrowserContext, extensionId: string): Promise<void> {
  const page = await context.newPage();
  await page.goto('chrome://extensions');
  await page.evaluate(async (id) => {
    const { developerPrivate } = chrome as unknown as ExtensionsPage;
    // Otherwise an unpacked extension is disabled when it is reloaded.
    await developerPrivate.updateProfileConfiguration({ inDeveloperMode: true });
    await developerPrivate.updateExtensionConfiguration({ extensionId: id, incognitoAccess: true });
  }, extensionId);
  const allowed = async () => {
    await page.goto(`chrome-extension://${extensionId}/manifest.json`);
    return page.evaluate(() => chrome.extension.isAllowedIncognitoAccess());
  };
  // While it reloads, none of its pages can be opened.
  if ((await until(() => allowed().catch(() => false), RELOAD_TIMEOUT_MS)) === null)
    throw new Error('Chromium does not let the extension into private windows');
  await page.close();
}

async function writePreferences(userDataDir: string, preferences: object): Promise<void> {
  const profile = join(userDataDir, 'Default');
  await mkdir(profile, { recursive: true, mode: 0o700 });
  await writeFile(join(profile, 'Preferences'), JSON.stringify(preferences));
}

/** Whatever its profile, it makes directories for crash reports and GTK where the user's own would be. */
export function chromiumEnvironment(userDataDir: string): Record<string, string | undefined> {
  return {
    ...process.env,
    CHROME_CONFIG_HOME: join(userDataDir, 'config'),
    XDG_CACHE_HOME: join(userDataDir, 'cache'),
  };
}

/** What the command line of Chromium has besides its profile and how it is driven. */
export function chromiumArguments(options: ChromiumOptions): string[] {
  const { extensionDir, local, proxy } = options;
  return [
    ...(options.headless === false ? [] : ['--headless=new']),
    ...(extensionDir ? extensionArguments(extensionDir, options.installsLater === true) : []),
    ...(local ? localArguments(local) : []),
    ...(proxy === undefined ? [] : [proxyArgument(proxy)]),
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--no-first-run',
    // The sandbox refuses to run as root, as in containers.
    ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
    ...(options.extraArgs ?? []),
  ];
}

function extensionArguments(dir: string, later: boolean): string[] {
  if (later) return ['--enable-unsafe-extension-debugging'];
  return [`--load-extension=${dir}`, `--disable-extensions-except=${dir}`];
}

function proxyArgument(proxy: ProxyChoice): string {
  return proxy === 'none' ? '--no-proxy-server' : `--proxy-server=http://127.0.0.1:${proxy}`;
}

function localArguments({ origins, spki, address = '127.0.0.1' }: Omit<LocalOrigins, 'caPath'>): string[] {
  const all = Object.values(origins);
  const hosts = all.map(({ host }) => `${host}:${UNUSED_PORT}`);
  // The first matching rule applies.
  const rules = [
    ...all
      .filter((origin) => origin.address !== undefined || !origin.host.endsWith('.test'))
      .map((origin) => `MAP ${origin.host} ${origin.address ?? address}`),
    `MAP *.test ${address}`,
  ];
  return [
    ...(address === null ? [] : [`--host-resolver-rules=${rules.join(',')}`]),
    `--ignore-certificate-errors-spki-list=${spki.join(',')}`,
    `--origin-to-force-quic-on=${hosts.join(',')}`,
  ];
}

const isOfExtension = (url: string) => url.startsWith('chrome-extension://');

function isByExtension(request: Request): boolean {
  const worker = request.serviceWorker();
  if (worker !== null) return isOfExtension(worker.url());
  try {
    return isOfExtension(request.frame().url());
  } catch {
    // The first document of a tab has no frame yet: the request does not belong to the tab.
    return false;
  }
}

// Sites may have service workers too.
async function extensionWorker(context: BrowserContext): Promise<Worker> {
  const ofExtension = (worker: Worker) => isOfExtension(worker.url());
  const running = context.serviceWorkers().find(ofExtension);
  return running ?? (await context.waitForEvent('serviceworker', ofExtension));
}
