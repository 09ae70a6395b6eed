// Fixtures for all specs: an origin of each kind, Caddy, and installations of the product, all of which start without
// learnt state and end with their test. Browsers store what they learn about sites by port, and each test has its own
// ports; so one browser serves all tests of a worker except those that change or restart it.
import '@photofinish/shared/language/english';
import { cp, mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Report, reportSchema } from '@photofinish/shared/report/report';
import { test as base, expect as baseExpect } from '@playwright/test';
import * as v from 'valibot';
import { describe, type ElementSnapshot, type Part, type Tab, until } from '../browsers/browser.ts';
import { type FirefoxOptions, launchFirefox } from '../browsers/firefox.ts';
import {
  hostDirectory,
  installHelper,
  type LaunchOptions,
  launch,
  makeDirectories,
  openSession,
  type Popup,
  type Session,
  type SessionFiles,
  type SessionOptions,
  sessionFiles,
  sessionWith,
  settleIn,
} from '../browsers/session.ts';
import { type ProgramResult, runCommand } from '../child-process.ts';
import { type RunningCaddy, startCaddy } from '../origins/caddy.ts';
import { ORIGIN_KINDS, type RunningOrigin, type RunningOrigins, startOrigins } from '../origins/start.ts';
import { BROWSERS, type BrowserKind, findBrowser } from '../run/find-browser.mjs';
import { scratchDirectory, TOP } from '../scratch.ts';
import { GO_MISSING } from '../test-programs.ts';
import REAL_HOSTS from './real-hosts.json' with { type: 'json' };

// Host names as on real pages, to check the popup's layout with: long subdomains, several hosts of one site, names
// under private suffixes, and a content delivery network whose shards share a prefix. All are served on loopback.

/** The page's own host. */
export const OWN_HOST = 'www.theguardian.com';

/** The shards of a content delivery network. */
export const SHARDS = { prefix: 'cdn-assets-eu-west-', count: 11 } as const;
const SHARED_PREFIX = Array.from(
  { length: SHARDS.count },
  (_, n) => `${SHARDS.prefix}${n + 1}.static.guim.co.uk`,
);

/** `count` different hosts, the page's own first; beyond the real ones, shards of an invented network. */
export function realHosts(count: number): string[] {
  const real = [OWN_HOST, ...REAL_HOSTS.slice(0, 5), ...SHARED_PREFIX, ...REAL_HOSTS.slice(5)];
  const more = Array.from(
    { length: Math.max(0, count - real.length) },
    (_, n) => `t${n}.tracker-network-${n % 40}.example.net`,
  );
  return [...real, ...more].slice(0, count);
}

const KEPT = [
  // Identifies the Firefox version it belongs to; others discard it.
  'compatibility.ini',
  'startupCache/scriptCache.bin',
  'startupCache/scriptCache-child.bin',
  'startupCache/startupCache.8.little',
  'startupCache/urlCache.bin',
];

/**
 * Starts and ends Firefox once in the empty directory `dir`, and returns the directory that `launchFirefox` takes as
 * `compiled`. Throws as `launchFirefox` does.
 */
async function compileFirefox(
  dir: string,
  options: Pick<FirefoxOptions, 'extensionDir' | 'headless' | 'local'>,
): Promise<string> {
  const [profile, home, compiled] = [join(dir, 'profile'), join(dir, 'home'), join(dir, 'compiled')];
  await mkdir(home, { recursive: true, mode: 0o700 });
  const running = await launchFirefox({ ...options, profile, home, downloads: join(dir, 'downloads') });
  // A content process and an extension process compile scripts too.
  const tab = await running.newTab();
  if (options.extensionDir !== undefined) await tab.goto(running.extensionUrl('options/options.html'));
  // The cache is written on an orderly shutdown.
  await running.close();
  for (const file of KEPT) await cp(join(profile, file), join(compiled, file));
  await rm(profile, { recursive: true, force: true, maxRetries: 5 });
  return compiled;
}

/**
 * For state that the extension shows asynchronously: after events, its background's start and ledger reads, on a busy
 * machine.
 */
const PATIENCE_MS = 30_000;

interface Options {
  readonly timeoutMs?: number;
}

interface Verdict {
  readonly pass: boolean;
  readonly message: () => string;
}

/** Polls until the element is as expected (or, after `not`, no longer is). */
async function judge(
  part: Part,
  isNot: boolean,
  { timeoutMs = PATIENCE_MS }: Options,
  wanted: string,
  fits: (look: ElementSnapshot) => boolean,
): Promise<Verdict> {
  let last: ElementSnapshot | null = null;
  const asWanted = async () => {
    // During a navigation there is no document to inspect.
    last = await part.look().catch(() => null);
    return last !== null && fits(last) !== isNot;
  };
  const pass = ((await until(asWanted, timeoutMs)) !== null) !== isNot;
  const seen = () => (last === null ? 'no page' : JSON.stringify({ ...last, attributes: undefined }));
  const message = () =>
    `expected ${describe(part.query)} ${isNot ? 'not ' : ''}${wanted}\nwithin ${timeoutMs} ms, but saw ${seen()}`;
  return { pass, message };
}

