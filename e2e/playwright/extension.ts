// The extension in a test's browser: a copy that is in full mode from the first request, and what it knows, through its
// own message API, for which one of its pages is opened for the query and closed afterwards; and how networks are named
// in its reports.
import { existsSync } from 'node:fs';
import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isRecognisable, UNIDENTIFIED } from '@photofinish/shared/web/network-name';
import type { BrowserContext, Page } from '@playwright/test';
// Type-only import: both sides of this port are built together.
import type { PageView, PopupEvent } from '../../extension/common/messages.ts';
import { defaultCachePath } from '../../native-host/config.ts';
import { keptSalt, readSalt, saltPath } from '../../native-host/network/key.ts';
import type { Report } from '../../shared/report/report.ts';

interface Manifest {
  readonly permissions: readonly string[];
  readonly optional_permissions?: readonly string[];
}

/**
 * Copies the built edition in `from` to the directory `to`, there with its optional permissions required. A user grants
 * them later and restarts Chromium; programs that open a new browser to observe what it does have no use for its light
 * mode, except to test it.
 */
export async function copyInFullMode(from: string, to: string): Promise<string> {
  await rm(to, { recursive: true, force: true });
  await cp(from, to, { recursive: true });
  const file = join(to, 'manifest.json');
  const manifest: Manifest = JSON.parse(await readFile(file, 'utf8'));
  const { optional_permissions: optional = [], permissions, ...others } = manifest;
  await writeFile(file, JSON.stringify({ ...others, permissions: [...permissions, ...optional] }, null, 2));
  return to;
}

const ANSWER_TIMEOUT_MS = 15_000;
/** A test visits few sites, and a report of hundreds takes seconds. */
const REPORT_TIMEOUT_MS = 60_000;

/** What the fixture `context` set up; `extension` is its page's origin, null in browsers without it. */
interface ContextSetup {
  readonly extension: string | null;
  /** Whether the helper names a network as in other tests. */
  readonly namesNetworks: boolean;
}

const setups = new WeakMap<BrowserContext, ContextSetup>();

/** To be called for each context of the fixtures, before its first page. */
export function registerContext(context: BrowserContext, setup: ContextSetup): void {
  setups.set(context, setup);
}

/** Whether it is a context of the fixtures with the extension in it. */
export function hasExtension(context: BrowserContext): boolean {
  return setups.get(context)?.extension != null;
}

/** Throws for a context of somebody else, which no extension and no observer sees. */
export function checkContext(context: BrowserContext): void {
  if (setups.has(context)) return;
  throw new Error(
    'Photofinish sees only pages of the fixture `context`, and this page is of another context: use the fixture `page` or `context.newPage()`.',
  );
}

/**
 * What the extension shows for a tab once its ledger has been read: before that, verdicts rest on this visit alone. If
 * a first, partial view arrives, a delta follows; a second `watch` then returns the whole view.
 */
function askWholeView(page: Page, tabId: number) {
  return page.evaluate(
    ([watched, timeoutMs]) =>
      new Promise<unknown>((resolve, reject) => {
        const port = chrome.runtime.connect({ name: 'popup' });
        const watch = () => port.postMessage({ type: 'watch', tabId: watched });
        setTimeout(() => reject(new Error('the extension does not answer')), timeoutMs);
        port.onMessage.addListener((event: PopupEvent) => {
          if (event.type === 'page' && (event.page.complete || event.page.state !== 'recorded'))
            resolve(event.page);
          if (event.type === 'page-delta' && event.delta.fields.complete === true) watch();
        });
        port.onDisconnect.addListener(() => reject(new Error('the extension closed the connection')));
        watch();
      }),
    [tabId, ANSWER_TIMEOUT_MS] as const,
  ) as Promise<PageView>;
}

/** Has what waits for its timings recorded, which takes a few seconds at most. */
function settle(page: Page): Promise<void> {
  return page.evaluate(
    (timeoutMs) =>
      new Promise<void>((resolve, reject) => {
        const port = chrome.runtime.connect({ name: 'popup' });
        setTimeout(() => reject(new Error('the extension does not answer')), timeoutMs);
        port.onMessage.addListener((event: PopupEvent) => {
          if (event.type !== 'settled') return;
          if (event.trouble === null) resolve();
          else reject(new Error(event.trouble));
        });
        port.onDisconnect.addListener(() => reject(new Error('the extension closed the connection')));
        port.postMessage({ type: 'settle' });
      }),
    ANSWER_TIMEOUT_MS,
  );
}

