// Steps shared by several specs: choices in the options and their stored values, counts in the popup, races on first
// visits, steering, servers that log every request, axe checks, and differences between browsers.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import axe from 'axe-core';
import { navigationProtocol, type Tab, visitUntil } from '../browsers/browser.ts';
import type { Popup, Session } from '../browsers/session.ts';
import { storedSettings } from '../browsers/stored.ts';
import type { Identity } from '../origins/raw.ts';
import {
  certificateOf,
  type OriginSettings,
  type RunningOrigins,
  type SeenRequest,
  startOrigins,
} from '../origins/start.ts';
import type { BrowserKind } from '../run/find-browser.mjs';
import { TOP } from '../scratch.ts';
import { expect, exportedReport, type LocalOriginsByKind, test } from './fixtures.ts';

/** All axe violations in light and dark mode; fails if the contrast rule had nothing to check. */
export async function violations(tab: Tab): Promise<string[]> {
  // Pages show themselves once they have read what they show.
  await expect(tab.find('main')).toBeSeen();
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

/** For counts: a response missing from its page's timings is counted 20 s later. */
export const COUNTED = { timeout: 60_000 };

/** Requests by origin, from the popup's table. */
export async function shownCounts(popup: Popup): Promise<Record<string, number>> {
  return Object.fromEntries((await popup.origins()).map(({ origin, requests }) => [origin, requests]));
}

/**
 * Waits until these settings are stored. The page shows a choice earlier; once it is stored, its consumers are notified
 * before anything that begins afterwards.
 */
export async function expectStored(page: Tab, wanted: Readonly<Record<string, unknown>>): Promise<void> {
  await expect.poll(() => storedSettings(page)).toMatchObject(wanted);
}

/** No visible content: it only registers the panel with the developer tools. */
const WITHOUT_A_FACE = ['devtools/devtools.html'];

/** The visible pages in this browser's edition, such as `popup/popup.html`. */
export async function extensionPages(kind: BrowserKind): Promise<string[]> {
  const files = await readdir(join(TOP, 'extension', 'dist', kind), { recursive: true });
  return files.filter((file) => file.endsWith('.html') && !WITHOUT_A_FACE.includes(file)).toSorted();
}

/** The options page after that choice was made, stored and shown. */
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

/** The modes of the races of each origin that was raced, oldest first, from the report. */
export async function racedModes(session: Session, dir: string): Promise<Record<string, string[]>> {
  const popup = await session.openPopup(null);
  const { sites } = await exportedReport(popup, dir);
  await popup.tab.close();
  const raced = sites.flatMap(({ origins }) => origins).filter(({ races }) => races.length > 0);
  return Object.fromEntries(raced.map(({ origin, races }) => [origin, races.map(({ mode }) => mode)]));
}

/**
 * Within this many visits a steered browser that received the header must use HTTP/3: if TCP is quicker once more,
 * Firefox stays with it, and after this many the extension concludes that it does not comply.
 */
const STEERED_VISITS = 4;

/** Waits until the popup says `before` about steering, presses its button, and waits until it no longer does. */
export async function pressSteer(popup: Popup, before: string): Promise<void> {
  const steer = popup.part('steer');
  await expect(steer).toMention(before);
  await popup.part('steer-press').click();
  await expect(steer).not.toMention(before);
}

/**
 * Visits until the steered browser uses HTTP/3. Firefox first makes a connection, whose result it uses from the next
 * request on: on a busy machine four immediate responses may be faster than one handshake.
 */
export async function visitSteered(tab: Tab, origin: string): Promise<void> {
  await visitUntil(tab, `${origin}/?delay=1000`, 'h3', { tries: STEERED_VISITS });
}

/** Turns steering on or off in the options. */
export async function turnSteering(session: Session): Promise<void> {
  const options = await session.openPage('options/options.html');
  const { steering = false } = await storedSettings(options);
  await options.find('#steering').click();
  // A closed page saves nothing more.
  await expectStored(options, { steering: !steering });
  await options.close();
}

/** The popup of a tab whose origin has been raced. */
export async function racedPopup(session: Session, tab: Tab): Promise<Popup> {
  const popup = await session.openPopup(tab);
  const result = await popup.race();
  expect(result.ok, result.words).toBe(true);
  return popup;
}

/** Opens the page and returns the protocol of its navigation. */
export async function protocolOfVisit(tab: Tab, url: string): Promise<string> {
  await tab.goto(url);
  return navigationProtocol(tab);
}

interface Visibility {
  /**
   * The protocol of an origin that hides its timing from other pages. Chromium tells the extension no more than the
   * page; Firefox reveals the status line of every response. When Firefox switches to the alternative service
   * advertised by the first response is up to Firefox.
   */
  readonly hiddenOrigin: RegExp;
  /** How many of three requests to it are recorded as hidden. */
  readonly hiddenRequests: 0 | 3;
}

export const VISIBILITY: Readonly<Record<BrowserKind, Visibility>> = {
  chromium: { hiddenOrigin: /^hidden$/, hiddenRequests: 3 },
  firefox: { hiddenOrigin: /^h[23]$/, hiddenRequests: 0 },
};

/** For a page to load completely on a busy machine. */
const SERVED = { timeout: 40_000 };

/** The certificate and key of a host, for a server of the spec's own. */
export async function identityOf(
  authority: Pick<LocalOriginsByKind, 'certificates'>,
  host: string,
): Promise<Identity> {
  const files = certificateOf(authority, host);
  return { cert: await readFile(files.certPath), key: await readFile(files.keyPath) };
}

export interface ServedBy<Name extends string> extends RunningOrigins<Name> {
  /** Every request so far. */
  readonly seen: readonly SeenRequest[];
}

/** The specs' `test` with `served`, origins of these kinds; their hosts must be among those in `fixtures.ts`. */
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
 * Opens a URL in a private window from a page of the extension; resolves with its tab id once the servers have seen
 * `requests` more requests. Tabs opened afterwards may belong to that window.
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
