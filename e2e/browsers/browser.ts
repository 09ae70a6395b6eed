// The interface of a running browser and of its tabs, whichever browser and driver it is: specs are written once and
// run in all of them. Page state is read by one function in the page; only user input is implemented by each browser's
// driver.
import { setTimeout as pause } from 'node:timers/promises';

/** A request the browser was about to send. */
export interface SeenRequest {
  readonly url: string;
  /** Whether the extension made it, from one of its pages or its background. */
  readonly byExtension: boolean;
}

/** What a browser needs to know about local origins; the result of `startOrigins` fits. */
export interface LocalOrigins {
  readonly origins: Readonly<Record<string, { readonly host: string; readonly address?: string }>>;
  /** Digests of the public keys in use, by which Chromium trusts them. */
  readonly spki: readonly string[];
  /** The authority that signed them, by which Firefox trusts them. */
  readonly caPath: string;
  /** The address of all origins, or null to look their names up as usual; default: loopback. */
  readonly address?: string | null;
}

/**
 * The browser's proxy setting: none, or the HTTP proxy on this loopback port. If absent, it uses the system's setting.
 */
export type ProxyChoice = 'none' | number;

/** How a browser is started, whichever it is. */
export interface BrowserOptions {
  /** The built extension; if absent, none is installed. */
  readonly extensionDir?: string;
  /** Whether it is installed later, with `installer`. */
  readonly installsLater?: boolean;
  /** Default: true. */
  readonly headless?: boolean;
  readonly proxy?: ProxyChoice | undefined;
}

/** Installs the extension into the running browser and uninstalls it, using the browser's own functions. */
export interface Installer {
  /** As a user installs it: without data, without permissions not granted earlier, and with its welcome page. */
  install(): Promise<void>;
  /** Closes all tabs and windows except for one empty tab, and uninstalls the extension with all its data. */
  uninstall(): Promise<void>;
}

export interface RunningBrowser {
  readonly version: string;
  /** Null if the extension was installed from the start. */
  readonly installer: Installer | null;
  newTab(): Promise<Tab>;
  /** Opens a tab in a container; null if the browser has no containers. */
  readonly newContainerTab: (() => Promise<Tab>) | null;
  /** The URL of a page of the extension, such as `popup/popup.html`. */
  extensionUrl(page: string): string;
  /**
   * Every request to a host since the browser started or the extension was last installed, as far as the browser
   * reports it.
   */
  requests(): Promise<readonly SeenRequest[]>;
  /** Terminates the extension's background at once, as the browser does when it is idle or memory is short. */
  stopBackground(): Promise<void>;
  /** Allows the extension in private windows, as the user does in the browser's settings, which restarts it. */
  allowPrivateWindows(): Promise<void>;
  /** Resolves when the browser has exited, for whatever reason. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
  /** Kills the browser at any point, as a crash does. */
  kill(): Promise<void>;
  /** Ends the browser when nothing it saves on exit will be read. */
  abandon(): Promise<void>;
}

/** One element, or all that match: evaluated again on each use. */
export interface Query {
  readonly selector: string;
  /** Only elements whose label, or text if they have none, contains these words. */
  readonly says?: string | undefined;
  /** Index among several, from 0; default: the first. */
  readonly nth?: number | undefined;
}

/** A snapshot of an element. */
export interface ElementSnapshot {
  /** How many elements match, whatever `nth`. */
  readonly count: number;
  /** All its text, hidden or not, with white space collapsed; empty if there is no such element. */
  readonly text: string;
  readonly visible: boolean;
  /** Neither disabled nor shown as disabled. */
  readonly enabled: boolean;
  readonly attributes: Readonly<Record<string, string>>;
}

interface Size {
  readonly width: number;
  readonly height: number;
}

export interface Media {
  readonly colorScheme: 'light' | 'dark';
}

export interface Download {
  readonly file: string;
  /** The file name suggested by the page. */
  readonly name: string;
}

/**
 * Evaluates an expression as the extension's content script would; resolves with its result, or rejects with what it
 * throws.
 */
export type InContentScript = (expression: string) => Promise<unknown>;

