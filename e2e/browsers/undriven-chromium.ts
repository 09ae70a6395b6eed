// A Chromium without a driver: what a tab shows is not attached to, because Chromium prerenders nothing in a tab that a
// driver observes. Only pages of the extension are evaluated in, over the DevTools protocol.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CHROMIUM_EXTENSION_ID } from '@photofinish/shared/port/extension-id';
import * as v from 'valibot';
import { findBrowser } from '../run/find-browser.mjs';
import { type Tab, until } from './browser.ts';
import { type ChromiumOptions, chromiumArguments, chromiumEnvironment } from './chromium.ts';

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
export async function launchUndriven(
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
