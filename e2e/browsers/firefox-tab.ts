// A tab of Firefox, driven by Puppeteer over WebDriver BiDi, and by the browser's own privileged scripts where BiDi has
// no words. BiDi sends no events of the extension's own pages (Mozilla bug 1755014), so there arrival is asked for.
import type { ElementHandle, Page } from 'puppeteer-core';
import type { Privileged } from './firefox-privileged.ts';
import {
  arrive,
  createTab,
  type Driver,
  describe,
  documentMark,
  locate,
  type Query,
  type Tab,
} from './tab.ts';

async function handle(page: Page, query: Query): Promise<ElementHandle<Element>> {
  const found = (await page.evaluateHandle(locate, query)).asElement();
  if (found === null) throw new Error(`${describe(query)} is gone`);
  return found as ElementHandle<Element>;
}

/** The tab that Puppeteer knows as `page`. */
export function firefoxTab(page: Page, privileged: Privileged): Tab {
  const context = privileged.contextOf(page);
  // Puppeteer's own record of it misses the extension's pages.
  const url = () => page.evaluate(() => location.href);
  const isExtensionPage = (address: string) => address.startsWith('moz-extension:');

  const driver: Driver = {
    async goto(address, { timeoutMs } = {}) {
      if (!isExtensionPage(address)) {
        await page.goto(address, timeoutMs === undefined ? {} : { timeout: timeoutMs });
        return;
      }
      const before = await page.evaluate(documentMark);
      await privileged.navigate(context, address);
      await arrive(driver, before);
    },
    async reload() {
      if (!isExtensionPage(await url())) {
        await page.reload();
        return;
      }
      const before = await page.evaluate(documentMark);
      await page.evaluate(() => location.reload());
      await arrive(driver, before);
    },
    evaluate: (run, argument) => page.evaluate(run as () => never, argument as never),
    async inject(script) {
      await page.evaluate(script);
    },
    async beforeScripts(run) {
      await page.evaluateOnNewDocument(run);
    },
    click: async (query) => (await handle(page, query)).click(),
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
    bringToFront: () => page.bringToFront(),
    close: () => page.close(),
  };
  return createTab(driver);
}
