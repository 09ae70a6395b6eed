// Finds the installed programs to test with, browsers above all: plain JavaScript, because it runs with whatever Node
// is installed before anything else exists, and again in the specs.
import { accessSync, constants, existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/**
 * Debian's name first, then that of other distributions. Branded Chrome no longer loads unpacked extensions, and only
 * Firefox's ESR and developer editions permanently install unsigned ones.
 */
export const BROWSERS = {
  chromium: {
    variable: 'PHOTOFINISH_CHROMIUM',
    names: ['chromium', 'chromium-browser'],
    elsewhere: '/Applications/Chromium.app/Contents/MacOS/Chromium',
  },
  firefox: {
    variable: 'PHOTOFINISH_FIREFOX',
    names: ['firefox-esr', 'firefox-developer-edition'],
    elsewhere: '/Applications/Firefox Developer Edition.app/Contents/MacOS/firefox',
  },
};

/** Ubuntu's `chromium-browser` is a script that starts the snap; browsers themselves are far larger. */
const LARGEST_SCRIPT_BYTES = 64 * 1024;

/** The executable with this name; null if it is not on the path. */
export function onPath(name) {
  for (const dir of (process.env.PATH ?? '').split(delimiter)) {
    const file = join(dir, name);
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // Not in this directory.
    }
  }
  return null;
}

/** A snap is confined to its own directories: it can neither load the extension from here nor start the helper. */
function isSnap(file) {
  const target = realpathSync(file);
  const isScript = statSync(target).size < LARGEST_SCRIPT_BYTES;
  return target.includes('/snap') || (isScript && readFileSync(target, 'utf8').includes('/snap/'));
}

/** The browser named by its environment variable, otherwise the one on the path; null if there is none. */
export function findBrowser(kind) {
  const { variable, names, elsewhere } = BROWSERS[kind];
  const chosen = process.env[variable];
  if (chosen) return existsSync(chosen) ? chosen : null;
  return [...names.map(onPath), elsewhere].find((file) => file && existsSync(file) && !isSnap(file)) ?? null;
}

/** Debian's package is the only one that contains usrsctp's programs. */
const USRSCTP_DIR = '/usr/lib/usrsctp';

export const USRSCTP = {
  client: `${USRSCTP_DIR}/http_client`,
  server: `${USRSCTP_DIR}/echo_server`,
  missing: "usrsctp's programs are not installed; in Debian and Ubuntu: apt-get install libusrsctp-examples",
};
