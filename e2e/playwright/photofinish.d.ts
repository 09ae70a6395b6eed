// The stable API for other people's Playwright tests. Everything else in this package may change in any version.
import type {
  Expect,
  Page,
  PlaywrightTestArgs,
  PlaywrightTestOptions,
  PlaywrightWorkerArgs,
  PlaywrightWorkerOptions,
  TestType,
} from '@playwright/test';

/** A protocol as Photofinish names it; `unknown` if a site hides it or no observer saw it. */
export type UsedProtocol = 'h3' | 'h2' | 'http/1.1' | 'http/1.0' | 'unknown';

/** Who named the protocols of how many responses: the extension, or Playwright's `response.httpVersion()`. */
export interface ProtocolSources {
  readonly extension: number;
  /** Only responses whose protocol the extension does not know. */
  readonly playwright: number;
}

/** Adoption as counts, never only a ratio: `h3` out of `known` network responses, and separately `hidden` ones. */
export interface PageAdoption {
  readonly h3: number;
  readonly known: number;
  readonly hidden: number;
  /**
   * Responses that have arrived and are not counted yet: the extension waits up to 25 seconds for the timing of each.
   * Until there are none, `known` and `hidden` grow, so `hidden: 0` alone proves nothing.
   */
  readonly pending: number;
  /** Of the `known` ones. */
  readonly sources: ProtocolSources;
}

/** What one origin did on a page. */
export interface PageOrigin {
  readonly origin: string;
  /** Of the newest response whose protocol is known. */
  readonly protocol: UsedProtocol;
  /** Network responses by protocol. */
  readonly requests: Readonly<Record<UsedProtocol, number>>;
  /** Of those with a known protocol. */
  readonly sources: ProtocolSources;
  /** Why the origin was, or was not, reached over HTTP/3; code `unknown` in browsers without the extension. */
  readonly verdict: { readonly code: string; readonly text: string };
}

export interface PhotofinishOptions {
  /**
   * Whether the helper is installed for the test's browser; default true. An object is used as the helper's settings
   * file: `allowPrivate`, `resolve`, `ca`, `resolver`. On Windows true has no effect, and an object is an error.
   */
  readonly helper?: boolean | Readonly<Record<string, unknown>>;
  /**
   * Whether the report of what the test visited is attached to its result, as HTML and JSON; default true. Only with
   * the extension.
   */
  readonly attachReport?: boolean;
}

export interface Photofinish {
  /** See `adoption` below. */
  adoption(page: Page): Promise<PageAdoption>;
  /** The page's origins, its own first, as soon as anything of the page is recorded; rejects like `adoption`. */
  origins(page: Page): Promise<readonly PageOrigin[]>;
  /**
   * `photofinish.report/2` of everything the test visited, from the extension; rejects in browsers without it. Responses
   * whose timings have not come after three seconds are counted in it as unknown. Where the machine keeps no state of the
   * helper, its networks are `unidentified`.
   */
  report(): Promise<unknown>;
}

export interface PhotofinishFixtures {
  readonly photofinishOptions: PhotofinishOptions;
  readonly photofinish: Photofinish;
}

export interface PhotofinishMatchers {
  /**
   * Waits until the page's document is known to have come over the protocol, or with `.not` over another one. With
   * `origin`: until the newest response of that origin whose protocol is known came over it, or with `.not` until one
   * is known and none came over it; `https://` may be left out of it. A document from a cache or a service worker is
   * `unknown`. `timeout` is in milliseconds.
   */
  toHaveUsedProtocol(
    page: Page,
    protocol: UsedProtocol,
    options?: { readonly origin?: string; readonly timeout?: number },
  ): Promise<void>;
}

/**
 * Playwright's `test`, in a Chromium with the extension and, unless disabled, the helper; in Firefox and WebKit as they
 * are. `video` has no effect, and `javaScriptEnabled: false` is an error with the extension.
 */
export const test: TestType<
  PlaywrightTestArgs & PlaywrightTestOptions & PhotofinishFixtures,
  PlaywrightWorkerArgs & Omit<PlaywrightWorkerOptions, 'video'>
>;

/** Playwright's `expect` with the matchers above. */
export const expect: Expect<PhotofinishMatchers>;

/**
 * The page's adoption by request, so far. Waits until something of the page is recorded, for up to ten seconds, and
 * rejects if nothing is: counts of zero would say that it has loaded nothing. Rejects at once if the page failed to load,
 * comes from no server (`about:blank`), or is not of the fixture `context`.
 */
export function adoption(page: Page): Promise<PageAdoption>;
