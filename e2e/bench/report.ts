// The cost of a report of a year of heavy use, 120,000 origins: time from the click to the file, its size, and the
// longest time for which the page does not respond meanwhile, in both browsers.
import { stat } from 'node:fs/promises';
import { type Tab, until } from '../browsers/browser.ts';
import { openSession } from '../browsers/session.ts';
import { fillLedger, HEAVY } from '../browsers/stored.ts';
import { beginStep } from '../run/display.ts';
import type { BrowserKind } from '../run/find-browser.mjs';
import { scratchIn } from '../scratch.ts';
import { type Fact, publish } from './measure.ts';

const FILLING = { ...HEAVY, origins: 120_000, sites: 20_000 };
const BROWSERS: readonly BrowserKind[] = ['chromium', 'firefox'];
const FORMATS = ['HTML', 'JSON', 'CSV'] as const;
const HTML_SECONDS_AT_MOST = 10;
const HTML_MEGABYTES_AT_MOST = 5;
const LOAD_TIMEOUT_MS = 120_000;
/** Longer blocking makes a page feel unresponsive (RAIL's limit for a response). */
const BLOCK_MS_AT_MOST = 100;

interface WatchedWindow {
  watch?: Promise<{ readonly ms: number; readonly blockMs: number }>;
}

/** Runs in the page: times from now until the page reports that it has saved, with the longest pause in between. */
function watchSaving(): void {
  const BEAT_MS = 5;
  const words = document.querySelector('#report-text');
  if (words === null) throw new Error('there are no words');
  (globalThis as WatchedWindow).watch = new Promise((resolve, reject) => {
    const beganMs = performance.now();
    let lastMs = beganMs;
    let blockMs = 0;
    const beat = setInterval(() => {
      const nowMs = performance.now();
      blockMs = Math.max(blockMs, nowMs - lastMs - BEAT_MS);
      lastMs = nowMs;
    }, BEAT_MS);
    const observer = new MutationObserver(() => {
      const said = words.textContent;
      if (/^Generating/.test(said)) return;
      clearInterval(beat);
      observer.disconnect();
      if (!said.startsWith('Report saved')) return reject(new Error(said));
      resolve({ ms: performance.now() - beganMs, blockMs: Math.max(blockMs, performance.now() - lastMs) });
    });
    observer.observe(words, { childList: true, characterData: true, subtree: true });
  });
}

async function facts(browser: BrowserKind, tab: Tab): Promise<Fact[]> {
  const found: Fact[] = [];
  for (const format of FORMATS) {
    const html = format === 'HTML';
    await tab.evaluate(watchSaving);
    const saved = await tab.download(() => tab.find('#report-formats .button', format).click());
    const taken = await tab.evaluate(() => (globalThis as WatchedWindow).watch);
    if (taken === undefined) throw new Error('the page was not watched');
    const { size } = await stat(saved.file);
    const what = `${browser}, ${format}`;
    const goal = (atMost: number) => (html ? { atMost } : {});
    found.push(
      { name: `${what}: click to saved`, value: taken.ms / 1000, unit: 's', ...goal(HTML_SECONDS_AT_MOST) },
      { name: `${what}: size`, value: size / 1e6, unit: 'MB', ...goal(HTML_MEGABYTES_AT_MOST) },
      {
        name: `${what}: longest block of the page`,
        value: taken.blockMs,
        unit: 'ms',
        atMost: BLOCK_MS_AT_MOST,
      },
    );
  }
  return found;
}

const found: Fact[] = [];
const versions: Record<string, string> = {};
for (const browser of BROWSERS) {
  await using closing = new AsyncDisposableStack();
  const dir = await scratchIn(closing, `bench-report-${browser}`);
  const session = await openSession({ browser, dir, headless: true, helper: false });
  closing.defer(session.close);
  const filling = beginStep(`${browser}: filling the ledger with ${FILLING.origins} origins`);
  await fillLedger(session, FILLING);
  filling.end(true);
  const step = beginStep(`${browser}: making reports`);
  const tab = await session.openPage('dashboard/dashboard.html#period=400');
  const loaded = () => tab.find('main[aria-busy=false]').isVisible();
  if ((await until(loaded, LOAD_TIMEOUT_MS)) === null) throw new Error('the dashboard was not loaded');
  found.push(...(await facts(browser, tab)));
  step.end(true);
  versions[browser] = session.version;
}
publish('report', { measurements: [], facts: found, versions });