/** What each browser's driver implements. */
export interface Driver {
  /** Navigates and waits for the `load` event; rejects if the navigation fails. */
  goto(url: string, options?: { timeoutMs?: number }): Promise<void>;
  reload(): Promise<void>;
  /** Runs a self-contained function in the page. */
  evaluate<Result, Argument = undefined>(
    run: (argument: Argument) => Result | Promise<Result>,
    argument?: Argument,
  ): Promise<Result>;
  /** Runs a script in the page regardless of its content security policy. */
  inject(script: string): Promise<void>;
  /** Runs a script in every future page, before content scripts and the page's own scripts. */
  beforeScripts(script: (() => void) | string): Promise<void>;
  click(query: Query): Promise<void>;
  hover(query: Query): Promise<void>;
  /** Replaces the value of a field. */
  fill(query: Query, text: string): Promise<void>;
  /** Chooses an option of a `select` by its value. */
  choose(query: Query, value: string): Promise<void>;
  /** Presses a key by its name: `Tab`, `Enter`, `ArrowDown`. */
  press(key: Key): Promise<void>;
  setViewport(size: Size): Promise<void>;
  emulateMedia(media: Media): Promise<void>;
  /** Writes a PNG of the viewport, or of the whole page. */
  screenshot(file: string, options?: { fullPage?: boolean }): Promise<void>;
  /** Performs an action that starts a download, and returns the file once it is complete. */
  download(action: () => Promise<void>): Promise<Download>;
  bringToFront(): Promise<void>;
  /** The WebExtension id of the tab; null if only extensions can tell. */
  readonly extensionTabId: (() => Promise<number>) | null;
  /**
   * The extension's content script context in the page, or in its frame with this URL: what a compromised renderer
   * could use.
   */
  contentWorld(extensionOrigin: string, frameUrl?: string): Promise<InContentScript>;
  /** Opens the browser's developer tools on the tab. */
  openDeveloperTools(): Promise<void>;
  close(): Promise<void>;
}

/** Key names of UI Events. */
type Key =
  | 'Tab'
  | 'Enter'
  | 'Escape'
  | 'Space'
  | 'Home'
  | 'End'
  | 'ArrowUp'
  | 'ArrowDown'
  | 'ArrowLeft'
  | 'ArrowRight';

const POLL_MS = 50;
const PART_MS = 100;
/** For an element to appear and become usable, on a busy machine with two browsers running. */
const USABLE_TIMEOUT_MS = 45_000;

/** Repeats until the result is truthy; null after the time-out. */
export async function until<Result>(
  ask: () => Promise<Result | null | undefined | false>,
  timeoutMs: number,
): Promise<Result | null> {
  const endMs = performance.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (answer) return answer;
    if (performance.now() > endMs) return null;
    await pause(POLL_MS);
  }
}

/** Waits in short parts: a pause of the machine swallows one of them, and would swallow a single wait as a whole. */
export async function waitInParts(ms: number): Promise<void> {
  for (let waitedMs = 0; waitedMs < ms; waitedMs += PART_MS) await pause(PART_MS);
}

/** Runs in the page: the element that matches, null if there is none. */
export function locate({ selector, says, nth = 0 }: Query): Element | null {
  const words = (element: Element) => element.getAttribute('aria-label') ?? element.textContent;
  const fits = [...document.querySelectorAll(selector)].filter(
    (element) => says === undefined || words(element).replace(/\s+/g, ' ').includes(says),
  );
  return fits[nth] ?? null;
}

/** Runs in the page. */
function look({ selector, says, nth = 0 }: Query): ElementSnapshot {
  const words = (element: Element) => element.getAttribute('aria-label') ?? element.textContent;
  const fits = [...document.querySelectorAll(selector)].filter(
    (element) => says === undefined || words(element).replace(/\s+/g, ' ').includes(says),
  );
  const element = fits[nth];
  if (element === undefined)
    return { count: fits.length, text: '', visible: false, enabled: false, attributes: {} };
  const { width, height } = element.getBoundingClientRect();
  return {
    count: fits.length,
    text: element.textContent.replace(/\s+/g, ' ').trim(),
    visible: width > 0 && height > 0 && element.checkVisibility({ visibilityProperty: true }),
    enabled: !element.matches(':disabled, [aria-disabled="true"]'),
    attributes: Object.fromEntries([...element.attributes].map(({ name, value }) => [name, value])),
  };
}

/** An element of a tab's page. */
export class Part {
  readonly #driver: Driver;
  readonly query: Query;

  constructor(driver: Driver, query: Query) {
    this.#driver = driver;
    this.query = query;
  }

  /** A snapshot of its current state. */
  look(): Promise<ElementSnapshot> {
    return this.#driver.evaluate(look, this.query);
  }

