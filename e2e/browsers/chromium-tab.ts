// A tab of Chromium, driven by Playwright.
import type { ElementHandle, Page } from '@playwright/test';
import { contentWorld } from './content-world.ts';
import { createTab, type Driver, describe, locate, type Query, type Tab } from './tab.ts';

/** For what moves, or goes away, just when it is to be clicked. */
const STILL_TIMEOUT_MS = 10_000;

async function handle(page: Page, query: Query): Promise<ElementHandle> {
  const found = (await page.evaluateHandle(locate, query)).asElement();
  if (found === null) throw new Error(`${describe(query)} is gone`);
  return found;
}

/** A command that Playwright has no types of. */
type OpenDevTools = (method: 'Target.openDevTools', options: { targetId: string }) => Promise<void>;

async function openDeveloperTools(page: Page): Promise<void> {
  const context = page.context();
  const ofPage = await context.newCDPSession(page);
  const { targetInfo } = await ofPage.send('Target.getTargetInfo');
  await ofPage.detach();
  // Only the browser as a whole takes the command.
  const whole = await context.browser()?.newBrowserCDPSession();
  if (whole === undefined) throw new Error('the browser takes no commands');
  await (whole.send as OpenDevTools)('Target.openDevTools', { targetId: targetInfo.targetId });
  await whole.detach();
}

const pages = new WeakMap<Tab, Page>();

/** Playwright's own page of a tab, for what only Chromium can show. */
export function playwrightPage(tab: Tab): Page {
  const page = pages.get(tab);
  if (page === undefined) throw new Error('no tab of Chromium');
  return page;
}

/** The tab that Playwright knows as `page`. */
export function chromiumTab(page: Page): Tab {
  const driver: Driver = {
    async goto(url, { timeoutMs } = {}) {
      await page.goto(url, timeoutMs === undefined ? {} : { timeout: timeoutMs });
    },
    async reload() {
      await page.reload();
    },
    // Playwright's types take the argument apart, looking for handles; there are none here.
    evaluate: (run, argument) => page.evaluate(run as () => never, argument),
    async inject(script) {
      await page.evaluate(script);
    },
    async beforeScripts(run) {
      await page.addInitScript(run);
    },
    async click(query) {
      // A tip of where the pointer rests may lie over the element, and goes with the pointer.
      await page.mouse.move(0, 0);
      await (await handle(page, query)).click({ timeout: STILL_TIMEOUT_MS });
    },
    hover: async (query) => (await handle(page, query)).hover(),
    fill: async (query, text) => (await handle(page, query)).fill(text),
    async choose(query, value) {
      await (await handle(page, query)).selectOption(value);
    },
    press: (key) => page.keyboard.press(key),
    setViewport: (size) => page.setViewportSize(size),
    emulateMedia: (media) => page.emulateMedia(media),
    async screenshot(file, options) {
      await page.screenshot({ path: file, ...options });
    },
    async download(action) {
      const [download] = await Promise.all([page.waitForEvent('download'), action()]);
      return { file: await download.path(), name: download.suggestedFilename() };
    },
    extensionTabId: null,
    bringToFront: () => page.bringToFront(),
    contentWorld: (extensionOrigin, frameUrl) => contentWorld(page, extensionOrigin, frameUrl),
    openDeveloperTools: () => openDeveloperTools(page),
    close: () => page.close(),
  };
  const tab = createTab(driver);
  pages.set(tab, page);
  return tab;
}
