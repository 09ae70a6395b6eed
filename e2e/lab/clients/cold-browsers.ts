// Chromium and Firefox in the laboratory, started so that each trial can have a profile without history.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { chromiumTab } from '../../browsers/chromium-tab.ts';
import { launchChromium } from '../../browsers/launch-chromium.ts';
import { launchFirefox } from '../../browsers/launch-firefox.ts';
import { waitInParts } from '../../browsers/tab.ts';
import { type BrowserVariant, browser, makeVisits, type StartVisiting, type Visits } from './visits.ts';

/**
 * Otherwise Chromium preconnects to a page's host before the navigation, and Navigation Timing then reports no connect
 * phase, or only its end (`NetworkPredictionOptions::kDisabled`).
 */
const NO_PREDICTION = { net: { network_prediction_options: 2 } };
/** chrome://net-internals sends this for "flush socket pools": it closes all connections, including QUIC. */
const FLUSH_PAGE = 'chrome://net-internals/#sockets';

declare const chrome: { send(message: 'flushSocketPools'): void };

/** Origins as browsers are told of them, by name. */
const originsOf = (hosts: readonly string[]) => Object.fromEntries(hosts.map((host) => [host, { host }]));

/**
 * A private window's profile for each trial. Such profiles share neither connections nor Alt-Svc nor session tickets,
 * and need no restart. Within one, the ticket of a first visit's TLS over TCP remains, with which a second handshake
 * over TCP takes as many round trips; QUIC has none yet.
 */
export const startChromium: StartVisiting = async ({ hosts, address, spki, dir }) => {
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
};

export const chromiumFirst = browser('chromium', 'first');
export const chromiumSecond = browser('chromium', 'second');

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
export const startFirefox: StartVisiting = async ({ hosts, address, spki, caPath, preferences, dir }) => {
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
};

export const firefoxFirst = browser('firefox', 'first');
export const firefoxSecond = browser('firefox', 'second');

/** Happy Eyeballs version 3, which Firefox 153 contains and leaves off; without it, QUIC is tried alone at first. */
const HAPPY_EYEBALLS: BrowserVariant = {
  name: 'he3',
  title: 'Happy Eyeballs v3',
  preferences: { 'network.http.happy_eyeballs_enabled': true },
};

export const firefoxHappyFirst = browser('firefox', 'first', HAPPY_EYEBALLS);
export const firefoxHappySecond = browser('firefox', 'second', HAPPY_EYEBALLS);

// Runs inside the namespace: makes the visits given as argument and prints the trials.
if (import.meta.main) {
  const visits = JSON.parse(process.argv[2] ?? '') as Visits;
  const running = await { chromium: startChromium, firefox: startFirefox }[visits.browser](visits);
  try {
    process.stdout.write(JSON.stringify(await makeVisits(running, visits)));
  } finally {
    await running.close();
  }
}
