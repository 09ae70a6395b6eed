// A page that comes into view without being loaded then: prerendered, it counts from when it is shown, once, in both
// modes, or not at all; gone back to, out of the back/forward cache, it is shown with the counts of its visit. Only in
// Chromium: Firefox's driver loses a tab that goes back.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { ServerHttp2Stream } from 'node:http2';
import { join } from 'node:path';
import { CHROMIUM_EXTENSION_ID } from '@photofinish/shared/port/extension-id';
import * as v from 'valibot';
import { type Tab, until } from '../../browsers/browser.ts';
import { type ChromiumOptions, chromiumArguments, chromiumEnvironment } from '../../browsers/chromium.ts';
import { storedRecords } from '../../browsers/stored.ts';
import { startHttp2 } from '../../origins/raw.ts';
import { ORIGIN_KINDS } from '../../origins/start.ts';
import { copyInFullMode } from '../../playwright/extension.ts';
import { findBrowser } from '../../run/find-browser.mjs';
import { TOP } from '../../scratch.ts';
import { badgeText, expect, test } from '../fixtures.ts';
import { identityOf, servedTest, shownCounts } from '../steps.ts';

const START_TIMEOUT_MS = 60_000;

/** A page of the extension, in a tab that stays behind those opened after it. */
type UndrivenPage = Pick<Tab, 'evaluate'>;

interface UndrivenChromium {
  /** Opens a URL in a new tab in front. */
  open(url: string): Promise<void>;
  openPage(page: string): Promise<UndrivenPage>;
  close(): Promise<void>;
}

const targetSchema = v.object({ webSocketDebuggerUrl: v.string() });
const evaluatedSchema = v.object({
  result: v.object({
    result: v.object({ value: v.optional(v.unknown()) }),
    exceptionDetails: v.optional(v.object({ text: v.string() })),
  }),
});

/** Evaluates once, over a connection of its own. Rejects with what the page throws. */
async function evaluateIn(socketUrl: string, expression: string): Promise<unknown> {
  const socket = new WebSocket(socketUrl);
  try {
    await once(socket, 'open');
    const params = { expression, awaitPromise: true, returnByValue: true };
    socket.send(JSON.stringify({ id: 1, method: 'Runtime.evaluate', params }));
    const [message]: MessageEvent[] = await once(socket, 'message');
    const { result } = v.parse(evaluatedSchema, JSON.parse(String(message?.data)));
    if (result.exceptionDetails !== undefined) throw new Error(result.exceptionDetails.text);
    return result.result.value;
  } finally {
    socket.close();
  }
}

/**
 * Starts it with a new profile and the extension in `extensionDir`, and waits for the welcome page, which would come in
 * front of what is opened first. Rejects if there is no Chromium, or if it does not start.
 */
async function launchUndriven(
  options: ChromiumOptions & Required<Pick<ChromiumOptions, 'extensionDir' | 'userDataDir'>>,
): Promise<UndrivenChromium> {
  const { userDataDir } = options;
  const program = findBrowser('chromium');
  if (program === null) throw new Error('No Chromium was found.');
  const own = [`--user-data-dir=${userDataDir}`, '--remote-debugging-port=0'];
  const browser = spawn(program, [...chromiumArguments(options), ...own, 'about:blank'], {
    stdio: 'ignore',
    env: chromiumEnvironment(userDataDir),
  });
  const ended = once(browser, 'exit');
  const close = async (): Promise<void> => {
    browser.kill();
    await ended;
  };
  const portFile = join(userDataDir, 'DevToolsActivePort');
  const port = await until(async () => {
    const [line] = (await readFile(portFile, 'utf8').catch(() => '')).split('\n');
    return line || null;
  }, START_TIMEOUT_MS);
  const isReady = async (): Promise<boolean> => {
    const response = await fetch(`http://127.0.0.1:${port}/json`);
    const pages = v.parse(v.array(v.object({ url: v.string() })), await response.json());
    return pages.some(({ url }) => url.endsWith('/welcome/welcome.html'));
  };
  if (port === null || (await until(isReady, START_TIMEOUT_MS)) === null) {
    await close();
    throw new Error('Chromium did not start with the extension');
  }
  const open = async (url: string): Promise<string> => {
    const response = await fetch(`http://127.0.0.1:${port}/json/new?${url}`, { method: 'PUT' });
    return v.parse(targetSchema, await response.json()).webSocketDebuggerUrl;
  };
  return {
    async open(url) {
      await open(url);
    },
    async openPage(page) {
      const socketUrl = await open(`chrome-extension://${CHROMIUM_EXTENSION_ID}/${page}`);
      return {
        evaluate: async (look: unknown, argument?: unknown) =>
          (await evaluateIn(socketUrl, `(${look})(${JSON.stringify(argument)})`)) as never,
      };
    },
    close,
  };
}

