// A browsing session in steps, with the time each began. It is a separate process, so that browser, extension, helper
// and servers are in one network namespace; `browse` starts it there, and it prints `Browsed`.
import { join } from 'node:path';
import * as v from 'valibot';
import { until, waitInParts } from '../browsers/browser.ts';
import { installHelper, openSession, type Session } from '../browsers/session.ts';
import { storedSettings } from '../browsers/stored.ts';
import type { Namespace } from '../network/namespace.ts';
import { type RunningOrigins, type SeenRequest, startOrigins } from '../origins/start.ts';
import type { BrowserKind } from '../run/find-browser.mjs';

/** The browser uses the first address and the helper the second, so that packets can be attributed. */
export const BROWSERS_ADDRESS = '127.0.0.1';
export const HELPERS_ADDRESS = '127.0.0.2';
/** Each is visited in its own steps. */
const ORIGINS = {
  both: { host: 'both.test', h3: true, altSvc: 'auto', address: '::' },
  h2only: { host: 'h2only.test', h3: false, address: '::' },
  silent: { host: 'silent.test', h3: true, address: '::' },
  hidden: { host: 'hidden.test', h3: true, altSvc: 'auto', address: '::' },
} as const;
export type Host = keyof typeof ORIGINS;

export const STEPS = [
  'start',
  'visit',
  'private',
  'race',
  'choice',
  'first-visit',
  'private-first-visit',
  'export',
  'forget',
] as const;
export type Step = (typeof STEPS)[number];

const browsedSchema = v.object({
  /** When each step began, milliseconds since 1970. */
  begins: v.record(v.picklist(STEPS), v.number()),
  ports: v.record(v.string(), v.number()),
});
export type BrowsingRecord = v.InferOutput<typeof browsedSchema>;

const PATIENCE_MS = 40_000;
/**
 * Anything sent behind the user's back, or late because the browser got no processor, would have been sent within this
 * time.
 */
const QUIET_MS = 2000;

async function waitUntil(what: string, look: () => Promise<boolean> | boolean): Promise<void> {
  if ((await until(async () => look(), PATIENCE_MS)) === null) throw new Error(`timed out: ${what}`);
}

const quiet = (): Promise<void> => waitInParts(QUIET_MS);

interface BrowsingContext {
  readonly session: Session;
  readonly dir: string;
  readonly url: (host: Host, query: string) => string;
  /** Requests that the servers have had so far. */
  readonly served: readonly SeenRequest[];
}

/** Opens the URL in a private window, and closes that once its page and its resource were served. */
async function visitPrivately({ session, served, url }: BrowsingContext, host: Host): Promise<void> {
  const options = await session.openPage('options/options.html');
  const before = served.length;
  const windowId = await options.evaluate(
    async (address) => (await chrome.windows.create({ incognito: true, url: address }))?.id ?? -1,
    url(host, 'resources=1'),
  );
  await waitUntil('a private visit', () => served.length >= before + 2);
  await quiet();
  await options.evaluate((id) => chrome.windows.remove(id), windowId);
}

/** The actions of each step; nothing else happens in it. */
const ACTIONS: Readonly<Record<Step, (browsing: BrowsingContext) => Promise<void>>> = {
  async start({ session }) {
    await session.restart();
  },
  async visit({ session, url, served }) {
    const tab = await session.newTab();
    for (let visit = 0; visit < 3; visit += 1) {
      const before = served.length;
      await tab.goto(`${url('both', 'resources=4')}&from=${new URL(url('h2only', '')).origin}`);
      await waitUntil('the page’s resources', () => served.length >= before + 5);
    }
  },
  private: (browsing) => visitPrivately(browsing, 'silent'),
  async race({ session, url }) {
    const tab = await session.newTab();
    await tab.goto(url('both', 'resources=1'));
    const popup = await session.openPopup(tab);
    await waitUntil('the page’s origin', async () => (await popup.origins()).length === 1);
    const { ok, words } = await popup.race();
    if (!ok) throw new Error(words);
  },
  async choice({ session }) {
    const options = await session.openPage('options/options.html');
    await options.find('input[value=first-visit]').click();
    await waitUntil(
      'races at first visits',
      async () => (await storedSettings(options)).raceWhen === 'first-visit',
    );
  },
  async 'first-visit'({ session, url, served }) {
    const tab = await session.newTab();
    const before = served.length;
    await tab.goto(url('h2only', 'resources=1'));
    await waitUntil('a race', () => served.slice(before).some(({ path }) => path === '/'));
  },
  'private-first-visit': (browsing) => visitPrivately(browsing, 'hidden'),
  async export({ session, dir }) {
    const popup = await session.openPopup(null);
    await popup.exportAllSites('html', join(dir, 'report.html'));
  },
  async forget({ session }) {
    const options = await session.openPage('options/options.html');
    await options.find('#wipe').click();
    await options.find('#wipe-confirm').click();
    const said = options.part('wipe-result');
    await waitUntil('all data deleted', async () => /^All data deleted/.test(await said.text()));
  },
};

/** Local origins in the helper's settings, with an address of their own. */
function helpersOwn(running: RunningOrigins<Host>): Parameters<typeof installHelper>[1] {
  const origins = Object.entries(running.origins).map(([name, origin]) => [
    name,
    { ...origin, address: HELPERS_ADDRESS },
  ]);
  return { ...running, origins: Object.fromEntries(origins) };
}

async function browsing(browser: BrowserKind, dir: string): Promise<BrowsingRecord> {
  const served: SeenRequest[] = [];
  const running = await startOrigins({ origins: ORIGINS, onRequest: (request) => served.push(request) });
  const { origins } = running;
  const session = await openSession({ browser, dir, headless: true, local: running, proxy: 'none' });
  await installHelper(session.files, helpersOwn(running));
  await session.allowPrivateWindows();
  const url = (host: Host, query: string) => `${origins[host].origin}/page?${query}`;
  const begins: Partial<Record<Step, number>> = {};
  for (const step of STEPS) {
    begins[step] = Date.now();
    await ACTIONS[step]({ session, dir, url, served });
    await quiet();
  }
  const ports = Object.fromEntries(Object.entries(origins).map(([name, { port }]) => [name, port]));
  await session.close();
  await running.stop();
  return v.parse(browsedSchema, { begins, ports });
}

/** Runs the session in a namespace, with an empty directory for its files. Rejects with its error output. */
export async function browse(
  namespace: Namespace,
  browser: BrowserKind,
  dir: string,
): Promise<BrowsingRecord> {
  const { code, stdout, stderr } = await namespace.run(process.execPath, [
    import.meta.filename,
    browser,
    dir,
  ]);
  if (code !== 0) throw new Error(`the browsing run ended with ${code}: ${stderr || stdout}`);
  return v.parse(browsedSchema, JSON.parse(stdout));
}

if (process.argv[1] === import.meta.filename) {
  const [browser, dir = ''] = process.argv.slice(2);
  process.stdout.write(JSON.stringify(await browsing(browser as BrowserKind, dir)));
}
