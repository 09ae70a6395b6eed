// Chromium and Firefox under test: a browser inside the client's namespace, told which visits to make, each measured by
// the browser's own Navigation Timing; and as clients that visit Caddy, each trial in a profile without history.
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { protocolFromAlpn } from '@photofinish/shared/web/protocol';
import * as v from 'valibot';
import { type RunningBrowser, type Tab, waitInParts } from '../../browsers/browser.ts';
import { chromiumTab, launchChromium } from '../../browsers/chromium.ts';
import { launchFirefox } from '../../browsers/firefox.ts';
import { openLineChannel, runCommand } from '../../child-process.ts';
import { type BrowserKind, findBrowser } from '../../run/find-browser.mjs';
import { scratchIn } from '../../scratch.ts';
import { DEADLINE_MS, type LabTrial, labTrialSchema, type Opener } from '../client.ts';
import type { ServedTestbed } from '../testbed.ts';

/** A browser is started by a process inside the namespace that runs this file: it shares a loopback with its driver. */
const PROCESS = import.meta.filename;
/**
 * Caddy's address for browsers: a documentation address (RFC 5737), which they treat as public. For private ones
 * Firefox refuses to open the fallback connection of a visit whose QUIC does not respond.
 */
export const PUBLIC_ADDRESS = '203.0.113.1';
/** Under heavy loss a first visit may fail; a user would reload. */
const LESSONS = 3;

/**
 * `first`: the profile's first navigation to the origin, of which it knows nothing. `second`: after an uncounted first
 * one that taught the profile the origin's Alt-Svc, all connections are closed and the same profile navigates again: it
 * needs a new connection and may choose the protocol.
 */
type Visit = 'first' | 'second';

/** How a browser is started. */
interface BrowserSettings {
  readonly browser: BrowserKind;
  /** Preferences that differ from the browser's defaults. */
  readonly preferences: Readonly<Record<string, boolean>>;
  /** The hosts that it trusts. */
  readonly hosts: readonly string[];
  /** Where all of them are; null: where the system's resolver says. */
  readonly address: string | null;
  readonly spki: readonly string[];
  readonly caPath: string;
  /** An empty directory for the browser's files. */
  readonly dir: string;
}

/** A profile without history that shares nothing with others: connections, Alt-Svc, session tickets. */
interface ColdProfile {
  readonly tab: Tab;
  /** Waits for background work that the first visit started, then closes every connection of the profile. */
  partFromServers(): Promise<void>;
  close(): Promise<void>;
}

interface VisitingBrowser extends Pick<RunningBrowser, 'close'> {
  newProfile(): Promise<ColdProfile>;
}

/** Runs in the page. Milliseconds from the start of the navigation. */
function navigationTiming() {
  const [entry] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  if (entry === undefined) throw new Error('the page has no navigation timing');
  const { nextHopProtocol, connectStart, connectEnd, responseStart } = entry;
  return { nextHopProtocol, connectStart, connectEnd, responseStart };
}

/**
 * Established is connectEnd: both browsers set it to the end of TLS over TCP, or of QUIC's handshake, on the connection
 * that carried the response. It counts from the navigation's start, not from connectStart, which is that connection's
 * own: a connection that began late, in a race that another attempt lost, would look fast. So it includes the
 * milliseconds that a browser spends before it connects. If both are equal the connection existed before, and there is
 * no result. Names need no look-up.
 */
async function navigate(tab: Tab, url: string): Promise<LabTrial> {
  try {
    await tab.goto(url, { timeoutMs: DEADLINE_MS });
    const { nextHopProtocol, connectStart, connectEnd, responseStart } = await tab.evaluate(navigationTiming);
    return {
      adopted: protocolFromAlpn(nextHopProtocol),
      establishedMs: connectEnd > connectStart ? connectEnd : null,
      firstByteMs: responseStart > 0 ? responseStart : null,
    };
  } catch (error) {
    const [why = ''] = String(error).split('\n');
    return { adopted: null, establishedMs: null, firstByteMs: null, error: why };
  }
}

const commandSchema = v.variant('do', [
  v.object({ do: v.literal('forget') }),
  v.object({ do: v.literal('visit'), url: v.string() }),
  v.object({ do: v.literal('part') }),
]);
type Command = v.InferOutput<typeof commandSchema>;
/** Null for a command that is not a visit. */
const replySchema = v.nullable(labTrialSchema);

async function runCommands(settings: BrowserSettings): Promise<void> {
  const running = await (settings.browser === 'chromium' ? startChromium : startFirefox)(settings);
  let profile: ColdProfile | null = null;
  const reply = (trial: v.InferOutput<typeof replySchema>) =>
    process.stdout.write(`${JSON.stringify(trial)}\n`);
  try {
    reply(null);
    for await (const line of createInterface(process.stdin)) {
      const command = v.parse(commandSchema, JSON.parse(line));
      if (command.do === 'forget') {
        await profile?.close();
        profile = await running.newProfile();
      }
      if (profile === null) throw new Error('there is no profile yet');
      if (command.do === 'part') await profile.partFromServers();
      reply(command.do === 'visit' ? await navigate(profile.tab, command.url) : null);
    }
    await profile?.close();
  } finally {
    await running.close();
  }
}

