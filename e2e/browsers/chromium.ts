// Starts a real Chromium with the extension loaded and the test origins trusted, yet with its own
// unforced way to HTTP/3: it has to learn Alt-Svc as it does anywhere else.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type BrowserContext, chromium, type Request, type Worker } from '@playwright/test';
import { findBrowser } from '../run/find-browser.mjs';
import { scratchDirectory } from '../scratch.ts';
import { chromiumTab } from './chromium-tab.ts';
import type { LocalOrigins, ProxyChoice, RunningBrowser, SeenRequest } from './running.ts';
import { until } from './tab.ts';

/**
 * A port that none of the origins listens on. `--origin-to-force-quic-on=HOST:PORT` forces QUIC on that port
 * only, but lets the whole HOST speak QUIC under a private root, which Chromium otherwise refuses.
 */
const UNUSED_PORT = 9;
const RELOAD_TIMEOUT_MS = 15_000;

export interface ChromiumOptions {
  /** The built extension; none loads if absent. */
  extensionDir?: string;
  /** Kept if given; otherwise a fresh one that `close` removes. */
  userDataDir?: string;
  /** Local origins to find and to trust. Without them names and certificates are as everywhere else. */
  local?: Omit<LocalOrigins, 'caPath'> | undefined;
  /** True unless said. */
  headless?: boolean;
  proxy?: ProxyChoice | undefined;
  /** Of a fresh profile, by the names of Chromium's own file of preferences. */
  preferences?: object;
  extraArgs?: readonly string[];
}

export interface RunningChromium extends RunningBrowser {
  /** For what only Chromium can show, by Playwright. */
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
    // `--headless=new` is among the arguments: Playwright's own switch would pick a headless shell.
    headless: false,
    args: chromiumArguments(options),
    ignoreDefaultArgs: ['--disable-extensions'],
  });
  const seen: SeenRequest[] = [];
  context.on('request', (request) => seen.push({ url: request.url(), byExtension: isByExtension(request) }));
  const close = async () => {
    await context.close();
    if (options.userDataDir === undefined) await rm(userDataDir, { recursive: true, force: true });
  };
  const extensionId = extensionDir ? new URL((await extensionWorker(context)).url()).host : '';

  return {
    context,
    version: context.browser()?.version() ?? 'unknown',
    newTab: async () => chromiumTab(await context.newPage()),
    newContainerTab: null,
    extensionUrl: (page) => `chrome-extension://${extensionId}/${page}`,
    requests: async () => seen,
    stopBackground: () => stopWorkers(context),
    allowPrivateWindows: () => allowIncognito(context, extensionId),
    closed: new Promise((resolve) => context.once('close', () => resolve())),
    close,
    // It ends in a moment anyway.
    abandon: close,
  };
}

async function stopWorkers(context: BrowserContext): Promise<void> {
  const page = context.pages()[0] ?? (await context.newPage());
  const cdp = await context.newCDPSession(page);
  await cdp.send('ServiceWorker.enable');
  await cdp.send('ServiceWorker.stopAllWorkers');
  await cdp.detach();
}

/** What Chromium's own page of extensions has, and nobody else. */
interface ExtensionsPage {
  readonly developerPrivate: {
    updateProfileConfiguration(update: { inDeveloperMode: boolean }): Promise<void>;
    updateExtensionConfiguration(update: { extensionId: string; incognitoAccess: boolean }): Promise<void>;
  };
}

async function allowIncognito(context: BrowserContext, extensionId: string): Promise<void> {
  const page = await context.newPage();
  await page.goto('chrome://extensions');
  await page.evaluate(async (id) => {
    const { developerPrivate } = chrome as unknown as ExtensionsPage;
    // Else an unpacked extension is switched off when it starts anew.
    await developerPrivate.updateProfileConfiguration({ inDeveloperMode: true });
    await developerPrivate.updateExtensionConfiguration({ extensionId: id, incognitoAccess: true });
  }, extensionId);
  const allowed = async () => {
    await page.goto(`chrome-extension://${extensionId}/manifest.json`);
    return page.evaluate(() => chrome.extension.isAllowedIncognitoAccess());
  };
  // While it starts anew, none of its pages can be opened.
  if ((await until(() => allowed().catch(() => false), RELOAD_TIMEOUT_MS)) === null)
    throw new Error('Chromium does not let the extension into private windows');
  await page.close();
}

async function writePreferences(userDataDir: string, preferences: object): Promise<void> {
  const profile = join(userDataDir, 'Default');
  await mkdir(profile, { recursive: true, mode: 0o700 });
  await writeFile(join(profile, 'Preferences'), JSON.stringify(preferences));
}

function chromiumArguments(options: ChromiumOptions): string[] {
  const { extensionDir, local, proxy } = options;
  return [
    ...(options.headless === false ? [] : ['--headless=new']),
    ...(extensionDir
      ? [`--load-extension=${extensionDir}`, `--disable-extensions-except=${extensionDir}`]
      : []),
    ...(local ? localArguments(local) : []),
    ...(proxy === undefined ? [] : [proxyArgument(proxy)]),
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--no-first-run',
    // The sandbox refuses to start as root, as in containers.
    ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
    ...(options.extraArgs ?? []),
  ];
}

function proxyArgument(proxy: ProxyChoice): string {
  return proxy === 'none' ? '--no-proxy-server' : `--proxy-server=http://127.0.0.1:${proxy}`;
}

function localArguments({ origins, spki, address = '127.0.0.1' }: Omit<LocalOrigins, 'caPath'>): string[] {
  const hosts = Object.values(origins).map(({ host }) => `${host}:${UNUSED_PORT}`);
  return [
    `--host-resolver-rules=MAP *.test ${address}`,
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
    // The first document of a tab, before which there is no frame: nobody's in the tab.
    return false;
  }
}

// Sites have service workers too.
async function extensionWorker(context: BrowserContext): Promise<Worker> {
  const ofExtension = (worker: Worker) => isOfExtension(worker.url());
  const running = context.serviceWorkers().find(ofExtension);
  return running ?? (await context.waitForEvent('serviceworker', ofExtension));
}
