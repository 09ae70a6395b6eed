// Starts a real Chromium with the extension loaded and the test origins trusted, yet with its own
// unforced way to HTTP/3: it has to learn Alt-Svc as it does anywhere else.
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { type BrowserContext, chromium, type Page, type Worker } from '@playwright/test';
import { scratchDirectory } from '../scratch.ts';

/** Branded Chrome is absent on purpose: it no longer takes `--load-extension`. */
const NAMES_ON_PATH = ['chromium', 'chromium-browser'];
const MAC_APPLICATION = '/Applications/Chromium.app/Contents/MacOS/Chromium';

/**
 * A port that none of the origins listens on. `--origin-to-force-quic-on=HOST:PORT` forces QUIC on that port
 * only, but lets the whole HOST speak QUIC under a private root, which Chromium otherwise refuses.
 */
const UNUSED_PORT = 9;

/** What a browser must know of local origins; whatever `startOrigins` gives fits. */
export interface LocalOrigins {
  readonly origins: Readonly<Record<string, { readonly host: string }>>;
  readonly spki: readonly string[];
}

export interface ChromiumOptions {
  /** The built extension; none loads if absent. */
  extensionDir?: string;
  /** Kept if given; otherwise a fresh one that `close` removes. */
  userDataDir?: string;
  /** Local origins to find and to trust. Without them names and certificates are as everywhere else. */
  origins?: LocalOrigins | undefined;
  /** True unless said. */
  headless?: boolean;
  /** Stands in for `$HOME`. */
  home?: string;
  extraArgs?: readonly string[];
}

export interface RunningChromium {
  context: BrowserContext;
  /** Empty without an extension. */
  extensionId: string;
  userDataDir: string;
  /** The extension's service worker, started again by the browser if it has ended meanwhile. */
  serviceWorker(): Promise<Worker>;
  close(): Promise<void>;
}

/** The Chromium to test with: `$PHOTOFINISH_CHROMIUM`, else the one on the path. Throws if there is none. */
export function findChromium(): string {
  const { PHOTOFINISH_CHROMIUM: chosen, PATH = '' } = process.env;
  const onPath = NAMES_ON_PATH.flatMap((name) =>
    PATH.split(path.delimiter).map((dir) => path.join(dir, name)),
  );
  const places = chosen ? [chosen] : [...onPath, MAC_APPLICATION];
  const found = places.find((place) => existsSync(place));
  if (found) return found;
  const where = chosen ?? `${NAMES_ON_PATH.join(' or ')} on the path`;
  throw new Error(`No Chromium: ${where} was not found. Install it or set PHOTOFINISH_CHROMIUM.`);
}

/** Starts Chromium. Throws if there is none, or if the extension does not load. */
export async function launchChromium(options: ChromiumOptions): Promise<RunningChromium> {
  const executablePath = findChromium();
  const userDataDir = options.userDataDir ?? (await scratchDirectory('chromium'));
  const { extensionDir } = options;
  const context = await chromium.launchPersistentContext(userDataDir, {
    executablePath,
    // `--headless=new` is among the arguments: Playwright's own switch would pick a headless shell.
    headless: false,
    args: chromiumArguments(options),
    ignoreDefaultArgs: ['--disable-extensions'],
    ...(options.home && { env: { ...environment(), HOME: options.home } }),
  });
  const worker = () => extensionWorker(context);
  const extensionId = extensionDir ? new URL((await worker()).url()).host : '';

  return {
    context,
    extensionId,
    userDataDir,
    serviceWorker: worker,
    async close() {
      await context.close();
      if (options.userDataDir === undefined) await rm(userDataDir, { recursive: true, force: true });
    },
  };
}

/**
 * Visits `url` until the browser itself reports `protocol` for the navigation, and returns how many visits
 * that took. Throws after `tries` visits, naming what the browser used instead.
 */
export async function visitUntil(
  page: Page,
  url: string,
  protocol: string,
  { tries = 10 }: { tries?: number } = {},
): Promise<number> {
  let used = '';
  for (let visit = 1; visit <= tries; visit += 1) {
    await page.goto(url);
    used = await navigationProtocol(page);
    if (used === protocol) return visit;
  }
  throw new Error(`${url} came over ${used || 'no known protocol'} ${tries} times, never over ${protocol}.`);
}

/** The protocol of the page's own navigation as the browser reports it, `''` where it hides it. */
export function navigationProtocol(page: Page): Promise<string> {
  return page.evaluate(() => {
    const [entry] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
    return entry?.nextHopProtocol ?? '';
  });
}

function chromiumArguments(options: ChromiumOptions): string[] {
  const { extensionDir, origins } = options;
  return [
    ...(options.headless === false ? [] : ['--headless=new']),
    ...(extensionDir
      ? [`--load-extension=${extensionDir}`, `--disable-extensions-except=${extensionDir}`]
      : []),
    ...(origins ? localArguments(origins) : []),
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--no-first-run',
    // The sandbox refuses to start as root, as in containers.
    ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
    ...(options.extraArgs ?? []),
  ];
}

function localArguments({ origins, spki }: LocalOrigins): string[] {
  const hosts = Object.values(origins).map(({ host }) => `${host}:${UNUSED_PORT}`);
  return [
    '--host-resolver-rules=MAP *.test 127.0.0.1',
    `--ignore-certificate-errors-spki-list=${spki.join(',')}`,
    `--origin-to-force-quic-on=${hosts.join(',')}`,
  ];
}

// Sites have service workers too.
async function extensionWorker(context: BrowserContext): Promise<Worker> {
  const ofExtension = (worker: Worker) => worker.url().startsWith('chrome-extension://');
  const running = context.serviceWorkers().find(ofExtension);
  return running ?? (await context.waitForEvent('serviceworker', ofExtension));
}

function environment(): Record<string, string> {
  const entries = Object.entries(process.env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return Object.fromEntries(entries);
}