/** A browser that makes the visits that it is told to. */
export interface ColdBrowser {
  /** Closes the profile, if there is one, and opens another without history. */
  forget(): Promise<void>;
  visit(url: string): Promise<LabTrial>;
  /** Closes all connections of the profile, which keeps what it has learnt. */
  part(): Promise<void>;
  close(): Promise<void>;
}

/** Starts a browser; `start` starts a program in the client's namespace. Rejects if it does not start. */
export async function startBrowser(
  name: BrowserName,
  start: (file: string, args: readonly string[]) => ChildProcessWithoutNullStreams,
  where: Omit<BrowserSettings, 'browser' | 'preferences' | 'dir'>,
): Promise<ColdBrowser> {
  await using opening = new AsyncDisposableStack();
  const dir = await scratchIn(opening, `lab-${name}`);
  const { browser, preferences } = MEASURED_BROWSERS[name];
  const settings: BrowserSettings = { browser, preferences, ...where, dir };
  const { next, send, stop } = openLineChannel(
    name,
    start(process.execPath, [PROCESS, JSON.stringify(settings)]),
  );
  opening.defer(stop);
  const reply = async () => v.parse(replySchema, JSON.parse(await next()));
  const ask = (command: Command) => {
    send(command);
    return reply();
  };
  await reply();
  const closing = opening.move();
  return {
    forget: async () => void (await ask({ do: 'forget' })),
    part: async () => void (await ask({ do: 'part' })),
    async visit(url) {
      const trial = await ask({ do: 'visit', url });
      if (trial === null) throw new Error(`${name} did not say how the visit went`);
      return trial;
    },
    close: () => closing.disposeAsync(),
  };
}

/** The last of the required lessons. */
async function learn({ visit }: ColdBrowser, origin: string): Promise<LabTrial> {
  let lesson = await visit(origin);
  for (let tries = 1; lesson.adopted === null && tries < LESSONS; tries += 1) lesson = await visit(origin);
  return lesson;
}

async function visitOnce(browser: ColdBrowser, visit: Visit, origin: string): Promise<LabTrial> {
  await browser.forget();
  if (visit === 'second') {
    const lesson = await learn(browser, origin);
    if (lesson.adopted === null) return { ...lesson, error: `the first visit failed: ${lesson.error}` };
    await browser.part();
  }
  return browser.visit(origin);
}

/** The version that a browser's program prints; null if it is not installed. */
export async function versionOf(browser: BrowserKind): Promise<string | null> {
  const executable = findBrowser(browser);
  if (executable === null) return null;
  const { stdout } = await runCommand(executable, ['--version']);
  return /\d[\w.]*/.exec(stdout)?.[0] ?? 'unknown';
}

/** Makes the server reachable at the public address too. */
export async function goPublic({ client, server }: Pick<ServedTestbed, 'client' | 'server'>): Promise<void> {
  await server.ip('address', 'replace', `${PUBLIC_ADDRESS}/32`, 'dev', 'lo');
  await client.ip('route', 'replace', PUBLIC_ADDRESS, 'dev', server.clientDevice);
}

/** Happy Eyeballs version 3, which Firefox 153 contains and leaves off; without it, QUIC is tried alone at first. */
const HAPPY_EYEBALLS = 'network.http.happy_eyeballs_enabled';

/** By their names in results and on the command line. */
export const MEASURED_BROWSERS = {
  chromium: { browser: 'chromium', title: 'Chromium', preferences: {} },
  firefox: { browser: 'firefox', title: 'Firefox', preferences: { [HAPPY_EYEBALLS]: false } },
  'firefox-he3': {
    browser: 'firefox',
    title: 'Firefox, Happy Eyeballs v3',
    preferences: { [HAPPY_EYEBALLS]: true },
  },
} as const satisfies Record<string, Pick<BrowserSettings, 'browser' | 'preferences'> & { title: string }>;
export type BrowserName = keyof typeof MEASURED_BROWSERS;

const VISIT_TITLES: Readonly<Record<Visit, string>> = {
  first: 'first visit',
  second: 'second visit, new connection',
};

