// How long a user who opens the popup waits: from the start of its navigation, in a tab, to the frame that shows the
// whole table of a page with 60 origins. For comparison, an empty extension page, a lower bound for any popup, and the
// popup with a suspended background, as after half a minute without work.

import { type Tab, until } from '../browsers/browser.ts';
import { launchChromium } from '../browsers/chromium.ts';
import { openSession, type Session } from '../browsers/session.ts';
import { manyOrigins, startOrigins } from '../origins/start.ts';
import { scratchIn } from '../scratch.ts';
import { emptyExtension, measureInStep, publish, type WatchedFrames, watchFrames } from './measure.ts';

const ORIGINS = 60;
const RESOURCES = 180;
const ROUNDS = 40;
/** The page loads in a second or two; a machine under load takes longer. */
const PAGE_TIMEOUT_MS = 30_000;
const POPUP_SIZE = { width: 520, height: 600 };
/** Longer responses no longer seem immediate (Nielsen, Usability Engineering, 1993, section 5.5). */
const MEDIAN_MS_AT_MOST = 100;

interface WatchedWindow extends WatchedFrames {
  /** Milliseconds from the start of the navigation to the end of the frame that showed everything. */
  painted?: Promise<number>;
}

/** Runs in the page before its scripts: records when the number of rows given in its URL has been painted. */
function watchPaint(): void {
  const wanted = Number(new URLSearchParams(location.hash.slice(1)).get('rows'));
  const rows = () => document.querySelectorAll('#origin-table tbody[data-origin]').length;
  const complete = () => document.body !== null && rows() >= wanted;
  (globalThis as WatchedWindow).painted = new Promise((resolve) => {
    const observer = new MutationObserver(() => {
      if (!complete()) return;
      observer.disconnect();
      void (globalThis as WatchedWindow).paintedFrame?.().then(resolve);
    });
    observer.observe(document, { childList: true, subtree: true });
  });
}

async function paintTime(tab: Tab, url: string): Promise<number> {
  await tab.goto('about:blank');
  await tab.goto(url);
  const painted = await tab.evaluate(() => (globalThis as WatchedWindow).painted);
  if (painted === undefined) throw new Error(`${url} was not watched`);
  return painted;
}

async function watchedTab(tab: Tab): Promise<Tab> {
  await tab.setViewport(POPUP_SIZE);
  await tab.beforeScripts(watchFrames);
  await tab.beforeScripts(watchPaint);
  return tab;
}

/** Visits the page, races it, and returns the URL of its popup once that shows every origin. */
async function popupAddress(session: Session, origins: readonly string[]): Promise<string> {
  const page = await session.newTab();
  await page.goto(`${origins[0]}/page?resources=${RESOURCES}&from=${origins.join(',')}`);
  const popup = await session.openPopup(page);
  const whole = await until(async () => (await popup.origins()).length === ORIGINS, PAGE_TIMEOUT_MS);
  if (whole === null) throw new Error('the popup never showed every origin');
  const race = await popup.race();
  if (!race.ok) throw new Error(`the page was not raced: ${race.words}`);
  const address = await popup.tab.url();
  await popup.tab.close();
  return `${address}#rows=${ORIGINS}`;
}

await using local = await startOrigins({ origins: manyOrigins(ORIGINS) });
await using closing = new AsyncDisposableStack();
const dir = await scratchIn(closing, 'bench-popup-paint');
const extensionDir = await emptyExtension(
  dir,
  { background: { service_worker: 'b.js' } },
  { 'b.js': '', 'page.html': '<!doctype html><title>Empty</title><p>Empty</p>' },
);
const empty = await launchChromium({ extensionDir });
closing.defer(empty.close);
const session = await openSession({ browser: 'chromium', dir, local, headless: true });
closing.defer(session.close);
const address = await popupAddress(
  session,
  Object.values(local.origins).map(({ origin }) => origin),
);
const ours = await watchedTab(await session.newTab());
const plain = await watchedTab(await empty.newTab());
const measurement = await measureInStep(`Opening the popup of a page of ${ORIGINS} origins`, {
  title: `navigation to painted, popup of a page of ${ORIGINS} origins`,
  unit: 'ms',
  sides: [
    { name: 'empty extension page', run: () => paintTime(plain, empty.extensionUrl('page.html')) },
    { name: 'popup', run: () => paintTime(ours, address) },
    {
      name: 'popup, background asleep',
      async run() {
        await session.stopBackground();
        return paintTime(ours, address);
      },
    },
  ],
  rounds: ROUNDS,
  warmUpRounds: 5,
});
const [, popup] = measurement.sides;
const waited = {
  name: 'popup, median',
  value: popup?.median ?? Number.NaN,
  unit: 'ms',
  atMost: MEDIAN_MS_AT_MOST,
};
publish('popup-paint', {
  measurements: [measurement],
  facts: [waited],
  versions: { chromium: session.version },
});
