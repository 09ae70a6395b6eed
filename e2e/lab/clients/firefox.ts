// Firefox in the laboratory: a container for each trial. Firefox files connections, Alt-Svc and session tickets by
// container, so that a new one has met nobody.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { launchFirefox } from '../../browsers/firefox.ts';
import { browser, type StartVisiting } from './visits.ts';

/**
 * On hearing of an alternative Firefox makes a QUIC connection to it, and uses it only once that has worked. This long
 * it may take: several round trips of the slowest link, or a first flight that is sent again.
 */
const VALIDATION_MS = 1000;

const PREFERENCES = {
  // Else its clock has steps of a millisecond.
  'privacy.reduceTimerPrecision': false,
  // The connection above would leave a ticket, and the second visit send its request before the handshake (0-RTT): no
  // client here resumes sessions.
  'network.ssl_tokens_cache_capacity': 0,
};

export const startFirefox: StartVisiting = async ({ host, address, spki, caPath, dir }) => {
  const [profile, home, downloads] = [join(dir, 'profile'), join(dir, 'home'), join(dir, 'downloads')];
  for (const made of [home, downloads]) await mkdir(made, { recursive: true });
  const running = await launchFirefox({
    profile,
    home,
    downloads,
    local: { origins: { caddy: { host } }, spki, caPath, address },
    preferences: PREFERENCES,
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
          await sleep(VALIDATION_MS);
          await privileged.closeConnections();
        },
        async close() {
          await tab.close();
          // They belong to the browser, not to the tab.
          await privileged.closeConnections();
        },
      };
    },
  };
};

export const firefoxFirst = browser('firefox', 'first');
export const firefoxSecond = browser('firefox', 'second');