/** Opens a browser as a client. It runs only during its own turns, since an idle browser still does work of its own. */
function browserClient(of: BrowserName, visit: Visit): Opener {
  const { browser, title: browserTitle } = MEASURED_BROWSERS[of];
  const program = MEASURED_BROWSERS[browser].title;
  const name = `${of}-${visit}`;
  const title = `${browserTitle}, ${VISIT_TITLES[visit]}`;
  return async (testbed) => {
    const { client, caPath, spki } = testbed;
    const { origin, host } = testbed.caddy;
    const version = await versionOf(browser);
    if (version === null) return { name, title, kind: 'browser', why: `${program} was not found` };
    await goPublic(testbed);
    return {
      name,
      title,
      kind: 'browser',
      versions: { [program]: version },
      async run(trials) {
        const where = { hosts: [host], address: PUBLIC_ADDRESS, spki, caPath };
        const running = await startBrowser(of, client.spawn, where);
        try {
          const made: LabTrial[] = [];
          while (made.length < trials) made.push(await visitOnce(running, visit, origin));
          return made;
        } finally {
          await running.close();
        }
      },
      async close() {},
    };
  };
}

/**
 * Otherwise Chromium preconnects to a page's host before the navigation, and Navigation Timing then reports no connect
 * phase, or only its end (`NetworkPredictionOptions::kDisabled`).
 */
const NO_PREDICTION = { net: { network_prediction_options: 2 } };
/** chrome://net-internals sends this for "flush socket pools": it closes all connections, including QUIC. */
const FLUSH_PAGE = 'chrome://net-internals/#sockets';

declare const chrome: { send(message: 'flushSocketPools'): void };

/** Origins as browsers are configured with them, by name. */
const originsOf = (hosts: readonly string[]) => Object.fromEntries(hosts.map((host) => [host, { host }]));

/**
 * A private window's profile for each trial. Such profiles share neither connections nor Alt-Svc nor session tickets,
 * and need no restart. Within one, the ticket of a first visit's TLS over TCP remains, with which a second handshake
 * over TCP takes as many round trips; QUIC has none yet.
 */
async function startChromium({ hosts, address, spki, dir }: BrowserSettings): Promise<VisitingBrowser> {
  const running = await launchChromium({
    userDataDir: join(dir, 'profile'),
    local: { origins: originsOf(hosts), spki, address },
    preferences: NO_PREDICTION,
  });
  const whole = running.context.browser();
  if (whole === null) throw new Error('Chromium opens no private windows');
  return {
    close: running.close,
    async newProfile() {
      const context = await whole.newContext();
      const tab = chromiumTab(await context.newPage());
      return {
        tab,
        async partFromServers() {
          await tab.goto(FLUSH_PAGE);
          await tab.evaluate(() => chrome.send('flushSocketPools'));
        },
        close: () => context.close(),
      };
    },
  };
}

/**
 * After learning of an alternative, Firefox makes a QUIC connection to it, and uses it only once that has succeeded. It
 * may take this long: several round trips of the slowest link, or a retransmitted first flight.
 */
const VALIDATION_MS = 1000;

const FIREFOX_PREFERENCES = {
  // Otherwise its clock has a resolution of a millisecond.
  'privacy.reduceTimerPrecision': false,
  // The connection above would leave a ticket, and the second visit would send its request before the handshake
  // (0-RTT): no client here resumes sessions.
  'network.ssl_tokens_cache_capacity': 0,
};

/** A container for each trial: Firefox partitions connections, Alt-Svc and session tickets by container. */
async function startFirefox(settings: BrowserSettings): Promise<VisitingBrowser> {
  const { hosts, address, spki, caPath, preferences, dir } = settings;
  const [profile, home, downloads] = [join(dir, 'profile'), join(dir, 'home'), join(dir, 'downloads')];
  for (const made of [home, downloads]) await mkdir(made, { recursive: true });
  const running = await launchFirefox({
    profile,
    home,
    downloads,
    local: { origins: originsOf(hosts), spki, caPath, address },
    preferences: { ...FIREFOX_PREFERENCES, ...preferences },
    headless: true,
  });
  const { privileged } = running;
  return {
    close: running.close,
    async newProfile() {
      // A container has its own Alt-Svc cache, but not its own list of hosts whose QUIC has failed.
      await privileged.endHttp3Exclusions();
      const tab = await running.newContainerTab();
      return {
        tab,
        async partFromServers() {
          await waitInParts(VALIDATION_MS);
          await privileged.closeConnections();
        },
        async close() {
          await tab.close();
          // Connections belong to the browser, not to the tab.
          await privileged.closeConnections();
        },
      };
    },
  };
}

/** By the client's name. */
export const BROWSER_CLIENTS = {
  'chromium-first': browserClient('chromium', 'first'),
  'chromium-second': browserClient('chromium', 'second'),
  'firefox-first': browserClient('firefox', 'first'),
  'firefox-second': browserClient('firefox', 'second'),
  'firefox-he3-first': browserClient('firefox-he3', 'first'),
  'firefox-he3-second': browserClient('firefox-he3', 'second'),
} as const;

// Runs inside the namespace: reads commands line by line, and prints a reply to each.
if (import.meta.main) await runCommands(JSON.parse(process.argv[2] ?? '') as BrowserSettings);
