// The extension's cost for a page: time to the load event of a page with 1,000 resources from 6 origins, from servers
// that respond at once, and after 50 ms as on a network. In each installed browser, or the one of `--browser NAME`;
// `--rounds N` sets the number of rounds, `--resources N` the size of the page.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { ObservationMode } from '@photofinish/shared/web/observation';
import type { LocalOrigins, RunningBrowser, Tab } from '../browsers/browser.ts';
import { launchChromium } from '../browsers/chromium.ts';
import { launchFirefox } from '../browsers/firefox.ts';
import { openSession, QUIET_FIREFOX } from '../browsers/session.ts';
import { numberOr } from '../lab/experiment.ts';
import { manyOrigins, startOrigins } from '../origins/start.ts';
import { BROWSERS, type BrowserKind, findBrowser } from '../run/find-browser.mjs';
import { scratchIn } from '../scratch.ts';
import { emptyExtension, type Measurement, measureInStep, publish } from './measure.ts';

const RESOURCES = 1000;
const ORIGINS = 6;
const ROUNDS = 40;
const [MAX_RESOURCES, MAX_ROUNDS] = [100_000, 100_000];
const DISTANCES_MS = [50, 0];

const KINDS = Object.keys(BROWSERS) as BrowserKind[];
const NAMES: Readonly<Record<BrowserKind, string>> = { chromium: 'Chromium', firefox: 'Firefox' };
const EMPTY_BACKGROUNDS: Readonly<Record<BrowserKind, object>> = {
  chromium: { background: { service_worker: 'background.js' } },
  firefox: {
    background: { scripts: ['background.js'] },
    browser_specific_settings: { gecko: { id: 'empty@photofinish.test' } },
  },
};

/** As `extension/background/observe/` listens in each browser. */
const LISTENERS: Readonly<Record<BrowserKind, string>> = {
  chromium: listenersOf('onCompleted'),
  firefox: listenersOf('onHeadersReceived'),
};

function listenersOf(answered: string): string {
  return `
  const { ${answered}, onBeforeRedirect, onErrorOccurred } = chrome.webRequest;
  const everyPage = { urls: ['https://*/*'] };
  ${answered}.addListener(() => {}, everyPage, ['responseHeaders']);
  onBeforeRedirect.addListener(() => {}, everyPage, ['responseHeaders']);
  onErrorOccurred.addListener(() => {}, everyPage);`;
}

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
  return launchFirefox({
    ...places,
    headless: true,
    local,
    preferences: QUIET_FIREFOX,
    observesRequests: false,
    ...extension,
  });
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

interface LoadSetting {
  readonly kind: BrowserKind;
  readonly answerDelayMs: number;
  readonly rounds: number;
  readonly resources: number;
}

/** An extension that is compared with ours: its name, and what its background does. */
type BareExtension = readonly [name: string, background: string];
const EMPTY: BareExtension = ['empty extension with webRequest', ''];
/** With our listeners, which do nothing with the events. */
const idle = (kind: BrowserKind): BareExtension => ['the same listeners, idle', LISTENERS[kind]];

/**
 * Ours in one mode; the baseline is no extension, or where that alone makes Chromium route every request through its
 * browser process, an empty one that only has the webRequest permission.
 */
interface Comparison {
  readonly mode: ObservationMode;
  readonly alone: boolean;
  readonly bare: readonly BareExtension[];
  readonly ratioAtMost: number;
}

const COMPARISONS: Readonly<Record<BrowserKind, readonly Comparison[]>> = {
  chromium: [
    { mode: 'light', alone: true, bare: [], ratioAtMost: 1.02 },
    { mode: 'full', alone: false, bare: [EMPTY, idle('chromium')], ratioAtMost: 1.03 },
  ],
  firefox: [
    {
      mode: 'full',
      alone: true,
      bare: [EMPTY, idle('firefox')],
      ratioAtMost: 1.02,
    },
  ],
};

async function compareAt(
  { kind, answerDelayMs, rounds, resources }: LoadSetting,
  { mode, alone, bare, ratioAtMost }: Comparison,
  dir: string,
): Promise<[Measurement, string]> {
  await using local = await startOrigins({ origins: manyOrigins(ORIGINS, () => ({ answerDelayMs })) });
  await using closing = new AsyncDisposableStack();
  const origins = Object.values(local.origins).map((each) => each.origin);
  const url = `${origins[0]}/page?resources=${resources}&from=${origins.join(',')}`;
  const sideOf = async (name: string, browser: Pick<RunningBrowser, 'close' | 'newTab'>) => {
    closing.defer(() => browser.close());
    const tab = await browser.newTab();
    return { name, run: () => load(tab, url) };
  };
  const bareSide = async ([name, background]: readonly [string, string], index: number) => {
    const own = join(dir, `bare-${index}`);
    await mkdir(own, { recursive: true });
    const manifest = { ...PERMISSIONS, ...EMPTY_BACKGROUNDS[kind] };
    const extension = await emptyExtension(own, manifest, { 'background.js': background });
    return sideOf(name, await launch(kind, own, local, extension));
  };
  const plain = async () => sideOf(`${NAMES[kind]} alone`, await launch(kind, join(dir, 'plain'), local));
  const bareSides = await Promise.all(bare.map(bareSide));
  const [baseline, ...others] = alone ? [await plain(), ...bareSides] : bareSides;
  if (baseline === undefined) throw new Error('a comparison needs a baseline');
  const installation = { browser: kind, dir: join(dir, 'ours'), local, headless: true, mode };
  const session = await openSession({ ...installation, observesRequests: false });
  // At the first start after its installation, the extension makes Firefox evaluate rules, until Firefox exits.
  if (kind === 'firefox') await session.restart();
  const ours = await sideOf(`Photofinish, ${mode} mode`, session);
  const measurement = await measureInStep(
    `Loading pages in ${NAMES[kind]} that are answered after ${answerDelayMs} ms, ${mode} mode`,
    {
      title: `${NAMES[kind]}: load event of ${resources} resources over ${ORIGINS} origins, answered after ${answerDelayMs} ms`,
      unit: 'ms',
      sides: [baseline, ...others, { ...ours, ratioAtMost }],
      rounds,
      warmUpRounds: 5,
    },
  );
  return [measurement, session.version];
}

const { values } = parseArgs({
  options: { browser: { type: 'string' }, rounds: { type: 'string' }, resources: { type: 'string' } },
});
const kinds = KINDS.filter(
  (kind) => values.browser === kind || (!values.browser && findBrowser(kind) !== null),
);
if (kinds.length === 0) throw new Error(`no such browser; there are: ${KINDS.join(', ')}`);
const rounds = numberOr(ROUNDS, 'rounds', values.rounds, 1, MAX_ROUNDS);
const resources = numberOr(RESOURCES, 'resources', values.resources, 1, MAX_RESOURCES);
await using closing = new AsyncDisposableStack();
const dir = await scratchIn(closing, 'bench-page-load');
const measurements: Measurement[] = [];
const versions: Record<string, string> = {};
for (const kind of kinds)
  for (const answerDelayMs of DISTANCES_MS)
    for (const comparison of COMPARISONS[kind]) {
      const place = { kind, answerDelayMs, rounds, resources };
      const own = join(dir, `${kind}-${answerDelayMs}-${comparison.mode}`);
      const [measurement, version] = await compareAt(place, comparison, own);
      measurements.push(measurement);
      versions[kind] = version;
    }
publish('page-load', { measurements, versions });
