// Chromium in the laboratory: a private window's profile for each trial. Such profiles share neither connections nor
// Alt-Svc nor session tickets, and need no other start. Within one, the ticket of a first visit's TLS over TCP remains,
// with which a second handshake over TCP takes as many round trips; QUIC has none yet.
import { join } from 'node:path';
import { launchChromium } from '../../browsers/chromium.ts';
import { chromiumTab } from '../../browsers/chromium-tab.ts';
import { browser, type StartVisiting } from './visits.ts';

/**
 * Else Chromium connects to a page's host before the navigation asks for it, on which Navigation Timing then reports no
 * connecting, or only its end (`NetworkPredictionOptions::kDisabled`).
 */
const NO_PREDICTION = { net: { network_prediction_options: 2 } };
/** What its page for network engineers sends for "flush socket pools": all connections, QUIC's included. */
const FLUSH_PAGE = 'chrome://net-internals/#sockets';

declare const chrome: { send(message: 'flushSocketPools'): void };

export const startChromium: StartVisiting = async ({ host, address, spki, dir }) => {
  const running = await launchChromium({
    userDataDir: join(dir, 'profile'),
    local: { origins: { caddy: { host } }, spki, address },
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
