// A Chromium tab, driven by Playwright.
import type { CDPSession, ElementHandle, Page } from '@playwright/test';
import {
  createTab,
  type Driver,
  describe,
  type InContentScript,
  locate,
  type Query,
  type Tab,
  until,
} from './tab.ts';

const FOUND_TIMEOUT_MS = 30_000;

/** The content script's execution context in the page, or in its frame with this URL. */
async function contentWorld(
  page: Page,
  extensionOrigin: string,
  frameUrl?: string,
): Promise<InContentScript> {
  const frame = frameUrl === undefined ? page.mainFrame() : page.frames().find((f) => f.url() === frameUrl);
  if (frame === undefined) throw new Error(`no frame shows ${frameUrl}`);
  // A cross-site frame is a separate target; a same-site frame uses its page's target.
  const session: CDPSession = await page
    .context()
    .newCDPSession(frame)
    .catch(() => page.context().newCDPSession(page));
  let world: number | null = null;
  session.on('Runtime.executionContextCreated', ({ context }) => {
    if (context.origin === extensionOrigin) world = context.id;
  });
  await session.send('Runtime.enable');
  const contextId = await until(async () => world, FOUND_TIMEOUT_MS);
  if (contextId === null) throw new Error('the content script has no world in this page');
  return async (expression) => {
    const options = { expression, contextId, awaitPromise: true, returnByValue: true };
    const { result, exceptionDetails } = await session.send('Runtime.evaluate', options);
    if (exceptionDetails !== undefined)
      throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  };
}

/** For elements that move or disappear just as they are clicked. */
const STILL_TIMEOUT_MS = 30_000;

async function handle(page: Page, query: Query): Promise<ElementHandle> {
  const found = (await page.evaluateHandle(locate, query)).asElement();
  if (found === null) throw new Error(`${describe(query)} is gone`);
  return found;
}

/** A CDP command missing from Playwright's types. */
type OpenDevTools = (method: 'Target.openDevTools', options: { targetId: string }) => Promise<void>;

async function openDeveloperTools(page: Page): Promise<void> {
  const context = page.context();
  const ofPage = await context.newCDPSession(page);
  const { targetInfo } = await ofPage.send('Target.getTargetInfo');
  await ofPage.detach();
  // Only the browser session accepts the command.
  const whole = await context.browser()?.newBrowserCDPSession();
  if (whole === undefined) throw new Error('the browser takes no commands');
  await (whole.send as OpenDevTools)('Target.openDevTools', { targetId: targetInfo.targetId });
  await whole.detach();
}

const pages = new WeakMap<Tab, Page>();

/** Playwright's page of a tab, for features that only Chromium exposes. */
export function playwrightPage(tab: Tab): Page {
  const page = pages.get(tab);
  if (page === undefined) throw new Error('no tab of Chromium');
  return page;
}

/** Wraps a Playwright page as a tab. */
export function chromiumTab(page: Page): Tab {
  const driver: Driver = {
    async goto(url, { timeoutMs } = {}) {
      await page.goto(url, timeoutMs === undefined ? {} : { timeout: timeoutMs });
    },
    async reload() {
      await page.reload();
    },
    // Playwright's types unwrap handles in the argument; it contains none here.
    evaluate: (run, argument) => page.evaluate(run as () => never, argument),
    async inject(script) {
      await page.evaluate(script);
    },
    async beforeScripts(script) {
      await page.addInitScript(script);
    },
    async click(query) {
      // A tooltip at the pointer may cover the element, and disappears when the pointer moves.
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
      // A scroll bar takes its width off a page that has a fixed one; the content security policy blocks injected styles.
      const browser = await page.context().newCDPSession(page);
      if (options?.fullPage === true) {
        await browser.send('Emulation.setScrollbarsHidden', { hidden: true });
        await page.waitForFunction(() => document.documentElement.clientWidth === innerWidth);
      }
      await page.screenshot({ path: file, ...options });
      await browser.detach();
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
