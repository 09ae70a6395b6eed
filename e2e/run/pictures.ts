// `npm run pictures`: generates the README's pictures from the real product: local origins are visited and raced in a
// real Chromium, and popup, exported report and dashboard are captured unmodified. Every number in popup and report was
// measured; the dashboard's month before the visits is sample data, as the README says.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Origin } from '@photofinish/shared/web/origin';
import { type Tab, until } from '../browsers/browser.ts';
import { playwrightPage } from '../browsers/chromium.ts';
import { openSession, type Popup, type Session } from '../browsers/session.ts';
import { type Filling, fillLedger } from '../browsers/stored.ts';
import { TOP } from '../scratch.ts';
import { build } from './artefacts.ts';
import { beginStep, heading, printLine } from './display.ts';
import { raceAll, serveEveryKind, visitAll, visitMixedPage } from './start.ts';
import { endCommandsOnSignals } from './step-command.ts';

const DIR = join(TOP, '.photofinish', 'pictures');
const DOCS = join(TOP, 'docs');
/**
 * On loopback a page would finish before anything could be forecast; a longer delay would make the handshakes too small
 * to see in the drawing.
 */
const ANSWER_DELAY_MS = 10;
const CAPTION_TIMEOUT_MS = 10_000;
const TABLE_TIMEOUT_MS = 20_000;
/** Debounce before charts are redrawn for another width. */
const REDRAW_MS = 500;
/** Results of a visit reach the helper a little later; by the last visit every origin can be forecast. */
const MIXED_VISITS = 4;
/** Short and constant, so that a new picture differs only where the product does. */
const FIRST_PORT = 4433;
/** Taller than its contents, so that no scroll bar takes up width. */
const POPUP = { width: 520, height: 1200 };
const POPUP_SCALE = 2;
const REPORT = { width: 1100, height: 900 };
const DASHBOARD = { width: 1280, height: 900 };
/** Enough to include every kind of visited origin. */
const DASHBOARD_ROWS = 8;
/** A month of a user who visits a few dozen sites: charts over time need days before today. */
const SAMPLE: Filling = { seed: 7, origins: 320, sites: 60, days: 30, daysPerOrigin: 12, raced: 60 };

/** The whole popup at a device pixel ratio of 2. */
async function photographPopup({ tab }: Popup, colorScheme: 'light' | 'dark'): Promise<string> {
  const page = playwrightPage(tab);
  await page.setViewportSize(POPUP);
  await page.emulateMedia({ colorScheme });
  const height = await page.evaluate(() => Math.ceil(document.body.getBoundingClientRect().height));
  const browser = await page.context().newCDPSession(page);
  const { data } = await browser.send('Page.captureScreenshot', {
    format: 'png',
    clip: { x: 0, y: 0, width: POPUP.width, height, scale: POPUP_SCALE },
  });
  await browser.detach();
  const file = join(DOCS, `popup-${colorScheme}.png`);
  await writeFile(file, Buffer.from(data, 'base64'));
  return file;
}

/** The report's first viewport. */
async function photographReport(tab: Tab, html: string): Promise<string> {
  const page = playwrightPage(tab);
  await page.setViewportSize(REPORT);
  await page.goto(pathToFileURL(html).href);
  const file = join(DOCS, 'report.png');
  await page.screenshot({ path: file, style: 'html { scrollbar-width: none; }' });
  return file;
}

/** The dashboard from the top to the first rows of the table, with sample data before the visits. */
async function photographDashboard(session: Session): Promise<string> {
  await fillLedger(session, SAMPLE);
  const tab = await session.openPage('dashboard/dashboard.html');
  const page = playwrightPage(tab);
  // The page's content security policy blocks injected styles that would hide them.
  const browser = await page.context().newCDPSession(page);
  await browser.send('Emulation.setScrollbarsHidden', { hidden: true });
  await page.setViewportSize(DASHBOARD);
  await page.emulateMedia({ colorScheme: 'light' });
  const rows = tab.find('#table tbody tr.main');
  const complete = async () =>
    (await rows.count()) > DASHBOARD_ROWS && (await tab.part('load').text()) === '';
  if ((await until(complete, TABLE_TIMEOUT_MS)) === null)
    throw new Error('the dashboard did not finish loading');
  await page.waitForFunction(() => document.documentElement.clientWidth === innerWidth);
  await page.waitForTimeout(REDRAW_MS);
  const height = await page.evaluate(
    (shown) => document.querySelectorAll('#table tbody tr.main')[shown]?.getBoundingClientRect().top ?? 0,
    DASHBOARD_ROWS,
  );
  const file = join(DOCS, 'dashboard.png');
  const clip = { x: 0, y: 0, width: DASHBOARD.width, height: Math.floor(height) };
  await page.screenshot({ path: file, fullPage: true, clip });
  await browser.detach();
  return file;
}

async function photograph(session: Session, origins: readonly Origin[]): Promise<string[]> {
  const stops = await visitAll(session, origins);
  const [first] = stops;
  if (first === undefined || stops.length < origins.length) throw new Error('an origin could not be visited');
  for (let visit = 0; visit < MIXED_VISITS; visit += 1) await visitMixedPage(first, origins);
  if (!(await raceAll(session, stops)).ok) throw new Error('a race produced no result');

  heading('Pictures');
  const step = beginStep('popup, report and dashboard');
  const popup = await session.openPopup(first.tab);
  await until(async () => (await popup.part('finish-caption').text()).includes('median'), CAPTION_TIMEOUT_MS);
  const files = [await photographPopup(popup, 'light'), await photographPopup(popup, 'dark')];
  const html = join(DIR, 'report.html');
  await popup.exportAllSites('html', html);
  files.push(await photographReport(await session.newTab(), html));
  files.push(await photographDashboard(session));
  step.end(true);
  return files;
}

async function run(): Promise<boolean> {
  if (!(await build())) return false;
  await rm(DIR, { recursive: true, force: true });
  await mkdir(DIR, { recursive: true, mode: 0o700 });
  await using closing = new AsyncDisposableStack();
  const settingsOf = (n: number) => ({ port: FIRST_PORT + n, answerDelayMs: ANSWER_DELAY_MS });
  const { origins, ...served } = await serveEveryKind(closing, join(DIR, 'origins'), settingsOf);
  const session = await openSession({ browser: 'chromium', dir: DIR, headless: true, ...served });
  closing.defer(() => session.close());
  for (const file of await photograph(session, origins)) printLine(relative(TOP, file));
  return true;
}

endCommandsOnSignals();
process.exitCode = (await run()) ? 0 : 1;
