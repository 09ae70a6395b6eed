// What several specs do and look at: choices in the options, what is stored of them, counts in the popup, races by first
// visits, steering, servers that remember every request, axe on a page, and what the browsers show differently.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import axe from 'axe-core';
import type { Popup } from '../browsers/popup.ts';
import type { Session } from '../browsers/session.ts';
import { storedSettings } from '../browsers/stored.ts';
import { navigationProtocol, type Tab } from '../browsers/tab.ts';
import {
  type OriginSettings,
  type RunningOrigins,
  type SeenRequest,
  startOrigins,
} from '../origins/start.ts';
import type { BrowserKind } from '../run/find-browser.mjs';
import { TOP } from '../scratch.ts';
import { expect, exportedReport, test } from './fixtures.ts';

/** Every violation in light and in dark; the rule on contrast must have had something to look at. */
export async function violations(tab: Tab): Promise<string[]> {
  await tab.inject(axe.source);
  const all: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await tab.emulateMedia({ colorScheme });
    const { found, passed } = await tab.evaluate(async () => {
      const result = await (globalThis as unknown as { axe: typeof axe }).axe.run();
      return {
        found: result.violations.flatMap(({ id, nodes }) =>
          nodes.map(({ target }) => `${id}: ${target.join(' ')}`),
        ),
        passed: result.passes.map(({ id }) => id),
      };
    });
    if (!passed.includes('color-contrast')) all.push(`${colorScheme}: no contrast was judged`);
    all.push(...found.map((line) => `${colorScheme}: ${line}`));
  }
  return all;
}

/** Patience with counts: an answer that its page's timings did not tell of is counted 20 s later. */
export const COUNTED = { timeout: 60_000 };

/** Requests by origin in the popup's table. */
export async function shownCounts(popup: Popup): Promise<Record<string, number>> {
  return Object.fromEntries((await popup.origins()).map(({ origin, requests }) => [origin, requests]));
}

/**
 * Waits until these settings are stored. A page shows a choice before that; once it is stored, whoever acts on it is told of
 * it before of anything that begins afterwards.
 */
export async function expectStored(page: Tab, wanted: Readonly<Record<string, unknown>>): Promise<void> {
  await expect.poll(() => storedSettings(page)).toMatchObject(wanted);
}

/** Shows nothing: it only tells the browser's tools of the panel. */
const WITHOUT_A_FACE = ['devtools/devtools.html'];

/** The pages with something to see in this browser's edition, as `popup/popup.html`. */
export async function extensionPages(kind: BrowserKind): Promise<string[]> {
  const files = await readdir(join(TOP, 'extension', 'dist', kind), { recursive: true });
  return files.filter((file) => file.endsWith('.html') && !WITHOUT_A_FACE.includes(file)).toSorted();
}

/** The options after that choice was made, stored and shown. */
export async function chooseRaceTime(
  session: Session,
  when: 'never' | 'click' | 'first-visit',
): Promise<Tab> {
  const options = await session.openPage('options/options.html');
  await options.find(`input[value=${when}]`).click();
  await expectStored(options, { raceWhen: when });
  await expect(options.part('helper')).toSay(/^Helper running/);
  if (when === 'first-visit') await expect(options.part('proxy')).toSay(/./);
  return options;
}

/** The modes of the races of each origin that has any, oldest first, by the report. */
export async function racedModes(session: Session, dir: string): Promise<Record<string, string[]>> {
  const popup = await session.openPopup(null);
  const { sites } = await exportedReport(popup, dir);
  await popup.tab.close();
  const raced = sites.flatMap(({ origins }) => origins).filter(({ races }) => races.length > 0);
  return Object.fromEntries(raced.map(({ origin, races }) => [origin, races.map(({ mode }) => mode)]));
}

/**
 * Visits within which a steered browser that heard the header must use HTTP/3: where TCP is quicker once more Firefox
 * keeps to it, and after so many the extension takes it that it does not follow.
 */
export const STEERED_VISITS = 4;

/** Turns the switch in the options, on or off. */
export async function turnSteering(session: Session): Promise<void> {
  const options = await session.openPage('options/options.html');
  const { steering = false } = await storedSettings(options);
  await options.find('#steering').click();
  // A page that is closed saves nothing more.
  await expectStored(options, { steering: !steering });
  await options.close();
}

/** The popup of a tab whose origin was raced. */
export async function racedPopup(session: Session, tab: Tab): Promise<Popup> {
  const popup = await session.openPopup(tab);
  const result = await popup.race();
  expect(result.ok, result.words).toBe(true);
  return popup;
}

/** Opens the page and tells what it came over. */
export async function protocolOfVisit(tab: Tab, url: string): Promise<string> {
  await tab.goto(url);
  return navigationProtocol(tab);
}

interface Sights {
  /**
   * The protocol of an origin that hides its timing from other pages. Chromium tells the extension no more than the
   * page; Firefox tells it the status line of every answer. When within one page Firefox takes up the alternative
   * service that the first answer advertised is its own affair.
   */
  readonly hiddenOrigin: RegExp;
  /** How many of the requests to it are recorded as hidden, of three. */
  readonly hiddenRequests: 0 | 3;
}

export const SIGHTS: Readonly<Record<BrowserKind, Sights>> = {
  chromium: { hiddenOrigin: /^hidden$/, hiddenRequests: 3 },
  firefox: { hiddenOrigin: /^h[23]$/, hiddenRequests: 0 },
};

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
