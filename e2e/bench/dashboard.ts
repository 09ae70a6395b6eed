// How long a user waits for the dashboard of a ledger with 100,000 origins and 400 days: for the first paint of charts
// and table, for everything to be loaded, and then for a sort, a search and another page of the table.

import type { Tab } from '../browsers/browser.ts';
import { openSession } from '../browsers/session.ts';
import { fillLedger, HEAVY } from '../browsers/stored.ts';
import { beginStep } from '../run/display.ts';
import { scratchIn } from '../scratch.ts';
import { type Measurement, measure, publish, type WatchedFrames, watchFrames } from './measure.ts';

const PAGE = 'dashboard/dashboard.html';
const OPEN_ROUNDS = 10;
const ACTION_ROUNDS = 40;
const WARM_UP_ROUNDS = 2;
const FIRST_PAINT_MS_AT_MOST = 500;
const SORT_MS_AT_MOST = 100;
const SORTED_BY = [
  'requests',
  'origin',
  'share',
  'verdict',
  'site',
  'hidden',
  'gain',
  'protocol',
  'navigations',
  'seen',
];
const SEARCHES = ['cdn1', 'site19', 's3.', 'nothing of this name', 'test'];

interface WatchedWindow extends WatchedFrames {
  /** Milliseconds since the start of the navigation. */
  opened?: { readonly painted: Promise<number>; readonly loaded: Promise<number> };
}

/**
 * Runs in the page before its scripts: records when charts and table have been painted, and when everything was loaded.
 */
function watchOpening(): void {
  const when = (complete: () => boolean) =>
    new Promise<number>((resolve) => {
      const observer = new MutationObserver(() => {
        if (!complete()) return;
        observer.disconnect();
        void (globalThis as WatchedWindow).paintedFrame?.().then(resolve);
      });
      observer.observe(document, { childList: true, subtree: true, attributes: true });
    });
  const charts = () => document.querySelectorAll('#adoption-figure svg.chart, #hit-figure svg.chart').length;
  (globalThis as WatchedWindow).opened = {
    painted: when(() => charts() === 2 && document.querySelector('#table tbody tr') !== null),
    loaded: when(() => document.querySelector('main')?.ariaBusy === 'false'),
  };
}

async function openingTimes(tab: Tab, url: string): Promise<{ painted: number; loaded: number }> {
  await tab.goto('about:blank');
  await tab.goto(url);
  return tab.evaluate(async () => {
    const { opened } = globalThis as WatchedWindow;
    if (opened === undefined) throw new Error('the page was not watched');
    return { painted: await opened.painted, loaded: await opened.loaded };
  });
}

/** Runs in the page: time from a click or input to the frame that shows the change in the table. */
function actAndPaint({ selector, text }: { selector: string; text: string | null }): Promise<number> {
  const element = document.querySelector<HTMLElement>(selector);
  const body = document.querySelector('#table tbody');
  if (element === null || body === null) throw new Error(`there is no ${selector}`);
  return new Promise((resolve) => {
    const observer = new MutationObserver(() => {
      observer.disconnect();
      void (globalThis as WatchedWindow).paintedFrame?.().then((atMs) => resolve(atMs - beganMs));
    });
    observer.observe(body, { childList: true });
    const beganMs = performance.now();
    if (text === null) return element.click();
    (element as HTMLInputElement).value = text;
    element.dispatchEvent(new Event('input'));
  });
}

function single(
  title: string,
  rounds: number,
  run: (round: number) => Promise<number>,
): Promise<Measurement> {
  const sides = [{ name: 'dashboard', run }] as const;
  return measure({ title, unit: 'ms', sides, rounds, warmUpRounds: WARM_UP_ROUNDS, seed: 1 });
}

const medianOf = (measurement: Measurement) => measurement.sides[0]?.median ?? Number.NaN;

await using closing = new AsyncDisposableStack();
const dir = await scratchIn(closing, 'bench-dashboard');
const session = await openSession({ browser: 'chromium', dir, headless: true, helper: false });
closing.defer(session.close);
const filling = beginStep(`Filling the ledger with ${HEAVY.origins} origins over ${HEAVY.days} days`);
const rows = await fillLedger(session, HEAVY);
filling.end(true);

const step = beginStep('Opening and using the dashboard');
const tab = await session.newTab();
await tab.setViewport({ width: 1280, height: 800 });
await tab.beforeScripts(watchFrames);
await tab.beforeScripts(watchOpening);
const url = `${session.extensionUrl(PAGE)}#period=400`;
const loadedMs: number[] = [];
const what = `${rows.records} records, ${rows.days} days' rows, ${rows.races} races`;
const painted = await single(`navigation to charts and table painted, ${what}`, OPEN_ROUNDS, async () => {
  const times = await openingTimes(tab, url);
  loadedMs.push(times.loaded);
  return times.painted;
});
const loaded = await single(
  'navigation to everything loaded',
  OPEN_ROUNDS,
  async (round) => loadedMs[round] ?? 0,
);
const act = (selector: string, text: string | null = null) => tab.evaluate(actAndPaint, { selector, text });
const sort = await single('click to sorted and painted, each column in turn', ACTION_ROUNDS, (round) =>
  act(`#table th[data-sort=${SORTED_BY[round % SORTED_BY.length]}] button`),
);
const page = await single('click to the next page of the table', ACTION_ROUNDS, () => act('#next'));
const search = await single(
  'typing to found and painted, with the pause that waits for more',
  ACTION_ROUNDS,
  (round) => act('#query', SEARCHES[round % SEARCHES.length] ?? ''),
);
step.end(true);
const unit = 'ms';
publish('dashboard', {
  measurements: [painted, loaded, sort, page, search],
  facts: [
    { name: 'first paint, median', value: medianOf(painted), unit, atMost: FIRST_PAINT_MS_AT_MOST },
    { name: 'sort, median', value: medianOf(sort), unit, atMost: SORT_MS_AT_MOST },
  ],
  versions: { chromium: session.version },
});