export const expect = baseExpect.extend({
  /** Checks the element's text: all of it for a string, any part for a pattern. */
  toSay(part: Part, words: string | RegExp, options: Options = {}) {
    const fits = ({ count, text }: ElementSnapshot) =>
      count > 0 && (typeof words === 'string' ? text === words : words.test(text));
    return judge(part, this.isNot, options, `to say ${String(words)}`, fits);
  },
  /** Checks that the element's text contains these words. */
  toMention(part: Part, words: string, options: Options = {}) {
    return judge(part, this.isNot, options, `to mention "${words}"`, ({ text }) => text.includes(words));
  },
  /** Checks that the element is visible. */
  toBeSeen(part: Part, options: Options = {}) {
    return judge(part, this.isNot, options, 'to be seen', ({ visible }) => visible);
  },
});

/** This checkout's command. */
export const PHOTOFINISH = join(TOP, 'native-host/bin/photofinish');
const CADDY_HOST = 'caddy.test';
/** Every host that any spec serves in a reused browser, which is told at launch whom to trust. */
const HOSTS = [
  ...Object.values(ORIGIN_KINDS).map(({ host }) => host),
  'slow.test',
  'udp-only.test',
  CADDY_HOST,
  ...realHosts(65),
];

export type Kind = keyof typeof ORIGIN_KINDS;
export type LocalOriginsByKind = RunningOrigins<Kind>;

/** Certificates for every host; their origins are started and stopped independently. */
type Authority = Pick<LocalOriginsByKind, 'caPath' | 'certificates' | 'spki'> & {
  readonly origins: Readonly<Record<string, { readonly host: string }>>;
};

interface OpenOptions extends Partial<SessionOptions> {
  /** A separate browser with a new profile, which the test may restart or change. */
  readonly own?: boolean;
}

interface WorkerFixtures {
  readonly authority: Authority;
  /** The reused browser with this proxy setting. */
  readonly keep: (proxy: SessionOptions['proxy']) => Promise<KeptBrowser>;
  /** The independent server; specs that need it are skipped if Go is missing. */
  readonly caddy: RunningCaddy | null;
  /** The startup cache for every Firefox of the worker; undefined for other browsers. */
  readonly compiled: string | undefined;
}

export interface TestFixtures {
  readonly local: LocalOriginsByKind;
  /** The browser of this project. */
  readonly kind: BrowserKind;
  /** The test's own directory, removed with it. */
  readonly dir: string;
  /** A new installation of extension and helper in the project's browser; the previous one ends. */
  readonly open: (options?: OpenOptions) => Promise<Session>;
  /** Runs the command line with access to the local origins. */
  readonly photofinish: (...args: string[]) => Promise<ProgramResult>;
}

function kindOf(name: BrowserKind | 'webkit'): BrowserKind {
  if (name === 'webkit') throw new Error('there is no edition for WebKit');
  return name;
}

