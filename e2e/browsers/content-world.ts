// Chromium's world of the extension's content script in a page.
import type { CDPSession, Page } from '@playwright/test';
import { type InContentScript, until } from './tab.ts';

const FOUND_TIMEOUT_MS = 10_000;

/** The content script's world in the page, or in its frame with this address. */
export async function contentWorld(
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
