// What the browsers show differently, side by side: everything else in these specs holds in all of them alike.
import type { BrowserKind } from '../../run/find-browser.mjs';

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