/** Runs the command line as a user does; never rejects because of an exit code. */
export function runPhotofinish(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<ProgramResult> {
  return runCommand(PHOTOFINISH, args, { env: { ...process.env, ...env } });
}

/** The options that let the command line race local origins: addresses and trusted CA. */
export function reachLocal(caPath: string, origins: readonly RunningOrigin[]): string[] {
  const resolve = origins.flatMap(({ host, port, address = '127.0.0.1' }) => [
    '--resolve',
    `${host}:${port}:${address}`,
  ]);
  return ['--allow-private', '--ca', caPath, ...resolve];
}

export const test = base.extend<TestFixtures, WorkerFixtures>({
  authority: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the fixtures' names from the pattern.
    async ({}, use) => {
      const running = await startOrigins({ origins: {}, certificateHosts: HOSTS });
      await use({ ...running, origins: Object.fromEntries(HOSTS.map((host) => [host, { host }])) });
      await running.stop();
    },
    { scope: 'worker' },
  ],
  caddy: [
    async ({ authority }, use) => {
      const caddy = await startCaddy({ hosts: [CADDY_HOST], certifiedBy: authority }).catch((error) => {
        if (error.message === GO_MISSING) return null;
        throw error;
      });
      await use(caddy);
      await caddy?.stop();
    },
    { scope: 'worker' },
  ],
  compiled: [
    async ({ browserName, authority }, use) => {
      if (browserName !== 'firefox' || findBrowser('firefox') === null) {
        await use(undefined);
        return;
      }
      const dir = await scratchDirectory('firefox');
      const extensionDir = join(TOP, 'extension', 'dist', 'firefox');
      await use(await compileFirefox(dir, { extensionDir, local: authority, headless: true }));
      await rm(dir, { recursive: true, force: true, maxRetries: 5 });
    },
    { scope: 'worker' },
  ],
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the fixtures' names from the pattern.
  dir: async ({}, use) => {
    const dir = await scratchDirectory('spec');
    await use(dir);
    await rm(dir, { recursive: true, force: true, maxRetries: 5 });
  },
  kind: async ({ browserName }, use) => use(kindOf(browserName)),
  keep: [
    async ({ authority, browserName, compiled }, use) => {
      const kept = new Map<SessionOptions['proxy'], { browser: KeptBrowser; dir: string }>();
      await use(async (proxy) => {
        const running = kept.get(proxy)?.browser;
        if (running !== undefined) return running;
        const dir = await scratchDirectory('kept');
        const browser = await keepBrowser({
          browser: kindOf(browserName),
          dir,
          local: authority,
          compiled,
          proxy,
          headless: true,
        });
        kept.set(proxy, { browser, dir });
        return browser;
      });
      for (const { browser, dir } of kept.values()) {
        await browser.end();
        await rm(dir, { recursive: true, force: true, maxRetries: 5 });
      }
    },
    { scope: 'worker' },
  ],
  local: async ({ authority }, use) => {
    const running = await startOrigins({ origins: ORIGIN_KINDS, certifiedBy: authority });
    await use(running);
    await running.stop();
  },
  open: async ({ compiled, dir, keep, kind, local }, use, { skip }) => {
    const { names, variable } = BROWSERS[kind];
    skip(findBrowser(kind) === null, `no ${names[0]} on PATH, and ${variable} names none`);
    const ends: (() => Promise<void>)[] = [];
    await use(async ({ own = false, ...options } = {}) => {
      await ends.pop()?.();
      const sessionOptions = { browser: kind, dir, local, compiled, headless: true, ...options };
      if (own || sessionOptions.mode === 'light') {
        const session = await openSession(sessionOptions);
        ends.push(session.abandon);
        return session;
      }
      const kept = await keep(sessionOptions.proxy);
      ends.push(kept.clear);
      return kept.open(sessionOptions);
    });
    await ends.pop()?.();
  },
  photofinish: async ({ local }, use) => {
    await use((...args) =>
      runPhotofinish([...args, ...reachLocal(local.caPath, Object.values(local.origins))]),
    );
  },
});

/** The report of all sites as a user of the popup downloads it. */
export async function exportedReport(popup: Popup, dir: string): Promise<Report> {
  const file = join(dir, 'report.json');
  await popup.exportAllSites('json', file);
  return v.parse(reportSchema, JSON.parse(await readFile(file, 'utf8')));
}

/** The toolbar badge for that tab. */
export async function badgeText(popup: Popup, tab: Tab): Promise<string> {
  return popup.tab.evaluate(
    async (url) => {
      const shown = (await chrome.tabs.query({})).find((candidate) => candidate.url === url);
      return chrome.action.getBadgeText({ tabId: shown?.id ?? -1 });
    },
    await tab.url(),
  );
}

/**
 * One installation: settings and host cache are created in `dir`; its origins must be among those that the browser
 * trusts.
 */
type GuestOptions = Pick<SessionOptions, 'dir' | 'local' | 'helper' | 'consent'>;

interface KeptBrowser {
  /** As `openSession`, without the launch. The session can neither restart the browser nor change its permissions. */
  open(options: GuestOptions): Promise<Session>;
  /** Removes everything that was installed, including the helper's manifest. */
  clear(): Promise<void>;
  end(): Promise<void>;
}

const refuse = (what: string) => async (): Promise<never> => {
  throw new Error(`${what} takes a browser of the test's own`);
};

async function removeHelper(files: SessionFiles): Promise<void> {
  // Firefox's launcher is in the user's home directory.
  // The browser still runs, and may write there meanwhile.
  for (const directory of [hostDirectory(files), join(files.home, '.local')])
    await rm(directory, { recursive: true, force: true, maxRetries: 10 });
}

/**
 * Starts a browser to be reused, since starting it takes longer than most of what is tested; `local` lists every host
 * that any of its installations may visit. The browser itself installs the extension for each and uninstalls it
 * afterwards, with its storage and permissions.
 */
async function keepBrowser(options: LaunchOptions): Promise<KeptBrowser> {
  const kept = sessionFiles(options.browser, options.dir);
  await makeDirectories(kept);
  const running = await launch({ ...options, installsLater: true }, kept);
  const { installer } = running;
  if (installer === null) throw new Error('this browser installs nothing');
  return {
    async open({ dir, local, helper = true, consent = helper }) {
      const { config, cache } = sessionFiles(options.browser, dir);
      const files = { ...kept, config, cache };
      if (helper) await installHelper(files, local);
      await installer.install();
      const session = sessionWith(files, () => running, {
        restart: refuse('a restart'),
        crash: refuse('a crash'),
        allowPrivateWindows: refuse('a private window'),
        close: refuse('an end of the browser'),
        abandon: refuse('an end of the browser'),
      });
      await settleIn(await session.openPage('options/options.html'), { fresh: true, consent });
      return session;
    },
    async clear() {
      await installer.uninstall();
      await removeHelper(kept);
    },
    end: () => running.abandon(),
  };
}
