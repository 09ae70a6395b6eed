// A tab of Chromium, driven by Playwright.
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

const FOUND_TIMEOUT_MS = 10_000;

/** The content script's world in the page, or in its frame with this address. */
async function contentWorld(
  page: Page,
  extensionOrigin: string,
  frameUrl?: string,
): Promise<InContentScript> {
  const frame = frameUrl === undefined ? page.mainFrame() : page.frames().find((f) => f.url() === frameUrl);
  if (frame === undefined) throw new Error(`no frame shows ${frameUrl}`);
  // A frame of another site is a target of its own; one of the same site is not, and has its page's.
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