/**
 * The tab of a page. The extension cannot see the URL of a tab that is not an https page, so such a page has no tab.
 */
function tabIdOf(extensionPage: Page, url: string): Promise<number | null> {
  return extensionPage.evaluate(async (wanted) => {
    const tabs = (await chrome.tabs.query({})).filter((tab) => tab.url === wanted);
    tabs.sort((a, b) => (b.lastAccessed ?? 0) - (a.lastAccessed ?? 0));
    return tabs[0]?.id ?? null;
  }, url);
}

async function withExtensionPage<Result>(
  context: BrowserContext,
  run: (page: Page) => Promise<Result>,
): Promise<Result> {
  const extension = setups.get(context)?.extension;
  if (extension == null) throw new Error('The extension, which makes reports, runs in Chromium only.');
  const page = await context.newPage();
  try {
    // A page's routes come before its context's, which are the test's: with one for all requests there, this page would
    // not load.
    await page.route(`${extension}/**`, (route) => route.continue());
    await page.goto(`${extension}/popup/popup.html?tab=-1`, { timeout: ANSWER_TIMEOUT_MS });
    return await run(page);
  } finally {
    await page.close();
  }
}

/** What the extension shows for a page; null if it has no record of it yet. */
export async function viewOf(page: Page): Promise<PageView | null> {
  // If several tabs have the same URL, the one used last is meant.
  await page.bringToFront();
  return withExtensionPage(page.context(), async (extensionPage) => {
    const tabId = await tabIdOf(extensionPage, page.url());
    if (tabId === null) return null;
    const view = await askWholeView(extensionPage, tabId);
    return view.state === 'recorded' ? view : null;
  });
}

/**
 * The report of every site that the context visited, generated as the popup does it. A response whose timing has not
 * come after some seconds is in it as an unknown one.
 */
export async function reportOf(context: BrowserContext): Promise<Report> {
  checkContext(context);
  const report = await withExtensionPage(context, async (extensionPage) => {
    await settle(extensionPage);
    const maker = JSON.stringify(new URL('export-file.js', extensionPage.url()));
    // As a string, because the bundler would otherwise resolve the import.
    const making = extensionPage.evaluate<Report>(
      `import(${maker}).then(({ reportOf }) => reportOf({ sites: null }))`,
    );
    const late = pause(REPORT_TIMEOUT_MS, undefined, { ref: false }).then(() => {
      throw new Error(`the extension made no report within ${REPORT_TIMEOUT_MS / 1000} s`);
    });
    return Promise.race([making, late]);
  });
  return setups.get(context)?.namesNetworks ? report : withoutNetworks(report);
}

// The helper names networks by digests under the salt beside its host cache, and each test has a cache of its own: with
// a salt of its own too, reports of one network would be of different ones.

/**
 * The salt of this machine, the same for all tests and for the user's own helper; null if nothing is kept here, or if the
 * helper would replace what is. Whether the machine will be there for the next run is known only where the helper's state
 * directory exists: it is not created.
 */
export function machineSalt(env: NodeJS.ProcessEnv = process.env): Uint8Array | null {
  const cachePath = defaultCachePath(env);
  const path = saltPath(cachePath);
  if (!existsSync(dirname(path))) return null;
  // A file without a salt may be another program's, beside which nothing is written.
  if (keptSalt(path).state === 'none' && !existsSync(cachePath)) readSalt(path);
  const kept = keptSalt(path);
  return kept.state === 'kept' ? kept.salt : null;
}

/** The report of a test whose networks no other test recognises: their names would only seem to be of other networks. */
export function withoutNetworks(report: Report): Report {
  const labelOf = (network: string) => (isRecognisable(network) ? UNIDENTIFIED : network);
  const sites = report.sites.map((site) => ({
    ...site,
    origins: site.origins.map((origin) => ({
      ...origin,
      races: origin.races.map((race) => ({ ...race, network: labelOf(race.network) })),
    })),
  }));
  return {
    ...report,
    network: labelOf(report.network),
    ...(report.networks && { networks: [...new Set(report.networks.map(labelOf))] }),
    sites,
  };
}