const EDITION = join(TOP, 'extension/dist/chromium');
const ICON = '<link rel="icon" href="data:,">';
const AHEAD = { prerender: [{ source: 'list', urls: ['/next'], eagerness: 'immediate' }] };
const PAGES: Readonly<Record<string, string>> = {
  // It goes there once the page is prerendered and the spec has looked.
  '/first': `<!doctype html>${ICON}<title>first</title><script type="speculationrules">${JSON.stringify(AHEAD)}</script>
    <script>const ask = async () => ((await fetch('/go')).status === 200 ? location.assign('/next') : setTimeout(ask, 200)); ask()</script>`,
  '/next': `<!doctype html>${ICON}<title>next</title><script src="/script"></script>
    <script>document.addEventListener('prerenderingchange', () => fetch('/shown'))</script>`,
  '/script': '',
  '/shown': '',
};

for (const mode of ['light', 'full'] as const)
  test(`${mode}: a prerendered page counts once it is shown`, async ({ local, dir }) => {
    const { host } = local.origins.both;
    const asked: string[] = [];
    let go = false;
    const server = await startHttp2(await identityOf(local, host), (stream: ServerHttp2Stream, headers) => {
      const path = String(headers[':path']);
      if (path === '/go') {
        stream.respond({ ':status': go ? 200 : 404 });
        return stream.end();
      }
      asked.push(`${path} ${headers['sec-purpose'] ?? ''}`.trim());
      const type = path === '/script' ? 'text/javascript' : 'text/html';
      stream.respond({ ':status': 200, 'content-type': type, 'cache-control': 'no-store' });
      stream.end(PAGES[path] ?? '');
    });
    const origin = `https://${host}:${server.port}`;
    const chromium = await launchUndriven({
      extensionDir: mode === 'full' ? await copyInFullMode(EDITION, join(dir, 'extension')) : EDITION,
      userDataDir: join(dir, 'profile'),
      local,
    });
    try {
      const page = await chromium.openPage('manifest.json');
      const recorded = async () => {
        const record = (await storedRecords(page)).find((each) => each.origin === origin);
        return record && { documents: record.navigations.h2, delivered: record.delivered };
      };
      await chromium.open(`${origin}/first`);
      await expect.poll(() => asked).toContain('/script prefetch;prerender');
      await expect.poll(recorded).toMatchObject({ documents: 1, delivered: { prefetch: 0 } });
      go = true;
      await expect.poll(() => asked).toContain('/shown');
      await expect.poll(recorded).toMatchObject({ documents: 1, delivered: { prefetch: 1 } });
    } finally {
      await chromium.close();
      server.stop();
    }
  });

const { both, h2only } = ORIGIN_KINDS;
const returnTest = servedTest({ both, h2only });

returnTest('a page gone back to is shown again, with the counts of its visit', async ({ open, served }) => {
  const session = await open({ local: served });
  const { both, h2only } = served.origins;
  const tab = await session.newTab();
  await tab.goto(`${both.origin}/page?resources=5&from=${h2only.origin}`);
  await expect(tab.find('#summary[data-done]')).toBeSeen();
  const popup = await session.openPopup(tab);
  const first = { [both.origin]: 1, [h2only.origin]: 5 };
  await expect.poll(() => shownCounts(popup)).toEqual(first);
  await expect.poll(() => badgeText(popup, tab)).toBe('H2');
  await tab.goto(`${h2only.origin}/page?resources=2`);
  await expect.poll(() => shownCounts(popup)).toEqual({ [h2only.origin]: 3 });
  await tab.back();
  await expect.poll(() => shownCounts(popup)).toEqual(first);
  await expect(popup.part('aside')).toSay(/^Restored from the back\/forward cache/);
  await expect.poll(() => badgeText(popup, tab)).toBe('H2');
});
