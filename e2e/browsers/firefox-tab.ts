// A Firefox tab, driven by Puppeteer over WebDriver BiDi, and by privileged scripts where BiDi has no command. BiDi
// sends no events for the extension's own pages (Mozilla bug 1755014), so navigation there is detected by polling.
import type { ElementHandle, Page } from 'puppeteer-core';
import type { PrivilegedContext } from './firefox-privileged.ts';
import { createTab, type Driver, describe, leave, locate, type Query, type Tab, until } from './tab.ts';

const REST_TIMEOUT_MS = 30_000;

const CLICK_TRIES = 5;

async function handle(page: Page, query: Query): Promise<ElementHandle<Element>> {
  const found = (await page.evaluateHandle(locate, query)).asElement();
  if (found === null) throw new Error(`${describe(query)} is gone`);
  return found as ElementHandle<Element>;
}

/** The position of an element, and what covers its centre and would receive a click; null if nothing does. */
interface ElementPosition {
  readonly place: string;
  readonly cover: string | null;
}

/** Runs in the page. */
function positionOf(element: Element): ElementPosition {
  element.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  const { x, y, width, height } = element.getBoundingClientRect();
  const place = `${x} ${y} ${width} ${height}`;
  const top = document.elementFromPoint(x + width / 2, y + height / 2);
  if (top === null || element.contains(top) || top.contains(element)) return { place, cover: null };
  return { place, cover: top.id || top.className || top.tagName };
}

/** The element once it has stopped moving and would receive the click itself. */
async function clickable(page: Page, query: Query): Promise<ElementHandle<Element>> {
  let last: ElementPosition | null = null;
  // A tooltip at the pointer may cover the element, and disappears when the pointer moves.
  await page.mouse.move(0, 0);
  const free = async () => {
    const found = await handle(page, query);
    const before = last;
    last = await found.evaluate(positionOf);
    return last.cover === null && last.place === before?.place && found;
  };
  const found = await until(free, REST_TIMEOUT_MS);
  if (found === null) throw new Error(`${describe(query)} moves or is covered: ${JSON.stringify(last)}`);
  return found;
}

interface ClickWatch {
  /** Ends the watch and returns whether the click hit; null if there was none. Absent in a document that came after it. */
  endClickWatch?: () => boolean | null;
}

/** Runs in the page: notes whether the next click hits the element, and keeps it from everything else. */
function watchClick(element: Element): void {
  let hit: boolean | null = null;
  const { x, y, width, height } = element.getBoundingClientRect();
  const top = document.elementFromPoint(x + width / 2, y + height / 2);
  const onClick = (event: Event): void => {
    if (!event.isTrusted) return;
    removeEventListener('click', onClick, true);
    hit = event.target === top || (event.target instanceof Node && element.contains(event.target));
    if (hit) return;
    event.stopImmediatePropagation();
    event.preventDefault();
  };
  addEventListener('click', onClick, true);
  (globalThis as ClickWatch).endClickWatch = () => {
    removeEventListener('click', onClick, true);
    return hit;
  };
}

/** Clicks until the element itself is hit: on a busy machine a page may move between the look and the click. */
async function clickOn(page: Page, query: Query): Promise<void> {
  for (let tries = 0; tries < CLICK_TRIES; tries += 1) {
    const found = await clickable(page, query);
    await found.evaluate(watchClick);
    await found.click();
    // A click may close the page.
    const hit = await page.evaluate(() => (globalThis as ClickWatch).endClickWatch?.()).catch(() => true);
    if (hit !== false) return;
  }
  throw new Error(`${describe(query)} moves away from each click`);
}

/** Wraps a Puppeteer page as a tab. */
export function firefoxTab(page: Page, privileged: PrivilegedContext): Tab {
  const context = privileged.contextOf(page);
  // Puppeteer's record of the URL misses the extension's pages.
  const url = () => page.evaluate(() => location.href);
  const isExtensionPage = (address: string) => address.startsWith('moz-extension:');

  const driver: Driver = {
    async goto(address, { timeoutMs } = {}) {
      if (!isExtensionPage(address)) {
        await page.goto(address, timeoutMs === undefined ? {} : { timeout: timeoutMs });
        return;
      }
      await leave(driver, () => privileged.navigate(context, address));
    },
    async reload() {
      if (!isExtensionPage(await url())) {
        await page.reload();
        return;
      }
      // Only after the evaluation has returned: the navigation destroys its context.
      await leave(driver, () => page.evaluate(() => void setTimeout(() => location.reload())));
    },
    evaluate: (run, argument) => page.evaluate(run as () => never, argument as never),
    async inject(script) {
      await page.evaluate(script);
    },
    async beforeScripts(script) {
      await page.evaluateOnNewDocument(script);
    },
    click: (query) => clickOn(page, query),
    hover: async (query) => (await handle(page, query)).hover(),
    async fill(query, text) {
      const field = await handle(page, query);
      await field.evaluate((element) => (element as HTMLInputElement).select());
      await field.focus();
      if (text === '') await page.keyboard.press('Delete');
      else await page.keyboard.type(text);
    },
    async choose(query, value) {
      await (await handle(page, query)).select(value);
    },
    press: (key) => page.keyboard.press(key),
    setViewport: (size) => page.setViewport(size),
    emulateMedia: (media) => privileged.emulateMedia(context, media),
    async screenshot(file, options) {
      await page.screenshot({ path: file as `${string}.png`, ...options });
    },
    async download(action) {
      const before = await privileged.downloads();
      await action();
      return privileged.downloadAfter(before);
    },
    extensionTabId: () => privileged.tabIdOf(context),
    bringToFront: () => page.bringToFront(),
    contentWorld: async (extensionOrigin, frameUrl) => {
      const host = new URL(extensionOrigin).host;
      return (expression) => privileged.inContentScript({ context, host, frameUrl, expression });
    },
    openDeveloperTools: () => privileged.openDeveloperTools(context),
    close: () => page.close(),
  };
  return createTab(driver);
}