  async text(): Promise<string> {
    return (await this.look()).text;
  }

  async count(): Promise<number> {
    return (await this.look()).count;
  }

  /** Null if the element, or the attribute, does not exist. */
  async attribute(name: string): Promise<string | null> {
    return (await this.look()).attributes[name] ?? null;
  }

  async isVisible(): Promise<boolean> {
    return (await this.look()).visible;
  }

  /** The element at another index of the same query. */
  nth(nth: number): Part {
    return new Part(this.#driver, { ...this.query, nth });
  }

  async click(options?: { timeoutMs?: number }): Promise<void> {
    await this.#usable(options?.timeoutMs);
    await this.#driver.click(this.query);
  }

  async hover(): Promise<void> {
    await this.#usable();
    await this.#driver.hover(this.query);
  }

  async fill(text: string): Promise<void> {
    await this.#usable();
    await this.#driver.fill(this.query, text);
  }

  async choose(value: string): Promise<void> {
    await this.#usable();
    await this.#driver.choose(this.query, value);
  }

  /** Resolves once the element is visible and enabled, as a user would wait for it; throws after the time-out. */
  async #usable(timeoutMs = USABLE_TIMEOUT_MS): Promise<void> {
    const usable = async () => {
      const { visible, enabled } = await this.look();
      return visible && enabled;
    };
    if ((await until(usable, timeoutMs)) === null)
      throw new Error(`${describe(this.query)} was not to be seen and used within ${timeoutMs} ms`);
  }
}

/** A description of a query, for messages. */
export function describe({ selector, says, nth }: Query): string {
  return [selector, says && `saying "${says}"`, nth && `(number ${nth})`].filter(Boolean).join(' ');
}

/** Runs in the page: identifies the document. No two documents have the same time origin in microseconds. */
function documentMark(): number {
  return document.readyState === 'complete' ? performance.timeOrigin : 0;
}

const NAVIGATION_TIMEOUT_MS = 45_000;

/** A driver and the operations built on it, the same in every browser. */
export interface Tab extends Driver {
  find(selector: string, says?: string): Part;
  /** By `data-testid`. */
  part(testId: string): Part;
  url(): Promise<string>;
  /**
   * Goes back in the page's history; drivers wait for events that a page restored from the back/forward cache never
   * sends.
   */
  back(): Promise<void>;
}

/** Builds a tab on a browser's driver. */
export function createTab(driver: Driver): Tab {
  const find = (selector: string, says?: string) => new Part(driver, { selector, says });
  return {
    ...driver,
    find,
    part: (testId) => find(`[data-testid="${testId}"]`),
    url: () => driver.evaluate(() => location.href),
    async back() {
      // Only after the evaluation has returned: the navigation destroys its context.
      await leave(driver, () => driver.evaluate(() => void setTimeout(() => history.back())));
    },
  };
}

/** Starts a navigation that the driver does not track, and waits until another document has loaded. */
export async function leave({ evaluate }: Driver, navigate: () => Promise<void>): Promise<void> {
  const before = await evaluate(documentMark);
  await navigate();
  const arrived = async () => {
    // Between two documents there is no context to evaluate in.
    const now = await evaluate(documentMark).catch(() => 0);
    return now !== 0 && now !== before;
  };
  if ((await until(arrived, NAVIGATION_TIMEOUT_MS)) === null) throw new Error('no other page came into view');
}

/** The protocol of the page's navigation as the browser reports it; `''` if it does not. */
export function navigationProtocol(tab: Tab): Promise<string> {
  return tab.evaluate(() => {
    const [entry] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
    return entry?.nextHopProtocol ?? '';
  });
}

/**
 * Visits `url` until the browser itself reports `protocol` for the navigation, and returns the number of visits. Throws
 * after `tries` visits, with the protocol that the browser used instead.
 */
export async function visitUntil(
  tab: Tab,
  url: string,
  protocol: string,
  { tries = 10 }: { tries?: number } = {},
): Promise<number> {
  let used = '';
  for (let visit = 1; visit <= tries; visit += 1) {
    // Visits without a pause may all be faster than one handshake.
    if (visit > 1) await pause(Math.min(100 * visit, 1000));
    await tab.goto(url);
    used = await navigationProtocol(tab);
    if (used === protocol) return visit;
  }
  throw new Error(`${url} came over ${used || 'no known protocol'} ${tries} times, never over ${protocol}.`);
}
