// The extension's cost for a page: time to the load event of a page with 1,000 resources from 6 origins, in browsers
// that take turns: without the extension, with it and its helper, and with an empty extension that only has the
// webRequest permission, which alone makes Chromium route every request through its browser process. With two delays:
// servers that respond after 50 ms, as on a network, and at once, where nothing hides a cost. In each installed
// browser, or in the one given by `--browser NAME`; `--rounds N` sets the number of rounds.
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { launchChromium } from '../browsers/launch-chromium.ts';
import { launchFirefox } from '../browsers/launch-firefox.ts';
import type { LocalOrigins, RunningBrowser } from '../browsers/running.ts';
import { openSession } from '../browsers/session.ts';
import type { Tab } from '../browsers/tab.ts';
import { type OriginSettings, startOrigins } from '../origins/start.ts';
import { BROWSERS, type BrowserKind, findBrowser } from '../run/find-browser.mjs';
import { scratchDirectory } from '../scratch.ts';
import { emptyExtension } from './empty-extension.ts';
import { type Measurement, measureInStep } from './measure.ts';
import { publish } from './result.ts';

const RESOURCES = 1000;
const ORIGINS = 6;
const ROUNDS = 40;
const DISTANCES_MS = [50, 0];

function originKinds(answerDelayMs: number): Record<string, OriginSettings> {
  const kinds = Array.from({ length: ORIGINS }, (_, n): [string, OriginSettings] => [
    `o${n}`,
    { host: `o${n}.test`, h3: true, altSvc: 'auto', answerDelayMs },
  ]);
  return Object.fromEntries(kinds);
}

const KINDS = Object.keys(BROWSERS) as BrowserKind[];
const NAMES: Readonly<Record<BrowserKind, string>> = { chromium: 'Chromium', firefox: 'Firefox' };
const EMPTY_BACKGROUNDS: Readonly<Record<BrowserKind, object>> = {
  chromium: { background: { service_worker: 'background.js' } },
  firefox: {
    background: { scripts: ['background.js'] },
    browser_specific_settings: { gecko: { id: 'empty@photofinish.test' } },
  },
};

const PERMISSIONS = { permissions: ['webRequest'], host_permissions: ['https://*/*'] };

/** A browser with its own directory, without our extension. */
async function launch(
  kind: BrowserKind,
  dir: string,
  local: LocalOrigins,
  extensionDir?: string,
): Promise<RunningBrowser> {
  const extension = extensionDir === undefined ? {} : { extensionDir };
  if (kind === 'chromium') return launchChromium({ local, ...extension });
  const home = join(dir, 'home');
  await mkdir(home, { recursive: true });
  const places = { profile: join(dir, 'profile'), home, downloads: join(dir, 'downloads') };
  return launchFirefox({ ...places, headless: true, local, ...extension });
}

/** Milliseconds from the start of the navigation to the end of its load event. */
async function load(tab: Tab, url: string): Promise<number> {
  await tab.goto(url);
  return tab.evaluate(async () => {
    const entry = () => performance.getEntriesByType('navigation')[0] as PerformanceNavigationTiming;
    while (entry().loadEventEnd === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    return entry().loadEventEnd;
  });
}

interface Place {
  readonly kind: BrowserKind;
  readonly answerDelayMs: number;
  readonly rounds: number;
}

async function compareAt(
  { kind, answerDelayMs, rounds }: Place,
  dir: string,
): Promise<[Measurement, string]> {
  await mkdir(dir, { recursive: true });
  const local = await startOrigins({ origins: originKinds(answerDelayMs) });
  const origins = Object.values(local.origins).map((each) => each.origin);
  const url = `${origins[0]}/page?resources=${RESOURCES}&from=${origins.join(',')}`;
  const plain = await launch(kind, join(dir, 'plain'), local);
  const manifest = { ...PERMISSIONS, ...EMPTY_BACKGROUNDS[kind] };
  const extension = await emptyExtension(dir, manifest, { 'background.js': '' });
  const empty = await launch(kind, join(dir, 'permitted'), local, extension);
  const session = await openSession({ browser: kind, dir: join(dir, 'ours'), local, headless: true });
  try {
    const alone = await plain.newTab();
    const permitted = await empty.newTab();
    const ours = await session.newTab();
    const measurement = await measureInStep(
      `Loading pages in ${NAMES[kind]} that are answered after ${answerDelayMs} ms`,
      {
        title: `${NAMES[kind]}: load event of ${RESOURCES} resources over ${ORIGINS} origins, answered after ${answerDelayMs} ms`,
        unit: 'ms',
        sides: [
          { name: `${NAMES[kind]} alone`, run: () => load(alone, url) },
          { name: 'empty extension with webRequest', run: () => load(permitted, url) },
          { name: 'Photofinish', run: () => load(ours, url), ratioAtMost: 1.02 },
        ],
        rounds,
        warmUpRounds: 5,
      },
    );
    return [measurement, session.version];
  } finally {
    await Promise.all([plain.close(), empty.close(), session.close()]);
    await local.stop();
  }
}

const { values } = parseArgs({ options: { browser: { type: 'string' }, rounds: { type: 'string' } } });
const kinds = KINDS.filter(
  (kind) => values.browser === kind || (!values.browser && findBrowser(kind) !== null),
);
if (kinds.length === 0) throw new Error(`no such browser; there are: ${KINDS.join(', ')}`);
const rounds = Number(values.rounds ?? ROUNDS);
if (!(rounds >= 1)) throw new Error('--rounds takes a number');
const dir = await scratchDirectory('bench-page-load');
try {
  const measurements: Measurement[] = [];
  const versions: Record<string, string> = {};
  for (const kind of kinds)
    for (const answerDelayMs of DISTANCES_MS) {
      const place = { kind, answerDelayMs, rounds };
      const [measurement, version] = await compareAt(place, join(dir, `${kind}-${answerDelayMs}`));
      measurements.push(measurement);
      versions[kind] = version;
    }
  publish('page-load', { measurements, versions });
} finally {
  await rm(dir, { recursive: true, force: true, maxRetries: 5 });
}
