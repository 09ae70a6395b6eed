// Servers of a test's own that remember every request, for specs that count: what a browser asked for in pages, and what
// the helper raced, which asks for `/` alone.
import type { Tab } from '../browsers/tab.ts';
import {
  type OriginSettings,
  type RunningOrigins,
  type SeenRequest,
  startOrigins,
} from '../origins/start.ts';
import { expect, test } from './fixtures.ts';

/** Until everything of a page came, on a busy machine. */
const SERVED = { timeout: 40_000 };

export interface ServedBy<Name extends string> extends RunningOrigins<Name> {
  /** Every request so far. */
  readonly seen: readonly SeenRequest[];
}

/** The specs' `test` with `served`, origins of these kinds; their hosts are among those in `fixtures.ts`. */
export function servedTest<Name extends string>(origins: Record<Name, OriginSettings>) {
  return test.extend<{ served: ServedBy<Name> }>({
    served: async ({ authority }, use) => {
      const seen: SeenRequest[] = [];
      const onRequest = (request: SeenRequest) => seen.push(request);
      const running = await startOrigins({ origins, certifiedBy: authority, onRequest });
      await use({ ...running, seen });
      await running.stop();
    },
  });
}

/**
 * Opens an address in a private window, by a page of the extension; resolves with its tab's number once the servers have
 * seen so many more requests. Tabs opened afterwards may be of that window.
 */
export async function visitPrivately(
  opener: Tab,
  seen: readonly SeenRequest[],
  url: string,
  requests: number,
): Promise<number> {
  const before = seen.length;
  const tabId = await opener.evaluate(async (address) => {
    const opened = await chrome.windows.create({ incognito: true, url: address });
    return opened?.tabs?.[0]?.id ?? -1;
  }, url);
  await expect.poll(() => seen.length - before, SERVED).toBe(requests);
  return tabId;
}
